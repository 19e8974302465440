"""Per-hand network inputs against a range: equities over all runouts, positions in both ranges, blockers.

The n hands are those that the board allows. A hand's equity is its probability of winning at showdown (a tie counts half)
against the opponent's range, excluding hands that share a card with it.
"""

import numpy as np

from treeplex.base.arrays import Bytes, Floats, Shorts, Singles
from treeplex.engine.kernel import kernel
from treeplex.holdem.engine.showdowns.strength_bins import settle

BINS = 8
"""Number of equity bins per range in an input row."""
FINE = 64
"""Number of finer equity bins used to look up positions in a range."""
STATIC = 4
"""Per hand against all hands: equity, its standard deviation over runouts, and its frequency above ``HIGH`` and below
``LOW``."""
HIGH, LOW = 0.85, 0.15
TOP, BOTTOM = 0.8, 0.3
"""Position in a range above which hands are among the best, and position below which they are among the worst."""
OWN = 8 + STATIC
"""Inputs about the hand: equity, compatible mass, position in its own range, own reach relative to the range's mean, the
shares of the opponent's best, middling and worst hands that it blocks, equity times the logarithm of the stack, and the
``STATIC`` inputs."""
SHARED = 4 + 2 * BINS
"""Inputs about the situation: logarithm of the stack-to-pot ratio, position, cards of one suit, pair, both ranges."""
INPUTS = SHARED + OWN


@kernel(error_model="numpy")
def summed_edges(reach: Floats, order: Shorts, start: Shorts, sizes: Shorts, cards: Bytes, step: int, edges: Floats) -> int:
    """Set ``edges`` [H] to wins minus losses against a range on every ``step``-th complete board; return the number of boards.

    Args:
        reach: [H], the opponent's reach.
        order, start: [R, N], hands by strength, as in :func:`settle`.
        sizes: [R], number of hands in each row.
        cards: [H, 2].
        step: 1 uses all boards.
        edges: [H], written; 0 for hands that every board blocks.
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
    """Set ``sums`` [52] to the total reach of the hands with each card; return the reach of all hands."""
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
    """Compatible reach and equity of each hand that the board allows, [n] each; equity is 1/2 where compatible reach is zero.

    Args:
        reach: [H], the opponent's reach.
        order, start, sizes, cards, step: as in :func:`summed_edges`.
        held: [n].
        runouts: number of complete boards given two hands, on average over hands.
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
def static_features(order: Shorts, start: Shorts, held: Shorts, cards: Bytes, static: Floats) -> None:
    """Write the ``STATIC`` inputs of each hand that a board allows, [n, STATIC]."""
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
        row, out = sums[held[k]], static[k]
        mean = row[0] / row[4]
        out[0] = mean
        out[1] = np.sqrt(max(row[1] / row[4] - mean * mean, 0.0))
        out[2] = row[2] / row[4]
        out[3] = row[3] / row[4]


@kernel(error_model="numpy")
def cumulated(reach: Floats, held: Shorts, equity: Floats, shares: Floats) -> None:
    """Write the share of a range that lies below each of the ``FINE`` equity bins, [FINE + 1]."""
    shares[:] = 0.0
    for k in range(held.shape[0]):
        shares[min(int(equity[k] * FINE), FINE - 1) + 1] += reach[held[k]]
    for b in range(FINE):
        shares[b + 1] += shares[b]
    total = shares[FINE]
    for b in range(FINE + 1):
        shares[b] = shares[b] / total if total > 0.0 else b / FINE


@kernel(error_model="numpy")
def place_of(cumulative: Floats, equity: float) -> float:
    """The relative position of an equity within a range, in [0, 1]."""
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
    """Write the network inputs for each hand of one player.

    Args:
        reach: [2, H], both players' reach.
        held, static: [n] and [n, STATIC], of the board.
        cards: [H, 2].
        look: [3], logarithm of the stack-to-pot ratio, cards of one suit, and 1 if the board is paired.
        player: the player whose hands are written.
        mass, equity: [2, n], for both players' hands, see :func:`equities`.
        rows: float32 [n, INPUTS], written.
    """
    other, hands = 1 - player, held.shape[0]
    places = np.empty((2, FINE + 1))
    cumulated(reach[player], held, equity[player], places[player])
    cumulated(reach[other], held, equity[other], places[other])
    blocked, parts = np.zeros((3, 52)), np.zeros(3)
    total = own_total = squares = 0.0
    for k in range(hands):
        hand = held[k]
        r = reach[other, hand]
        total += r
        own_total += reach[player, hand]
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
        out[SHARED + 3] = min(reach[player, hand] * own_total / squares, 4.0) if own_total > 0.0 else 1.0
        for part in range(3):
            gone = blocked[part, cards[hand, 0]] + blocked[part, cards[hand, 1]]
            out[SHARED + 4 + part] = 4.0 * gone / parts[part] if parts[part] > 0.0 else 0.0
        out[SHARED + 7] = share * look[0]
        for b in range(STATIC):
            out[SHARED + 8 + b] = 2.0 * static[k, b] - 1.0
