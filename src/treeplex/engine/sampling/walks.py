"""Monte Carlo CFR: one kernel that walks sampled histories, for all sampling schemes.

A scheme determines which actions of the traverser, the other players and chance a walk follows. Importance weights, baselines,
regrets and averages all derive from the sampling probabilities.
"""

import math
from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats, Ints, SmallInts
from treeplex.engine.histories.form import ACTOR, CHANCE, CHILD, CHILDREN, KEY, TERMINAL, Histories
from treeplex.engine.kernel import INLINED, NO_COUNTS, kernel
from treeplex.engine.sampling.choices import choose, next_quantile, picked, probability_of
from treeplex.engine.sampling.sampled_tables import (
    AVERAGE,
    POLICY,
    REGRET,
    Layout,
    Tables,
    add_regrets,
    add_whole_policy,
    catch_up,
    match_regrets,
)
from treeplex.engine.sampling.schemes import (
    ALL,
    AVERAGE_WEIGHT,
    FULL,
    LEARNED,
    NO_BASELINE,
    ONE,
    OPPONENT,
    ORACLE,
    REGRET_WEIGHT,
    SchemeCodes,
    Traversal,
    pruning,
)
from treeplex.engine.sampling.streams import advanced, start, unit


class Scratch(NamedTuple):
    """Scratch space for one walk.

    Attributes:
        frames, numbers: [D, 3], the histories on the current path, by depth.
        sampled: [D, A], initially baselines, then sampled action values.
        chosen: [D, A], sampling probability of each action; 0 for actions not followed.
        touched: [I, 2], first slot and number of actions of the visited infosets of the traverser.
        reach: [S], for ``FULL`` averaging.
    """

    frames: Ints
    numbers: Floats
    sampled: Floats
    chosen: Floats
    touched: Ints
    reach: Floats


NODE, NEXT, BEFORE, FRAME_FIELDS = 0, 1, 2, 3
"""Columns of ``Scratch.frames``: the history, its next action, and the slot of the player's previous action."""
WEIGHT, OWN_REACH, SAMPLE_REACH, FRAME_NUMBERS = 0, 1, 2, 3
"""Columns of ``Scratch.numbers``: importance weight, the traverser's reach, and the sampling reach."""


def scratch(histories: Histories, layout: Layout, rules: SchemeCodes, depth: int) -> Scratch:
    """Allocate scratch for walks over histories of at most ``depth`` nodes."""
    widest = int(histories.nodes[:, CHILDREN].max(initial=1))
    slots = int(layout.infosets[:, 1].sum()) if len(layout.infosets) else 0
    visits = len(histories.nodes) if rules.others == ALL else len(layout.infosets)
    return Scratch(
        frames=np.empty((depth + 1, FRAME_FIELDS), np.int64),
        numbers=np.empty((depth + 1, FRAME_NUMBERS)),
        sampled=np.empty((depth + 1, widest)),
        chosen=np.empty((depth + 1, widest)),
        touched=np.empty((visits + 1, 2), np.int64),
        reach=np.empty(slots if rules.averaging == FULL else 0),
    )


@kernel(**NO_COUNTS)
def iterate_sampled(
    histories: Histories,
    layout: Layout,
    rules: SchemeCodes,
    tables: Tables,
    room: Scratch,
    seed: int,
    first: int,
    step: int,
    weights: Floats,
) -> int:
    """Run one iteration for every ``step``-th row of ``weights``: one walk per player.

    Args:
        histories, layout: the game; keys of decisions are first slots.
        rules: the scheme.
        tables: updated in place.
        room: scratch of this thread.
        seed: random seed of the run.
        first: iteration number of the first row of ``weights``.
        step: stride over the rows.
        weights: [K, 4], weight of new regrets, weight in the average, and cumulative log discounts of positive and negative
            regrets.

    Returns:
        Number of histories visited.
    """
    walked = 0
    for k in range(0, weights.shape[0], step):
        for player in range(layout.offsets.shape[0] - 1):
            if rules.averaging == FULL:
                add_whole_policy(layout, player, weights[k, AVERAGE_WEIGHT], tables.rows, room.reach)
            if rules.baseline == ORACLE:
                exact_values(histories, player, tables.rows, tables.baselines[player])
                walked += histories.nodes.shape[0]
            tables.totals[player] += weights[k, AVERAGE_WEIGHT]
            stream = start(np.uint64(seed), np.uint64(first + k), np.uint64(player))
            skipped, lowest, stream = pruning(rules, weights[k, REGRET_WEIGHT], first + k, stream)
            traversal = Traversal(player, weights[k], skipped, lowest)
            visited, touched = walk(histories, layout, rules, tables, room, traversal, stream)
            match_regrets(rules.floor, tables.rows, room.touched, touched)
            walked += visited
    return walked


