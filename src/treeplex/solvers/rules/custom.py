"""A local update of your own: one small NumPy function in place of the engine's fused one."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.base.spec import shown
from treeplex.engine.tree.discount import average_discount
from treeplex.engine.tree.form import workspace
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.regret import accumulate
from treeplex.engine.tree.sweeps import backup, normalise, reach
from treeplex.errors import AlgorithmError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy, uniform_probabilities
from treeplex.solvers.base import Solver, order_of_updates


@dataclass(frozen=True)
class Step:
    """What a rule sees when a player updates; all arrays are that player's slice, length q, the empty sequence first.

    Attributes:
        t: the iteration, from 1.
        player: who updates.
        values: counterfactual values of sequences.
        regrets: instantaneous counterfactual regrets ``r``; 0 for the empty sequence.
        policy: the policy just played.
        infosets: int64 [q], which infoset of the player each sequence leaves, from 0; -1 for the empty sequence.
        memory: float64 [rows, q], the rule's own arrays, zero at the start, kept between iterations and saved with the run.
    """

    t: int
    player: int
    values: Floats
    regrets: Floats
    policy: Floats
    infosets: Ints
    memory: Floats


@dataclass(frozen=True)
class Rule:
    """A regret minimiser written as a function.

    Attributes:
        name: for reports.
        weights: gives, for each sequence of the player, a weight >= 0; the next policy is proportional to it at every infoset
            (uniform where the weights are all zero). It may write to ``step.memory``.
        rows: arrays of memory it keeps.
        gamma: the average weights iteration t by ``t ** gamma``.
        updates: ``alternating`` or ``simultaneous``.
        averaging: where weights differ among infosets, gives those of this iteration in place of ``t ** gamma``, >= 0, [q], the
            same for all actions of an infoset; called after ``weights``. While all are zero the answer is the current policy.
    """

    name: str
    weights: Callable[[Step], Floats]
    rows: int = 1
    gamma: float = 0.0
    updates: str = "alternating"
    averaging: Callable[[Step], Floats] | None = None


class RuleSolver(Solver):
    """Runs a :class:`Rule`: the four operations one by one, from Python."""

    def __init__(self, game: CompiledGame, rule: Rule, *, updates: str | None = None, algorithm: str | None = None) -> None:
        """Start from the uniform policy; ``algorithm`` is a name for reports, None for the rule's own."""
        self.game, self.rule, self.algorithm = game, rule, algorithm or rule.name
        self.updates = order_of_updates(updates or rule.updates)
        self.policy = uniform_probabilities(game)
        self.strategy, self.average = np.zeros_like(self.policy), np.zeros_like(self.policy)
        self.memory = np.zeros((rule.rows, len(self.policy)))
        for player in range(game.players):
            reach(game.tree, player, self.policy, self.strategy)
        self._work = workspace(game.tree)

    def run(self, iterations: int) -> None:
        """Run ``iterations`` more iterations.

        Raises:
            AlgorithmError: the rule returns another shape, or a number that is negative or not finite.
        """
        tree, payoff, players = self.game.tree, self.game.payoff, range(self.game.players)
        for t in range(self.iteration + 1, self.iteration + iterations + 1):
            discount = average_discount(t, self.rule.gamma)
            if self.updates == "simultaneous":
                for player in players:
                    gradient(tree, payoff, player, self.strategy, self._work.values)
            for player in players:
                if self.updates == "alternating":
                    gradient(tree, payoff, player, self.strategy, self._work.values)
                if self.rule.averaging is None:
                    accumulate(tree, player, discount, 1.0, self.strategy, self.average)
                self._update(t, player)
                if self.updates == "alternating":
                    reach(tree, player, self.policy, self.strategy)
            if self.updates == "simultaneous":
                for player in players:
                    reach(tree, player, self.policy, self.strategy)
            self.iteration = t

    def _update(self, t: int, player: int) -> None:
        tree = self.game.tree
        backup(tree, player, self.policy, self._work.values, self._work.infoset_values)
        own = slice(int(tree.sequence_offsets[player]), int(tree.sequence_offsets[player + 1]))
        infoset = tree.sequence_infoset[own]
        values = self._work.values[own]
        regrets, inner = np.zeros_like(values), infoset >= 0
        regrets[inner] = values[inner] - self._work.infoset_values[infoset[inner]]
        numbers = np.where(inner, infoset - tree.infoset_offsets[player], -1)
        step = Step(t, player, values, regrets, self.policy[own], numbers, self.memory[:, own])
        everything = np.zeros_like(self.policy)
        everything[own] = self._checked(self.rule.weights(step), values, t)
        if self.rule.averaging is not None:
            self.average[own] += self._checked(self.rule.averaging(step), values, t) * self.strategy[own]
        normalise(tree, player, everything, self.policy)

    def _checked(self, given: object, values: Floats, t: int) -> Floats:
        try:
            weights = np.asarray(given, np.float64)
        except (TypeError, ValueError) as error:
            raise AlgorithmError(
                f"rule {self.rule.name!r} must return an array of weights >= 0, not {shown(repr(given))} (at iteration {t})"
            ) from error
        if weights.shape != values.shape or not (np.isfinite(weights) & (weights >= 0)).all():
            range_of = f", least {weights.min():.3g}, largest {weights.max():.3g}" if weights.size else ""
            raise AlgorithmError(
                f"rule {self.rule.name!r} must return weights >= 0 of shape {values.shape}; at iteration {t} it gave shape "
                f"{weights.shape}{range_of}"
            )
        return weights

    def average_policy(self) -> Policy:
        """The average policy; before the average begins, the current one."""
        return super().average_policy() if self.average.any() else Policy(self.game, self.policy.copy())

    def arrays(self) -> dict[str, Floats]:
        """Policies, averages and the rule's memory."""
        return {"policy": self.policy, "strategy": self.strategy, "average": self.average, "memory": self.memory}
