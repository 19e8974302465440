"""Monte Carlo CFR: one walk over sampled histories serves every scheme.

A scheme says which actions of the traverser, of the other players and of chance a walk follows; everything else (importance
weights, baselines, regrets, averages) follows from the probabilities with which it follows them.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from treeplex.arrays import Floats, Ints, SmallInts
from treeplex.engine.histories.form import ACTOR, CHANCE, CHILD, CHILDREN, KEY, TERMINAL, Histories
from treeplex.engine.histories.streams import advanced, start, unit
from treeplex.engine.kernel import INLINED, KERNEL

ALL, ONE, EACH, SUBSET = 0, 1, 2, 3
"""Which actions are walked: all; one, by the policy; each by its share of the average; a subset of given size."""
LAZY, FULL, STOCHASTIC, OPTIMISTIC, OPPONENT, NAIVE = 0, 1, 2, 3, 4, 5
"""How the average is kept; see :mod:`treeplex.solvers.sampling.solver`."""
NO_BASELINE, LEARNED, ORACLE = 0, 1, 2
REGRET, POLICY, AVERAGE, MARK = 0, 1, 2, 3
"""Columns of a :attr:`Tables.rows`; ``MARK`` is used at an infoset's first action only."""
REGRET_WEIGHT, AVERAGE_WEIGHT, POSITIVE_LOG, NEGATIVE_LOG = 0, 1, 2, 3
"""Columns of an iteration's weights, see :func:`iterate_sampled`."""
SECTION = (math.sqrt(5.0) - 1.0) / 2.0
"""How far apart two numbers of a chance node are that follow each other, modulo 1 (Weyl's sequence)."""
LOWEST = 31.0 / 30.0
"""Where walks prune, no regret falls below this multiple of what is skipped, so that an action can come back."""


class SchemeCodes(NamedTuple):
    """What a scheme follows and keeps.

    Attributes:
        own, others: ``ALL``, ``ONE``, ``EACH`` or ``SUBSET`` for the traverser; ``ALL`` or ``ONE`` for the other players.
        exploration: with ``own`` ``ONE``, the probability of a uniform choice.
        least, bonus, scale: with ``EACH``, epsilon, beta and tau of average strategy sampling.
        size: with ``SUBSET``, the number of actions.
        averaging: ``LAZY`` to ``NAIVE``.
        baseline: ``NO_BASELINE``, ``LEARNED`` or ``ORACLE``.
        rate: how far a learned baseline moves toward each new sample.
        floor: regrets are set to zero where negative (regret matching+).
        discounts: old regrets are discounted.
        prune: with ``own`` ``ALL``, the share of walks that skip actions with very negative regrets.
        prune_after: iterations before the first such walk.
        prune_below: how negative regrets must be, in the game's units and times the weight of new regrets.
    """

    own: int
    others: int
    exploration: float
    least: float
    bonus: float
    scale: float
    size: int
    averaging: int
    baseline: int
    rate: float
    floor: bool
    discounts: bool
    prune: float
    prune_after: int
    prune_below: float


class Tables(NamedTuple):
    """The state of a run, one row per action ("slot"); an infoset's slots are contiguous, infosets stand top-down.

    Attributes:
        rows: float64 [S, 4], regret, current policy, average, mark.
        logs: float64 [S, 2], at an infoset's first slot the logs of the discounts of positive and negative regrets
            accumulated up to its last visit; [0, 2] without discounts.
        totals: float64 [N], sum of the weights of the iterations that each player's average holds.
        baselines: float64 [N, B], for each traverser what histories are thought to be worth.
        quantiles: float64 [N, C], for each traverser and chance node, at its first outcome, the number in [0, 1) by which the
            last outcome was picked; [N, 0] where outcomes are drawn.
    """

    rows: Floats
    logs: Floats
    totals: Floats
    baselines: Floats
    quantiles: Floats


class Layout(NamedTuple):
    """Where things are.

    Attributes:
        infosets: int64 [I, 3], first slot, number of actions, slot of the own action before (-1 for none).
        offsets: int64 [N+1], the slice of infosets of each player.
        edges: int32 [H], the column of ``baselines`` of each history; -1 for none.
    """

    infosets: Ints
    offsets: Ints
    edges: SmallInts


