"""Sampled search of one betting round: external sampling with vectors of one player's hands.

A walk fixes a complete board and the hands of all players but one, the traverser. It follows all of the traverser's actions for
all of its hands at once, and samples one action at each decision of the others (opponent-public chance sampling of Johanson et
al. 2012, with external sampling of actions). Beyond the round, players follow a blueprint: each chooses one of several
continuation policies, which is one more decision of the round, and the walk plays it to the end of the hand.
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
    """A betting round: M decisions of a betting tree, and L leaves. A leaf is the first decision of the next round.

    Attributes:
        nodes: int64 [M], indices of the decisions in the whole tree, parents first, starting with the root.
        child: int64 [S], successor of each action slot: an index into ``nodes``, M + k for leaf k, or -1 - e for terminal e.
        first: int64 [M], first slot of each decision.
        rows: int64 [M], first table row of each decision, which has A rows.
        leaves: int64 [L], indices of the leaves in the whole tree.
        choices: int64 [L, N], first table row of each player's choice among continuations; -1 for none.
        before: int64 [M], table row of the player's previous action; -1 for none.
        choice_before: int64 [L, N], table row of the player's action before each choice; -1 for none.
        frozen: bool [M], decisions whose policy is fixed.
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
    """Tables of a search, with one row of H hands per action.

    Attributes:
        regrets, average: float64 [R, H].
        fixed: float64 [R, H], policy of frozen decisions.
        reach: float64 [R, H], scratch: own reach of each action.
    """

    regrets: Floats
    average: Floats
    fixed: Floats
    reach: Floats


class Guide(NamedTuple):
    """The continuation policies that players choose from after a round.

    Attributes:
        shares: float32, the blueprint's probabilities, indexed by :attr:`Nodes.rows`.
        bias: float64 [C, 3], factors on fold, call and other actions in each continuation.
    """

    shares: NDArray[np.float32]
    bias: Floats


class Deals(NamedTuple):
    """K sampled deals.

    Attributes:
        hands: int64 [K, N], hands of the players.
        boards: int64 [K], board index.
        ranges: float64 [N, H], ranges from which hands were drawn.
        rows: int32 [B, streets, H], see :class:`treeplex.engine.betting.sampling.BoardHands`; 0 for hands that a board blocks.
        keys: int64 [B, H], strengths; -1 where the board blocks a hand.
        apart: bool [H, H], whether two hands are disjoint.
    """

    hands: Ints
    boards: Ints
    ranges: Floats
    rows: NDArray[np.int32]
    keys: Ints
    apart: NDArray[np.bool_]


