"""One street of limit poker with bucketed cards: policies, reach, values and regrets in vector loops.

A street's betting is identical for all ways of reaching it (*starts*, the vector axis). It is a short list of nodes; a node's
*slots*, one per action, are rows over the starts. Tables hold one row of ``slots * starts`` numbers for each bucket sequence,
so that a deal accesses two contiguous rows per street. Both players' slots are in one row; a player reads and writes only its
own. Streets before the last are float64, the last is float32.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints, Singles
from treeplex.engine.kernel import kernel

Numbers = NDArray[np.float32] | NDArray[np.float64]

NODE, FOLD, END = 0, 1, 2
"""Kinds of targets of an action."""


class BettingArrays(NamedTuple):
    """The betting of all streets.

    Attributes:
        streets: int64 [S, 7]: first node, nodes, starts, slots, ends, first end, first level.
        nodes: int64 [N, 3]: player, actions, first slot; preorder within a street.
        kinds: int64 [N, 3], ``NODE``, ``FOLD`` or ``END`` for each action.
        children: int64 [N, 3], number of the node within the street, or of the end; 0 for a fold.
        losses: float64 [N], chips of this street that the player of the node loses by folding there.
        ends: float64 [E], chips of this street that each player has in the pot at an end of it.
        levels: float64 [K], chips that each player has in the pot at each start of each street. End e of start j is start
            ``e * starts + j`` of the next street.
    """

    streets: Ints
    nodes: Ints
    kinds: Ints
    children: Ints
    losses: Floats
    ends: Floats
    levels: Floats


class Tables(NamedTuple):
    """One number for each bucket sequence, start and slot.

    Attributes:
        early: float64, all streets but the last; the row of sequence s on street r is at ``offsets[r] + s * slots * starts``.
        late: float32, the last street.
        offsets: int64 [S], 0 for the last.
        tails: int64 [S], by which a sequence of the last street is divided for its sequence on each street.
    """

    early: Floats
    late: NDArray[np.float32]
    offsets: Ints
    tails: Ints


@kernel(error_model="numpy", inline="never")
def match_positive(
    betting: BettingArrays,
    street: int,
    player: int,
    table: Numbers,
    offset: int,
    constants: Numbers,
    total: Numbers,
    policy: Numbers,
) -> None:
    """Policy of a player on a street in proportion to the positive part of a row of ``table``, uniform where that is zero.

    Args:
        betting, street, player: where.
        table, offset: flat table and where the row begins.
        constants: [4], 0, 1, 1/2 and 1/3 in the type of the table.
        total: [starts], scratch.
        policy: [slots * starts], output in the player's slots.
    """
    first, count, n = betting.streets[street, 0], betting.streets[street, 1], betting.streets[street, 2]
    zero = constants[0]
    for number in range(first, first + count):
        if betting.nodes[number, 0] != player:
            continue
        actions, slot = betting.nodes[number, 1], betting.nodes[number, 2]
        uniform = constants[actions]
        for j in range(n):
            total[j] = zero
        for a in range(slot, slot + actions):
            source = table[offset + a * n : offset + (a + 1) * n]
            for j in range(n):
                total[j] += source[j] if source[j] > zero else zero
        for a in range(slot, slot + actions):
            source, target = table[offset + a * n : offset + (a + 1) * n], policy[a * n : (a + 1) * n]
            for j in range(n):
                positive = source[j] if source[j] > zero else zero
                target[j] = positive / total[j] if total[j] > zero else uniform


@kernel(error_model="numpy", inline="never")
def reach_nodes(betting: BettingArrays, street: int, policy: Numbers, reach: Numbers, following: Numbers) -> None:
    """Both players' own reach of every node of a street and of the starts of the next.

    Args:
        betting, street: where.
        policy: [slots * starts].
        reach: [nodes * 2 * starts]; that of node 0 is given.
        following: [2 * starts of the next street], output; empty on the last street.
    """
    first, count, n = betting.streets[street, 0], betting.streets[street, 1], betting.streets[street, 2]
    width = following.shape[0] // 2
    for node in range(count):
        player, actions, slot = betting.nodes[first + node, 0], betting.nodes[first + node, 1], betting.nodes[first + node, 2]
        own = reach[(2 * node + player) * n : (2 * node + player + 1) * n]
        other = reach[(2 * node + 1 - player) * n : (2 * node + 2 - player) * n]
        for a in range(actions):
            kind, child = betting.kinds[first + node, a], betting.children[first + node, a]
            chosen = policy[(slot + a) * n : (slot + a + 1) * n]
            if kind == NODE:
                mine = reach[(2 * child + player) * n : (2 * child + player + 1) * n]
                theirs = reach[(2 * child + 1 - player) * n : (2 * child + 2 - player) * n]
            elif kind == END and width > 0:
                mine = following[player * width + child * n : player * width + (child + 1) * n]
                theirs = following[(1 - player) * width + child * n : (1 - player) * width + (child + 1) * n]
            else:
                continue
            for j in range(n):
                mine[j] = own[j] * chosen[j]
            for j in range(n):
                theirs[j] = other[j]


@kernel(error_model="numpy", inline="never")
def value_nodes(betting: BettingArrays, street: int, policy: Numbers, levels: Numbers, ends: Numbers, values: Numbers) -> None:
    """Values of every node of a street for player 0, bottom up, in chips.

    Args:
        betting, street: where.
        policy: [slots * starts].
        levels: [starts] of this street.
        ends: [ends * starts], values of the ends.
        values: [nodes * starts], output.
    """
    first, count, n = betting.streets[street, 0], betting.streets[street, 1], betting.streets[street, 2]
    for node in range(count - 1, -1, -1):
        player, actions, slot = betting.nodes[first + node, 0], betting.nodes[first + node, 1], betting.nodes[first + node, 2]
        value = values[node * n : (node + 1) * n]
        for a in range(actions):
            kind, child = betting.kinds[first + node, a], betting.children[first + node, a]
            chosen = policy[(slot + a) * n : (slot + a + 1) * n]
            if kind == FOLD:
                loss = levels.dtype.type(betting.losses[first + node])
                if player == 0:
                    for j in range(n):
                        value[j] = -chosen[j] * (levels[j] + loss)
                else:
                    for j in range(n):
                        value[j] = chosen[j] * (levels[j] + loss)
                continue
            result = values[child * n : (child + 1) * n] if kind == NODE else ends[child * n : (child + 1) * n]
            if a == 0:
                for j in range(n):
                    value[j] = chosen[j] * result[j]
            else:
                for j in range(n):
                    value[j] += chosen[j] * result[j]


@kernel(error_model="numpy", inline="never")
def learn(
    betting: BettingArrays,
    street: int,
    player: int,
    policy: Numbers,
    reach: Numbers,
    levels: Numbers,
    ends: Numbers,
    values: Numbers,
    regrets: Numbers,
    average: Numbers,
    offset: int,
) -> None:
    """Add a deal's counterfactual regrets and own-reach-weighted policy of a player to the rows at ``offset``.

    ``r(a) = reach of the opponent * (value of a - value of the node)`` and ``average += own reach * policy``: the regrets and
    the average of Zinkevich et al. 2007, for one sampled deal.
    """
    first, count, n = betting.streets[street, 0], betting.streets[street, 1], betting.streets[street, 2]
    for node in range(count):
        if betting.nodes[first + node, 0] != player:
            continue
        actions, slot = betting.nodes[first + node, 1], betting.nodes[first + node, 2]
        own = reach[(2 * node + player) * n : (2 * node + player + 1) * n]
        other = reach[(2 * node + 1 - player) * n : (2 * node + 2 - player) * n]
        value = values[node * n : (node + 1) * n]
        for a in range(actions):
            kind, child = betting.kinds[first + node, a], betting.children[first + node, a]
            begin = offset + (slot + a) * n
            regret, total = regrets[begin : begin + n], average[begin : begin + n]
            chosen = policy[(slot + a) * n : (slot + a + 1) * n]
            for j in range(n):
                total[j] += own[j] * chosen[j]
            if kind == FOLD:  # whoever folds loses: the value for the player is minus the chips
                loss = levels.dtype.type(betting.losses[first + node])
                if player == 0:
                    for j in range(n):
                        regret[j] -= other[j] * (levels[j] + loss + value[j])
                else:
                    for j in range(n):
                        regret[j] -= other[j] * (levels[j] + loss - value[j])
                continue
            result = values[child * n : (child + 1) * n] if kind == NODE else ends[child * n : (child + 1) * n]
            if player == 0:
                for j in range(n):
                    regret[j] += other[j] * (result[j] - value[j])
            else:
                for j in range(n):
                    regret[j] += other[j] * (value[j] - result[j])


@kernel(error_model="numpy")
def show_down(betting: BettingArrays, levels: NDArray[np.float32], win: np.float32, values: NDArray[np.float32]) -> None:
    """Values of the last street's ends for player 0: ``win``, the expected sign of the showdown, times the chips at stake."""
    last = betting.streets.shape[0] - 1
    n, ends, first = betting.streets[last, 2], betting.streets[last, 4], betting.streets[last, 5]
    for end in range(ends):
        extra = np.float32(betting.ends[first + end])
        target = values[end * n : (end + 1) * n]
        for j in range(n):
            target[j] = win * (levels[j] + extra)


