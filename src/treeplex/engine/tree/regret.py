"""The local update of the CFR family, fused with the backup, and the loop over iterations.

One kernel runs every variant; variants differ only in the :class:`Weights` of an iteration.
"""

import math
from typing import NamedTuple

from treeplex.base.arrays import Floats
from treeplex.engine.kernel import kernel
from treeplex.engine.tree.form import Payoff, Tree, TreeState, Workspace
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.sweeps import reach


class Weights(NamedTuple):
    """Weights of regrets, prediction and average in one iteration; the defaults are plain CFR.

    Attributes:
        positive, negative: factors on positive and negative regrets before the new ones are added.
        regret: weight of the new regrets.
        floor: 1.0 to set negative regrets to zero after adding (regret matching+), else 0.0.
        predicted_positive, predicted_negative: factors on regrets in the next policy (the next discount).
        prediction: weight of the new regrets as prediction in the next policy; 1 is full prediction.
        average_discount: factor on the average before the current strategy is added.
        average: weight of the current strategy in the average.
    """

    positive: float = 1.0
    negative: float = 1.0
    regret: float = 1.0
    floor: float = 0.0
    predicted_positive: float = 1.0
    predicted_negative: float = 1.0
    prediction: float = 0.0
    average_discount: float = 1.0
    average: float = 1.0


(
    POSITIVE,
    NEGATIVE,
    REGRET,
    FLOOR,
    PREDICTED_POSITIVE,
    PREDICTED_NEGATIVE,
    PREDICTION,
    AVERAGE_DISCOUNT,
    AVERAGE,
) = range(len(Weights._fields))
"""Columns of a row of :class:`Weights`."""

ADAPTIVE_CAP = 5.0


@kernel()
def iterate(tree: Tree, payoff: Payoff, weights: Floats, alternating: bool, state: TreeState, work: Workspace) -> None:
    """Run one iteration for each row of ``weights``.

    Alternating: player 0 updates against the others' current strategies, then player 1 against the new one, and so on.
    Simultaneous: all gradients are taken before any update. In both cases the strategy just played is added to the average
    before the next policy is set.

    Args:
        tree, payoff: the game.
        weights: [K, 9], one row of :class:`Weights` per iteration.
        alternating: the order of updates.
        state: the solver's state, updated in place; prediction is adaptive (APCFR+) if ``previous`` is non-empty.
        work: scratch.
    """
    players, strategy, average = tree.sequence_offsets.shape[0] - 1, state.strategy, state.averages[0]
    for k in range(weights.shape[0]):
        row = weights[k]
        if not alternating:
            for player in range(players):
                gradient(tree, payoff, player, strategy, work.values)
        for player in range(players):
            if alternating:
                gradient(tree, payoff, player, strategy, work.values)
            accumulate(tree, player, row[AVERAGE_DISCOUNT], row[AVERAGE], strategy, average)
            update(tree, player, row, state, work)
            if alternating:
                reach(tree, player, state.policy, strategy)
        if not alternating:
            for player in range(players):
                reach(tree, player, state.policy, strategy)


@kernel()
def accumulate(tree: Tree, player: int, discount: float, weight: float, strategy: Floats, average: Floats) -> None:
    """Discount the average of ``player`` and add the current strategy, both in sequence form."""
    start, end = tree.sequence_offsets[player], tree.sequence_offsets[player + 1]
    own_average, own_strategy = average[start:end], strategy[start:end]
    for q in range(end - start):
        own_average[q] = discount * own_average[q] + weight * own_strategy[q]


