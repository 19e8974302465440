"""How the strategies of a pool are mixed: solvers of the static game between pools, the *meta-game* of PSRO."""

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
"""Steps of projected replicator dynamics, how far one moves with payoffs in [-1, 1], and the least probability times the pool's
size; Lanctot et al. 2017 has 50,000 steps of 1e-3."""


def nash(payoffs: Floats, found: Sequence[Counts]) -> list[Floats]:
    """An equilibrium: of two players with constant sums by a linear program, as in the double oracle algorithm.

    Raises:
        AlgorithmError: none was found, as may happen with more players or general sums.
    """
    mixed = static_equilibrium(payoffs)
    if mixed is None:
        raise AlgorithmError("no equilibrium of the game between the pools was found; take meta=prd or meta=uniform")
    return mixed


def uniform(payoffs: Floats, found: Sequence[Counts]) -> list[Floats]:
    """Each strategy as often as it was found: with best responses fictitious play."""
    return [counts / counts.sum() for counts in found]


def replicator(payoffs: Floats, found: Sequence[Counts]) -> list[Floats]:
    """Projected replicator dynamics from the uniform distribution, averaged over steps (Lanctot et al. 2017, section 3.1.1).

    ``x <- P(x + size * x (u - x u))`` for all players at once, where P projects onto distributions whose entries have a floor.
    """
    players, mixed = range(len(payoffs)), [np.full(count, 1.0 / count) for count in payoffs.shape[1:]]
    totals = [np.zeros_like(each) for each in mixed]
    size = REPLICATOR_SIZE / (float(np.abs(payoffs).max()) or 1.0)
    for _ in range(REPLICATOR_STEPS):
        values = [action_values(payoffs, mixed, player) for player in players]
        for player in players:
            own, floor = mixed[player], REPLICATOR_FLOOR / len(mixed[player])
            moved = own + size * own * (values[player] - own @ values[player])
            mixed[player] = moved if moved.min() >= floor else nearest_distributions(moved[None], floor=floor)[0]
            totals[player] += mixed[player]
    return [total / total.sum() for total in totals]


MetaSolver = Callable[[Floats, Sequence[Counts]], list[Floats]]
META_SOLVERS: Mapping[str, MetaSolver] = {"nash": nash, "uniform": uniform, "prd": replicator}
"""By name. From float64 [N, K0, K1, ...], what all choices of strategies pay, and for each player int64 [K], how often each
of its strategies was found, to a distribution over each pool."""
