"""The discounts of the CFR family: the share of old regrets that is kept, and what averages keep.

Python calls these functions as they are, compiled kernels compile them in.
"""

import math

import numpy as np
from numba.extending import register_jitable

from treeplex.base.arrays import Floats

LARGEST_LOG, STEEP = 709.0, 30.0
"""The logarithm of a number that a float still holds, so large that adding 1 does not change it, and an exponent with which
iterations (up to 10^10) stay below it."""


@register_jitable
def discount(t: float, exponent: float, offset: float = 1.0) -> float:
    """``t^a / (t^a + offset)``, the share of regrets kept (Brown and Sandholm 2019, section 4).

    It is 0 for t <= 0, where there are no regrets yet, and 1 where ``t^a`` is beyond what a float holds.
    """
    if t <= 0:
        return 0.0
    if exponent > STEEP and exponent * math.log(t) > LARGEST_LOG:
        return 1.0
    power = math.pow(t, exponent)
    return power / (power + offset)


def discounts(t: Floats, exponent: float, offset: float, *, at_zero: float) -> Floats:
    """:func:`discount` of many t >= 0 at once, to rounding, as ``1 / (1 + offset t^-a)``; ``at_zero`` at t = 0.

    Sampled walks add up logarithms of discounts, so where there is nothing to discount yet they need 1 in place of 0.
    """
    with np.errstate(over="ignore", divide="ignore"):
        return np.where(t > 0, 1.0 / (1.0 + offset * np.maximum(t, 1.0) ** -exponent), at_zero)


@register_jitable
def average_discount(t: float, exponent: float) -> float:
    """``((t-1)/t)^gamma``: with it iteration t, from 1, has weight proportional to ``t^gamma``."""
    return math.pow((t - 1.0) / t, exponent) if exponent != 0 else 1.0
