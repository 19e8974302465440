"""Network for single hands at the start or end of a street, and its file format."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import FileError
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.engine.showdowns.hand_features import INPUTS
from treeplex.holdem.search.leaves.hand_values import HandValues, zero_sum
from treeplex.learn.common.device import torch_module
from treeplex.learn.common.fitting import load_weights
from treeplex.learn.common.value_net import Forward, Module, network_text, value_net
from treeplex.learn.hand_values.settings import END, START
from treeplex.learn.hand_values.situations import Situation
from treeplex.learn.rebel.files import NetFile, read_net, save_net

GAME = {START: "hands of hold'em where the {street} begins", END: "hands of hold'em where the {street} ends"}
FORM = "treeplex network for hands"
NET = "net.safetensors"
LINEAR = 0.2
"""Error, as a fraction of the pot, beyond which the Huber loss is linear."""


class HandNet:
    """A network for hands at the start or end of a street.

    Attributes:
        street: ``flop``, ``turn`` or ``river``.
        at: ``start`` or ``end``.
        format: the cards, as in :attr:`treeplex.learn.hand_values.settings.HandValueSettings.format`.
        net: float32 [n, INPUTS] to [n, 1].
        forward: evaluates the network: hand values relative to the showdown value, as fractions of the pot.
    """

    def __init__(self, street: str, format: str = HOLDEM.name, *, at: str = START, width: int, layers: int, seed: int) -> None:
        """Create an untrained network.

        Raises:
            SpecError: PyTorch is missing.
        """
        self.street, self.format, self.at = street, format, at
        self.net: Module = value_net(INPUTS, 1, width=width, layers=layers, seed=seed)
        self.forward = Forward(self.net)

    def __repr__(self) -> str:
        return f"<hand network for the {self.at} of the {self.street}: {network_text(self.net)}>"

    def worth(self, situation: Situation) -> Floats:
        """Values of both players' hands relative to half of the pot, as fractions of the pot, float64 [2, n]; zero-sum."""
        values = [situation.equity[player] - 0.5 + self.forward(situation.rows(player))[:, 0] for player in (0, 1)]
        reach = situation.reach[:, situation.board.held]
        return zero_sum(np.stack(values), reach, situation.mass)

    def leaf(self, *, step: int = 1, every: int = 0, symmetric: bool = False) -> HandValues:
        """Leaf value for the preceding street; see :class:`HandValues`."""
        return HandValues(self.forward, step=step, every=every, symmetric=symmetric)

    def save(self, path: str | os.PathLike[str], *, settings: Mapping[str, Any], card: Mapping[str, Any]) -> None:
        """Write the file atomically, including the training settings.

        Raises:
            FileError: the file cannot be written.
        """
        game = GAME[self.at].format(street=self.street)
        weights = {name: tensor.detach().cpu().numpy() for name, tensor in self.net.state_dict().items()}
        save_net(path, weights, game=game, identity=game, settings=settings, card=card, form=FORM)


def format_of(file: NetFile) -> str:
    """The format of the cards that a network was trained on; the full deck if its file does not name one."""
    return str(file.settings.get("format", HOLDEM.name))


def hand_net_of(file: NetFile) -> HandNet:
    """The hand network in a file.

    Raises:
        FileError: the file contains another type of network.
        SpecError: PyTorch is missing.
    """
    try:
        street, width, layers = (file.settings[name] for name in ("street", "width", "layers"))
        at = str(file.settings.get("at", START))
        net = HandNet(str(street), format_of(file), at=at, width=int(width), layers=int(layers), seed=0)
        load_weights(net.net, file.weights)
    except (KeyError, ValueError, TypeError, RuntimeError) as error:
        raise FileError(f"{file.path}: not a hand network ({error}); give one of treeplex train hand-values") from error
    return net


def read_hand_net(path: str | os.PathLike[str]) -> HandNet:
    """Read a network that :meth:`HandNet.save` wrote.

    Raises:
        FileError: missing, corrupted, or the file contains another type of network.
        SpecError: PyTorch is missing.
    """
    return hand_net_of(read_net(path, form=FORM, makers="train hand-values"))


def hand_loss(net: Module, inputs: Any, targets: Any) -> Any:
    """Mean Huber loss of hand values relative to the showdown value, as fractions of the pot."""
    return torch_module().nn.functional.huber_loss(net(inputs), targets, delta=LINEAR)
