"""Custom local updates: a small NumPy function in place of the engine's fused kernel."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.base.spec import shown
from treeplex.engine.tree.discount import average_discount
from treeplex.engine.tree.form import workspace
from treeplex.engine.tree.gradient import gradient
from treeplex.engine.tree.regret import accumulate
from treeplex.engine.tree.sweeps import backup, normalise, reach
from treeplex.errors import AlgorithmError, SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy, uniform_probabilities
from treeplex.solvers.base import Solver, order_of_updates


@dataclass(frozen=True)
class Step:
    """Inputs of a rule for one player's update; arrays are the player's slice of length q, empty sequence first.

    Attributes:
        t: the iteration, from 1.
        player: the player to update.
        values: counterfactual values of sequences.
        regrets: instantaneous counterfactual regrets ``r``; 0 for the empty sequence.
        policy: the policy just played.
        infosets: int64 [q], the player's infoset of each sequence's last action, from 0; -1 for the empty sequence.
        memory: float64 [rows, q], the rule's state, initially zero, kept between iterations and saved with the run.
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
    """A regret minimiser written as a function. A resumed run checks only its name, since functions cannot be compared.

    Attributes:
        name: name for reports.
        weights: returns a weight >= 0 for each sequence; the next policy is proportional to it at every infoset (uniform if all
            weights are zero). It may write to ``step.memory``.
        rows: number of rows of ``memory``.
        gamma: weight of iteration t in the average is ``t ** gamma``.
        updates: ``alternating`` or ``simultaneous``.
        averaging: optional function for weights that differ among infosets: returns this iteration's weights, >= 0, [q], equal
            for all actions of an infoset, in place of ``t ** gamma``; called after ``weights``. While all are zero, the average
            is the current policy.
    """

    name: str
    weights: Callable[[Step], Floats]
    rows: int = 1
    gamma: float = 0.0
    updates: str = "alternating"
    averaging: Callable[[Step], Floats] | None = None

    def __post_init__(self) -> None:
        """Raise :class:`SpecError` for a number out of range or a function that cannot be called."""
        if not isinstance(self.rows, int | np.integer) or self.rows < 0:
            raise SpecError(f"rule {self.name!r}: rows must be an integer from 0, not {self.rows!r}")
        if not isinstance(self.gamma, int | float | np.floating) or not 0.0 <= self.gamma < inf:
            raise SpecError(f"rule {self.name!r}: gamma must be a finite number from 0, not {self.gamma!r}")
        if not callable(self.weights):
            raise SpecError(f"rule {self.name!r}: weights must be a function of a step, not {self.weights!r}")


class RuleSolver(Solver):
    """Runs a :class:`Rule` by calling the four operations from Python."""

    def __init__(self, game: CompiledGame, rule: Rule, *, updates: str | None = None, algorithm: str | None = None) -> None:
        """Start from the uniform policy; ``algorithm`` is the name for reports, None for the rule's name."""
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
            AlgorithmError: the rule returns a wrong shape, or a negative or non-finite number.
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
        sequences = slice(int(tree.sequence_offsets[player]), int(tree.sequence_offsets[player + 1]))
        infoset = tree.sequence_infoset[sequences]
        values = self._work.values[sequences]
        regrets, inner = np.zeros_like(values), infoset >= 0
        regrets[inner] = values[inner] - self._work.infoset_values[infoset[inner]]
        numbers = np.where(inner, infoset - tree.infoset_offsets[player], -1)
        step = Step(t, player, values, regrets, self.policy[sequences], numbers, self.memory[:, sequences])
        everything = np.zeros_like(self.policy)
        everything[sequences] = self._checked(self.rule.weights(step), values, t)
        if self.rule.averaging is not None:
            self.average[sequences] += self._checked(self.rule.averaging(step), values, t) * self.strategy[sequences]
        normalise(tree, player, everything, self.policy)

    def _checked(self, given: object, values: Floats, t: int) -> Floats:
        try:
            weights = np.asarray(given, np.float64)
        except (TypeError, ValueError) as error:
            raise AlgorithmError(
                f"rule {self.rule.name!r} must return an array of weights >= 0, not {shown(repr(given))} (at iteration {t})"
            ) from error
        if weights.shape != values.shape or not (np.isfinite(weights) & (weights >= 0)).all():
            range_of = f", minimum {weights.min():.3g}, maximum {weights.max():.3g}" if weights.size else ""
            raise AlgorithmError(
                f"rule {self.rule.name!r} must return weights >= 0 of shape {values.shape}; at iteration {t} it returned shape "
                f"{weights.shape}{range_of}"
            )
        return weights

    def average_policy(self) -> Policy:
        """Return the average policy; before the average starts, the current policy."""
        return super().average_policy() if self.average.any() else Policy(self.game, self.policy.copy())

    def arrays(self) -> dict[str, Floats]:
        """Return policies, averages and the rule's memory."""
        return {"policy": self.policy, "strategy": self.strategy, "average": self.average, "memory": self.memory}
