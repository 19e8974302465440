"""The solver of learned schemes: a discount policy steers the variant it was trained on."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.tree.learned import (
    INITIAL,
    LOWEST,
    MEMORY,
    OUTSIDE,
    DiscountNetwork,
    exploitability_of_sums,
    iterate_learned,
)
from treeplex.engine.tree.sweeps import reach, workspace
from treeplex.errors import AlgorithmError, SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy, uniform_probabilities
from treeplex.solvers.base import Solver, order_of_updates
from treeplex.solvers.rules.discount_policy import DiscountPolicy
from treeplex.solvers.rules.discount_policy_files import load_discount_policy, shipped_discount_policy

LEARNED: Mapping[str, tuple[str, str]] = {
    "ddcfr": ("dcfr", "Dynamic Discounted CFR: a network looks at the run and sets alpha, beta and gamma of DCFR"),
    "dpcfr+": ("pcfr+", "PCFR+ whose average is weighted by a network that looks at the run"),
    "pddcfr": ("pdcfr", "PDCFR with alpha, beta and gamma set by a network that looks at the run"),
}
"""Learned schemes by name: the variant each steers, and what it is."""

REFERENCE = "Xu et al. 2024, Dynamic Discounted Counterfactual Regret Minimization (ICLR 2024)"


class LearnedSolver(Solver):
    """Any :class:`DiscountPolicy` on a compiled two-player zero-sum game.

    Attributes:
        discounting: the discount policy.
        horizon, longest: the number of iterations T that it believes is planned; it does no more.
        regrets, policy, strategy, average: float64 [Q], as in :class:`treeplex.solvers.cfr.CfrSolver`.
    """

    def __init__(
        self,
        game: CompiledGame,
        discounting: DiscountPolicy,
        *,
        horizon: int | None = None,
        planned: int = 0,
        updates: str | None = None,
        algorithm: str = "ddcfr",
    ) -> None:
        """Start from the uniform policy.

        Args:
            game: a two-player zero-sum game.
            discounting: the policy.
            horizon: T; None for the one it was trained for.
            planned: iterations that the run will do.
            updates: ``alternating`` (default) or ``simultaneous``.
            algorithm: canonical text for reports.

        Raises:
            AlgorithmError: another kind of game.
            SpecError: a run longer than T, or an unknown order of updates.
        """
        if game.players != 2 or not game.zero_sum:
            raise AlgorithmError(f"{algorithm} looks at exploitability, which steers it in two-player zero-sum games only")
        self.game, self.discounting, self.algorithm = game, discounting, algorithm
        self.horizon = checked_horizon(discounting.horizon if horizon is None else horizon, planned, algorithm)
        self.longest = self.horizon
        self._scheme = own_discount_policy(discounting)
        self.updates = order_of_updates(updates or "alternating")
        self.policy = uniform_probabilities(game)
        self.strategy, self.average, self.regrets = (np.zeros_like(self.policy) for _ in range(3))
        for player in range(2):
            reach(game.tree, player, self.policy, self.strategy)
        self._values, self._infoset_values = workspace(game.tree)
        self._totals = np.empty_like(self._infoset_values)
        self._memory = np.zeros(MEMORY)
        self._seen = np.zeros(len(self.policy) if "movement" in discounting.features else 0)
        self._activations = np.empty(int(discounting.sizes.sum()))
        uniform = exploitability_of_sums(game.tree, game.payoff, self.strategy, self._values, self._infoset_values)
        self._memory[INITIAL] = max(uniform, LOWEST)

    def run(self, iterations: int) -> None:
        """Do so many more iterations.

        Raises:
            SpecError: more iterations in all than the policy's horizon.
        """
        checked_horizon(self.horizon, self.iteration + iterations, self.algorithm)
        empty = np.empty((0, 0))
        iterate_learned(
            self.game.tree,
            self.game.payoff,
            self._scheme,
            self.iteration,
            iterations,
            self.horizon,
            self.updates == "alternating",
            empty,
            self.regrets,
            self.policy,
            self.strategy,
            self.average,
            self._seen,
            self._memory,
            self._values,
            self._infoset_values,
            self._totals,
            self._activations,
            empty,
        )
        self.iteration += iterations

    def current_policy(self) -> Policy:
        """The policy of the next iteration."""
        return Policy(self.game, self.policy.copy())

    def notes(self) -> list[str]:
        """Iterations at which what is proved about DCFR's exponents does not hold."""
        outside = int(self._memory[OUTSIDE])
        if self.discounting.base != "dcfr" or not outside:
            return []
        return [
            f"exponents were outside the ranges of DDCFR's theorem 1 at {outside:,} iterations; convergence is not proved there"
        ]

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """Regrets, policies, averages, what was decided last, and the network, so that a changed file changes no run."""
        arrays = {"regrets": self.regrets, "policy": self.policy, "strategy": self.strategy, "average": self.average}
        arrays |= {"memory": self._memory, "network": self._scheme.parameters}
        return arrays | ({"seen": self._seen} if self._seen.size else {})


def own_discount_policy(discounting: DiscountPolicy) -> DiscountNetwork:
    """The compiled scheme with a network of its own, so that a solver restored from a file changes no other's."""
    return discounting.compiled._replace(parameters=discounting.compiled.parameters.copy())


def checked_horizon(horizon: int, iterations: int, algorithm: str) -> int:
    """The horizon, if the run stays within it.

    Raises:
        SpecError: it does not, or it is below 1.
    """
    if horizon < 1:
        raise SpecError(f"{algorithm}: horizon is at least 1, not {horizon}")
    if iterations > horizon:
        raise SpecError(
            f"{algorithm} paces itself for {horizon:,} iterations, the run may take {iterations:,}; give at most {horizon:,} "
            f"iterations, or set its parameter horizon={iterations} to stretch its pace"
        )
    return horizon


def discounting_of(name: str, parameters: Mapping[str, Any]) -> tuple[DiscountPolicy, int | None]:
    """The discount policy and the horizon that an algorithm's parameters mean.

    Raises:
        FileError: the policy cannot be read.
        SpecError: it steers another variant, or the horizon is no whole number.
    """
    base, path, horizon = LEARNED[name][0], parameters.get("policy"), parameters.get("horizon")
    policy = shipped_discount_policy(name) if path is None else load_discount_policy(path)
    if policy.base != base:
        raise SpecError(f"{path} steers {policy.base}, {name} needs a policy for {base}; train one: treeplex train {name}")
    if horizon is not None and horizon != int(horizon):
        raise SpecError(f"{name}: horizon is a whole number of iterations, not {horizon}")
    return policy, None if horizon is None else int(horizon)
