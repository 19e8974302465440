"""Per-hand network inputs against a range: equities over all runouts, positions in both ranges, blockers.

The n hands are those that the board allows. A hand's equity is its probability of winning at showdown (a tie counts half)
against the opponent's range, excluding hands that share a card with it.
"""

import numpy as np

from treeplex.base.arrays import Bytes, Floats, Ints, Shorts, Singles
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
    """Add wins minus losses against K ranges on every ``step``-th complete board; return the number of boards.

    A pass over a board's hands serves all ranges at once; see :func:`treeplex.holdem.engine.showdowns.strength_bins.settle`.

    Args:
        reach: [H, K], the opponent's reach in each range.
        order, start: [R, N], hands by strength, as in :func:`settle`.
        sizes: [R], number of hands in each row.
        cards: [H, 2].
        step: 1 uses all boards.
        edges: [H, K], added to.
    """
    ranges = reach.shape[1]
    total, passed = np.empty(ranges), np.empty(ranges)
    held, below = np.empty((52, ranges)), np.empty((52, ranges))
    count = 0
    for c in range(0, order.shape[0], step):
        total[:], passed[:], held[:], below[:] = 0.0, 0.0, 0.0, 0.0
        hands = sizes[c]
        for j in range(hands):
            h = order[c, j]
            low, high = cards[h, 0], cards[h, 1]
            for k in range(ranges):
                total[k] += reach[h, k]
                held[low, k] += reach[h, k]
                held[high, k] += reach[h, k]
        j = 0
        while j < hands:
            end = j
            while end < hands and start[c, end] == j:
                h = order[c, end]
                low, high = cards[h, 0], cards[h, 1]
                for k in range(ranges):
                    edges[h, k] += passed[k] - below[low, k] - below[high, k]
                end += 1
            for i in range(j, end):
                h = order[c, i]
                low, high = cards[h, 0], cards[h, 1]
                for k in range(ranges):
                    passed[k] += reach[h, k]
                    below[low, k] += reach[h, k]
                    below[high, k] += reach[h, k]
            for i in range(j, end):
                h = order[c, i]
                low, high = cards[h, 0], cards[h, 1]
                for k in range(ranges):
                    lost = total[k] - held[low, k] - held[high, k]
                    edges[h, k] += passed[k] - below[low, k] - below[high, k] - lost
            j = end
        count += 1
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
    """Compatible reach and equity against K ranges of each hand that the board allows; equity is 1/2 where reach is zero.

    Args:
        reach: [K, H], the opponent's reach in each range.
        order, start, sizes, cards, step: as in :func:`summed_edges`.
        held: [n].
        runouts: number of complete boards given two hands, on average over hands.
        mass, equity: [K, n], written.
    """
    ranges, sums = reach.shape[0], np.empty(52)
    by_hand, edges = np.empty((reach.shape[1], ranges)), np.zeros((reach.shape[1], ranges))
    by_hand[:] = reach.T
    count = summed_edges(by_hand, order, start, sizes, cards, step, edges)
    scale = 0.5 * order.shape[0] / (count * runouts)
    for row in range(ranges):
        total = card_sums(reach[row], held, cards, sums)
        for k in range(held.shape[0]):
            hand = held[k]
            met = total - sums[cards[hand, 0]] - sums[cards[hand, 1]] + reach[row, hand]
            mass[row, k] = max(met, 0.0)
            share = 0.5 + scale * edges[hand, row] / met if met > 1e-9 * total else 0.5
            equity[row, k] = min(max(share, 0.0), 1.0)


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


@kernel(error_model="numpy")
def write_rows_of_ranges(
    reach: Floats,
    held: Shorts,
    cards: Bytes,
    static: Floats,
    looks: Floats,
    players: Ints,
    mass: Floats,
    equity: Floats,
    rows: Singles,
) -> None:
    """Write the network inputs for each hand of some players in K situations on a board; see :func:`write_rows`.

    Args:
        reach: [K, 2, H].
        held, cards, static: as in :func:`write_rows`.
        looks: [K, 3].
        players: [P], the players whose hands are written.
        mass, equity: [K, 2, n].
        rows: float32 [K, P, n, INPUTS], written.
    """
    for k in range(reach.shape[0]):
        for p in range(players.shape[0]):
            write_rows(reach[k], held, cards, static, looks[k], players[p], mass[k], equity[k], rows[k, p])
