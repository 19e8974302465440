"""A value network for hold'em's rivers, over bins of strength or, as in the paper, over single hands."""

from typing import Any

import numpy as np

from treeplex.base.arrays import Singles
from treeplex.errors import SpecError
from treeplex.holdem.search.leaves.binned_rivers import SINGLE, BinnedRivers
from treeplex.learn.common.device import torch_module
from treeplex.learn.common.value_net import Forward, Module, network_text, value_net

LINEAR = 0.1
"""Parts of the pot: an error beyond it counts as its size, not its square; deep stacks have errors that others have not."""
GAME = "rivers of hold'em, {bins} bins of strength"
HANDS = "rivers of hold'em, {bins} single hands"


class RiverNet:
    """A network from the rows of ``holdem.search.leaves.binned_rivers.RiverBins.rows`` to values of bins, made to sum to zero.

    It sees of a range how much of it is weaker than each bin: cumulative shares differ less from range to range than those of
    single bins, so it needs fewer rows to learn from. Of single hands it sees how likely each is.

    Attributes:
        single: whether each hand is a bin.
        bins: B.
        inputs: numbers of a row.
        shown: whether its values are over the showdown, which is added; if not, they are all that hands are worth.
        net: float32 [n, inputs] to [n, 2B], on :func:`seen` and before the correction.
        forward: its outputs.
    """

    def __init__(self, bins: int, *, width: int, layers: int, seed: int, board: int = 0, shown: bool = True) -> None:
        """A fresh network.

        Args:
            bins: B.
            width, layers, seed: of the network.
            board: numbers of a row that say which cards are on the board, of a network for single hands; else 0.
            shown: whether its values are over the showdown.

        Raises:
            SpecError: PyTorch is missing.
        """
        self.single, self.bins, self.inputs, self.shown = board > 0, bins, 1 + 2 * bins + board, shown
        self.net: Module = value_net(self.inputs, 2 * self.bins, width=width, layers=layers, seed=seed)
        self.forward = Forward(self.net)

    def __repr__(self) -> str:
        return f"<network for rivers, {self.bins} {'hands' if self.single else 'bins'}: {network_text(self.net)}>"

    def __call__(self, rows: Singles) -> Singles:
        """Values of the bins of both players, in parts of the pot, float32 [n, 2B].

        Raises:
            SpecError: rows of other cards.
        """
        if rows.shape[1] != self.inputs:
            raise SpecError(f"the network is for {self.game}, not for these cards; train one on such a spot")
        found: Singles = balanced(rows, self.forward(seen(rows, self.bins, self.single)))
        return found

    def leaf(self) -> "RiverLeaf":
        """Leaf values of turns by this network."""
        return RiverLeaf(self)

    @property
    def game(self) -> str:
        """What it is for."""
        return (HANDS if self.single else GAME).format(bins=self.bins)


class RiverLeaf(BinnedRivers):
    """Leaf values of turns by a network for rivers.

    Attributes:
        function: values of bins.
        net: its PyTorch module.
        guess: of the turn's policies by another network, from which searches start; None without one.
        warm: iterations that a guess counts as.
    """

    function: RiverNet

    def __init__(self, function: RiverNet, guess: Any = None, warm: int = 0) -> None:
        super().__init__(function, SINGLE if function.single else function.bins, shown=function.shown)
        self.net, self.guess, self.warm = function.net, guess, warm


def seen(rows: Any, bins: int, single: bool) -> Any:
    """Rows, arrays or tensors [n, inputs], as the network has them.

    Of bins the shares become cumulative ones, of about the size of one; single hands stay as they are.
    """
    if single:
        return rows
    shares = rows[:, 1:].reshape(len(rows), 2, bins).cumsum(2) / bins
    found = rows.copy() if isinstance(rows, np.ndarray) else rows.clone()
    found[:, 1:] = (4.0 * shares - 2.0).reshape(len(rows), -1)
    return found


def balanced(rows: Any, outputs: Any) -> Any:
    """Outputs less what both players' sum to under the ranges of the rows, shared alike (Moravčík et al. 2017, DeepStack).

    Arrays or tensors, [n, inputs] and [n, 2B]. Ranges are those of bins, so hands' values sum to zero but for what is lost in
    them; what the showdown pays sums to zero as it is. With single hands nothing is lost.
    """
    return outputs - (rows[:, 1 : 1 + outputs.shape[1]] * outputs).sum(-1)[:, None] / outputs.shape[1]


def river_loss(net: Module, rows: Any, targets: Any, weights: Any) -> Any:
    """Mean Huber loss of the values of bins, each as often as hands lie in it; squared up to :data:`LINEAR`.

    Rows of single hands come with the board, in half precision.
    """
    rows, targets, weights = rows.float(), targets.float(), weights.float()
    bins = targets.shape[1] // 2
    found = balanced(rows, net(seen(rows, bins, rows.shape[1] > 1 + 2 * bins)))
    errors = torch_module().nn.functional.huber_loss(found, targets, reduction="none", delta=LINEAR)
    return (errors * weights).mean()
