"""A round of betting searched by sampling: external sampling with all hands of one player at once.

A walk has the hands of all players but one, a complete board and one player, whose actions are all followed, with every hand it
may hold at the same time; of the others one action is drawn each time (what Johanson et al. 2012 call opponent-public chance
sampling, with external sampling of actions). Behind the round players go on by a blueprint: each draws one of several ways to
do so, which is one more decision of the round, and the walk goes on to the end of the hand by it.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from treeplex.engine.buckets.pots import Ends
from treeplex.engine.buckets.sampling import Nodes
from treeplex.engine.histories.streams import advanced, start, unit

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Round(NamedTuple):
    """A round: M decisions of a betting tree, and L leaves, the decisions with which the next round begins.

    Attributes:
        nodes: int64 [M], the decisions in the whole tree, parents first; the root is the first.
        child: int64 [S], for each slot of those decisions, in their order: the place of the decision after it in ``nodes``;
            M + k for leaf k; -1 - e for end e.
        first: int64 [M], the first slot of each.
        rows: int64 [M], where the numbers of each begin in the tables, A rows a decision.
        leaves: int64 [L], the decisions behind the round in the whole tree.
        choices: int64 [L, N], where each player's choice among continuations begins in the tables; -1 for who has none.
        frozen: bool [M], decisions whose policy stays what it is.
    """

    nodes: Ints
    child: Ints
    first: Ints
    rows: Ints
    leaves: Ints
    choices: Ints
    frozen: NDArray[np.bool_]


class RoundTables(NamedTuple):
    """What a search learns: a row of H numbers for each action.

    Attributes:
        regrets, average: float64 [R, H].
        fixed: float64 [R, H], the policy of frozen decisions.
    """

    regrets: Floats
    average: Floats
    fixed: Floats


class Guide(NamedTuple):
    """How players go on behind a round.

    Attributes:
        shares: float32, the blueprint's probabilities where :attr:`Nodes.rows` says.
        bias: float64 [C, 3], how many times as likely folding, calling and all else become in each continuation.
    """

    shares: NDArray[np.float32]
    bias: Floats


class Deals(NamedTuple):
    """K deals.

    Attributes:
        hands: int64 [K, N].
        boards: int64 [K], which board.
        ranges: float64 [N, H], with which hands were drawn.
        rows: int32 [B, streets, H], see :class:`treeplex.engine.buckets.sampling.BoardHands`.
        keys: int64 [B, H], strengths; -1 where the board blocks a hand.
        apart: bool [H, H], whether two hands share no card.
    """

    hands: Ints
    boards: Ints
    ranges: Floats
    rows: NDArray[np.int32]
    keys: Ints
    apart: NDArray[np.bool_]


class Search(NamedTuple):
    """All that a search has to do with; its tables change."""

    nodes: Nodes
    round: Round
    tables: RoundTables
    guide: Guide
    deals: Deals


@njit(cache=True, nogil=True, error_model="numpy")
def search_deals(search: Search, t: int, seed: int) -> None:
    """An iteration: walk some deals once for every player, with weight t, and add the policies to the average.

    Args:
        search: see the class.
        t: the iteration, from 1 on.
        seed: of the draws.
    """
    deals = search.deals
    players, hands = deals.hands.shape[1], deals.keys.shape[1]
    live = np.empty(hands, np.bool_)
    for k in range(deals.hands.shape[0]):
        stream = start(np.uint64(seed), np.uint64(t), np.uint64(k))
        for player in range(players):
            met = 0.0  # deals are drawn with this player's range as well, which must not count
            for hand in range(hands):
                free = deals.keys[deals.boards[k], hand] >= 0
                for other in range(players):
                    if other != player:
                        free = free and deals.apart[hand, deals.hands[k, other]]
                live[hand] = free
                met += deals.ranges[player, hand] if free else 0.0
            stream, _ = walk_node(search, (k, player, t / met), 0, stream, live)
    add_average(search, 0, float(t), np.ones((players, hands)))


@njit(cache=True, nogil=True, error_model="numpy")
def walk_node(
    search: Search, walk: tuple[int, int, float], place: int, stream: np.uint64, live: NDArray[np.bool_]
) -> tuple[np.uint64, Floats]:
    """What a decision or leaf of the round is worth to each hand of the player whose actions are all followed.

    Args:
        search: see the class.
        walk: the deal, the player, and the weight of regrets.
        place: as :attr:`Round.child` has it.
        stream: of draws.
        live: bool [H], the player's hands that this deal leaves.

    Returns:
        The stream and float64 [H].
    """
    (k, player, weight), searched, deals = walk, search.round, search.deals
    if place < 0:
        values = np.empty(live.shape[0])
        pay_hands(search.nodes.ends, -1 - place, deals, k, player, values)
        return stream, values
    if place >= searched.nodes.shape[0]:
        return walk_leaf(search, walk, place - searched.nodes.shape[0], stream, live)
    node, row, first, frozen = searched.nodes[place], searched.rows[place], searched.first[place], searched.frozen[place]
    count, acts = search.nodes.actions[node], search.nodes.player[node]
    if acts != player:
        stream = advanced(stream)
        drawn = draw(search.tables, row, count, deals.hands[k, acts], frozen, unit(stream))
        return walk_node(search, walk, searched.child[first + drawn], stream, live)
    each = np.empty((count, live.shape[0]))
    for action in range(count):
        stream, found = walk_node(search, walk, searched.child[first + action], stream, live)
        each[action] = found
    return stream, learn(search.tables, row, each, frozen, live, weight)


@njit(cache=True, nogil=True, error_model="numpy")
def walk_leaf(
    search: Search, walk: tuple[int, int, float], leaf: int, stream: np.uint64, live: NDArray[np.bool_]
) -> tuple[np.uint64, Floats]:
    """What a leaf is worth: the others draw their continuations, the player's are all followed; see :func:`walk_node`."""
    (k, player, weight), ways, held = walk, search.guide.bias.shape[0], search.deals.hands[walk[0]]
    choices, picks = search.round.choices[leaf], np.zeros(held.shape[0], np.int64)
    for other in range(held.shape[0]):
        if other != player and choices[other] >= 0:
            stream = advanced(stream)
            picks[other] = draw(search.tables, choices[other], ways, held[other], False, unit(stream))
    stream, each = roll_out(search, (k, player), picks, search.round.leaves[leaf], stream)
    if choices[player] < 0:
        return stream, each[0].copy()
    return stream, learn(search.tables, choices[player], each, False, live, weight)