class Scratch(NamedTuple):
    """Scratch space for a walk of up to W steps: the player's decisions, leaves and terminals.

    Attributes:
        kinds: int64 [W], one of :data:`END`, :data:`OWN`, :data:`LEAF`, :data:`BEHIND`.
        places: int64 [W], index of the terminal, decision of the round, leaf, or decision of the whole tree.
        below: int64 [W], first successor step; there is one per action, contiguous.
        picks: int64 [W, N], the players' continuations beyond leaves.
        values: float64 [W, C, H], hand values under each continuation; within the round only the first is used.
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
    """Inputs, tables and scratch of a search; only tables and scratch change."""

    nodes: Nodes
    round: Round
    tables: RoundTables
    guide: Guide
    deals: Deals
    scratch: Scratch


@kernel(error_model="numpy")
def search_deals(search: Search, t: int, seed: int) -> None:
    """Run one iteration: walk the deals once per player with weight t, and add the policies to the average.

    Args:
        search: the search.
        t: iteration number, from 1.
        seed: random seed.
    """
    deals = search.deals
    players, hands = deals.hands.shape[1], deals.keys.shape[1]
    live = np.empty(hands, np.bool_)
    for k in range(deals.hands.shape[0]):
        stream = start(np.uint64(seed), np.uint64(t), np.uint64(k))
        for player in range(players):
            met = 0.0  # deals are also drawn from this player's own range, which must not be counted
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
    """List the steps of a walk, parents before children; return the random stream and the number of steps."""
    scratch, searched, nodes = search.scratch, search.round, search.nodes
    held, decisions = search.deals.hands[k], search.round.nodes.shape[0]
    scratch.kinds[0], scratch.places[0], step, size = OPEN, 0, 0, 1
    while step < size:
        kind, position = scratch.kinds[step], scratch.places[step]
        if kind == OPEN:
            while 0 <= position < decisions and nodes.player[searched.nodes[position]] != player:
                node = searched.nodes[position]
                stream = advanced(stream)
                acts, frozen = nodes.player[node], searched.frozen[position]
                drawn = draw(search.tables, searched.rows[position], nodes.actions[node], held[acts], frozen, unit(stream))
                position = searched.child[searched.first[position] + drawn]
            kind = END if position < 0 else OWN if position < decisions else LEAF
        elif kind == OPEN_BEHIND:
            while position >= 0 and nodes.player[position] != player:
                stream = advanced(stream)
                position = after_guided(search, k, position, scratch.picks[step, nodes.player[position]], unit(stream))
            kind = END if position < 0 else BEHIND
        scratch.kinds[step], scratch.below[step] = kind, size
        if kind == END:
            scratch.places[step] = -1 - position
        elif kind == OWN:
            scratch.places[step] = position
            for action in range(nodes.actions[searched.nodes[position]]):
                scratch.kinds[size], scratch.places[size] = OPEN, searched.child[searched.first[position] + action]
                size += 1
        elif kind == LEAF:
            leaf = position - decisions
            scratch.places[step], scratch.kinds[size], scratch.places[size] = leaf, OPEN_BEHIND, searched.leaves[leaf]
            for other in range(held.shape[0]):
                scratch.picks[size, other] = 0
                if other != player and searched.choices[leaf, other] >= 0:
                    stream = advanced(stream)
                    ways, row = search.guide.bias.shape[0], searched.choices[leaf, other]
                    scratch.picks[size, other] = draw(search.tables, row, ways, held[other], False, unit(stream))
            size += 1
        else:
            scratch.places[step] = position
            for action in range(nodes.actions[position]):
                scratch.kinds[size], scratch.places[size] = OPEN_BEHIND, nodes.child[nodes.first[position] + action]
                for other in range(held.shape[0]):
                    scratch.picks[size, other] = scratch.picks[step, other]
                size += 1
        step += 1
    return stream, size


@kernel(**FAST)
def after_guided(search: Search, k: int, node: int, way: int, number: float) -> int:
    """Sample an action from the biased blueprint; return the decision or terminal that follows."""
    nodes, guide, deals = search.nodes, search.guide, search.deals
    first, count = nodes.first[node], nodes.actions[node]
    row = deals.rows[deals.boards[k], nodes.street[node], deals.hands[k, nodes.player[node]]]
    slot, total = nodes.rows[node] + row * count, 0.0
    for action in range(count):
        total += guide.shares[slot + action] * guide.bias[way, nodes.kinds[first + action]]
    left, drawn = number * total, count - 1
    for action in range(count):
        left -= guide.shares[slot + action] * guide.bias[way, nodes.kinds[first + action]]
        if left < 0.0:
            drawn = action
            break
    return int(nodes.child[first + drawn])


@kernel(**FAST)
def value_steps(search: Search, k: int, player: int, size: int, live: NDArray[np.bool_], weight: float) -> None:
    """Process the steps backwards: compute hand values, and add weighted regrets for live hands."""
    scratch, searched = search.scratch, search.round
    values, ways = scratch.values, search.guide.bias.shape[0]
    keys, held, tables = search.deals.keys[search.deals.boards[k]], search.deals.hands[k], search.tables
    policy, sums = scratch.policy, scratch.sums[0]
    for step in range(size - 1, -1, -1):
        kind, position, below = scratch.kinds[step], scratch.places[step], scratch.below[step]
        if kind == END:
            pay_hands(search.nodes.ends, position, keys, held, player, values[step, 0])
            for way in range(1, ways):
                copy_row(values[step, 0], values[step, way])
        elif kind == BEHIND:
            mix_behind(search, k, position, below, values[step])
        elif kind == LEAF:
            row = searched.choices[position, player]
            if row < 0:
                copy_row(values[below, 0], values[step, 0])
            else:
                write_policy(tables, (row, ways, False), policy, sums)
                learn(tables.regrets[row : row + ways], policy, values[below], values[step, 0], live, weight)
        else:
            row, count, frozen = (
                searched.rows[position],
                search.nodes.actions[searched.nodes[position]],
                searched.frozen[position],
            )
            write_policy(tables, (row, count, frozen), policy, sums)
            after = values[below : below + count, 0]
            learn(tables.regrets[row : row + count], policy, after, values[step, 0], live, 0.0 if frozen else weight)


@kernel(**FAST)
def copy_row(row: Floats, into: Floats) -> None:
    """Copy a row."""
    for hand in range(row.shape[0]):
        into[hand] = row[hand]


@kernel(**FAST)
def mix_behind(search: Search, k: int, node: int, below: int, values: Floats) -> None:
    """Write hand values under each continuation, float64 [C, H], at a decision of the player beyond a leaf."""
    nodes, guide, deals, sums = search.nodes, search.guide, search.deals, search.scratch.sums
    first, count, rows = nodes.first[node], nodes.actions[node], deals.rows[deals.boards[k], nodes.street[node]]
    for way in range(values.shape[0]):
        for hand in range(values.shape[1]):
            values[way, hand], sums[way, hand] = 0.0, 0.0
    for action in range(count):
        after, slot = search.scratch.values[below + action], nodes.rows[node] + action
        for way in range(values.shape[0]):
            bias = guide.bias[way, nodes.kinds[first + action]]
            for hand in range(values.shape[1]):
                share = guide.shares[slot + rows[hand] * count] * bias
                values[way, hand] += share * after[way, hand]
                sums[way, hand] += share
    for way in range(values.shape[0]):
        for hand in range(values.shape[1]):
            values[way, hand] /= sums[way, hand]


@kernel(**FAST)
def share_of(tables: RoundTables, row: int, hand: int, frozen: bool) -> float:
    """Return the unnormalised probability of a hand's action, from regret matching or a frozen policy."""
    return float(tables.fixed[row, hand] if frozen else max(tables.regrets[row, hand], 0.0))