class Traversal(NamedTuple):
    """What does not change during a walk.

    Attributes:
        player: the traverser.
        weights: [4], the row of the iteration.
        skipped: the regret below which own actions are skipped.
        lowest: the least regret.
    """

    player: int
    weights: Floats
    skipped: float = -math.inf
    lowest: float = -math.inf


class Scratch(NamedTuple):
    """Room for one walk at a time.

    Attributes:
        frames, numbers: [D, 3], the histories whose actions are being followed, by depth.
        sampled: [D, A], baselines at first, then the sampled values of actions.
        chosen: [D, A], the probability with which each action is followed; 0 for those that are not.
        touched: [I, 2], first slot and number of actions of the traverser's infosets visited.
        reach: [S], for ``FULL`` averaging.
    """

    frames: Ints
    numbers: Floats
    sampled: Floats
    chosen: Floats
    touched: Ints
    reach: Floats


NODE, NEXT, BEFORE, FRAME_FIELDS = 0, 1, 2, 3
"""Columns of ``Scratch.frames``: the history, the action to look at next, the slot of the own action before it."""
WEIGHT, OWN_REACH, SAMPLE_REACH, FRAME_NUMBERS = 0, 1, 2, 3
"""Columns of ``Scratch.numbers``: importance weight, the traverser's reach, the probability that the walk comes here."""


def scratch(histories: Histories, layout: Layout, rules: SchemeCodes, depth: int) -> Scratch:
    """Room for walks over these histories, of which the longest has ``depth`` nodes."""
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