@njit(cache=True, nogil=True, error_model="numpy")
def roll_out(search: Search, walk: tuple[int, int], picks: Ints, node: int, stream: np.uint64) -> tuple[np.uint64, Floats]:
    """What each hand of a player gets by each continuation from a decision of the whole tree on; the others' moves are drawn.

    Args:
        search: see the class.
        walk: the deal and the player.
        picks: int64 [N], the others' continuations.
        node: the decision, or an end, as :attr:`Nodes.child` has it.
        stream: of draws.

    Returns:
        The stream and float64 [C, H].
    """
    (k, player), nodes, guide, deals = walk, search.nodes, search.guide, search.deals
    ways, rows = guide.bias.shape[0], deals.rows[deals.boards[k]]
    while node >= 0 and nodes.player[node] != player:
        acts, first, count = nodes.player[node], nodes.first[node], nodes.actions[node]
        place = nodes.rows[node] + rows[nodes.street[node], deals.hands[k, acts]] * count
        bias, total = guide.bias[picks[acts]], 0.0
        for action in range(count):
            total += guide.shares[place + action] * bias[nodes.kinds[first + action]]
        stream = advanced(stream)
        left, drawn = unit(stream) * total, count - 1
        for action in range(count):
            left -= guide.shares[place + action] * bias[nodes.kinds[first + action]]
            if left < 0.0:
                drawn = action
                break
        node = nodes.child[first + drawn]
    values = np.zeros((ways, deals.keys.shape[1]))
    if node < 0:
        pay_hands(nodes.ends, -1 - node, deals, k, player, values[0])
        for way in range(1, ways):
            values[way] = values[0]
        return stream, values
    first, count = nodes.first[node], nodes.actions[node]
    total_of = np.zeros((ways, deals.keys.shape[1]))
    for action in range(count):
        stream, after = roll_out(search, walk, picks, nodes.child[first + action], stream)
        for hand in range(values.shape[1]):
            row = rows[nodes.street[node], hand]
            if row >= 0:
                known = guide.shares[nodes.rows[node] + row * count + action]
                for way in range(ways):
                    share = known * guide.bias[way, nodes.kinds[first + action]]
                    values[way, hand] += share * after[way, hand]
                    total_of[way, hand] += share
    for hand in range(values.shape[1]):
        if rows[0, hand] >= 0:
            for way in range(ways):
                values[way, hand] /= total_of[way, hand]
    return stream, values


@njit(cache=True, nogil=True, error_model="numpy")
def share_of(tables: RoundTables, row: int, hand: int, frozen: bool) -> float:
    """How likely an action is for a hand, up to a factor: by regret matching, or as it is frozen."""
    return float(tables.fixed[row, hand] if frozen else max(tables.regrets[row, hand], 0.0))


