"""Discount factors of the CFR family, for regrets and averages.

The functions run both in Python and inlined in compiled kernels. The exponents of DCFR and the other variants are in
:mod:`treeplex.solvers.rules.variants`.
"""

import math

import numpy as np
from numba.extending import register_jitable

from treeplex.base.arrays import Floats

LARGEST_LOG, STEEP = 709.0, 30.0
"""Logarithm of a large finite float, to which adding 1 makes no difference, and an exponent with which
iterations (up to 10^10) stay below it."""


@register_jitable
def discount(t: float, exponent: float, offset: float = 1.0) -> float:
    """Return ``t^a / (t^a + offset)``, the discount factor of regrets (Brown and Sandholm 2019, section 4).

    It is 0 for t <= 0, before any regrets exist, and 1 if ``t^a`` overflows.
    """
    if t <= 0:
        return 0.0
    if exponent > STEEP and exponent * math.log(t) > LARGEST_LOG:
        return 1.0
    power = math.pow(t, exponent)
    return power / (power + offset)


def discounts(t: Floats, exponent: float, offset: float, *, at_zero: float) -> Floats:
    """Return :func:`discount` for an array of t >= 0, as ``1 / (1 + offset t^-a)``; ``at_zero`` is the value at t = 0.

    Sampled walks sum log discounts, so at t = 0 they need 1 in place of 0.
    """
    with np.errstate(over="ignore", divide="ignore"):
        return np.where(t > 0, 1.0 / (1.0 + offset * np.maximum(t, 1.0) ** -exponent), at_zero)


@register_jitable
def average_discount(t: float, exponent: float) -> float:
    """Return ``((t-1)/t)^gamma``, which gives iteration t (from 1) a weight proportional to ``t^gamma``."""
    return math.pow((t - 1.0) / t, exponent) if exponent != 0 else 1.0
