"""Sampling schemes of Monte Carlo CFR, iteration weights, and the constants of one traversal.

External sampling follows ``ALL`` own actions and ``ONE`` of the others; outcome sampling follows ``ONE`` of each. The named
schemes, such as ``es-mccfr``, are in :mod:`treeplex.solvers.sampling.solver`.
"""

import math
from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.engine.kernel import NO_COUNTS, kernel
from treeplex.engine.sampling.streams import advanced, unit

ALL, ONE, EACH, SUBSET = 0, 1, 2, 3
"""Codes of followed actions: all; one by the policy; each by average strategy sampling; a subset of given size."""
LAZY, FULL, STOCHASTIC, OPTIMISTIC, OPPONENT, NAIVE = 0, 1, 2, 3, 4, 5
"""Codes of averaging methods; see :mod:`treeplex.solvers.sampling.solver`."""
NO_BASELINE, LEARNED, ORACLE = 0, 1, 2
REGRET_WEIGHT, AVERAGE_WEIGHT, POSITIVE_LOG, NEGATIVE_LOG = 0, 1, 2, 3
"""Columns of an iteration's weights, see :func:`treeplex.engine.sampling.walks.iterate_sampled`."""
LOWEST = 31.0 / 30.0
"""With pruning, lower bound of regrets as a multiple of the pruning threshold, so that actions can recover."""


class SchemeCodes(NamedTuple):
    """A sampling scheme as codes for kernels.

    Attributes:
        own, others: ``ALL``, ``ONE``, ``EACH`` or ``SUBSET`` for the traverser; ``ALL`` or ``ONE`` for the other players.
        exploration: for ``own`` = ``ONE``, probability of a uniform choice.
        least, bonus, scale: for ``EACH``, epsilon, beta and tau of average strategy sampling.
        size: for ``SUBSET``, the number of actions.
        averaging: ``LAZY`` to ``NAIVE``.
        baseline: ``NO_BASELINE``, ``LEARNED`` or ``ORACLE``.
        rate: step size of learned baselines.
        floor: whether negative regrets are set to zero (regret matching+).
        discounts: whether old regrets are discounted.
        prune: for ``own`` = ``ALL``, fraction of walks that skip actions with very negative regrets.
        prune_after: number of iterations before pruning starts.
        prune_below: pruning threshold in the game's units, multiplied by the weight of new regrets.
    """

    own: int
    others: int
    exploration: float
    least: float
    bonus: float
    scale: float
    size: int
    averaging: int
    baseline: int
    rate: float
    floor: bool
    discounts: bool
    prune: float
    prune_after: int
    prune_below: float


class Traversal(NamedTuple):
    """The constants of a walk.

    Attributes:
        player: the traverser.
        weights: [4], weights of the iteration.
        skipped: regret below which own actions are skipped.
        lowest: lower bound of regrets.
    """

    player: int
    weights: Floats
    skipped: float = -math.inf
    lowest: float = -math.inf


@kernel(**NO_COUNTS)
def pruning(rules: SchemeCodes, weight: float, iteration: int, stream: np.uint64) -> tuple[float, float, np.uint64]:
    """Decide whether a walk prunes, given the weight of new regrets.

    Returns:
        ``skipped`` and ``lowest`` of :class:`Traversal`, and the next state of the random stream.
    """
    skipped, lowest = -math.inf, -math.inf
    if rules.prune > 0.0:
        lowest = -LOWEST * rules.prune_below * weight
        if iteration > rules.prune_after:
            stream = advanced(stream)
            if unit(stream) < rules.prune:
                skipped = -rules.prune_below * weight
    return skipped, lowest, stream
