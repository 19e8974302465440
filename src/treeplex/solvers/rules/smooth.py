"""Smooth predictive CFR+: regrets stay away from zero, so that small changes of values cannot flip a policy."""

import math

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.errors import SpecError
from treeplex.solvers.rules.custom import Rule, Step

NAME = "smooth-pcfr+"


def smooth_pcfr_plus(least: float = 1.0, gamma: float = 2.0) -> Rule:
    """Return PCFR+ with regrets that sum to at least ``least`` per infoset (Farina et al. 2023, algorithm 2).

    With P the projection onto ``{x >= 0, sum x >= least}``: ``R = P(R + r)``, and the next policy is proportional to
    ``P(R + r)`` with the new R. Iteration t has weight ``t^gamma`` in the average.

    Args:
        least: lower bound in the game's units; 0 is PCFR+.
        gamma: exponent of the average.

    Raises:
        SpecError: a constant is negative or not finite.
    """
    for name, value in (("least", least), ("gamma", gamma)):
        if not 0.0 <= value < math.inf:
            raise SpecError(f"{name} of {NAME} must be a number >= 0, not {value!r}")

    def weights(step: Step) -> Floats:
        regrets = step.memory[0]
        regrets[:] = projected(regrets + step.regrets, step.infosets, least)
        return projected(regrets + step.regrets, step.infosets, least)

    return Rule(NAME, weights, gamma=gamma)


def projected(point: Floats, infosets: Ints, least: float) -> Floats:
    """Return the nearest point with nonnegative entries that sum to at least ``least`` at each infoset.

    If the positive parts sum to less, this is the projection to a simplex: a constant is added to all parts that stay positive.
    Each round computes the constant for the remaining parts and drops the others.

    Args:
        point: [q].
        infosets: [q], infoset of each part; -1 for none (its part becomes 0).
        least: the minimum sum.
    """
    inner = infosets >= 0
    result = np.where(inner, np.maximum(point, 0.0), 0.0)
    sums = np.bincount(infosets[inner], result[inner], minlength=1)
    short = inner & (sums < least)[infosets]
    if not short.any():
        return result
    above = short.copy()
    while True:
        count = np.bincount(infosets[above], minlength=len(sums))
        total = np.bincount(infosets[above], point[above], minlength=len(sums))
        moved = point + ((least - total) / np.maximum(count, 1))[infosets]
        gone = above & (moved <= 0.0)
        if not gone.any():
            break
        above &= ~gone
    return np.where(short, np.where(above, moved, 0.0), result)
