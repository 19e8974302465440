"""Gains from deviating from recommended plans: sums over joint plans, and sweeps over these sums.

Sequences of one player are numbered by **place**: infosets in preorder, with contiguous actions followed by the infosets below
them. The subtree of an infoset is then one slice, and parents come first.
"""

from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats, Ints, SmallInts
from treeplex.engine.kernel import kernel
from treeplex.engine.plans.plans import follow
from treeplex.engine.tree.form import Payoff, Tree
from treeplex.engine.tree.gradient import gradient


class Preorder(NamedTuple):
    """One player's treeplex in preorder, with n infosets and K non-empty sequences; a place is a position in that order.

    Attributes:
        infoset: [n], index of each infoset among the player's, in preorder.
        start: [n], place of its first action.
        actions: [n], number of actions.
        end: [n], end of its subtree's slice of places.
        after: [n], first infoset after its subtree.
        parent: [n], place that leads to it; -1 for the empty sequence.
        sequence: [K], sequence (global number) of each place.
        table: [K + 1], start of each place's row in a table with one entry for each place in the subtree of its infoset.
    """

    infoset: Ints
    start: Ints
    actions: Ints
    end: Ints
    after: Ints
    parent: Ints
    sequence: Ints
    table: Ints


class DeviationSums(NamedTuple):
    """One player's recommendations and their values, summed over joint plans and indexed by place.

    Places are those of :class:`Preorder`.

    Attributes:
        gradients: [table[K]], at row p and place p': gradient of p' against the others' plans, summed over the joint plans
            whose own plan plays p, weighted by probability.
        swapped: [K, A], at p and b: payoff of taking action b when p is recommended and following later recommendations.
        shares: [K], probability that the own plan plays the place.
        totals: [4], payoff of the empty sequence; sum over own plans of the best-response payoff given the plan; largest such
            gain over following the plan; expected payoff.
    """

    gradients: Floats
    swapped: Floats
    shares: Floats
    totals: Floats


EMPTY, BEST_BY_PLAN, LARGEST_BY_PLAN, EXPECTED = 0, 1, 2, 3
"""Indices into :attr:`DeviationSums.totals`."""


@kernel()
def best_below(order: Preorder, infoset: int, values: Floats) -> float:
    """Return the best payoff from an infoset onwards.

    Args:
        order: the player's places.
        infoset: the infoset, in preorder.
        values: [end - start], gradient of the places in its subtree; overwritten by the values of sequences.
    """
    first = order.start[infoset]
    best = 0.0
    for below in range(order.after[infoset] - 1, infoset - 1, -1):
        place = order.start[below] - first
        best = values[place]
        for action in range(1, order.actions[below]):
            best = max(best, values[place + action])
        if below > infoset:
            values[order.parent[below] - first] += best
    return float(best)


@kernel()
def recommended_gradient(
    tree: Tree,
    payoff: Payoff,
    player: int,
    plans: SmallInts,
    plan_offsets: Ints,
    support: Ints,
    weights: Floats,
    strategy: Floats,
    values: Floats,
    total: Floats,
) -> None:
    """Add the gradient of ``player`` to ``total`` [Q]: the sum over joint plans of the others' plans, weighted by probability.

    The gradient is linear in one player's strategy, so consecutive joint plans that differ only in the last opponent's plan
    need one gradient together. ``strategy`` and ``values`` [Q] are scratch.
    """
    players = tree.sequence_offsets.shape[0] - 1
    last = players - 1 if player < players - 1 else players - 2
    row = 0
    while row < support.shape[0]:
        for other in range(players):
            if other != player and other != last:
                follow_number(tree, other, plans, plan_offsets, support[row, other], strategy)
        stop = row
        mixed = 0.0
        if last >= 0:
            strategy[tree.sequence_offsets[last] : tree.sequence_offsets[last + 1]] = 0.0
        while stop < support.shape[0] and alike(support, row, stop, last):
            mixed += weights[stop]
            if last >= 0:
                add_number(tree, last, plans, plan_offsets, support[stop, last], weights[stop], strategy)
            stop += 1
        gradient(tree, payoff, player, strategy, values)
        factor = 1.0 if last >= 0 else mixed
        for q in range(tree.sequence_offsets[player], tree.sequence_offsets[player + 1]):
            total[q] += factor * values[q]
        row = stop


