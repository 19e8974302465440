"""River inputs and outputs of networks: ranges summed over strength bins, and values interpolated, many rivers at a time.

The hands of a complete board are ordered by strength. Bins are knots along that order. A hand between two knots
contributes to both, in proportion to its distance from the other. Hands that tie have the same position.
"""

import numpy as np

from treeplex.base.arrays import Bytes, Floats, Shorts, Singles
from treeplex.engine.kernel import kernel


@kernel(error_model="numpy")
def gather_bins(reached: Floats, order: Shorts, low: Shorts, share: Floats, bins: int, rows: Singles, first: int) -> None:
    """Write the share of a player's range in each bin times the number of bins, so that a uniform range is about 1 everywhere.

    Args:
        reached: [K, H], reach of each hand, any scale; a river without reach gets a uniform range.
        order: [R, N], the hands that each river allows, weakest first.
        low: [R, N], the knot below each hand.
        share: [R, N], the hand's share in the knot above.
        bins: B, number of knots.
        rows: [K * R, inputs], written in columns ``first .. first + B - 1``.
        first: the first of those columns.
    """
    rivers, hands = order.shape
    bin_mass = np.empty(bins)
    for k in range(reached.shape[0]):
        reach = reached[k]
        for c in range(rivers):
            bin_mass[:] = 0.0
            total = 0.0
            for j in range(hands):
                total += reach[order[c, j]]
            for j in range(hands):
                weight = reach[order[c, j]] if total > 0.0 else 1.0
                above = weight * share[c, j]
                bin_mass[low[c, j]] += weight - above
                bin_mass[low[c, j] + 1] += above
            scale = bins / (total if total > 0.0 else float(hands))
            row = rows[k * rivers + c]
            for b in range(bins):
                row[first + b] = scale * bin_mass[b]


@kernel(error_model="numpy")
def gather_hands(reached: Floats, other: Floats, order: Shorts, start: Shorts, cards: Bytes, rows: Singles, first: int) -> None:
    """Write the probability of each of a player's hands on each river, times the number of hands.

    Args:
        reached, other: [K, H], reach of the player's and of the other's hands, any scale; uniform where no two hands are
            compatible.
        order, start, cards: for the rivers, see :func:`settle`.
        rows: [K * R, inputs], written in columns ``first .. first + H - 1``.
        first: the first of those columns.
    """
    rivers, hands = order.shape
    mass, edge = np.empty(hands), np.empty(hands)
    for k in range(reached.shape[0]):
        for c in range(rivers):
            settle(other[k], order[c], start[c], cards, mass, edge)
            total = 0.0
            for j in range(hands):
                mass[j] *= reached[k, order[c, j]]
                total += mass[j]
            row = rows[k * rivers + c, first : first + cards.shape[0]]
            row[:] = 0.0
            for j in range(hands):
                row[order[c, j]] = cards.shape[0] * (mass[j] / total if total > 0.0 else 1.0 / hands)


@kernel(error_model="numpy")
def settle(reach: Floats, order: Shorts, start: Shorts, cards: Bytes, mass: Floats, edge: Floats) -> None:
    """Each hand's compatible reach and showdown margin against a range on a river.

    Args:
        reach: [H], the opponent's reach.
        order: [N], hands, weakest first.
        start: [N], position of the first hand that ties with each.
        cards: [H, 2].
        mass: [N], written: reach of the hands that share no card with each.
        edge: [N], written: reach of the hands that each hand beats, minus those that beat it.
    """
    hands = order.shape[0]
    total, passed = 0.0, 0.0
    held, below = np.zeros(52), np.zeros(52)
    for j in range(hands):
        h = order[j]
        total += reach[h]
        held[cards[h, 0]] += reach[h]
        held[cards[h, 1]] += reach[h]
    j = 0
    while j < hands:
        end = j
        while end < hands and start[end] == j:
            h = order[end]
            edge[end] = passed - below[cards[h, 0]] - below[cards[h, 1]]
            end += 1
        for i in range(j, end):
            h = order[i]
            passed += reach[h]
            below[cards[h, 0]] += reach[h]
            below[cards[h, 1]] += reach[h]
        for i in range(j, end):
            h = order[i]
            mass[i] = max(total - held[cards[h, 0]] - held[cards[h, 1]] + reach[h], 0.0)
            edge[i] += passed - below[cards[h, 0]] - below[cards[h, 1]] + reach[h] - mass[i]
        j = end


@kernel(error_model="numpy")
def sum_over_rivers(
    reached: Floats,
    order: Shorts,
    start: Shorts,
    low: Shorts,
    share: Floats,
    cards: Bytes,
    outputs: Singles,
    pots: Floats,
    chance: float,
    shown: float,
    values: Floats,
) -> None:
    """Sum values over rivers: exact showdowns without further bets, plus the values given for bins.

    Args:
        reached: [K, H], the opponent's reach.
        order, start, low, share, cards: for the rivers, see :func:`gather_bins` and :func:`settle`.
        outputs: [K * R, B], for each bin the value over the showdown's, in pots; single hands are bins too.
        pots: [K], chips.
        chance: the probability of each river, given both hands.
        shown: 1, or 0 to leave the showdown out.
        values: [K, H], written: expected chips times the opponent's compatible reach.
    """
    rivers, hands = order.shape
    mass, edge = np.empty(hands), np.empty(hands)
    values[:] = 0.0
    for k in range(reached.shape[0]):
        for c in range(rivers):
            settle(reached[k], order[c], start[c], cards, mass, edge)
            row, scale = outputs[k * rivers + c], chance * pots[k]
            for j in range(hands):
                b, above = low[c, j], share[c, j]
                over = row[b] + above * (row[b + 1] - row[b])
                values[k, order[c, j]] += scale * (0.5 * shown * edge[j] + mass[j] * over)
