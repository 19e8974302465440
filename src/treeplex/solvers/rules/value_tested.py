"""Value-tested CFR+: PDCFR+ discounts with a growing exponent, adaptive prediction strength, and five candidate averages."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.engine.tree.discount import average_discount, discount
from treeplex.engine.tree.regret import AVERAGE_DISCOUNT, POSITIVE, PREDICTED_POSITIVE
from treeplex.engine.tree.value_tested import AVERAGES, DECAY, ValueTest
from treeplex.errors import SpecError
from treeplex.forms.form import RuleKind

NAME = "vt-cfr+"
GAMMAS = (2.0, 5.0, 15.0)
"""Exponents of the averages; the first one is the default result.

They are followed by the matched average, which is multiplied by the discount of the regrets: iteration t has weight
``w_t = 1 / (d(2) ... d(t))``. Its convergence is proved for simultaneous updates, see ``docs/one-scheme.md``.
"""
HAND_GAMMA = 5.0
"""Exponent of the single average in the hold'em engine."""


@dataclass(frozen=True)
class ValueTesting:
    """The constants of value-tested CFR+.

    Attributes:
        alpha0, ramp: regrets are discounted by ``d(t) = (t-1)^a / ((t-1)^a + 1)`` with ``a = alpha0 + ramp * log10 t``.
        memory: the test's sums decay by ``((t-1)/t)^memory``, so iteration t has weight of about ``t^memory``.
        strength: prediction strength is ``1/2 + strength * A / B`` within [0, 1].
        untested: prediction strength if the candidates have never differed, within [0, 1].
        rounding: tolerance for differences of candidates, and for relative differences of their values; in [0, 1].
    """

    alpha0: float = 0.5
    ramp: float = 0.7
    memory: float = 4.0
    strength: float = 1.0
    untested: float = 1.0
    rounding: float = 0.0
    kind: ClassVar[RuleKind] = RuleKind.TESTED
    updates: ClassVar[str] = "alternating"
    averages: ClassVar[int] = len(GAMMAS) + 1
    network: ClassVar[None] = None
    pace: ClassVar[None] = None
    needs: ClassVar[frozenset[str]] = frozenset({"regrets", "guesses", "previous", "changes", "average"})
    answers: ClassVar[tuple[str, ...]] = (*(f"gamma={gamma:g}" for gamma in GAMMAS), "matched", "last")
    """Names of the candidates for the result: the averages and the last iterate."""

    def __post_init__(self) -> None:
        """Check the constants.

        Raises:
            SpecError: a constant is not finite, memory or strength is negative, or untested or rounding is out of range.
        """
        for name, value in vars(self).items():
            if not math.isfinite(value):
                raise SpecError(f"{name} of {NAME} must be a finite number, not {value!r}")
        for name in ("memory", "strength"):
            if getattr(self, name) < 0.0:
                raise SpecError(f"{name} of {NAME} must be a number >= 0, not {getattr(self, name)!r}")
        for name in ("untested", "rounding"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise SpecError(f"{name} of {NAME} must be a number from 0 to 1, not {getattr(self, name)!r}")

    def discount(self, t: int) -> float:
        """Return the discount factor of regrets at iteration t, from 1."""
        return discount(t - 1, self.alpha0 + self.ramp * math.log10(t))

    def test(self, t: int) -> ValueTest:
        """Return the engine's weights of iteration t, from 1."""
        discounts = self.discount(t), self.discount(t + 1)
        return ValueTest(*discounts, average_discount(t, self.memory), self.strength, self.untested, self.rounding)

    def rows(self, times: Sequence[int], horizon: int = 0) -> Floats:
        """Return the rows of iterations with factors on the averages, matched average last, float64 [K, 12 + M]."""
        rows = np.empty((len(times), AVERAGES + len(GAMMAS) + 1))
        rows[:, :AVERAGES] = self.test(1).row()
        discounts = {t: self.discount(t) for t in {*times, *(t + 1 for t in times)}}
        rows[:, POSITIVE] = rows[:, -1] = [discounts[t] for t in times]
        rows[:, PREDICTED_POSITIVE] = [discounts[t + 1] for t in times]
        for column, exponent in (
            (DECAY, self.memory),
            (AVERAGE_DISCOUNT, HAND_GAMMA),
            *enumerate(GAMMAS, start=AVERAGES),
        ):
            rows[:, column] = [average_discount(t, exponent) for t in times]
        return rows

    def average_factors(self, times: Sequence[int], horizon: int = 0) -> Floats:
        """Return each iteration's discount on the first average and its weight, float64 [K, 2]."""
        return np.array([(average_discount(t, GAMMAS[0]), 1.0) for t in times]).reshape(-1, 2)

    @property
    def name(self) -> str:
        """The algorithm's name on the command line."""
        return NAME
