"""Smooth predictive CFR+: regrets never come near zero, so that a small change of values never turns a policy around."""

import math

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.errors import SpecError
from treeplex.solvers.rules.custom import Rule, Step

NAME = "smooth-pcfr+"


def smooth_pcfr_plus(least: float = 1.0, gamma: float = 2.0) -> Rule:
    """PCFR+ whose regrets at an infoset sum to ``least`` or more (Farina, Grand-Clément, Kroer, Lee and Luo 2023, algorithm 2).

    With P the projection onto ``{x >= 0, sum x >= least}``: ``R = P(R + r)``, and the next policy is proportional to
    ``P(R + r)`` once more. The average weights iteration t by ``t^gamma``.

    Args:
        least: in the game's units; 0 is PCFR+.
        gamma: of the average.

    Raises:
        SpecError: a constant that is negative or not finite.
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
    """The nearest point whose parts are >= 0 and sum to ``least`` or more at each infoset.

    Where the positive parts sum to less, it is the nearest point of a simplex: a number is added to all parts that stay above
    zero. Each round finds that number for the parts still above, and lets the others go.

    Args:
        point: [q].
        infosets: [q], which infoset each part belongs to; -1 for none, whose part becomes 0.
        least: the sum.
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