@kernel()
def alike(support: Ints, one: int, other: int, last: int) -> bool:
    """Return whether two joint plans differ at most in the plan of player ``last``."""
    same = True
    for player in range(support.shape[1]):
        same = same and (player == last or support[one, player] == support[other, player])
    return same


@kernel()
def follow_number(tree: Tree, player: int, plans: SmallInts, plan_offsets: Ints, number: int, strategy: Floats) -> None:
    """Write the sequence form of a numbered plan, see :func:`treeplex.engine.plans.plans.follow`."""
    infosets = tree.infoset_offsets[player + 1] - tree.infoset_offsets[player]
    begin = plan_offsets[player] + number * infosets
    follow(tree, player, plans[begin : begin + infosets], strategy)


@kernel()
def add_number(
    tree: Tree, player: int, plans: SmallInts, plan_offsets: Ints, number: int, weight: float, strategy: Floats
) -> None:
    """Add ``weight`` to the sequences that a numbered plan plays."""
    first = tree.infoset_offsets[player]
    infosets = tree.infoset_offsets[player + 1] - first
    begin = plan_offsets[player] + number * infosets
    strategy[tree.sequence_offsets[player]] += weight
    for local in range(infosets):
        action = plans[begin + local]
        if action >= 0:
            layout = tree.infoset_layout[first + local]
            strategy[layout[0] + action * layout[1]] += weight


@kernel()
def add_plans(
    tree: Tree,
    payoff: Payoff,
    player: int,
    order: Preorder,
    plans: SmallInts,
    plan_offsets: Ints,
    support: Ints,
    weights: Floats,
    behaviour: Floats,
    seen: DeviationSums,
) -> None:
    """Fill the zero-initialised sums of one player.

    Args:
        tree, payoff: the game.
        player: the recipient of the recommendations.
        order: the player's places.
        plans, plan_offsets: as in :func:`treeplex.engine.plans.plans.joint_gradients`.
        support: [S, N], joint plans, sorted by the player's own plan first and by the last opponent's plan last.
        weights: [S].
        behaviour: [K], policy by place where an own plan is undefined.
        seen: sums, output.
    """
    size = tree.sequence_offsets[-1]
    strategy, values, total = np.zeros(size), np.zeros(size), np.zeros(size)
    placed, worth, backed = np.zeros(order.sequence.shape[0]), np.zeros(order.start.shape[0]), np.zeros(order.sequence.shape[0])
    infosets = tree.infoset_offsets[player + 1] - tree.infoset_offsets[player]
    row = 0
    seen.totals[LARGEST_BY_PLAN] = -np.inf
    while row < support.shape[0]:
        stop = row
        share = 0.0
        while stop < support.shape[0] and support[stop, player] == support[row, player]:
            share += weights[stop]
            stop += 1
        total[tree.sequence_offsets[player] : tree.sequence_offsets[player + 1]] = 0.0
        recommended_gradient(
            tree, payoff, player, plans, plan_offsets, support[row:stop], weights[row:stop], strategy, values, total
        )
        for place in range(placed.shape[0]):
            placed[place] = total[order.sequence[place]]
        begin = plan_offsets[player] + support[row, player] * infosets
        empty = total[tree.sequence_offsets[player]]
        add_plan(order, plans[begin : begin + infosets], share, empty, placed, behaviour, backed, worth, seen)
        row = stop


