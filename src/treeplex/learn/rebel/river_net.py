"""A value network for hold'em's rivers, over bins of strength."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import FileError
from treeplex.learn.rebel.files import read_net, save_net
from treeplex.learn.rebel.value_net import Forward, Module, value_net
from treeplex.learn.torch.device import torch_module
from treeplex.search.holdem.strength_bins import BinnedRivers

Singles = NDArray[np.float32]
LINEAR = 0.1
"""Parts of the pot: an error beyond it counts as its size, not its square; deep stacks have errors that others have not."""
GAME = "rivers of hold'em, {bins} bins of strength"


class RiverNet:
    """A network from the rows of ``search.holdem.strength_bins.RiverBins.rows`` to values of bins, made to sum to zero.

    It sees of a range how much of it is weaker than each bin: cumulative shares differ less from range to range than those of
    single bins, so it needs fewer rows to learn from.

    Attributes:
        bins: B.
        net: float32 [n, 1 + 2B] to [n, 2B], on :func:`inputs_of` and before the correction.
        forward: its outputs.
    """

    def __init__(self, bins: int, *, width: int, layers: int, seed: int) -> None:
        """A fresh network.

        Raises:
            SpecError: PyTorch is missing.
        """
        self.bins = bins
        self.net: Module = value_net(1 + 2 * bins, 2 * bins, width=width, layers=layers, seed=seed)
        self.forward = Forward(self.net)

    def __call__(self, rows: Singles) -> Singles:
        """Values of the bins of both players over the showdown, in parts of the pot, float32 [n, 2B]."""
        shares = rows[:, 1:].reshape(len(rows), 2, self.bins).cumsum(axis=2, dtype=np.float32) / self.bins
        found: Singles = balanced(rows, self.forward(np.concatenate((rows[:, :1], inputs_of(shares, len(rows))), axis=1)))
        return found

    def leaf(self) -> BinnedRivers:
        """Leaf values of turns by this network."""
        return BinnedRivers(self, self.bins)

    def save(self, path: str | os.PathLike[str], *, settings: Mapping[str, Any], card: Mapping[str, Any]) -> None:
        """Write it atomically; ``settings`` of its training have ``bins``, ``width`` and ``layers``.

        Raises:
            FileError: the file cannot be written.
        """
        game = GAME.format(bins=self.bins)
        weights = {name: tensor.detach().cpu().numpy() for name, tensor in self.net.state_dict().items()}
        save_net(path, weights, game=game, identity=game, settings=settings, card=card)


def read_river_net(path: str | os.PathLike[str]) -> RiverNet:
    """Read a network that :meth:`RiverNet.save` wrote.

    Raises:
        FileError: missing, damaged, or a network for something else.
        SpecError: PyTorch is missing.
    """
    found = read_net(path)
    if "bins" not in found.settings:
        raise FileError(f"{path}: a network for {found.game}, not for rivers of hold'em; give one that holdem train wrote")
    try:
        bins, width, layers = (int(found.settings[name]) for name in ("bins", "width", "layers"))
        if found.identity != GAME.format(bins=bins):
            raise ValueError(f"it is for {found.game}")
        net = RiverNet(bins, width=width, layers=layers, seed=0)
        torch = torch_module()
        net.net.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in found.weights.items()})
    except (KeyError, ValueError, RuntimeError) as error:
        raise FileError(f"{path}: not a network for rivers of hold'em ({error}); give one of a turn's training") from error
    return net


def inputs_of(shares: Any, rows: int) -> Any:
    """Cumulative shares [n, 2, B] as inputs of about the size of one, [n, 2B]."""
    return (4.0 * shares - 2.0).reshape(rows, -1)


def balanced(rows: Any, outputs: Any) -> Any:
    """Outputs less what both players' sum to under the ranges of the rows, shared alike (Moravčík et al. 2017, DeepStack).

    Arrays or tensors, [n, 1 + 2B] and [n, 2B]. Ranges are those of bins, so hands' values sum to zero but for what is lost in
    them; what the showdown pays sums to zero as it is.
    """
    return outputs - (rows[:, 1:] * outputs).sum(-1)[:, None] / outputs.shape[1]


def river_loss(net: Module, rows: Any, targets: Any, weights: Any) -> Any:
    """Mean Huber loss of the values of bins, each as often as hands lie in it; squared up to :data:`LINEAR`."""
    torch = torch_module()
    bins = targets.shape[1] // 2
    shares = rows[:, 1:].reshape(len(rows), 2, bins).cumsum(2) / bins
    found = balanced(rows, net(torch.cat((rows[:, :1], inputs_of(shares, len(rows))), 1)))
    errors = torch.nn.functional.huber_loss(found, targets, reduction="none", delta=LINEAR)
    return (errors * weights).mean()