@njit(**KERNEL)
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
    """Run one iteration for every ``step``-th row of ``weights``: a walk for every player in turn.

    Args:
        histories, layout: the game; keys of decisions are first slots here.
        rules: the scheme.
        tables: updated in place; other threads may be updating them too.
        room: scratch of this thread.
        seed: of the whole run.
        first: the iteration of the first row of ``weights``.
        step: rows are taken this far apart.
        weights: [K, 4], weight of new regrets, of this iteration in the average, and the logs of the discounts of positive and
            negative regrets accumulated up to it.

    Returns:
        Histories walked.
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
            skipped, lowest = -math.inf, -math.inf
            if rules.prune > 0.0:
                lowest = -LOWEST * rules.prune_below * weights[k, REGRET_WEIGHT]
                if first + k > rules.prune_after:
                    stream = advanced(stream)
                    if unit(stream) < rules.prune:
                        skipped = -rules.prune_below * weights[k, REGRET_WEIGHT]
            traversal = Traversal(player, weights[k], skipped, lowest)
            visited, touched = walk(histories, layout, rules, tables, room, traversal, stream)
            match_regrets(rules.floor, tables.rows, room.touched, touched)
            walked += visited
    return walked


@njit(**KERNEL)
def walk(
    histories: Histories,
    layout: Layout,
    rules: SchemeCodes,
    tables: Tables,
    room: Scratch,
    traversal: Traversal,
    stream: np.uint64,
) -> tuple[int, int]:
    """Walk the histories that are sampled for the traverser; add regrets, averages and baselines on the way.

    At a history h below which actions are followed with probabilities rho, the sampled value is
    ``u(h) = sum_a p_a (b_a + [a followed] (u(ha) - b_a) / rho_a)`` with p the policy or chance and b a baseline, and
    ``W(h)`` is the product of ``p / rho`` (of ``1 / rho`` for the traverser's own actions) on the path. Then
    ``W(h) (u(ha) - u(h))`` has the counterfactual regret as its expectation (Lanctot et al. 2009, section 3; with baselines
    Schmid et al. 2019, equations 9 to 12).

    Own actions that are not played, whose regrets are below ``skipped`` and after which the game goes on, are not followed, and
    keep their regrets; no regret falls below ``lowest`` (Brown and Sandholm 2019, supplement, algorithm 1).

    Returns:
        Histories walked, and how many of the traverser's infosets are in ``room.touched``.
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
        key, rho, own = nodes[here, KEY] + a, chosen[depth, a], nodes[here, ACTOR] == player
        probability = probability_of(histories.chance, rows, nodes[here, ACTOR], key)
        weight = numbers[depth, WEIGHT] / rho if own else numbers[depth, WEIGHT] * (probability / rho)
        own_reach = numbers[depth, OWN_REACH] * (probability if own else 1.0)
        sample_reach = numbers[depth, SAMPLE_REACH] * rho
        before = key if own else frames[depth, BEFORE]
        node = nodes[here, CHILD] + a


@njit(**INLINED)
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
    """Climb from the frame ``depth`` to one that has a next action to follow; add regrets on the way.

    Args:
        histories, layout, rules, tables, room, traversal: see :func:`walk`.
        depth: the lowest frame.
        value: what the last of its actions was worth, if one ``ends`` here.
        ends: whether one was followed to the end.

    Returns:
        The frame, whose ``NEXT`` is now that of the action plus one; -1 at the end of the walk.
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
            for a in range(children):
                if traversal.skipped == -math.inf or chosen[a] > 0.0:
                    rows[key + a, REGRET] = max(rows[key + a, REGRET] + scale * (sampled[a] - value), traversal.lowest)
        depth -= 1
    return depth


@njit(**INLINED)
def skip(nodes: SmallInts, rows: Floats, node: int, skipped: float, chosen: Floats) -> None:
    """Do not follow own actions that are not played, have very negative regrets, and do not end the game."""
    child, children, key = nodes[node, CHILD], nodes[node, CHILDREN], nodes[node, KEY]
    for a in range(children):
        seldom = rows[key + a, REGRET] < skipped and rows[key + a, POLICY] == 0.0
        if seldom and nodes[child + a, ACTOR] != TERMINAL:
            chosen[a] = 0.0


@njit(**KERNEL)
def probability_of(chance: Floats, rows: Floats, actor: int, slot: int) -> float:
    """With which probability chance or a player takes the action of a slot."""
    return float(chance[slot] if actor == CHANCE else rows[slot, POLICY])


@njit(**KERNEL)
def next_quantile(quantiles: Floats, player: int, key: int) -> float:
    """The next number in [0, 1) of a chance node: a golden section on, so that all of a row of visits are spread evenly."""
    number = quantiles[player, key] + SECTION
    if number >= 1.0:
        number -= 1.0
    quantiles[player, key] = number
    return float(number)


@njit(**KERNEL)
def picked(chance: Floats, rows: Floats, actor: int, key: int, children: int, number: float) -> tuple[int, float]:
    """The action, and its probability, that a number in [0, 1) picks by chance's or the actor's policy."""
    cumulative = probability = 0.0
    last = children - 1
    for a in range(children):
        probability = probability_of(chance, rows, actor, key + a)
        cumulative += probability
        if number < cumulative:
            return a, probability
    return last, probability


@njit(**INLINED)
def choose(
    chance: Floats,
    rules: SchemeCodes,
    rows: Floats,
    actor: int,
    player: int,
    key: int,
    children: int,
    stream: np.uint64,
    chosen: Floats,
) -> np.uint64:
    """Write the probability with which each action is followed, 0 for those that this walk does not follow."""
    own = actor == player
    rule = ONE if actor == CHANCE else rules.own if own else rules.others
    if rule == ALL:
        for a in range(children):
            chosen[a] = 1.0 if own or rows[key + a, POLICY] > 0.0 else 0.0
    elif rule == ONE:
        stream = advanced(stream)
        number, cumulative, taken = unit(stream), 0.0, -1
        for a in range(children):
            probability = probability_of(chance, rows, actor, key + a)
            if own:
                probability = rules.exploration / children + (1.0 - rules.exploration) * probability
            cumulative += probability
            chosen[a] = 0.0
            if taken < 0 and (number < cumulative or a == children - 1):
                taken, chosen[a] = a, probability
    elif rule == EACH:
        total = 0.0
        for a in range(children):
            total += rows[key + a, AVERAGE]
        for a in range(children):
            known = rules.bonus + total
            share = (rules.bonus + rules.scale * rows[key + a, AVERAGE]) / known if known > 0.0 else 1.0
            probability = min(1.0, max(rules.least, share))
            stream = advanced(stream)
            chosen[a] = probability if unit(stream) < probability else 0.0
    else:
        wanted = min(rules.size, children)
        probability = wanted / children
        for a in range(children):
            stream = advanced(stream)
            if unit(stream) * (children - a) < wanted:
                chosen[a] = probability
                wanted -= 1
            else:
                chosen[a] = 0.0
    return stream


@njit(**INLINED)
def catch_up(
    rules: SchemeCodes,
    tables: Tables,
    player: int,
    key: int,
    actions: int,
    before: int,
    own_reach: float,
    sample_reach: float,
    weights: Floats,
) -> None:
    """What has to be done at a visited infoset of the traverser before its regrets change: average and discounts."""
    rows, total = tables.rows, tables.totals[player]
    share = 0.0
    if rules.averaging == LAZY:
        parent = rows[before, AVERAGE] if before >= 0 else total
        share = max(parent - rows[key, MARK], 0.0)
        rows[key, MARK] = parent
    elif rules.averaging == OPTIMISTIC:
        share = max(total - rows[key, MARK], 0.0) * own_reach
        rows[key, MARK] = total
    elif rules.averaging == STOCHASTIC:
        share = weights[AVERAGE_WEIGHT] * own_reach / sample_reach
    elif rules.averaging == NAIVE:
        share = weights[AVERAGE_WEIGHT] * own_reach
    if share > 0.0:
        for a in range(actions):
            rows[key + a, AVERAGE] += share * rows[key + a, POLICY]
    if rules.discounts:
        positive = math.exp(min(weights[POSITIVE_LOG] - tables.logs[key, 0], 0.0))
        negative = math.exp(min(weights[NEGATIVE_LOG] - tables.logs[key, 1], 0.0))
        tables.logs[key, 0], tables.logs[key, 1] = weights[POSITIVE_LOG], weights[NEGATIVE_LOG]
        for a in range(actions):
            rows[key + a, REGRET] *= positive if rows[key + a, REGRET] > 0.0 else negative


@njit(**KERNEL)
def match_regrets(floor: bool, rows: Floats, touched: Ints, count: int) -> None:
    """Set the next policy of the infosets that a walk has touched: proportional to positive regrets, else uniform."""
    for n in range(count):
        key, actions = touched[n, 0], touched[n, 1]
        total = 0.0
        for a in range(actions):
            if floor and rows[key + a, REGRET] < 0.0:
                rows[key + a, REGRET] = 0.0
            total += max(rows[key + a, REGRET], 0.0)
        for a in range(actions):
            rows[key + a, POLICY] = max(rows[key + a, REGRET], 0.0) / total if total > 0.0 else 1.0 / actions


@njit(**KERNEL)
def add_whole_policy(layout: Layout, player: int, weight: float, rows: Floats, reach: Floats) -> None:
    """Add the player's whole policy, weighted by own reach, to the average: exact, at the cost of a sweep."""
    for infoset in range(layout.offsets[player], layout.offsets[player + 1]):
        key, actions, before = layout.infosets[infoset, 0], layout.infosets[infoset, 1], layout.infosets[infoset, 2]
        arrived = reach[before] if before >= 0 else 1.0
        for a in range(actions):
            reach[key + a] = arrived * rows[key + a, POLICY]
            rows[key + a, AVERAGE] += weight * reach[key + a]


@njit(**KERNEL)
def settle(layout: Layout, totals: Floats, policy: Floats, mark: Floats, average: Floats) -> None:
    """Bring a lazily kept average up to date, top-down: what each infoset's policy has been owed since its last visit.

    Args:
        layout: infosets, parents first.
        totals: [N], as in :class:`Tables`.
        policy, mark: [S], columns of the rows.
        average: [S], in: the column of the rows; out: the sum over iterations of weight times own reach times policy, exactly.
    """
    for player in range(layout.offsets.shape[0] - 1):
        for infoset in range(layout.offsets[player], layout.offsets[player + 1]):
            key, actions, before = layout.infosets[infoset, 0], layout.infosets[infoset, 1], layout.infosets[infoset, 2]
            owed = (average[before] if before >= 0 else totals[player]) - mark[key]
            if owed > 0.0:
                for a in range(actions):
                    average[key + a] += owed * policy[key + a]


@njit(**KERNEL)
def exact_values(histories: Histories, player: int, rows: Floats, values: Floats) -> None:
    """Write what every history is worth to ``player`` under the current policies, float64 [H]."""
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
