"""Learned discounting on the hand engine: between iterations a discount policy looks at the run and sets the weights."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.holdem.form import COUNT, HANDS
from treeplex.engine.holdem.passes import BEST, EXPECT
from treeplex.engine.tree.learned import (
    INITIAL,
    LATEST,
    LEFT,
    LOWEST,
    MEMORY,
    NORM,
    OUTSIDE,
    SET,
    decide,
    outside_theorem,
    weigh,
)
from treeplex.engine.tree.regret import Weights
from treeplex.errors import AlgorithmError
from treeplex.solvers.registry import algorithms, checked_parameters
from treeplex.solvers.rules.discount_policy import DiscountPolicy
from treeplex.solvers.rules.learned import LEARNED, checked_horizon, discounting_of, own_discount_policy
from treeplex.solvers.rules.variants import VARIANTS, Variant
from treeplex.spec import Spec

if TYPE_CHECKING:
    from treeplex.solvers.holdem.solver import HoldemSolver


class LearnedSchedule:
    """A discount policy at the wheel of a :class:`treeplex.solvers.holdem.solver.HoldemSolver`.

    Attributes:
        discounting: the policy.
        horizon: the number of iterations T that it believes is planned.
        unit: chips by which exploitability is divided before the policy sees it; the starting pot (1 where that is empty).
        scheme: the policy's, with a network of its own; the network is part of the solver's state.
        memory: float64 [MEMORY], what was seen and decided last; part of the solver's state.
    """

    def __init__(self, discounting: DiscountPolicy, *, horizon: int | None, planned: int, unit: float, algorithm: str) -> None:
        """Begin before the first iteration.

        Raises:
            AlgorithmError: the policy looks at what the hand engine does not measure.
            SpecError: a run longer than the horizon.
        """
        if "movement" in discounting.features:
            raise AlgorithmError(f"{algorithm} looks at how fast the policy moves, which poker spots do not measure")
        self.horizon = checked_horizon(discounting.horizon if horizon is None else horizon, planned, algorithm)
        self.discounting, self.unit, self.algorithm = discounting, unit, algorithm
        self.scheme, self.memory = own_discount_policy(discounting), np.zeros(MEMORY)
        self._activations = np.empty(int(discounting.sizes.sum()))

    def weights(self, solver: "HoldemSolver", iterations: int) -> NDArray[np.float64]:
        """Rows of :class:`treeplex.engine.tree.regret.Weights` for the next iterations, at most so many, float64 [K, 9].

        Raises:
            SpecError: the run leaves the horizon.
        """
        checked_horizon(self.horizon, solver.iteration + iterations, self.algorithm)
        scheme, exponents = self.scheme, self.memory[SET : SET + 4]
        if self.memory[LEFT] <= 0:
            self._observe(solver)
            self.memory[LEFT] = decide(
                scheme, self._activations, np.empty(0), solver.iteration + 1, self.horizon, exponents
            )  # fmt: skip
        rows = np.empty((min(iterations, int(self.memory[LEFT])), len(Weights._fields)))
        for k, row in enumerate(rows):
            self.memory[OUTSIDE] += outside_theorem(exponents, solver.iteration + k + 1, self.horizon)
            weigh(exponents, scheme.floor, solver.iteration + k + 1, row)
        self.memory[LEFT] -= len(rows)
        return rows

    def _observe(self, solver: "HoldemSolver") -> None:
        """Write the features, as :func:`treeplex.engine.tree.learned.observe` does."""
        for place, feature in enumerate(self.discounting.features):
            if feature == "iteration":
                seen = solver.iteration / self.horizon
            elif feature == "exploitability":
                found = max(exploitability(solver) / self.unit, LOWEST)
                if solver.iteration == 0:
                    self.memory[INITIAL] = found
                self.memory[LATEST] = found
                scale = np.log10(self.memory[INITIAL]) + 12.0
                seen = (np.log10(found) + 12.0) / scale if scale > 0.0 else 0.0
            else:
                norm = max(float(np.linalg.norm(np.maximum(solver.store.regrets, 0).astype(np.float64))), LOWEST)
                if self.memory[NORM] <= LOWEST:
                    self.memory[NORM] = norm
                seen = np.log10(norm / self.memory[NORM]) / np.log10(max(self.horizon, 2))
            self._activations[place] = seen


def exploitability(solver: "HoldemSolver") -> float:
    """Exploitability of the average strategy in chips, from the solver's own passes in its own precision."""
    game, total = solver.game, 0.0
    for player in (0, 1):
        first, count = game.form.boards[0, HANDS + player], game.form.boards[0, COUNT + player]
        own = game.form.weights[first : first + count]
        for mode, sign in ((BEST, 1.0), (EXPECT, -1.0))[: 2 if game.raked else 1]:
            solver.crew.answer(player, mode, solver.store.average, solver.store.average_scales, solver.store)
            total += sign * float(own @ np.asarray(solver.crew.root_values(player), np.float64)) / game.compatible
    return total / 2


def learned_method(spec: Spec) -> tuple[Variant, dict[str, float], str]:
    """The variant that a learned scheme steers, its parameters and the scheme's canonical text."""
    given = checked_parameters(algorithms()[spec.name], spec)
    variant = VARIANTS[LEARNED[spec.name][0]]
    return variant, dict(variant.parameters), str(Spec(spec.name, dict(given)))


def learned_schedule_of(algorithm: Any, spec: Spec | None, *, planned: int, unit: float) -> LearnedSchedule | None:
    """The steering that an algorithm asks for, None for a fixed variant."""
    if isinstance(algorithm, DiscountPolicy):
        return LearnedSchedule(algorithm, horizon=None, planned=planned, unit=unit, algorithm=f"learned {algorithm.base}")
    if spec is None or spec.name not in LEARNED:
        return None
    given = checked_parameters(algorithms()[spec.name], spec)
    policy, horizon = discounting_of(spec.name, given)
    return LearnedSchedule(policy, horizon=horizon, planned=planned, unit=unit, algorithm=str(Spec(spec.name, dict(given))))
