"""Exactly solved rivers: training data for a river network."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solveh_banded

from treeplex.base.arrays import Floats, Singles
from treeplex.holdem.engine.passes import EXPECT
from treeplex.holdem.forms.compile_spot import compile_spot
from treeplex.holdem.search.leaves.binned_rivers import RiverBins
from treeplex.holdem.solve.solver import HoldemSolver
from treeplex.holdem.spots.spot import Spot
from treeplex.search.subgames.beliefs import normalised_range, with_trace

METHOD = "dcfr"
"""Solver used for rivers."""
RIDGE = 0.02
"""Regularisation weight, in hands, of the bin's mean in the fit of bin values."""


@dataclass(frozen=True, eq=False)
class River:
    """A solved river.

    Attributes:
        spot: board, pot, stack and bets, with all hands in both ranges.
        ranges: float64 [H] for each player, unnormalised initial range.
        worth: float64 [N] for each player, hand values as fractions of the pot, in full or relative to the showdown value
            without further bets; hands as in ``bins.order[0]``. NaN for hands without a compatible opposing hand in range.
        bins: the board's bins.
    """

    spot: Spot
    ranges: tuple[Floats, Floats]
    worth: tuple[Floats, Floats]
    bins: RiverBins

    @classmethod
    def solved(
        cls,
        spot: Spot,
        ranges: tuple[Floats, Floats],
        iterations: int,
        bins: int,
        *,
        shown: bool = True,
        storage: str = "float32",
    ) -> "River":
        """Solve a river with Discounted CFR.

        Args:
            spot: a spot with a complete board, no rake, and a weight for every hand.
            ranges: float64 [H] for each player, unnormalised; a range without possible hands is replaced by the uniform range.
            iterations: number of iterations.
            bins: B, or :data:`treeplex.holdem.search.leaves.binned_rivers.SINGLE`.
            shown: whether values are relative to the showdown value.
            storage: number type, see :data:`treeplex.holdem.forms.spot_form.STORAGE`.
        """
        board = RiverBins.of(spot.format, (spot.board,), bins)
        first, second = possible_ranges(board, ranges)
        order = board.order[0]
        game = compile_spot(spot, isomorphism=False)
        weights = np.concatenate([first[order], second[order]])
        game = replace(game, form=game.form._replace(weights=weights))
        solver = HoldemSolver(game, METHOD, threads=1, storage=storage, horizon=iterations)
        solver.run(iterations)
        store, chips = solver.store, []
        for player in (0, 1):
            solver.crew.answer(player, EXPECT, store.average, store.average_scales, store)
            chips.append(np.asarray(solver.crew.root_values(player), np.float64))
        return cls.of_chips(spot, (first, second), (chips[0], chips[1]), board, shown=shown)

    @classmethod
    def of_chips(
        cls, spot: Spot, ranges: tuple[Floats, Floats], chips: tuple[Floats, Floats], bins: RiverBins, *, shown: bool
    ) -> "River":
        """Create a river from full hand values: float64 [N] for each player, in chips times the other's compatible reach."""
        worth = []
        for player, other in ((0, ranges[1]), (1, ranges[0])):
            mass, edge = bins.showdown(0, other)
            sure = mass > 0
            over = np.full(len(mass), np.nan)
            over[sure] = (chips[player][sure] / spot.pot - 0.5 * shown * edge[sure]) / mass[sure]
            worth.append(over)
        return cls(spot, ranges, (worth[0], worth[1]), bins)

    def row(self) -> tuple[Singles, Singles, Singles]:
        """Training row: network inputs, targets, and weights of bins; float32 [inputs], [2B] and [2B].

        A bin's values minimise the squared error of the hand values interpolated from bins. Its weight is its number of hands
        relative to an average bin.
        """
        pot, stack = np.array([self.spot.pot]), np.array([self.spot.stack])
        inputs = self.bins.rows((self.ranges[0][None], self.ranges[1][None]), pot, stack)[0]
        fitted = [fit(self.bins, values) for values in self.worth]
        return inputs, np.concatenate([part[0] for part in fitted]), np.concatenate([part[1] for part in fitted])


def possible_ranges(board: RiverBins, ranges: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Ranges restricted to a river's possible hands, float64 [H] for each player, summing to one; uniform if empty."""
    possible = np.zeros(len(board.format.hands))
    possible[board.order[0]] = 1.0
    first, second = (normalised_range(with_trace(weights[None])[0], possible) for weights in ranges)
    return first, second


def fit(board: RiverBins, worth: Floats) -> tuple[Singles, Singles]:
    """Least-squares bin values from hand values [N], and each bin's number of hands relative to an average bin."""
    sure = np.isfinite(worth)
    low, share, values = board.low[0][sure].astype(np.int64), board.share[0][sure], worth[sure]
    below = 1.0 - share
    count = sums(board.bins, low, (below, share))
    total = sums(board.bins, low, (below * values, share * values))
    mean = np.divide(total, count, out=np.zeros(board.bins), where=count > 0)
    band = np.zeros((2, board.bins))
    band[1] = sums(board.bins, low, (below * below, share * share)) + RIDGE
    band[0, 1:] = np.bincount(low, below * share, board.bins)[:-1]
    bin_values = solveh_banded(band, total + RIDGE * mean)
    return bin_values.astype(np.float32), (count * (board.bins / max(count.sum(), 1.0))).astype(np.float32)


def sums(bins: int, low: NDArray[np.int64], parts: Sequence[Floats]) -> Floats:
    """Sums over hands by bin, [B]: the first part of each hand is added to the bin below, the second to the bin above."""
    return np.asarray(np.bincount(low, parts[0], bins) + np.bincount(low + 1, parts[1], bins))
