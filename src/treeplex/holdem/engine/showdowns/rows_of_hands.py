"""Vectorised two-card hands: compatible reach, pairwise pot shares, and means over suit-isomorphic hands."""

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints, Singles
from treeplex.engine.kernel import kernel

Strengths = NDArray[np.int32]


@kernel()
def write_met(cards: Ints, free: Floats, reached: Floats, rounding: float, met: Floats) -> None:
    """Write for each hand the sum of ``reached`` over the hands that share no card with it, in O(H) per row.

    Args:
        cards: [H, 2].
        free: [K, H], 0 for blocked hands, else 1; row k goes with the rows k, k + K, ... of ``reached``.
        reached: [R, H].
        rounding: sums below this share of the total are rounding errors and set to zero.
        met: [R, H], written.
    """
    held = np.empty(52)
    for row in range(reached.shape[0]):
        allowed = free[row % free.shape[0]]
        held[:] = 0.0
        total = 0.0
        for h in range(cards.shape[0]):
            weight = reached[row, h] * allowed[h]
            total += weight
            held[cards[h, 0]] += weight
            held[cards[h, 1]] += weight
        least = rounding * total
        for h in range(cards.shape[0]):
            mass = total - held[cards[h, 0]] - held[cards[h, 1]] + reached[row, h] * allowed[h]
            met[row, h] = mass * allowed[h] if mass > least else 0.0


@kernel()
def equalise(orbits: Ints, values: Floats) -> None:
    """Replace the values of all hands in a suit orbit by their mean, in place.

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


@kernel(fastmath=True)
def add_shares(strengths: Strengths, weights: Floats, shares: Singles, met: Singles) -> None:
    """Add each pair's pot shares over complete boards (ties split), and the weight of the boards that allow both hands.

    Args:
        strengths: [R, H], strengths on each board; -1 for blocked hands.
        weights: [R], weights of the boards.
        shares, met: [H, H], added to; shared cards are ignored.
    """
    hands = strengths.shape[1]
    for i in range(hands):
        row, count = shares[i], met[i]
        for r in range(strengths.shape[0]):
            board_strengths, half = strengths[r], np.float32(0.5 * weights[r])
            mine = board_strengths[i]
            if mine < 0:
                continue
            for j in range(hands):
                free = half if board_strengths[j] >= 0 else np.float32(0.0)
                count[j] += free + free
                row[j] += (free if mine > board_strengths[j] else np.float32(0.0)) + (
                    free if mine >= board_strengths[j] else np.float32(0.0)
                )


@kernel(fastmath={"contract", "reassoc", "nsz"})
def write_won(shares: Singles, firsts: Ints, rows: Ints, reached: Floats, met: Floats, won: Floats) -> None:
    """Write each hand's pot share, summed over compatible hands and weighted by their reach.

    The two shares of a pot sum to one, so the kernel subtracts the opponents' shares from the compatible reach and can
    read the matrix by rows, four at a time. Sums are in single precision.

    Args:
        shares: [B, H, H], on each board one hand's share against another, 0 where they share a card.
        firsts: [B + 1], start of each board's rows in ``rows``.
        rows: [R], row numbers, grouped by board.
        reached, met: [R, H], the opponent's reach, and its sum over the hands compatible with each hand.
        won: [R, H], written.
    """
    hands = shares.shape[1]
    for b in range(shares.shape[0]):
        begin, count, matrix = firsts[b], firsts[b + 1] - firsts[b], shares[b]
        lost = np.zeros((count, hands), np.float32)
        for j in range(0, hands - 3, 4):
            first, second, third, fourth = matrix[j], matrix[j + 1], matrix[j + 2], matrix[j + 3]
            for k in range(count):
                reach, out = reached[rows[begin + k]], lost[k]
                w, x = np.float32(reach[j]), np.float32(reach[j + 1])
                y, z = np.float32(reach[j + 2]), np.float32(reach[j + 3])
                if w == 0.0 and x == 0.0 and y == 0.0 and z == 0.0:
                    continue
                for i in range(hands):
                    out[i] += w * first[i] + x * second[i] + y * third[i] + z * fourth[i]
        for j in range(hands - hands % 4, hands):
            first = matrix[j]
            for k in range(count):
                w, out = np.float32(reached[rows[begin + k], j]), lost[k]
                for i in range(hands):
                    out[i] += w * first[i]
        for k in range(count):
            row = rows[begin + k]
            for i in range(hands):
                won[row, i] = met[row, i] - lost[k, i]


@kernel()
def write_bins(boards: Ints, low: Ints, share: Singles, believed: Floats, columns: Singles) -> None:
    """Write the cumulative share of a range up to each strength bin, scaled from -2 (none) to 2 (all of it).

    Args:
        boards: [K], board number of each row.
        low: [boards, H], the bin below each hand, -1 for blocked hands.
        share: [boards, H], the hand's share in the bin above.
        believed: [K, H], any scale; an empty range counts as uniform.
        columns: [K, B], written.
    """
    bins = columns.shape[1]
    for k in range(believed.shape[0]):
        below, above, reach = low[boards[k]], share[boards[k]], believed[k]
        total = 0.0
        for h in range(reach.shape[0]):
            if below[h] >= 0:
                total += reach[h]
        bin_mass, count = np.zeros(bins), 0.0
        for h in range(reach.shape[0]):
            if below[h] >= 0:
                weight = reach[h] if total > 0.0 else 1.0
                part = weight * above[h]
                count += weight
                bin_mass[below[h]] += weight - part
                bin_mass[below[h] + 1] += part
        passed = 0.0
        for b in range(bins):
            passed += bin_mass[b]
            columns[k, b] = 4.0 * passed / count - 2.0


@kernel()
def read_bins(boards: Ints, low: Ints, share: Singles, columns: Singles, values: Floats) -> None:
    """Interpolate the values of hands between those of bins; 0 for blocked hands.

    Args:
        boards, low, share: as in :func:`write_bins`.
        columns: [K, B], values of bins.
        values: [K, H], written.
    """
    for k in range(values.shape[0]):
        below, above, bin_values = low[boards[k]], share[boards[k]], columns[k]
        for h in range(values.shape[1]):
            b = below[h]
            values[k, h] = bin_values[b] + (bin_values[b + 1] - bin_values[b]) * above[h] if b >= 0 else 0.0


@kernel()
def sum_in_bins(boards: Ints, low: Ints, share: Singles, values: Floats, weights: Floats, sums: Floats) -> None:
    """Add the hands' weights, and their values times weights, to the bins.

    Args:
        boards, low, share: as in :func:`write_bins`.
        values, weights: [K, H].
        sums: [2, K, B], values times weights and weights, added to.
    """
    for k in range(values.shape[0]):
        below, above = low[boards[k]], share[boards[k]]
        for h in range(values.shape[1]):
            b = below[h]
            if b < 0:
                continue
            part = weights[k, h] * above[h]
            rest = weights[k, h] - part
            sums[0, k, b] += rest * values[k, h]
            sums[0, k, b + 1] += part * values[k, h]
            sums[1, k, b] += rest
            sums[1, k, b + 1] += part
