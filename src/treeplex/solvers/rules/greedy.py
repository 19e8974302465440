"""Greedy Weights (Zhang, Lerer and Brown 2022), extended to extensive-form games as in the DDCFR paper."""

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.tree.form import new_state, workspace
from treeplex.engine.tree.greedy import iterate_greedily
from treeplex.engine.tree.sweeps import reach
from treeplex.errors import SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import uniform_probabilities
from treeplex.solvers.base import Solver


class GreedyWeights(Solver):
    """Regret matching in which each iteration's weight minimises the potential of all average regrets.

    All players share one weight, as required for equilibrium, so updates are simultaneous. The weight is at least ``floor``
    times the mean weight so far; without a floor a single lucky iteration can stall progress.
    """

    updates = "simultaneous"

    def __init__(self, game: CompiledGame, *, floor: float = 0.5, algorithm: str = "greedy") -> None:
        """Start from the uniform policy; ``floor`` is a fraction of the mean weight so far.

        Raises:
            SpecError: ``floor`` is negative or not finite.
        """
        if not 0.0 <= floor < float("inf"):
            raise SpecError(f"floor of greedy must be a number >= 0, not {floor!r}")
        self.game, self.floor, self.algorithm = game, floor, algorithm
        self.policy = uniform_probabilities(game)
        self.strategy, self.average, self.regrets = (np.zeros_like(self.policy) for _ in range(3))
        for player in range(game.players):
            reach(game.tree, player, self.policy, self.strategy)
        self._state = new_state(self.policy, regrets=self.regrets, strategy=self.strategy, averages=self.average[None])
        self._work = workspace(game.tree)

    def run(self, iterations: int) -> None:
        """Run ``iterations`` more iterations."""
        tree, payoff = self.game.tree, self.game.payoff
        iterate_greedily(tree, payoff, self.iteration + 1, iterations, self.floor, self._state, self._work)
        self.iteration += iterations

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """Return regrets, policies and averages."""
        return {"regrets": self.regrets, "policy": self.policy, "strategy": self.strategy, "average": self.average}
