"""Value network for hold'em rivers, over bins of hand strength or, as in the paper, over single hands."""

from typing import Any

import numpy as np

from treeplex.base.arrays import Singles
from treeplex.errors import SpecError
from treeplex.holdem.search.leaves.binned_rivers import SINGLE, BinnedRivers
from treeplex.learn.common.device import torch_module
from treeplex.learn.common.value_net import Forward, Module, network_text, value_net

LINEAR = 0.1
"""Error, as a fraction of the pot, beyond which the Huber loss is linear; deep stacks have large errors."""
GAME = "rivers of hold'em, {bins} bins of strength"
HANDS = "rivers of hold'em, {bins} single hands"


class RiverNet:
    """A network that maps rows of ``holdem.search.leaves.binned_rivers.RiverBins.rows`` to zero-sum values of bins.

    The inputs for a range are the fractions weaker than each bin. Such cumulative fractions vary less between ranges than
    fractions of single bins, so the network needs fewer rows. With single hands, the inputs are each hand's probability.

    Attributes:
        single: whether each hand is a bin.
        bins: B.
        inputs: length of a row.
        shown: whether values are relative to the showdown value, which is added; otherwise they are full hand values.
        net: float32 [n, inputs] to [n, 2B], on :func:`seen` and before the zero-sum correction.
        forward: evaluates the network.
    """

    def __init__(self, bins: int, *, width: int, layers: int, seed: int, board: int = 0, shown: bool = True) -> None:
        """Create an untrained network.

        Args:
            bins: B.
            width, layers, seed: architecture and seed of the network.
            board: number of inputs that encode the board, for single hands; otherwise 0.
            shown: whether values are relative to the showdown value.

        Raises:
            SpecError: PyTorch is missing.
        """
        self.single, self.bins, self.inputs, self.shown = board > 0, bins, 1 + 2 * bins + board, shown
        self.net: Module = value_net(self.inputs, 2 * self.bins, width=width, layers=layers, seed=seed)
        self.forward = Forward(self.net)

    def __repr__(self) -> str:
        return f"<river network, {self.bins} {'hands' if self.single else 'bins'}: {network_text(self.net)}>"

    def __call__(self, rows: Singles) -> Singles:
        """Values of both players' bins as fractions of the pot, float32 [n, 2B].

        Raises:
            SpecError: the rows are for other cards.
        """
        if rows.shape[1] != self.inputs:
            raise SpecError(f"the network is for {self.game}, but the spot has other cards; train one on this spot")
        values: Singles = balanced(rows, self.forward(seen(rows, self.bins, self.single)))
        return values

    def leaf(self) -> "RiverLeaf":
        """Leaf values for turns from this network."""
        return RiverLeaf(self)

    @property
    def game(self) -> str:
        """Description of the rivers that the network values."""
        return (HANDS if self.single else GAME).format(bins=self.bins)


class RiverLeaf(BinnedRivers):
    """Leaf values for turns from a river network.

    Attributes:
        function: function that computes values of bins.
        net: its PyTorch module.
        guess: initial policies of the turn from another network, for warm starts; None without one.
        warm: number of iterations that a warm start counts as.
    """

    function: RiverNet

    def __init__(self, function: RiverNet, guess: Any = None, warm: int = 0) -> None:
        super().__init__(function, SINGLE if function.single else function.bins, shown=function.shown)
        self.net, self.guess, self.warm = function.net, guess, warm


def seen(rows: Any, bins: int, single: bool) -> Any:
    """Transform rows, arrays or tensors [n, inputs], into network inputs.

    Fractions of bins become cumulative, scaled to about one; single hands are unchanged.
    """
    if single:
        return rows
    shares = rows[:, 1:].reshape(len(rows), 2, bins).cumsum(2) / bins
    inputs = rows.copy() if isinstance(rows, np.ndarray) else rows.clone()
    inputs[:, 1:] = (4.0 * shares - 2.0).reshape(len(rows), -1)
    return inputs


def balanced(rows: Any, outputs: Any) -> Any:
    """Subtract half of the players' summed expected values under the rows' ranges (Moravčík et al. 2017, DeepStack).

    Arrays or tensors, [n, inputs] and [n, 2B]. Since ranges are given by bins, hand values are zero-sum up to the binning
    error, while showdown payoffs are exactly zero-sum. With single hands the correction is exact.
    """
    return outputs - (rows[:, 1 : 1 + outputs.shape[1]] * outputs).sum(-1)[:, None] / outputs.shape[1]


def river_loss(net: Module, rows: Any, targets: Any, weights: Any) -> Any:
    """Mean Huber loss of bin values, weighted by the number of hands in each bin; quadratic up to :data:`LINEAR`.

    With single hands, rows include the board and are stored in half precision.
    """
    rows, targets, weights = rows.float(), targets.float(), weights.float()
    bins = targets.shape[1] // 2
    values = balanced(rows, net(seen(rows, bins, rows.shape[1] > 1 + 2 * bins)))
    errors = torch_module().nn.functional.huber_loss(values, targets, reduction="none", delta=LINEAR)
    return (errors * weights).mean()
