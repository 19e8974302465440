"""A round of betting searched by sampling: external sampling with all hands of one player at once.

A walk has the hands of all players but one, a complete board and one player, whose actions are all followed, with every hand it
may hold at the same time; of the others one action is drawn each time (what Johanson et al. 2012 call opponent-public chance
sampling, with external sampling of actions). Behind the round players go on by a blueprint: each draws one of several ways to
do so, which is one more decision of the round, and the walk goes on to the end of the hand by it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.betting.pots import Ends
from treeplex.engine.betting.sampling import Nodes
from treeplex.engine.kernel import NO_COUNTS, kernel
from treeplex.engine.sampling.streams import advanced, start, unit

FAST = {**NO_COUNTS, "error_model": "numpy"}
END, OWN, LEAF, BEHIND, OPEN, OPEN_BEHIND = range(6)


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
        before: int64 [M], the row of the own action before each decision; -1 for none.
        choice_before: int64 [L, N], the same of choices.
        frozen: bool [M], decisions whose policy stays what it is.
    """

    nodes: Ints
    child: Ints
    first: Ints
    rows: Ints
    leaves: Ints
    choices: Ints
    before: Ints
    choice_before: Ints
    frozen: NDArray[np.bool_]


class RoundTables(NamedTuple):
    """What a search learns: a row of H numbers for each action.

    Attributes:
        regrets, average: float64 [R, H].
        fixed: float64 [R, H], the policy of frozen decisions.
        reach: float64 [R, H], scratch: how likely own play makes each action.
    """

    regrets: Floats
    average: Floats
    fixed: Floats
    reach: Floats


class Guide(NamedTuple):
    """The players' continuation policies after a round.

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
        rows: int32 [B, streets, H], see :class:`treeplex.engine.betting.sampling.BoardHands`; 0 for hands that a board blocks.
        keys: int64 [B, H], strengths; -1 where the board blocks a hand.
        apart: bool [H, H], whether two hands share no card.
    """

    hands: Ints
    boards: Ints
    ranges: Floats
    rows: NDArray[np.int32]
    keys: Ints
    apart: NDArray[np.bool_]


class Scratch(NamedTuple):
    """Room of a walk, for W steps: own decisions, leaves and ends.

    Attributes:
        kinds: int64 [W], one of :data:`END`, :data:`OWN`, :data:`LEAF`, :data:`BEHIND`.
        places: int64 [W], the end, the place in the round, the leaf, or the decision in the whole tree.
        below: int64 [W], the first step after; one an action, side by side.
        picks: int64 [W, N], everybody's continuations, behind leaves.
        values: float64 [W, C, H], what hands get by each continuation; before leaves the first counts.
        policy: float64 [A, H].
        sums: float64 [C, H].
    """

    kinds: Ints
    places: Ints
    below: Ints
    picks: Ints
    values: NDArray[np.float64]
    policy: Floats
    sums: Floats


class Search(NamedTuple):
    """All that a search has to do with; tables and scratch change."""

    nodes: Nodes
    round: Round
    tables: RoundTables
    guide: Guide
    deals: Deals
    scratch: Scratch


@kernel(error_model="numpy")
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
            stream, size = list_steps(search, k, player, stream)
            value_steps(search, k, player, size, live, t / met)
    scratch = search.scratch
    add_average(search.nodes, search.round, search.tables, scratch.policy, scratch.sums, float(t))


@kernel(**FAST)
def list_steps(search: Search, k: int, player: int, stream: np.uint64) -> tuple[np.uint64, int]:
    """List the steps of a walk of a deal, those after a step behind it; the stream of draws, and how many steps there are."""
    scratch, searched, nodes = search.scratch, search.round, search.nodes
    held, decisions = search.deals.hands[k], search.round.nodes.shape[0]
    scratch.kinds[0], scratch.places[0], step, size = OPEN, 0, 0, 1
    while step < size:
        kind, place = scratch.kinds[step], scratch.places[step]
        if kind == OPEN:
            while 0 <= place < decisions and nodes.player[searched.nodes[place]] != player:
                node = searched.nodes[place]
                stream = advanced(stream)
                acts, frozen = nodes.player[node], searched.frozen[place]
                drawn = draw(search.tables, searched.rows[place], nodes.actions[node], held[acts], frozen, unit(stream))
                place = searched.child[searched.first[place] + drawn]
            kind = END if place < 0 else OWN if place < decisions else LEAF
        elif kind == OPEN_BEHIND:
            while place >= 0 and nodes.player[place] != player:
                stream = advanced(stream)
                place = after_guided(search, k, place, scratch.picks[step, nodes.player[place]], unit(stream))
            kind = END if place < 0 else BEHIND
        scratch.kinds[step], scratch.below[step] = kind, size
        if kind == END:
            scratch.places[step] = -1 - place
        elif kind == OWN:
            scratch.places[step] = place
            for action in range(nodes.actions[searched.nodes[place]]):
                scratch.kinds[size], scratch.places[size] = OPEN, searched.child[searched.first[place] + action]
                size += 1
        elif kind == LEAF:
            leaf = place - decisions
            scratch.places[step], scratch.kinds[size], scratch.places[size] = leaf, OPEN_BEHIND, searched.leaves[leaf]
            for other in range(held.shape[0]):
                scratch.picks[size, other] = 0
                if other != player and searched.choices[leaf, other] >= 0:
                    stream = advanced(stream)
                    ways, row = search.guide.bias.shape[0], searched.choices[leaf, other]
                    scratch.picks[size, other] = draw(search.tables, row, ways, held[other], False, unit(stream))
            size += 1
        else:
            scratch.places[step] = place
            for action in range(nodes.actions[place]):
                scratch.kinds[size], scratch.places[size] = OPEN_BEHIND, nodes.child[nodes.first[place] + action]
                for other in range(held.shape[0]):
                    scratch.picks[size, other] = scratch.picks[step, other]
                size += 1
        step += 1
    return stream, size


