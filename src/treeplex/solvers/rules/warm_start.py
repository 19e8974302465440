"""Warm starts of CFR variants from any policy (Brown and Sandholm 2016).

The policy counts as ``T`` iterations. The average is that of ``T`` iterations of the policy, and substitute regrets are
``T (v'(I, a) - v'(I))``, discounted and floored by the variant. ``v'(I, a)`` is the counterfactual
value of an action against the others' policies, with values ``v'`` at the infosets below. These solve

    ``sum_a [v'(I, a) - v'(I)]+^2 = LAMBDA |A| D(I)^2 / T``,

so that the regrets meet CFR's bound after ``T`` iterations. ``D(I)`` is the difference between the player's best and worst
payoff from there, instead of the paper's bound by payoffs and reach. ``T`` is the largest power of two up to :data:`MOST` for
which the values ``v'`` at the root sum to at most the policy's values, as required by the paper. The less exploitable the
policy, the more iterations it counts as.

A warm start pays off if few iterations follow. In Leduc poker, from a policy with exploitability 7.8e-3 (100 iterations of
``dcfr``), 30 iterations of ``dcfr`` end at 1.2e-2 instead of 6.4e-2, but 300 at 5.0e-3 instead of 1.1e-3: the run first moves
away from the policy before improving on it. To continue an earlier run, resume it instead.

Source: Brown and Sandholm 2016, Strategy-Based Warm Starting for Regret Minimization in Games (AAAI 2016).
"""

from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.engine.tree.form import Tree
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.sweeps import reach
from treeplex.errors import AlgorithmError
from treeplex.forms.policies.tabular import Policy
from treeplex.solvers.base import Solver
from treeplex.solvers.rules.rule import average_after
from treeplex.solvers.rules.variants import Variant, added_up
from treeplex.solvers.solver import FormSolver

LAMBDA = 0.01
"""Fraction of CFR's bound that regrets reach, since runs stay far below the bound."""
MOST = 1024
"""Maximum number of iterations that a policy counts as."""


class Substitute(NamedTuple):
    """A player's substitute values for a number of iterations.

    Attributes:
        root: the value at the root.
        regrets: float64 [Q], action value minus infoset value; 0 elsewhere.
    """

    root: float
    regrets: Floats


def warm_start(solver: Solver, policy: Policy) -> int:
    """Set a new solver to the state after ``T`` iterations of a policy.

    Returns:
        ``T``, from which the solver's schedule continues.

    Raises:
        AlgorithmError: the algorithm is not a CFR variant with predetermined weights.
    """
    rule = solver.rule if isinstance(solver, FormSolver) else None
    if not isinstance(solver, FormSolver) or not isinstance(rule, Variant) or rule.adaptive:
        raise AlgorithmError(f"{solver.algorithm} cannot start from a policy; use a CFR variant such as dcfr, cfr+ or lcfr")
    tree, players = solver.game.tree, range(solver.game.players)
    strategy, substitute_regrets = np.empty_like(policy.probabilities), np.zeros_like(policy.probabilities)
    for player in players:
        reach(tree, player, policy.probabilities, strategy)
    gradients = []
    for player in players:
        values = np.zeros_like(substitute_regrets)
        gradient(tree, solver.game.payoff, player, strategy, values)
        gradients.append(values)
    value = sum(float(own_part(tree, player, gradients[player]) @ own_part(tree, player, strategy)) for player in players)
    bounds = [bounds_of(tree, player, gradients[player]) for player in players]
    count = 1
    while count < MOST:
        roots = [substituted(tree, i, gradients[i], bounds[i] / (2 * count)).root for i in players]
        if sum(roots) > value:
            break
        count *= 2
    for player in players:
        substitute_regrets += substituted(tree, player, gradients[player], bounds[player] / count).regrets
    solver.before = count
    horizon = solver.horizon + count
    gained, lost = added_up(rule, horizon, count, np.array([1.0, -1.0]))
    weight = average_after(rule, horizon, count)[1]
    regrets = np.where(substitute_regrets > 0.0, gained * substitute_regrets, -lost * substitute_regrets)
    arrays = {"regrets": regrets, "policy": policy.probabilities, "strategy": strategy, "average": weight * strategy}
    solver.restore(solver.state() | arrays)
    return count


def own_part(tree: Tree, player: int, values: Floats) -> Floats:
    """Return a player's slice of values [Q]."""
    return values[int(tree.sequence_offsets[player]) : int(tree.sequence_offsets[player + 1])]


def bounds_of(tree: Tree, player: int, values: Floats) -> Floats:
    """Return ``LAMBDA |A| D(I)^2`` of every infoset, float64 [I], from the player's gradient [Q]."""
    best, worst, bounds = values.copy(), values.copy(), np.zeros(len(tree.infoset_parent))
    for first, start, many, actions in reversed(own_blocks(tree, player)):
        here, block = slice(start, start + many), slice(first, first + actions * many)
        most, least = best[block].reshape(actions, many).max(axis=0), worst[block].reshape(actions, many).min(axis=0)
        bounds[here] = LAMBDA * actions * (most - least) ** 2
        np.add.at(best, tree.infoset_parent[here], most)
        np.add.at(worst, tree.infoset_parent[here], least)
    return bounds


def substituted(tree: Tree, player: int, gradients: Floats, squares: Floats) -> Substitute:
    """Return values ``v'`` whose positive regrets have these sums of squares, float64 [I], at a player's infosets."""
    values, regrets = gradients.copy(), np.zeros_like(gradients)
    for first, start, many, actions in reversed(own_blocks(tree, player)):
        here, block = slice(start, start + many), slice(first, first + actions * many)
        rows = values[block].reshape(actions, many)
        level = level_of(rows, squares[here])
        regrets[block] = (rows - level).ravel()
        np.add.at(values, tree.infoset_parent[here], level)
    return Substitute(float(values[tree.sequence_offsets[player]]), regrets)


def level_of(rows: Floats, squares: Floats) -> Floats:
    """Solve ``sum_a [rows_a - v]+^2 = squares`` for v in each column of rows [A, n]; float64 [n]."""
    top = rows.max(axis=0)
    ordered = -np.sort(top - rows, axis=0)  # descending, from 0
    counts = np.arange(1, len(rows) + 1)[:, None]
    sums, square_sums = np.cumsum(ordered, axis=0), np.cumsum(ordered**2, axis=0)
    above = square_sums - 2.0 * ordered * sums + counts * ordered**2 < squares
    chosen = np.maximum(above.sum(axis=0), 1) - 1
    columns, count = np.arange(rows.shape[1]), chosen + 1.0
    linear, square = sums[chosen, columns], square_sums[chosen, columns]
    level: Floats = top + (linear - np.sqrt(np.maximum(linear**2 - count * (square - squares), 0.0))) / count
    return level


def own_blocks(tree: Tree, player: int) -> list[list[int]]:
    """Return each of a player's blocks, top-down: first sequence, first infoset, number of infosets, number of actions."""
    blocks = tree.blocks[int(tree.block_offsets[player]) : int(tree.block_offsets[player + 1]), :4]
    rows: list[list[int]] = blocks.tolist()
    return rows