@kernel()
def add_plan(
    order: Preorder,
    plan: SmallInts,
    share: float,
    empty: float,
    placed: Floats,
    behaviour: Floats,
    backed: Floats,
    worth: Floats,
    seen: DeviationSums,
) -> None:
    """Add one of the player's plans to the sums: its probability, and the gradient against the others' plans.

    Args:
        order: the player's places.
        plan: [I_i], the plan.
        share: its probability.
        empty: the payoff of the empty sequence.
        placed: [K], weighted gradient by place.
        behaviour: [K], policy where the plan is undefined.
        backed, worth: [K] and [n], scratch.
        seen: sums, updated.
    """
    count = order.start.shape[0]
    for k in range(len(placed)):
        backed[k] = placed[k]
    expected, best = empty, empty
    for infoset in range(count - 1, -1, -1):
        start, recommended = order.start[infoset], plan[order.infoset[infoset]]
        value = 0.0
        for action in range(order.actions[infoset]):
            chance = behaviour[start + action] if recommended < 0 else 1.0 if action == recommended else 0.0
            value += chance * backed[start + action]
        worth[infoset] = value
        if order.parent[infoset] >= 0:
            backed[order.parent[infoset]] += value
        else:
            expected += value
    for infoset in range(count):
        start, recommended = order.start[infoset], plan[order.infoset[infoset]]
        if recommended >= 0:
            row = order.table[start + recommended]
            seen.shares[start + recommended] += share
            for place in range(start, order.end[infoset]):
                seen.gradients[row + place - start] += placed[place]
            for action in range(order.actions[infoset]):
                seen.swapped[start + recommended, action] += backed[start + action]
    infoset = 0
    for k in range(len(placed)):
        backed[k] = placed[k]
    while infoset < count:
        best += best_below(order, infoset, backed[order.start[infoset] : order.end[infoset]])
        infoset = order.after[infoset]
    seen.totals[EMPTY] += empty
    seen.totals[EXPECTED] += expected
    seen.totals[BEST_BY_PLAN] += best
    seen.totals[LARGEST_BY_PLAN] = max(seen.totals[LARGEST_BY_PLAN], best - expected)


@kernel()
def best_deviation(order: Preorder, seen: DeviationSums, informed: Floats, uninformed: Floats) -> None:
    """Compute the best payoff for a player who abandons the plan at each infoset and then plays independently.

    Args:
        order: the player's places.
        seen: sums of :func:`add_plans`.
        informed: [K], output: deviate when the place's action is recommended.
        uninformed: [n], output: deviate at the infoset before its recommendation.
    """
    widest = 0
    for infoset in range(order.start.shape[0]):
        widest = max(widest, order.end[infoset] - order.start[infoset])
    scratch, together = np.zeros(widest), np.zeros(widest)
    for infoset in range(order.start.shape[0]):
        start, size = order.start[infoset], order.end[infoset] - order.start[infoset]
        together[:size] = 0.0
        for place in range(start, start + order.actions[infoset]):
            row = seen.gradients[order.table[place] : order.table[place] + size]
            together[:size] += row
            for k in range(size):
                scratch[k] = row[k]
            informed[place] = best_below(order, infoset, scratch[:size])
        uninformed[infoset] = best_below(order, infoset, together[:size])


@kernel()
def extended_value(order: Preorder, follow_on: Floats, deviation: Floats, informed: bool) -> float:
    """Return the best payoff of a player who may abandon the plan at any infoset, excluding the empty sequence's payoff.

    Args:
        order: the player's places.
        follow_on: [K], in: payoff of each place when recommended and followed; out: including its subtree.
        deviation: payoff of leaving: [K], after the place's recommendation, or [n], before it; -inf forbids leaving.
        informed: whether ``deviation`` is [K].
    """
    total = 0.0
    for infoset in range(order.start.shape[0] - 1, -1, -1):
        value = 0.0
        for place in range(order.start[infoset], order.start[infoset] + order.actions[infoset]):
            value += max(follow_on[place], deviation[place]) if informed else follow_on[place]
        if not informed:
            value = max(value, deviation[infoset])
        if order.parent[infoset] >= 0:
            follow_on[order.parent[infoset]] += value
        else:
            total += value
    return total
