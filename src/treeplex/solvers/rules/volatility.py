"""VAD-CFR: discounts and weights by regret volatility, an algorithm found by evolutionary search."""

from dataclasses import dataclass

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import SpecError
from treeplex.solvers.rules.custom import Rule, Step

NAME = "vad-cfr"
ACCUMULATED, VOLATILITY = 0, 1
"""Rows of memory: cumulative regrets, and the running mean of the size of new regrets."""
DECAY = 100.0
"""Iterations after which optimism is halved."""


@dataclass(frozen=True)
class VolatilityAdaptive:
    """The constants of VAD-CFR (Li, Schultz, Hennes and Lanctot 2026, arXiv 2602.16928, appendix).

    With ``m`` the largest absolute new regret of an infoset, ``E = rate m + (1 - rate) E`` and ``v = min(1, E / scale)``:
    exponents are ``a = max(0.1, alpha - s v)`` and ``b = min(a, beta - s v)``. Regrets are multiplied by ``t^a / (t^a + 1)``
    where positive and by ``t^b / (t^b + 1)`` where negative, and then the new
    regrets are added, with positive ones multiplied by ``boost``. Regrets are bounded below by ``lowest``. The next policy is
    proportional to the power ``power`` of the regrets, discounted again, plus ``(1 - s v) / (1 + (t - 1) / 100)`` times the new
    regrets. The average starts after ``warm_up`` iterations.

    The released program shares one ``E`` among all infosets in the order of the walk. Here each infoset has its own, so that
    the result does not depend on the order of infosets.

    Attributes:
        alpha, beta: exponents without volatility.
        sensitivity: ``s``.
        scale: the new regret, in the game's units, that counts as full volatility.
        rate: rate of the running mean.
        boost: factor on positive new regrets.
        lowest: lower bound of cumulative regrets.
        power: exponent of regrets in the policy.
        warm_up: iterations before the average starts; 500 of 1,000 in the paper's runs.
    """

    alpha: float = 1.5
    beta: float = -0.1
    sensitivity: float = 0.5
    scale: float = 2.0
    rate: float = 0.1
    boost: float = 1.1
    lowest: float = -20.0
    power: float = 1.5
    warm_up: float = 500

    def __post_init__(self) -> None:
        """Check the constants.

        Raises:
            SpecError: a constant is not finite, a scale, rate or power is not positive, or a number of iterations is negative.
        """
        for name, value in vars(self).items():
            if not np.isfinite(value):
                raise SpecError(f"{name} of {NAME} must be a finite number, not {value!r}")
        for name in ("scale", "rate", "boost", "power"):
            if not getattr(self, name) > 0.0:
                raise SpecError(f"{name} of {NAME} must be a number above 0, not {getattr(self, name)!r}")
        if self.rate > 1.0 or self.lowest > 0.0 or self.warm_up < 0:
            raise SpecError(f"{NAME} needs a rate of at most 1, a lowest regret of at most 0 and a warm_up of at least 0")

    def rule(self) -> Rule:
        """Return the rule with these constants."""
        return Rule(NAME, self.weights, rows=2, averaging=self.averaging)

    def weights(self, step: Step) -> Floats:
        """Update regrets and volatility; return the weights of the next policy."""
        regrets, mean = step.memory[ACCUMULATED], step.memory[VOLATILITY]
        largest = largest_regrets(step)
        mean[:] = largest if step.t == 1 else self.rate * largest + (1.0 - self.rate) * mean
        volatility = np.minimum(mean / self.scale, 1.0)
        rising = np.maximum(self.alpha - self.sensitivity * volatility, 0.1)
        falling = np.minimum(self.beta - self.sensitivity * volatility, rising)
        kept_positive, kept_negative = (power / (power + 1.0) for power in (float(step.t) ** rising, float(step.t) ** falling))
        new = np.where(step.regrets > 0.0, self.boost, 1.0) * step.regrets
        regrets[:] = np.maximum(regrets * np.where(regrets >= 0.0, kept_positive, kept_negative) + new, self.lowest)
        optimism = np.maximum(1.0 - self.sensitivity * volatility, 0.0) / (1.0 + (step.t - 1) / DECAY)
        ahead = regrets * np.where(regrets >= 0.0, kept_positive, kept_negative) + optimism * new
        weights: Floats = np.maximum(ahead, 0.0) ** self.power
        return weights

    def averaging(self, step: Step) -> Floats:
        """Return this iteration's averaging weight at each infoset, which grows with regrets and time."""
        largest = largest_regrets(step)
        if step.t <= self.warm_up:
            return np.zeros_like(largest)
        volatility = np.minimum(largest / self.scale, 1.0)
        late = float(step.t) ** np.minimum(2.0 + 1.5 * volatility, 4.0)
        weight: Floats = late / (1.0 + largest**1.5) * np.sqrt(1.0 + largest / self.scale)
        return weight


def largest_regrets(step: Step) -> Floats:
    """Return the largest absolute new regret of each sequence's infoset, [q]."""
    infosets = step.infosets
    largest = np.zeros(int(infosets.max(initial=-1)) + 2)
    np.maximum.at(largest, infosets, np.abs(step.regrets))
    of_sequences: Floats = largest[infosets]
    return of_sequences
