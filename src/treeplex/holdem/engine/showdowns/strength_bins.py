"""Rivers for a network: ranges gathered into bins of strength, and values read off the bins, for many rivers at once.

On a complete board the hands have an order of strength. Bins are knots along that order; a hand lies between two of them, and
counts towards both by how near it is. Hands that tie lie at the same place.
"""

import numpy as np

from treeplex.base.arrays import Bytes, Floats, Shorts, Singles
from treeplex.engine.kernel import kernel


@kernel(error_model="numpy")
def gather_bins(reached: Floats, order: Shorts, low: Shorts, share: Floats, bins: int, rows: Singles, first: int) -> None:
    """Write the part of a player's range in each bin, times the number of bins, so that a uniform range is about 1.

    Args:
        reached: [K, H], reach of each hand, any scale; a river that no hand reaches gets a uniform range.
        order: [R, N], the hands that each river allows, weakest first.
        low: [R, N], the knot below each of them.
        share: [R, N], how much of it belongs to the knot above.
        bins: B, how many knots.
        rows: [K * R, inputs], written in columns ``first .. first + B - 1``.
        first: the first of those columns.
    """
    rivers, hands = order.shape
    found = np.empty(bins)
    for k in range(reached.shape[0]):
        reach = reached[k]
        for c in range(rivers):
            found[:] = 0.0
            total = 0.0
            for j in range(hands):
                total += reach[order[c, j]]
            for j in range(hands):
                weight = reach[order[c, j]] if total > 0.0 else 1.0
                above = weight * share[c, j]
                found[low[c, j]] += weight - above
                found[low[c, j] + 1] += above
            scale = bins / (total if total > 0.0 else float(hands))
            row = rows[k * rivers + c]
            for b in range(bins):
                row[first + b] = scale * found[b]


@kernel(error_model="numpy")
def gather_hands(reached: Floats, other: Floats, order: Shorts, start: Shorts, cards: Bytes, rows: Singles, first: int) -> None:
    """Write how likely each hand of a player is on each river, times the number of hands.

    Args:
        reached, other: [K, H], reach of the player's hands and of the other's, any scale; where no two of them go together all
            hands that the river allows are alike.
        order, start, cards: of the rivers, see :func:`settle`.
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
    """What a showdown on a river would decide for each hand, against a range.

    Args:
        reach: [H], the other player's reach.
        order: [N], hands, weakest first.
        start: [N], the place of the first hand that ties with each.
        cards: [H, 2].
        mass: [N], written: the reach of hands that share no card with it.
        edge: [N], written: the reach of those that it beats, less those that beat it.
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
    """Sum values over rivers: the showdown without further bets exactly, and on top what the bins say.

    Args:
        reached: [K, H], the other player's reach.
        order, start, low, share, cards: of the rivers, see :func:`gather_bins` and :func:`settle`.
        outputs: [K * R, B], for each bin the value over that of the showdown, in parts of the pot; single hands are bins too.
        pots: [K], chips.
        chance: the probability of each river, given both hands.
        shown: 1, or 0 to leave the showdown out.
        values: [K, H], written: expected chips times the other's compatible reach.
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