@kernel(**FAST)
def draw(tables: RoundTables, row: int, count: int, hand: int, frozen: bool, number: float) -> int:
    """Sample an action for a hand."""
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
    """Write the regret-matching policy, which is uniform where no regret is positive.

    Args:
        tables: the tables.
        at: first table row, number of rows, and whether they are frozen.
        policy: float64 [A, H], output.
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
    """Write hand values, float64 [H], from action values [A, H]; add regrets [A, H] of live hands."""
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
    """Write a player's terminal payoff with each hand into ``values`` [H], given strengths [H] and all hands held [N]."""
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
    """Add all policies to the average, weighted by own reach; scratch float64 [A, H] and [C, H]."""
    for position in range(searched.nodes.shape[0]):
        at = searched.rows[position], nodes.actions[searched.nodes[position]], searched.frozen[position]
        write_policy(tables, at, policy, sums[0])
        add_rows(tables, at, searched.before[position], policy, weight)
    for leaf in range(searched.leaves.shape[0]):
        for player in range(searched.choices.shape[1]):
            if searched.choices[leaf, player] >= 0:
                choice = searched.choices[leaf, player], np.int64(sums.shape[0]), False
                write_policy(tables, choice, policy, sums[0])  # type: ignore[arg-type]
                add_rows(tables, choice, searched.choice_before[leaf, player], policy, weight)  # type: ignore[arg-type]


@kernel(**FAST)
def add_rows(tables: RoundTables, at: tuple[int, int, bool], before: int, policy: Floats, weight: float) -> None:
    """Add the policy of some rows to the average; ``before`` is the row of the player's previous action (-1 if none)."""
    row, count, _ = at
    for action in range(count):
        for hand in range(policy.shape[1]):
            reach = policy[action, hand] * (tables.reach[before, hand] if before >= 0 else 1.0)
            tables.reach[row + action, hand] = reach
            tables.average[row + action, hand] += weight * reach


@kernel(error_model="numpy")
def acting_below(nodes: Nodes) -> Ints:
    """Return the players who act at or below each decision, int64 [D]: bit i for player i."""
    players = np.zeros(nodes.player.shape[0], np.int64)
    for node in range(nodes.player.shape[0] - 1, -1, -1):
        players[node] |= 1 << nodes.player[node]
        for slot in range(nodes.first[node], nodes.first[node] + nodes.actions[node]):
            if nodes.child[slot] >= 0:
                players[node] |= players[nodes.child[slot]]
    return players


@kernel(error_model="numpy")
def most_steps(nodes: Nodes) -> Ints:
    """Return the maximum number of steps of any player's walk from each decision, int64 [D]."""
    longest = np.zeros(nodes.player.shape[0], np.int64)
    for player in range(nodes.ends.put.shape[1]):
        of_player = np.ones(nodes.player.shape[0], np.int64)
        for node in range(nodes.player.shape[0] - 1, -1, -1):
            total, most = 0, 1
            for slot in range(nodes.first[node], nodes.first[node] + nodes.actions[node]):
                child = nodes.child[slot]
                steps = of_player[child] + (nodes.street[child] != nodes.street[node]) if child >= 0 else 1
                total, most = total + steps, max(most, steps)
            of_player[node] = 1 + total if nodes.player[node] == player else most
        longest = np.maximum(longest, of_player)
    return longest
