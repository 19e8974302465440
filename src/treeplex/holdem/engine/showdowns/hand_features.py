"""Network inputs of single hands against a range: equities over all boards to come, places in both ranges, blockers.

Hands are those that a board allows, n of them. Equity of a hand is its chance to win at showdown, ties counting half, against
the opponent's range without the hands that share a card with it.
"""

import numpy as np

from treeplex.base.arrays import Bytes, Floats, Shorts, Singles
from treeplex.engine.kernel import kernel
from treeplex.holdem.engine.showdowns.strength_bins import settle

BINS = 8
"""Bins of equity in which a row says what both ranges look like."""
FINE = 64
"""Bins of equity from which places in a range are read off."""
STATIC = 4
"""Of each hand on a board against all hands: equity, its standard deviation over boards to come, how often it is above
``HIGH``, how often below ``LOW``."""
HIGH, LOW = 0.85, 0.15
TOP, BOTTOM = 0.8, 0.3
"""Places in a range from which on a hand is one of its best, and up to which one of its worst."""
OWN = 8 + STATIC
"""Numbers of a row about the hand: equity, compatible mass, place in the own range, own reach relative to the range's mean,
the parts of the opponent's best, middling and worst hands that it blocks, equity times the logarithm of the stack, and the
``STATIC`` ones."""
SHARED = 4 + 2 * BINS
"""Numbers about the situation: the logarithm of the stack over the pot, position, cards of one suit, a pair, both ranges."""
INPUTS = SHARED + OWN


@kernel(error_model="numpy")
def summed_edges(reach: Floats, order: Shorts, start: Shorts, sizes: Shorts, cards: Bytes, step: int, edges: Floats) -> int:
    """Set ``edges`` [H] to wins less losses against a range, summed over every ``step``-th complete board; how many these are.

    Args:
        reach: [H], the opponent's.
        order, start: [R, N], hands by strength, as :func:`settle` takes them.
        sizes: [R], how many hands there are in each row.
        cards: [H, 2].
        step: 1 for all boards.
        edges: [H], written; 0 for hands that no board allows.
    """
    hands = order.shape[1]
    mass, edge = np.empty(hands), np.empty(hands)
    edges[:] = 0.0
    count = 0
    for c in range(0, order.shape[0], step):
        settle(reach, order[c, : sizes[c]], start[c], cards, mass, edge)
        count += 1
        for j in range(sizes[c]):
            edges[order[c, j]] += edge[j]
    return count


@kernel(error_model="numpy")
def card_sums(reach: Floats, held: Shorts, cards: Bytes, sums: Floats) -> float:
    """Set ``sums`` [52] to the reach of hands with each card; the reach of all."""
    sums[:] = 0.0
    total = 0.0
    for k in range(held.shape[0]):
        hand = held[k]
        r = reach[hand]
        total += r
        sums[cards[hand, 0]] += r
        sums[cards[hand, 1]] += r
    return total


@kernel(error_model="numpy")
def equities(
    reach: Floats,
    order: Shorts,
    start: Shorts,
    sizes: Shorts,
    held: Shorts,
    cards: Bytes,
    step: int,
    runouts: float,
    mass: Floats,
    equity: Floats,
) -> None:
    """Compatible reach and equity of each hand that the board allows, [n] both; equity 1/2 where compatible reach is zero.

    Args:
        reach: [H], the opponent's.
        order, start, sizes, cards, step: as :func:`summed_edges`.
        held: [n].
        runouts: complete boards possible given two hands, on average over hands.
        mass, equity: written.
    """
    edges, sums = np.empty(reach.shape[0]), np.empty(52)
    count = summed_edges(reach, order, start, sizes, cards, step, edges)
    total = card_sums(reach, held, cards, sums)
    scale = 0.5 * order.shape[0] / (count * runouts)
    for k in range(held.shape[0]):
        hand = held[k]
        met = total - sums[cards[hand, 0]] - sums[cards[hand, 1]] + reach[hand]
        mass[k] = max(met, 0.0)
        equity[k] = min(max(0.5 + scale * edges[hand] / met, 0.0), 1.0) if met > 1e-9 * total else 0.5