@kernel()
def update(tree: Tree, player: int, row: Floats, state: TreeState, work: Workspace) -> None:
    """Back up values and update regrets and policy of ``player`` in one bottom-up sweep.

    ``r = values - infoset value``; ``R = [R * d + w * r]`` (floored or not); next policy proportional to
    ``[R * d' + m * r]+``, uniform where that is zero.
    """
    positive, negative, regret_weight, floor = row[POSITIVE], row[NEGATIVE], row[REGRET], row[FLOOR] > 0.0
    predicted_positive, predicted_negative = row[PREDICTED_POSITIVE], row[PREDICTED_NEGATIVE]
    lowest, adaptive = 0.0 if floor else -math.inf, state.previous.shape[0] > 0
    regrets, policy, changes, values = state.regrets, state.policy, state.changes, work.values
    for b in range(tree.block_offsets[player + 1] - 1, tree.block_offsets[player] - 1, -1):
        q0, i0, n, actions = tree.blocks[b, 0], tree.blocks[b, 1], tree.blocks[b, 2], tree.blocks[b, 3]
        block_values, total = work.infoset_values[i0 : i0 + n], work.totals[i0 : i0 + n]
        parents = tree.infoset_parent[i0 : i0 + n]
        for j in range(n):
            block_values[j] = 0.0
            total[j] = 0.0
        for a in range(actions):
            action_values, probabilities = values[q0 + a * n : q0 + a * n + n], policy[q0 + a * n : q0 + a * n + n]
            for j in range(n):
                block_values[j] += probabilities[j] * action_values[j]
        for j in range(n):
            values[parents[j]] += block_values[j]
        strength = row[PREDICTION]
        if adaptive:
            adapt(tree, b, row, state, work)
        for a in range(actions - 1, -1, -1):  # either order is correct; see "order of sums" in docs/log.md
            action_values, next_policy = values[q0 + a * n : q0 + a * n + n], policy[q0 + a * n : q0 + a * n + n]
            action_regrets = regrets[q0 + a * n : q0 + a * n + n]
            for j in range(n):
                new = action_values[j] - block_values[j]
                old = action_regrets[j]
                regret = max(old * (positive if old > 0.0 else negative) + regret_weight * new, lowest)
                action_regrets[j] = regret
                if adaptive:
                    strength = 1.0 / (1.0 + adaptive_factor(changes, i0 + j))
                guess = regret * (predicted_positive if regret > 0.0 else predicted_negative) + strength * new
                guess = max(guess, 0.0)
                next_policy[j] = guess
                total[j] += guess
        uniform = 1.0 / actions
        for a in range(actions):
            next_policy = policy[q0 + a * n : q0 + a * n + n]
            for j in range(n):
                next_policy[j] = next_policy[j] / total[j] if total[j] > 0.0 else uniform


@kernel()
def adapt(tree: Tree, block: int, row: Floats, state: TreeState, work: Workspace) -> None:
    """Add a block's squared changes of instantaneous and cumulative regrets (APCFR+, Meng et al. 2025)."""
    q0, i0, n, actions = tree.blocks[block, 0], tree.blocks[block, 1], tree.blocks[block, 2], tree.blocks[block, 3]
    positive, negative, lowest = row[POSITIVE], row[NEGATIVE], 0.0 if row[FLOOR] > 0.0 else -math.inf
    regrets, previous, changes, values = state.regrets, state.previous, state.changes, work.values
    block_values, regret_weight = work.infoset_values[i0 : i0 + n], row[REGRET]
    for a in range(actions):
        for j in range(n):
            q = q0 + a * n + j
            new = values[q] - block_values[j]
            old = regrets[q]
            regret = max(old * (positive if old > 0.0 else negative) + regret_weight * new, lowest)
            changes[0, i0 + j] += (new - previous[q]) ** 2
            changes[1, i0 + j] += (regret - old) ** 2
            previous[q] = new


@kernel()
def adaptive_factor(changes: Floats, infoset: int) -> float:
    """Return APCFR+'s ``a = min(sqrt(sum |r^s - r^(s-1)|^2 / sum |R^(s+1) - R^s|^2), 5)`` of an infoset."""
    if changes[1, infoset] <= 0.0:
        return ADAPTIVE_CAP if changes[0, infoset] > 0.0 else 0.0
    return min(math.sqrt(changes[0, infoset] / changes[1, infoset]), ADAPTIVE_CAP)
