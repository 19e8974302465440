"""Pairs of hands over many boards: wins and losses, and payoffs under policies over hand classes."""

import numpy as np

from treeplex.base.arrays import Ints, Shorts, Singles
from treeplex.engine.kernel import kernel

SeatArrays = tuple[Ints, Shorts]
"""A player's hands: classes, int64 [n], and ranks of strength, int16 [n], -1 for blocked hands."""
BLOCKED_LOW, BLOCKED_HIGH = -1, 32767
"""Ranks of hands that a board does not allow: below all and above all."""

BLOCK = 8
"""Number of hands compared at a time, so that the ranks on a board stay in the L1 cache."""


@kernel()
def add_wins(order: Shorts, start: Shorts, sizes: Shorts, wins: Singles) -> None:
    """Add each hand's wins minus losses against every other hand on complete boards.

    Args:
        order, start, sizes: at most 32,767 boards, see :class:`treeplex.holdem.cards.hand_order.HandOrder`; hands are numbered
            from 0 to H - 1.
        wins: float32 [H, H], added to; shared cards are ignored.
    """
    hands, boards = len(wins), len(sizes)
    low, high = np.full((boards, hands), BLOCKED_LOW, np.int16), np.full((boards, hands), BLOCKED_HIGH, np.int16)
    for r in range(boards):
        for k in range(sizes[r]):
            low[r, order[r, k]] = high[r, order[r, k]] = start[r, k]
    counts = np.empty((BLOCK, hands), np.int16)
    for first in range(0, hands, BLOCK):
        last = min(first + BLOCK, hands)
        counts[:] = 0
        for r in range(boards):
            below, above = high[r], low[r]
            for i in range(first, last):
                rank, counted = low[r, i], counts[i - first]
                if rank < 0:
                    continue
                for j in range(i):  # 16-bit integers: sixteen pairs at once
                    counted[j] += np.int16(rank > below[j]) - np.int16(rank < above[j])
        for i in range(first, last):
            for j in range(i):
                wins[i, j] += counts[i - first, j]
                wins[j, i] -= counts[i - first, j]


@kernel(fastmath={"contract", "reassoc", "nsz"})
def add_payoffs(folds: Singles, shown: Singles, first: SeatArrays, second: SeatArrays, tilt: Singles, paid: Singles) -> None:
    """Add the payoffs of all pairs of hands on a complete board.

    Args:
        folds: float32 [C_0, D_0, C_1, D_1], player 0's chips by folds, for each pair of classes.
        shown: float32, same shape, chips at stake in showdowns.
        first, second: the hands of each player.
        tilt: float32 [n_0, n_1], added to the winner (1, -1 or 0).
        paid: float32 [C_0, C_1, n_0, n_1], added to.
    """
    mine, ranks = first
    theirs, other = second
    free, won = np.empty((2, len(theirs)), np.float32)
    for j in range(len(theirs)):
        free[j] = 1.0 if other[j] >= 0 else 0.0
    fold, show = np.empty((2, folds.shape[2], len(theirs)), np.float32)
    order, last = np.argsort(mine), -1
    for c in range(folds.shape[0]):
        for i in order:  # hands of one class in sequence, so that numbers are spread over the other's hands once
            if ranks[i] < 0:
                continue
            if mine[i] != last:
                last = mine[i]
                for d in range(folds.shape[2]):
                    spread(folds[c, last, d], theirs, free, fold[d])
                    spread(shown[c, last, d], theirs, free, show[d])
            for j in range(len(theirs)):
                won[j] = np.float32(ranks[i] > other[j]) - np.float32(ranks[i] < other[j]) + tilt[i, j]
            for d in range(folds.shape[2]):
                row, fixed, stake = paid[c, d, i], fold[d], show[d]
                for j in range(len(theirs)):
                    row[j] += fixed[j] + stake[j] * won[j]
        last = -1


@kernel()
def spread(numbers: Singles, classes: Ints, free: Singles, hand_numbers: Singles) -> None:
    """Write the number of each hand's class into ``hand_numbers``, float32 [n]; 0 for blocked hands."""
    for j in range(len(classes)):
        hand_numbers[j] = numbers[classes[j]] * free[j]