@kernel(**NO_COUNTS)
def walk(
    histories: Histories,
    layout: Layout,
    rules: SchemeCodes,
    tables: Tables,
    room: Scratch,
    traversal: Traversal,
    stream: np.uint64,
) -> tuple[int, int]:
    """Walk the sampled histories of a traverser and update regrets, averages and baselines.

    At a history h below which actions are followed with probabilities rho, the sampled value is
    ``u(h) = sum_a p_a (b_a + [a followed] (u(ha) - b_a) / rho_a)`` with p the policy or chance and b a baseline, and
    ``W(h)`` is the product of ``p / rho`` (of ``1 / rho`` for the traverser's own actions) on the path. Then
    ``W(h) (u(ha) - u(h))`` has the counterfactual regret as its expectation (Lanctot et al. 2009, section 3; with baselines
    Schmid et al. 2019, equations 9 to 12).

    Own actions with zero probability and a regret below ``skipped`` that do not end the game are not followed and keep their
    regrets. Regrets are bounded below by ``lowest`` (Brown and Sandholm 2019, supplement, algorithm 1).

    Returns:
        Number of histories visited, and number of entries of ``room.touched``.
    """
    nodes, rows, frames, numbers, chosen = histories.nodes, tables.rows, room.frames, room.numbers, room.chosen
    player, baselines, quantiles = traversal.player, rules.baseline != NO_BASELINE, tables.quantiles.shape[1] > 0
    walked = touched = 0
    depth = -1
    node, before, weight, own_reach, sample_reach, value = 0, -1, 1.0, 1.0, 1.0, 0.0
    while True:
        walked += 1
        actor, child, children, key = nodes[node, ACTOR], nodes[node, CHILD], nodes[node, CHILDREN], nodes[node, KEY]
        ends = actor == TERMINAL
        if ends:
            value = histories.payoffs[key, player]
        else:
            if actor == player:
                catch_up(rules, tables, player, key, children, before, own_reach, sample_reach, traversal.weights)
                room.touched[touched, 0], room.touched[touched, 1] = key, children
                touched += 1
            elif actor >= 0 and rules.averaging == OPPONENT:
                for a in range(children):
                    rows[key + a, AVERAGE] += traversal.weights[AVERAGE_WEIGHT] * rows[key + a, POLICY]
            if not baselines and actor != player and (actor == CHANCE or rules.others == ONE):
                stream = advanced(stream)
                number = next_quantile(tables.quantiles, player, key) if quantiles and actor == CHANCE else unit(stream)
                a, probability = picked(histories.chance, rows, actor, key, children, number)
                sample_reach *= probability
                node = child + a
                continue
            depth += 1
            frames[depth, NODE], frames[depth, NEXT], frames[depth, BEFORE] = node, 0, before
            numbers[depth, WEIGHT], numbers[depth, OWN_REACH] = weight, own_reach
            numbers[depth, SAMPLE_REACH] = sample_reach
            stream = choose(histories.chance, rules, rows, actor, player, key, children, stream, chosen[depth])
            if quantiles and actor == CHANCE:
                number = next_quantile(tables.quantiles, player, key)
                a, probability = picked(histories.chance, rows, actor, key, children, number)
                chosen[depth, :children] = 0.0
                chosen[depth, a] = probability
            if actor == player and traversal.skipped > -math.inf:
                skip(nodes, rows, node, traversal.skipped, chosen[depth])
            for a in range(children):
                edge = layout.edges[child + a] if baselines else -1
                room.sampled[depth, a] = tables.baselines[player, edge] if edge >= 0 else 0.0
        depth = climb(histories, layout, rules, tables, room, traversal, depth, value, ends)
        if depth < 0:
            return walked, touched
        here, a = frames[depth, NODE], frames[depth, NEXT] - 1
        key, rho, acts = nodes[here, KEY] + a, chosen[depth, a], nodes[here, ACTOR] == player
        probability = probability_of(histories.chance, rows, nodes[here, ACTOR], key)
        weight = numbers[depth, WEIGHT] / rho if acts else numbers[depth, WEIGHT] * (probability / rho)
        own_reach = numbers[depth, OWN_REACH] * (probability if acts else 1.0)
        sample_reach = numbers[depth, SAMPLE_REACH] * rho
        before = key if acts else frames[depth, BEFORE]
        node = nodes[here, CHILD] + a