@kernel(**FAST)
def after_guided(search: Search, k: int, node: int, way: int, number: float) -> int:
    """The decision or end after an action that is drawn by the blueprint with a bias."""
    nodes, guide, deals = search.nodes, search.guide, search.deals
    first, count = nodes.first[node], nodes.actions[node]
    row = deals.rows[deals.boards[k], nodes.street[node], deals.hands[k, nodes.player[node]]]
    place, total = nodes.rows[node] + row * count, 0.0
    for action in range(count):
        total += guide.shares[place + action] * guide.bias[way, nodes.kinds[first + action]]
    left, drawn = number * total, count - 1
    for action in range(count):
        left -= guide.shares[place + action] * guide.bias[way, nodes.kinds[first + action]]
        if left < 0.0:
            drawn = action
            break
    return int(nodes.child[first + drawn])


@kernel(**FAST)
def value_steps(search: Search, k: int, player: int, size: int, live: NDArray[np.bool_], weight: float) -> None:
    """Go through the steps backwards: what hands get, and regrets with a weight of the hands that are live."""
    scratch, searched = search.scratch, search.round
    values, ways = scratch.values, search.guide.bias.shape[0]
    keys, held, tables = search.deals.keys[search.deals.boards[k]], search.deals.hands[k], search.tables
    policy, sums = scratch.policy, scratch.sums[0]
    for step in range(size - 1, -1, -1):
        kind, place, below = scratch.kinds[step], scratch.places[step], scratch.below[step]
        if kind == END:
            pay_hands(search.nodes.ends, place, keys, held, player, values[step, 0])
            for way in range(1, ways):
                copy_row(values[step, 0], values[step, way])
        elif kind == BEHIND:
            mix_behind(search, k, place, below, values[step])
        elif kind == LEAF:
            row = searched.choices[place, player]
            if row < 0:
                copy_row(values[below, 0], values[step, 0])
            else:
                write_policy(tables, (row, ways, False), policy, sums)
                learn(tables.regrets[row : row + ways], policy, values[below], values[step, 0], live, weight)
        else:
            row, count, frozen = searched.rows[place], search.nodes.actions[searched.nodes[place]], searched.frozen[place]
            write_policy(tables, (row, count, frozen), policy, sums)
            after = values[below : below + count, 0]
            learn(tables.regrets[row : row + count], policy, after, values[step, 0], live, 0.0 if frozen else weight)


@kernel(**FAST)
def copy_row(row: Floats, into: Floats) -> None:
    """Copy numbers."""
    for place in range(row.shape[0]):
        into[place] = row[place]


@kernel(**FAST)
def mix_behind(search: Search, k: int, node: int, below: int, values: Floats) -> None:
    """Write what hands get at an own decision behind a leaf by each continuation, float64 [C, H]."""
    nodes, guide, deals, sums = search.nodes, search.guide, search.deals, search.scratch.sums
    first, count, rows = nodes.first[node], nodes.actions[node], deals.rows[deals.boards[k], nodes.street[node]]
    for way in range(values.shape[0]):
        for hand in range(values.shape[1]):
            values[way, hand], sums[way, hand] = 0.0, 0.0
    for action in range(count):
        after, place = search.scratch.values[below + action], nodes.rows[node] + action
        for way in range(values.shape[0]):
            bias = guide.bias[way, nodes.kinds[first + action]]
            for hand in range(values.shape[1]):
                share = guide.shares[place + rows[hand] * count] * bias
                values[way, hand] += share * after[way, hand]
                sums[way, hand] += share
    for way in range(values.shape[0]):
        for hand in range(values.shape[1]):
            values[way, hand] /= sums[way, hand]