@njit(cache=True, nogil=True, error_model="numpy")
def draw(tables: RoundTables, row: int, count: int, hand: int, frozen: bool, number: float) -> int:
    """An action of a hand, drawn."""
    total = 0.0
    for action in range(count):
        total += share_of(tables, row + action, hand, frozen)
    if not total > 0.0:
        return min(int(number * count), count - 1)
    left = number * total
    for action in range(count):
        left -= share_of(tables, row + action, hand, frozen)
        if left < 0.0:
            return action
    return count - 1


@njit(cache=True, nogil=True, error_model="numpy")
def write_policy(tables: RoundTables, row: int, frozen: bool, policy: Floats) -> None:
    """Write the policy of a decision, float64 [A, H]; uniform where no regret is positive."""
    count, hands = policy.shape
    for hand in range(hands):
        total = 0.0
        for action in range(count):
            policy[action, hand] = share_of(tables, row + action, hand, frozen)
            total += policy[action, hand]
        for action in range(count):
            policy[action, hand] = policy[action, hand] / total if total > 0.0 else 1.0 / count


@njit(cache=True, nogil=True, error_model="numpy")
def learn(tables: RoundTables, row: int, each: Floats, frozen: bool, live: NDArray[np.bool_], weight: float) -> Floats:
    """The values of hands, float64 [H], from those of actions [A, H]; adds regrets of the hands that are live."""
    policy, values = np.empty(each.shape), np.zeros(each.shape[1])
    write_policy(tables, row, frozen, policy)
    for action in range(each.shape[0]):
        for hand in range(each.shape[1]):
            values[hand] += policy[action, hand] * each[action, hand]
    if not frozen:
        for action in range(each.shape[0]):
            for hand in range(each.shape[1]):
                if live[hand]:
                    tables.regrets[row + action, hand] += weight * (each[action, hand] - values[hand])
    return values


@njit(cache=True, nogil=True, error_model="numpy")
def pay_hands(ends: Ends, end: int, deals: Deals, k: int, player: int, values: Floats) -> None:
    """Write what each hand of a player gets at an end, the others' hands as they are dealt, into float64 [H]."""
    keys, held = deals.keys[deals.boards[k]], deals.hands[k]
    values[:] = -ends.put[end, player]
    for pot in range(ends.chips.shape[1]):
        able, chips = ends.able[end, pot], ends.chips[end, pot]
        if not able >> player & 1:
            continue
        best, tied = np.int64(-2), 0
        for seat in range(held.shape[0]):
            if seat != player and able >> seat & 1:
                key = keys[held[seat]]
                tied = tied + 1 if key == best else 1 if key > best else tied
                best = max(best, key)
        share = chips / (tied + 1)
        if ends.order.shape[0]:
            share = np.floor(share)
            for seat in ends.order:
                if seat == player:
                    share = chips - share * tied
                    break
                if able >> seat & 1 and keys[held[seat]] == best:
                    break
        for hand in range(values.shape[0]):
            if keys[hand] >= best:
                values[hand] += ends.kept[end] * (chips if keys[hand] > best else share)


@njit(cache=True, nogil=True, error_model="numpy")
def add_average(search: Search, place: int, weight: float, reach: Floats) -> None:
    """Add the policies of a decision or leaf and of all below, by the reaches float64 [N, H] of the players' own play."""
    searched, tables = search.round, search.tables
    if place < 0:
        return
    if place >= searched.nodes.shape[0]:
        choices, ways = searched.choices[place - searched.nodes.shape[0]], np.empty((search.guide.bias.shape[0], reach.shape[1]))
        for player in range(reach.shape[0]):
            if choices[player] >= 0:
                write_policy(tables, choices[player], False, ways)
                for way in range(ways.shape[0]):
                    tables.average[choices[player] + way] += weight * reach[player] * ways[way]
        return
    node, row, first = searched.nodes[place], searched.rows[place], searched.first[place]
    acts, policy = search.nodes.player[node], np.empty((search.nodes.actions[node], reach.shape[1]))
    write_policy(tables, row, searched.frozen[place], policy)
    before = reach[acts].copy()
    for action in range(policy.shape[0]):
        reach[acts] = before * policy[action]
        tables.average[row + action] += weight * reach[acts]
        add_average(search, searched.child[first + action], weight, reach)
    reach[acts] = before


@njit(cache=True, nogil=True, error_model="numpy")
def acting_below(nodes: Nodes) -> Ints:
    """Who acts at each decision or after it, int64 [D]: bit i for player i."""
    found = np.zeros(nodes.player.shape[0], np.int64)
    for node in range(nodes.player.shape[0] - 1, -1, -1):
        found[node] |= 1 << nodes.player[node]
        for slot in range(nodes.first[node], nodes.first[node] + nodes.actions[node]):
            if nodes.child[slot] >= 0:
                found[node] |= found[nodes.child[slot]]
    return found