@kernel(**INLINED)
def climb(
    histories: Histories,
    layout: Layout,
    rules: SchemeCodes,
    tables: Tables,
    room: Scratch,
    traversal: Traversal,
    depth: int,
    value: float,
    ends: bool,
) -> int:
    """Backtrack from the frame ``depth`` to one with another action to follow, adding regrets.

    Args:
        histories, layout, rules, tables, room, traversal: see :func:`walk`.
        depth: the deepest frame.
        value: value of its last action, if ``ends``.
        ends: whether an action was followed to a terminal.

    Returns:
        The frame, with ``NEXT`` set to the action's index plus one; -1 at the end of the walk.
    """
    nodes, rows, player = histories.nodes, tables.rows, traversal.player
    while depth >= 0:
        here, sampled, chosen = room.frames[depth, NODE], room.sampled[depth], room.chosen[depth]
        actor, child, children, key = nodes[here, ACTOR], nodes[here, CHILD], nodes[here, CHILDREN], nodes[here, KEY]
        a = room.frames[depth, NEXT]
        if ends:
            sampled[a - 1] += (value - sampled[a - 1]) / chosen[a - 1]
            edge = layout.edges[child + a - 1] if rules.baseline == LEARNED else -1
            if edge >= 0:
                tables.baselines[player, edge] += rules.rate * (value - tables.baselines[player, edge])
        while a < children and chosen[a] == 0.0:
            a += 1
        if a < children:
            room.frames[depth, NEXT] = a + 1
            return depth
        value, ends = 0.0, True
        for a in range(children):
            value += probability_of(histories.chance, rows, actor, key + a) * sampled[a]
        if actor == player:
            scale = traversal.weights[REGRET_WEIGHT] * room.numbers[depth, WEIGHT]
            add_regrets(rows, key, children, traversal, scale, sampled, chosen, value)
        depth -= 1
    return depth


@kernel(**INLINED)
def skip(nodes: SmallInts, rows: Floats, node: int, skipped: float, chosen: Floats) -> None:
    """Skip the traverser's actions with zero probability and very negative regret, unless they end the game."""
    child, children, key = nodes[node, CHILD], nodes[node, CHILDREN], nodes[node, KEY]
    for a in range(children):
        seldom = rows[key + a, REGRET] < skipped and rows[key + a, POLICY] == 0.0
        if seldom and nodes[child + a, ACTOR] != TERMINAL:
            chosen[a] = 0.0


@kernel(**NO_COUNTS)
def exact_values(histories: Histories, player: int, rows: Floats, values: Floats) -> None:
    """Write the value of every history to ``player`` under the current policies, float64 [H]."""
    nodes = histories.nodes
    for node in range(nodes.shape[0] - 1, -1, -1):
        actor, child, children, key = nodes[node, ACTOR], nodes[node, CHILD], nodes[node, CHILDREN], nodes[node, KEY]
        if actor == TERMINAL:
            values[node] = histories.payoffs[key, player]
            continue
        total = 0.0
        for a in range(children):
            probability = probability_of(histories.chance, rows, actor, key + a)
            total += probability * values[child + a]
        values[node] = total
