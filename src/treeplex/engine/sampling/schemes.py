"""What a walk of Monte Carlo CFR follows and keeps: schemes, weights of iterations, and one traversal."""

import math
from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.engine.kernel import NO_COUNTS, kernel
from treeplex.engine.sampling.streams import advanced, unit

ALL, ONE, EACH, SUBSET = 0, 1, 2, 3
"""Which actions are walked: all; one, by the policy; each by its share of the average; a subset of given size."""
LAZY, FULL, STOCHASTIC, OPTIMISTIC, OPPONENT, NAIVE = 0, 1, 2, 3, 4, 5
"""How the average is kept; see :mod:`treeplex.solvers.sampling.solver`."""
NO_BASELINE, LEARNED, ORACLE = 0, 1, 2
REGRET_WEIGHT, AVERAGE_WEIGHT, POSITIVE_LOG, NEGATIVE_LOG = 0, 1, 2, 3
"""Columns of an iteration's weights, see :func:`treeplex.engine.sampling.walks.iterate_sampled`."""
LOWEST = 31.0 / 30.0
"""Where walks prune, no regret falls below this multiple of what is skipped, so that an action can come back."""


class SchemeCodes(NamedTuple):
    """What a scheme follows and keeps.

    Attributes:
        own, others: ``ALL``, ``ONE``, ``EACH`` or ``SUBSET`` for the traverser; ``ALL`` or ``ONE`` for the other players.
        exploration: with ``own`` ``ONE``, the probability of a uniform choice.
        least, bonus, scale: with ``EACH``, epsilon, beta and tau of average strategy sampling.
        size: with ``SUBSET``, the number of actions.
        averaging: ``LAZY`` to ``NAIVE``.
        baseline: ``NO_BASELINE``, ``LEARNED`` or ``ORACLE``.
        rate: how far a learned baseline moves toward each new sample.
        floor: regrets are set to zero where negative (regret matching+).
        discounts: old regrets are discounted.
        prune: with ``own`` ``ALL``, the share of walks that skip actions with very negative regrets.
        prune_after: iterations before the first such walk.
        prune_below: how negative regrets must be, in the game's units and times the weight of new regrets.
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
        weights: [4], the row of the iteration.
        skipped: the regret below which own actions are skipped.
        lowest: the least regret.
    """

    player: int
    weights: Floats
    skipped: float = -math.inf
    lowest: float = -math.inf


@kernel(**NO_COUNTS)
def pruning(rules: SchemeCodes, weight: float, iteration: int, stream: np.uint64) -> tuple[float, float, np.uint64]:
    """What a walk of an iteration skips, whose new regrets have this weight.

    Returns:
        ``skipped`` and ``lowest`` of :class:`Traversal`, and the random stream from there.
    """
    skipped, lowest = -math.inf, -math.inf
    if rules.prune > 0.0:
        lowest = -LOWEST * rules.prune_below * weight
        if iteration > rules.prune_after:
            stream = advanced(stream)
            if unit(stream) < rules.prune:
                skipped = -rules.prune_below * weight
    return skipped, lowest, stream