@kernel(error_model="numpy")
def update(
    values: Singles,
    policy: Singles,
    own: Singles,
    weights: Singles,
    regrets: NDArray[np.floating],
    average: NDArray[np.floating],
    result: Singles,
) -> None:
    """Regret matching's update with weights: discount, add, perhaps floor; and the average.

    Args:
        values: float32 [actions, sequences, starts], counterfactual values of the actions.
        policy: float32 [sequences, actions, starts], the current policy.
        own: float32 [sequences, starts], the player's own reach.
        weights: float32 [6]: factors on positive and negative regrets, weight of the new ones, whether negative sums are set to
            zero, factor on the average and weight of what is added to it.
        regrets, average: [sequences, actions, starts], updated in place.
        result: float32 [sequences, starts], output: values of the decision.
    """
    positive, negative, fresh, floor, kept, added = weights
    zero = np.float32(0.0)
    actions, sequences, starts = values.shape
    for s in range(sequences):
        for j in range(starts):
            value = zero
            for a in range(actions):
                value += policy[s, a, j] * values[a, s, j]
            result[s, j] = value
        for a in range(actions):
            for j in range(starts):
                before = regrets[s, a, j]
                after = before * (positive if before > zero else negative) + fresh * (values[a, s, j] - result[s, j])
                regrets[s, a, j] = zero if floor > zero and after < zero else after
                average[s, a, j] = average[s, a, j] * kept + added * own[s, j] * policy[s, a, j]
