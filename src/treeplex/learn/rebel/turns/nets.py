"""Networks of a training on turns of hold'em: fresh ones, their weights by name, and their files."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import FileError
from treeplex.holdem.search.leaves.binned_rivers import BinnedRivers
from treeplex.holdem.spots.spot import Spot
from treeplex.learn.common.device import torch_module
from treeplex.learn.rebel.files import read_net
from treeplex.learn.rebel.policy_net import PREFIX
from treeplex.learn.rebel.settings import HoldemRebelSettings
from treeplex.learn.rebel.turns.policies import GuidedRivers, TurnGuess, inputs_of, most_columns
from treeplex.learn.rebel.turns.river_net import RiverNet, read_river_net
from treeplex.search.leaf import LeafValue


def turn_leaf(spot: Spot, settings: HoldemRebelSettings) -> BinnedRivers:
    """Fresh networks as settings have them; :class:`GuidedRivers` where there is a policy network.

    Raises:
        SpecError: PyTorch is missing.
    """
    inputs, outputs = settings.sizes(spot)
    shape = {"width": settings.width, "layers": settings.layers, "seed": settings.seed}
    net = RiverNet(outputs // 2, **shape, board=inputs - 1 - outputs, shown=settings.shown)
    if not settings.policy_net:
        return net.leaf()
    guess = TurnGuess(inputs_of(spot), len(spot.format.hands), most_columns(spot), **shape)
    return guided(net, guess, settings.warm)


def guided(net: RiverNet, guess: TurnGuess, warm: int) -> GuidedRivers:
    """Values of rivers by a network, and guesses of the turn's policies."""
    plain = net.leaf()
    return GuidedRivers(net, plain.bins, guess, warm, shown=plain.shown)


def modules_of(leaf: LeafValue) -> dict[str, Any]:
    """The PyTorch modules of a turn's leaf values, by what goes before the names of their weights."""
    assert isinstance(leaf, BinnedRivers)
    assert isinstance(leaf.function, RiverNet)
    policies = {PREFIX: leaf.guess.net} if isinstance(leaf, GuidedRivers) else {}
    return {"": leaf.function.net, **policies}


def turn_weights(leaf: LeafValue) -> dict[str, NDArray[Any]]:
    """Copies of all weights by name; those of a policy network begin with ``policy.``."""
    found: dict[str, NDArray[Any]] = {}
    for prefix, module in modules_of(leaf).items():
        found |= {prefix + name: tensor.detach().cpu().numpy().copy() for name, tensor in module.state_dict().items()}
    return found


def load_turn_weights(leaf: LeafValue, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Put weights as :func:`turn_weights` names them into networks.

    Raises:
        KeyError, RuntimeError: they do not fit.
    """
    torch = torch_module()
    for prefix, module in modules_of(leaf).items():
        module.load_state_dict({name: torch.from_numpy(np.array(arrays[prefix + name])) for name in module.state_dict()})


def save_turn_nets(
    leaf: LeafValue, path: str | os.PathLike[str], *, settings: Mapping[str, Any], card: Mapping[str, Any]
) -> None:
    """Write the network for rivers, and a policy network with it, atomically.

    Raises:
        FileError: the file cannot be written.
    """
    assert isinstance(leaf, BinnedRivers)
    assert isinstance(leaf.function, RiverNet)
    policies = {name: array for name, array in turn_weights(leaf).items() if name.startswith(PREFIX)}
    leaf.function.save(path, settings=settings, card=card, beside=policies)


def read_turn_leaf(path: str | os.PathLike[str]) -> BinnedRivers:
    """Leaf values of turns by the networks of a file; searches start warm if there is a policy network.

    Raises:
        FileError: missing, damaged, or networks for something else.
        SpecError: PyTorch is missing.
    """
    net, found = read_river_net(path), read_net(path)
    if not found.settings.get("policy_net", False):
        return net.leaf()
    try:
        width, layers, warm = (int(found.settings[name]) for name in ("width", "layers", "warm"))
        inputs = found.weights[PREFIX + "0.weight"].shape[1]
        columns = len(found.weights[f"{PREFIX}{3 * layers}.bias"]) // net.bins
        leaf = guided(net, TurnGuess(inputs, net.bins, columns, width=width, layers=layers, seed=0), warm)
        load_turn_weights(leaf, found.weights)
    except (KeyError, ValueError, RuntimeError) as error:
        raise FileError(f"{path}: its policy network does not fit ({error}); give one of a turn's training") from error
    return leaf
