"""Meta-solvers for PSRO, which solve the normal-form game between strategy pools, the *meta-game*."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.errors import AlgorithmError
from treeplex.learn.neural.gradients.simplex import nearest_distributions
from treeplex.solvers.exact.static import static_equilibrium
from treeplex.solvers.exact.supports import action_values

Counts = NDArray[np.int64]
REPLICATOR_STEPS, REPLICATOR_SIZE, REPLICATOR_FLOOR = 5000, 0.02, 1e-10
"""Projected replicator dynamics: number of steps, step size with payoffs in [-1, 1], and the probability floor times the pool's
size; Lanctot et al. 2017 has 50,000 steps of 1e-3."""


def nash(payoffs: Floats, counts: Sequence[Counts]) -> list[Floats]:
    """A Nash equilibrium of the meta-game; found by linear programming in two-player constant-sum games, as in double oracle.

    Raises:
        AlgorithmError: no equilibrium was found, which can happen in multiplayer or general-sum games.
    """
    mixed = static_equilibrium(payoffs)
    if mixed is None:
        raise AlgorithmError("no equilibrium of the meta-game was found; use meta=prd or meta=uniform")
    return mixed


def uniform(payoffs: Floats, counts: Sequence[Counts]) -> list[Floats]:
    """Weights proportional to how often each strategy was a response; with best responses this is fictitious play."""
    return [times / times.sum() for times in counts]


def replicator(payoffs: Floats, counts: Sequence[Counts]) -> list[Floats]:
    """Projected replicator dynamics from the uniform distribution, averaged over steps (Lanctot et al. 2017, section 3.1.1).

    ``x <- P(x + size * x (u - x u))`` for all players simultaneously, where P projects onto distributions with a minimum
    probability.
    """
    players, mixed = range(len(payoffs)), [np.full(count, 1.0 / count) for count in payoffs.shape[1:]]
    totals = [np.zeros_like(mixture) for mixture in mixed]
    size = REPLICATOR_SIZE / (float(np.abs(payoffs).max()) or 1.0)
    for _ in range(REPLICATOR_STEPS):
        values = [action_values(payoffs, mixed, player) for player in players]
        for player in players:
            policy, floor = mixed[player], REPLICATOR_FLOOR / len(mixed[player])
            moved = policy + size * policy * (values[player] - policy @ values[player])
            mixed[player] = moved if moved.min() >= floor else nearest_distributions(moved[None], floor=floor)[0]
            totals[player] += mixed[player]
    return [total / total.sum() for total in totals]


MetaSolver = Callable[[Floats, Sequence[Counts]], list[Floats]]
META_SOLVERS: Mapping[str, MetaSolver] = {"nash": nash, "uniform": uniform, "prd": replicator}
"""Meta-solvers by name. They map payoffs of all strategy profiles, float64 [N, K0, K1, ...], and how often each strategy was a
response, int64 [K] for each player, to a distribution over each pool."""