@kernel(error_model="numpy")
def static_features(order: Shorts, start: Shorts, held: Shorts, cards: Bytes, found: Floats) -> None:
    """The ``STATIC`` numbers of each hand that a board allows, [n, STATIC], written."""
    size = cards.shape[0]
    reach, hands = np.zeros(size), order.shape[1]
    mass, edge = np.empty(hands), np.empty(hands)
    for k in range(held.shape[0]):
        reach[held[k]] = 1.0
    sums = np.zeros((size, STATIC + 1))
    for c in range(order.shape[0]):
        settle(reach, order[c], start[c], cards, mass, edge)
        for j in range(hands):
            equity = 0.5 + 0.5 * edge[j] / mass[j] if mass[j] > 0.0 else 0.5
            row = sums[order[c, j]]
            row[0] += equity
            row[1] += equity * equity
            row[2] += 1.0 if equity > HIGH else 0.0
            row[3] += 1.0 if equity < LOW else 0.0
            row[4] += 1.0
    for k in range(held.shape[0]):
        row, out = sums[held[k]], found[k]
        mean = row[0] / row[4]
        out[0] = mean
        out[1] = np.sqrt(max(row[1] / row[4] - mean * mean, 0.0))
        out[2] = row[2] / row[4]
        out[3] = row[3] / row[4]


@kernel(error_model="numpy")
def cumulated(reach: Floats, held: Shorts, equity: Floats, found: Floats) -> None:
    """Write for each of the ``FINE`` bins of equity the part of a range that lies in bins below it, [FINE + 1]."""
    found[:] = 0.0
    for k in range(held.shape[0]):
        found[min(int(equity[k] * FINE), FINE - 1) + 1] += reach[held[k]]
    for b in range(FINE):
        found[b + 1] += found[b]
    total = found[FINE]
    for b in range(FINE + 1):
        found[b] = found[b] / total if total > 0.0 else b / FINE


@kernel(error_model="numpy")
def place_of(cumulative: Floats, equity: float) -> float:
    """The place of an equity in a range, in [0, 1]."""
    at = equity * FINE
    low = min(int(at), FINE - 1)
    share: float = cumulative[low] + (cumulative[low + 1] - cumulative[low]) * (at - low)
    return share


@kernel(error_model="numpy")
def write_rows(
    reach: Floats,
    held: Shorts,
    cards: Bytes,
    static: Floats,
    look: Floats,
    player: int,
    mass: Floats,
    equity: Floats,
    rows: Singles,
) -> None:
    """Write what a network sees of each hand of one player.

    Args:
        reach: [2, H], both players'.
        held, static: [n] and [n, STATIC] of the board.
        cards: [H, 2].
        look: [3], the logarithm of the stack over the pot, cards of one suit, and 1 if the board is paired.
        player: whose hands.
        mass, equity: [2, n], of both players' hands, see :func:`equities`.
        rows: float32 [n, INPUTS], written.
    """
    other, hands = 1 - player, held.shape[0]
    places = np.empty((2, FINE + 1))
    cumulated(reach[player], held, equity[player], places[player])
    cumulated(reach[other], held, equity[other], places[other])
    blocked, parts = np.zeros((3, 52)), np.zeros(3)
    total = own = squares = 0.0
    for k in range(hands):
        hand = held[k]
        r = reach[other, hand]
        total += r
        own += reach[player, hand]
        squares += reach[player, hand] ** 2
        at = place_of(places[other], equity[other, k])
        part = 2 if at >= TOP else 0 if at < BOTTOM else 1
        parts[part] += r
        blocked[part, cards[hand, 0]] += r
        blocked[part, cards[hand, 1]] += r
    shared = np.zeros(SHARED)
    shared[0], shared[1], shared[2], shared[3] = look[0], float(player), look[1], look[2]
    for b in range(BINS):
        low, high = b * FINE // BINS, (b + 1) * FINE // BINS
        shared[4 + b] = BINS * (places[player, high] - places[player, low]) - 1.0
        shared[4 + BINS + b] = BINS * (places[other, high] - places[other, low]) - 1.0
    for k in range(hands):
        hand, out = held[k], rows[k]
        for b in range(SHARED):
            out[b] = shared[b]
        share = 2.0 * equity[player, k] - 1.0
        out[SHARED] = share
        out[SHARED + 1] = 10.0 * (mass[player, k] / total - 0.9) if total > 0.0 else 0.0
        out[SHARED + 2] = 2.0 * place_of(places[player], equity[player, k]) - 1.0
        out[SHARED + 3] = min(reach[player, hand] * own / squares, 4.0) if own > 0.0 else 1.0
        for part in range(3):
            gone = blocked[part, cards[hand, 0]] + blocked[part, cards[hand, 1]]
            out[SHARED + 4 + part] = 4.0 * gone / parts[part] if parts[part] > 0.0 else 0.0
        out[SHARED + 7] = share * look[0]
        for b in range(STATIC):
            out[SHARED + 8 + b] = 2.0 * static[k, b] - 1.0
