"""The solver of the CFR family: it feeds a variant's weights to the engine."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.tree.regret import Weights, iterate
from treeplex.engine.tree.sweeps import reach, workspace
from treeplex.errors import SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy, uniform_probabilities
from treeplex.solvers.base import Solver, order_of_updates
from treeplex.solvers.rules.variants import Variant
from treeplex.spec import shown

CHUNK = 4096
"""Iterations whose weights are prepared at a time."""


class CfrSolver(Solver):
    """Any :class:`Variant` on a compiled game.

    Attributes:
        regrets: float64 [Q], accumulated counterfactual regrets.
        policy: float64 [Q], the current behaviour policy.
        strategy: float64 [Q], its sequence form.
        average: float64 [Q], own-reach-weighted sum of policies, discounted as the variant says.
    """

    def __init__(
        self,
        game: CompiledGame,
        variant: Variant,
        parameters: Mapping[str, float] | None = None,
        *,
        horizon: int = 1000,
        updates: str | None = None,
        algorithm: str | None = None,
    ) -> None:
        """Start from the uniform policy.

        Args:
            game: the compiled game.
            variant: the member of the family.
            parameters: its parameters where they differ from the defaults.
            horizon: iterations planned; only schedules that need it read it.
            updates: ``alternating`` or ``simultaneous``; None for the variant's usual one.
            algorithm: canonical text for reports; None for the variant's name.

        Raises:
            SpecError: an unknown order of updates, parameters that the schedule cannot take, or a schedule that does not return
                :class:`Weights`.
        """
        self.game, self.variant, self.horizon = game, variant, horizon
        self.parameters = {**variant.parameters, **(parameters or {})}
        self.updates = order_of_updates(updates or variant.updates)
        self.algorithm = algorithm or variant.name
        self.policy = uniform_probabilities(game)
        self.strategy, self.average, self.regrets = (np.zeros_like(self.policy) for _ in range(3))
        for player in range(game.players):
            reach(game.tree, player, self.policy, self.strategy)
        self._previous = np.zeros(len(self.policy) if variant.adaptive else 0)
        self._changes = np.zeros((2, len(game.infostates) if variant.adaptive else 0))
        self._values, self._infoset_values = workspace(game.tree)
        self._totals = np.empty_like(self._infoset_values)
        self._weights(range(1, 2))

    def run(self, iterations: int) -> None:
        """Do so many more iterations.

        Raises:
            SpecError: the variant's schedule fails, gives no :class:`Weights` or a weight that is not finite.
        """
        last = self.iteration + iterations
        for start in range(self.iteration, max(last, self.iteration + 1), CHUNK):
            times = range(start + 1, min(start + CHUNK, last) + 1)
            self._iterate(self._weights(times))
            self.iteration = times.stop - 1

    def _weights(self, times: range) -> NDArray[np.float64]:
        """The rows of :class:`Weights` of these iterations, float64 [K, 9]."""
        rows = [self._weights_at(t) for t in times]
        try:
            weights = np.array(rows, np.float64).reshape(-1, len(Weights._fields))
        except (TypeError, ValueError) as error:
            raise self._no_weights(rows[0], times[0]) from error
        finite = np.isfinite(weights)
        if not finite.all():
            bad = int(np.argmin(finite.all(axis=1)))
            raise SpecError(f"{self.algorithm} has weights that are not finite at iteration {times[bad]}: {rows[bad]}")
        return weights

    def _weights_at(self, t: int) -> Weights:
        try:
            weights = self.variant.schedule(t, self.horizon, **self.parameters)
        except (ArithmeticError, ValueError) as error:
            raise SpecError(f"{self.algorithm} has no weights at iteration {t} ({error}); change its parameters") from error
        except TypeError as error:
            names = ", ".join(["t", "horizon", *self.parameters])
            raise SpecError(f"{self.algorithm}: calling its schedule({names}) at iteration {t} failed: {error}") from error
        if not isinstance(weights, Weights):
            raise self._no_weights(weights, t)
        return weights

    def _no_weights(self, given: object, t: int) -> SpecError:
        must = "its schedule must return treeplex.Weights of numbers"
        return SpecError(f"{self.algorithm}: {must}, not {shown(repr(given))} (at iteration {t})")

    def _iterate(self, weights: NDArray[np.float64]) -> None:
        iterate(
            self.game.tree,
            self.game.payoff,
            weights,
            self.updates == "alternating",
            self.variant.prediction_mode,
            self.regrets,
            self.policy,
            self.strategy,
            self.average,
            self._previous,
            self._changes,
            self._values,
            self._infoset_values,
            self._totals,
        )

    def current_policy(self) -> Policy:
        """The policy of the next iteration."""
        return Policy(self.game, self.policy.copy())

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """Regrets, policies and averages."""
        arrays = {"regrets": self.regrets, "policy": self.policy, "strategy": self.strategy, "average": self.average}
        if self.variant.adaptive:
            arrays |= {"previous": self._previous, "changes": self._changes}
        return arrays
