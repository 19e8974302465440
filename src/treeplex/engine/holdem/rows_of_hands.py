"""Many hands of two cards at once: whom each meets, what each wins from each, means where suits do not tell them apart."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Singles = NDArray[np.float32]
Strengths = NDArray[np.int32]


@njit(cache=True, nogil=True)
def write_met(cards: Ints, free: Floats, reached: Floats, rounding: float, met: Floats) -> None:
    """Write for each hand the sum of ``reached`` over the hands that share no card with it, O(H) a row.

    Args:
        cards: [H, 2].
        free: [K, H], 0 for hands that the board blocks, else 1; row k goes with the rows k, k + K, ... of ``reached``.
        reached: [R, H].
        rounding: sums below this part of all are differences of rounded numbers, and count as nothing.
        met: [R, H], written.
    """
    held = np.empty(52)
    for row in range(reached.shape[0]):
        allowed = free[row % free.shape[0]]
        held[:] = 0.0
        total = 0.0
        for h in range(cards.shape[0]):
            own = reached[row, h] * allowed[h]
            total += own
            held[cards[h, 0]] += own
            held[cards[h, 1]] += own
        least = rounding * total
        for h in range(cards.shape[0]):
            mass = total - held[cards[h, 0]] - held[cards[h, 1]] + reached[row, h] * allowed[h]
            met[row, h] = mass * allowed[h] if mass > least else 0.0


@njit(cache=True, nogil=True)
def equalise(orbits: Ints, values: Floats) -> None:
    """Give hands of one orbit their mean value, in place.

    Args:
        orbits: [K, H], the number of each hand's orbit, less than H.
        values: [K, H].
    """
    hands = orbits.shape[1]
    total, count = np.empty(hands), np.empty(hands)
    for row in range(orbits.shape[0]):
        total[:] = 0.0
        count[:] = 0.0
        for h in range(hands):
            total[orbits[row, h]] += values[row, h]
            count[orbits[row, h]] += 1.0
        for h in range(hands):
            values[row, h] = total[orbits[row, h]] / count[orbits[row, h]]


@njit(cache=True, nogil=True, fastmath=True)
def add_shares(strengths: Strengths, weights: Floats, shares: Singles, met: Singles) -> None:
    """Add over complete boards what each hand gets of the pot from each other, ties halved, and how often they meet.

    Args:
        strengths: [R, H], on each board; -1 for hands with a card of it.
        weights: [R], of the boards.
        shares, met: [H, H], added to; hands that share a card are not looked for.
    """
    hands = strengths.shape[1]
    for r in range(strengths.shape[0]):
        own, half = strengths[r], np.float32(0.5 * weights[r])
        for i in range(hands):
            mine = own[i]
            if mine < 0:
                continue
            row, count = shares[i], met[i]
            for j in range(hands):
                free = half if own[j] >= 0 else np.float32(0.0)
                count[j] += free + free
                row[j] += (free if mine > own[j] else np.float32(0.0)) + (free if mine >= own[j] else np.float32(0.0))
