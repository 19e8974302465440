"""Value-tested CFR+: every infoset tests whether prediction helps, and sets its prediction strength accordingly.

Each infoset keeps two candidate strategies that are not played: one without prediction and one with full prediction. When the
next action values are known, the difference of the candidates' payoffs is added to a decaying sum. The ratio of this sum to the
decaying sum of absolute differences sets the prediction strength.
"""

from typing import NamedTuple

from treeplex.base.arrays import Floats
from treeplex.engine.kernel import kernel
from treeplex.engine.tree.form import Payoff, Tree, TreeState
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.regret import POSITIVE, PREDICTED_POSITIVE, PREDICTION, Weights, accumulate
from treeplex.engine.tree.sweeps import reach


class ValueTest(NamedTuple):
    """Weights of regrets and tests in one iteration of value-tested CFR+.

    Attributes:
        discount: factor on regrets before the new ones are added.
        next_discount: factor on regrets in the next policy (the next discount).
        decay: factor on the sums of the test before the new difference is added.
        strength: slope of the prediction strength ``1/2 + strength * A / B``, clipped to [0, 1].
        untested: prediction strength if B is 0, that is, if the candidates have never differed.
        rounding: tolerance below which differences of probabilities, or relative differences of values, count as zero. At
            iteration 2 all candidates are equal up to rounding, and actions often tie exactly; with tolerance 0 rounding errors
            would set A / B to 1 or -1.
    """

    discount: float
    next_discount: float
    decay: float
    strength: float
    untested: float
    rounding: float

    def row(self, average_discount: float = 1.0) -> tuple[float, ...]:
        """Return one row: the columns of :class:`Weights` followed by :data:`DECAY`, :data:`UNTESTED` and :data:`ROUNDING`.

        ``average_discount`` is the factor on the average in engines with a single average.
        """
        weights = Weights(
            positive=self.discount,
            negative=0.0,
            floor=1.0,
            predicted_positive=self.next_discount,
            predicted_negative=0.0,
            prediction=self.strength,
            average_discount=average_discount,
        )
        return *weights, self.decay, self.untested, self.rounding


DECAY, UNTESTED, ROUNDING, AVERAGES = range(len(Weights._fields), len(Weights._fields) + 4)
"""Columns of a row after those of :class:`Weights`; from ``AVERAGES`` on, the factors on the averages.

``POSITIVE`` is the current discount, ``PREDICTED_POSITIVE`` the next one, and ``PREDICTION`` the factor on A / B.
"""


@kernel()
def iterate_tested(
    tree: Tree,
    payoff: Payoff,
    weights: Floats,
    alternating: bool,
    state: TreeState,
    values: Floats,
    scratch: Floats,
) -> None:
    """Run one iteration for each row of ``weights``, in the order of updates of :func:`treeplex.engine.tree.regret.iterate`.

    Args:
        tree, payoff: the game.
        weights: [K, 12 + M], one :meth:`ValueTest.row` per iteration, then the factor on each average.
        alternating: the order of updates.
        state: the solver's state, updated in place; each average has its own discount factor.
        values, scratch: [Q] and [7, widest block], scratch.
    """
    players, strategy, averages = tree.sequence_offsets.shape[0] - 1, state.strategy, state.averages
    for k in range(weights.shape[0]):
        row = weights[k]
        if not alternating:
            for player in range(players):
                gradient(tree, payoff, player, strategy, values)
        for player in range(players):
            if alternating:
                gradient(tree, payoff, player, strategy, values)
            for m in range(averages.shape[0]):
                accumulate(tree, player, row[AVERAGES + m], 1.0, strategy, averages[m])
            update_tested(tree, player, row, state, values, scratch)
            if alternating:
                reach(tree, player, state.policy, strategy)
        if not alternating:
            for player in range(players):
                reach(tree, player, state.policy, strategy)


@kernel()
def update_tested(tree: Tree, player: int, row: Floats, state: TreeState, values: Floats, scratch: Floats) -> None:
    """Sweep bottom-up over ``player``: backup, test, new regrets, next candidates and next policy.

    With action values g, ``r = g - <policy, g>`` and d, d' the discounts: ``A = A * decay + <difference, g>``, ``B`` likewise
    with absolute values, ``q = 1/2 + strength * A / B`` within [0, 1] (``untested`` where B is 0); ``R = [R d + r]+``; the next
    policy is proportional to ``[R d' + q r]+``, the candidate without prediction to ``R``, the one with full prediction to ``[R
    d' + r]+``, each uniform where it is zero. ``state.previous`` is the second candidate minus the first, ``state.changes``
    holds A and B.
    """
    regrets, differences, tests, policy = state.regrets, state.previous, state.changes, state.policy
    discount, next_discount, factor = row[POSITIVE], row[PREDICTED_POSITIVE], row[PREDICTION]
    decay, untested, rounding = row[DECAY], row[UNTESTED], row[ROUNDING]
    for b in range(tree.block_offsets[player + 1] - 1, tree.block_offsets[player] - 1, -1):
        q0, i0, n, actions = tree.blocks[b, 0], tree.blocks[b, 1], tree.blocks[b, 2], tree.blocks[b, 3]
        value, earned, terms, strength = scratch[0, :n], scratch[1, :n], scratch[2, :n], scratch[3, :n]
        total, without, full = scratch[4, :n], scratch[5, :n], scratch[6, :n]
        parents, sums, sizes = tree.infoset_parent[i0 : i0 + n], tests[0, i0 : i0 + n], tests[1, i0 : i0 + n]
        for j in range(n):
            value[j] = earned[j] = terms[j] = total[j] = without[j] = full[j] = 0.0
        for a in range(actions):
            start, end = q0 + a * n, q0 + (a + 1) * n
            action_values, probabilities, difference = values[start:end], policy[start:end], differences[start:end]
            for j in range(n):
                value[j] += probabilities[j] * action_values[j]
                term = difference[j] * action_values[j]
                earned[j] += term
                terms[j] += abs(term)
        for j in range(n):
            values[parents[j]] += value[j]
        for j in range(n):
            gain = earned[j] if abs(earned[j]) > rounding * terms[j] else 0.0
            sums[j] = sums[j] * decay + gain
            sizes[j] = sizes[j] * decay + abs(gain)
            balance = 0.5 + factor * (sums[j] / sizes[j]) if sizes[j] > 0.0 else untested
            strength[j] = min(max(balance, 0.0), 1.0)
        for a in range(actions):
            start, end = q0 + a * n, q0 + (a + 1) * n
            action_values, action_regrets = values[start:end], regrets[start:end]
            next_policy, difference = policy[start:end], differences[start:end]
            for j in range(n):
                new = action_values[j] - value[j]
                regret = max(action_regrets[j] * discount + new, 0.0)
                discounted = regret * next_discount
                guess, sure = max(discounted + strength[j] * new, 0.0), max(discounted + new, 0.0)
                action_regrets[j], next_policy[j], difference[j] = regret, guess, sure
                without[j] += regret
                total[j] += guess
                full[j] += sure
        uniform = 1.0 / actions
        for a in range(actions):
            start, end = q0 + a * n, q0 + (a + 1) * n
            action_regrets, next_policy, difference = regrets[start:end], policy[start:end], differences[start:end]
            for j in range(n):
                next_policy[j] = next_policy[j] / total[j] if total[j] > 0.0 else uniform
                plain = action_regrets[j] / without[j] if without[j] > 0.0 else uniform
                gap = (difference[j] / full[j] if full[j] > 0.0 else uniform) - plain
                difference[j] = gap if abs(gap) > rounding else 0.0