@kernel(**FAST)
def share_of(tables: RoundTables, row: int, hand: int, frozen: bool) -> float:
    """The unnormalised probability of an action for a hand: regret matching, or frozen."""
    return float(tables.fixed[row, hand] if frozen else max(tables.regrets[row, hand], 0.0))


@kernel(**FAST)
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


@kernel(**FAST)
def write_policy(tables: RoundTables, at: tuple[int, int, bool], policy: Floats, sums: Floats) -> None:
    """Write a policy, uniform where no regret is positive.

    Args:
        tables: see the class.
        at: the first row in the tables, how many there are, and whether they are frozen.
        policy: float64 [A, H], written.
        sums: float64 [H], scratch.
    """
    row, count, frozen = at
    for hand in range(sums.shape[0]):
        sums[hand] = 0.0
    for action in range(count):
        for hand in range(sums.shape[0]):
            policy[action, hand] = share_of(tables, row + action, hand, frozen)
            sums[hand] += policy[action, hand]
    for action in range(count):
        for hand in range(sums.shape[0]):
            policy[action, hand] = policy[action, hand] / sums[hand] if sums[hand] > 0.0 else 1.0 / count


@kernel(**FAST)
def learn(regrets: Floats, policy: Floats, after: Floats, values: Floats, live: NDArray[np.bool_], weight: float) -> None:
    """Write the values of hands, float64 [H], from those of actions [A, H]; add regrets [A, H] of the hands that are live."""
    for hand in range(values.shape[0]):
        values[hand] = 0.0
    for action in range(regrets.shape[0]):
        for hand in range(values.shape[0]):
            values[hand] += policy[action, hand] * after[action, hand]
    for action in range(regrets.shape[0]):
        for hand in range(values.shape[0]):
            if live[hand]:
                regrets[action, hand] += weight * (after[action, hand] - values[hand])


@kernel(**FAST)
def pay_hands(ends: Ends, end: int, keys: Ints, held: Ints, player: int, values: Floats) -> None:
    """Write what each hand of a player gets at an end into float64 [H]: strengths int64 [H], the others hold int64 [N]."""
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


@kernel(**FAST)
def add_average(nodes: Nodes, searched: Round, tables: RoundTables, policy: Floats, sums: Floats, weight: float) -> None:
    """Add all policies to the average, by the reaches of the players' own play; scratch float64 [A, H] and [C, H]."""
    for place in range(searched.nodes.shape[0]):
        at = searched.rows[place], nodes.actions[searched.nodes[place]], searched.frozen[place]
        write_policy(tables, at, policy, sums[0])
        add_rows(tables, at, searched.before[place], policy, weight)
    for leaf in range(searched.leaves.shape[0]):
        for player in range(searched.choices.shape[1]):
            if searched.choices[leaf, player] >= 0:
                choice = searched.choices[leaf, player], np.int64(sums.shape[0]), False
                write_policy(tables, choice, policy, sums[0])  # type: ignore[arg-type]
                add_rows(tables, choice, searched.choice_before[leaf, player], policy, weight)  # type: ignore[arg-type]


@kernel(**FAST)
def add_rows(tables: RoundTables, at: tuple[int, int, bool], before: int, policy: Floats, weight: float) -> None:
    """Add the policy of some rows, which stand behind the row of an own action (-1: none)."""
    row, count, _ = at
    for action in range(count):
        for hand in range(policy.shape[1]):
            reach = policy[action, hand] * (tables.reach[before, hand] if before >= 0 else 1.0)
            tables.reach[row + action, hand] = reach
            tables.average[row + action, hand] += weight * reach


@kernel(error_model="numpy")
def acting_below(nodes: Nodes) -> Ints:
    """The players who act at or below each decision, int64 [D]: bit i for player i."""
    found = np.zeros(nodes.player.shape[0], np.int64)
    for node in range(nodes.player.shape[0] - 1, -1, -1):
        found[node] |= 1 << nodes.player[node]
        for slot in range(nodes.first[node], nodes.first[node] + nodes.actions[node]):
            if nodes.child[slot] >= 0:
                found[node] |= found[nodes.child[slot]]
    return found


@kernel(error_model="numpy")
def most_steps(nodes: Nodes) -> Ints:
    """The most steps of a walk of any player from each decision on, int64 [D]."""
    found = np.zeros(nodes.player.shape[0], np.int64)
    for player in range(nodes.ends.put.shape[1]):
        own = np.ones(nodes.player.shape[0], np.int64)
        for node in range(nodes.player.shape[0] - 1, -1, -1):
            total, most = 0, 1
            for slot in range(nodes.first[node], nodes.first[node] + nodes.actions[node]):
                child = nodes.child[slot]
                steps = own[child] + (nodes.street[child] != nodes.street[node]) if child >= 0 else 1
                total, most = total + steps, max(most, steps)
            own[node] = 1 + total if nodes.player[node] == player else most
        found = np.maximum(found, own)
    return found
