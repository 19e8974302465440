"""The discounting of the CFR family in the form that sampled walks need, which visit infosets now and then."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.histories.walks import AVERAGE_WEIGHT, POSITIVE_LOG, REGRET_WEIGHT
from treeplex.engine.tree.discount import discounts
from treeplex.errors import AlgorithmError, SpecError
from treeplex.solvers.rules.variants import VARIANTS
from treeplex.spec import nearest, parse_spec

CHUNK = 65_536
"""Iterations whose weights are prepared at a time."""
LEAST_LOG = -745.0
"""The logarithm that stands for a factor of zero."""
MOST_WEIGHT = 1e280
"""Weights beyond it are refused: their sums over iterations, times payoffs, have to stay finite too."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class DiscountSequence:
    """What a variant does at iterations t, float64 [K]: weight of new regrets, weight in the average, factors on old regrets.

    The factors are None where old regrets are kept as they are.
    """

    regret: Floats
    average: Floats
    positive: Floats | None = None
    negative: Floats | None = None


def plain(t: Floats) -> DiscountSequence:
    """``R += r``, all iterations alike."""
    return DiscountSequence(np.ones_like(t), np.ones_like(t))


def plus(t: Floats, *, gamma: float) -> DiscountSequence:
    """``R = [R + r]+``, average by ``t^gamma``."""
    return DiscountSequence(np.ones_like(t), t**gamma)


def linear(t: Floats) -> DiscountSequence:
    """``R += t r``, average by t."""
    return DiscountSequence(t, t)


def discounted(t: Floats, *, alpha: float, beta: float, gamma: float) -> DiscountSequence:
    """Old regrets times ``(t-1)^a / ((t-1)^a + 1)``, a by their sign; average by ``t^gamma``."""
    positive, negative = (discounts(t - 1, exponent, 1.0, at_zero=1.0) for exponent in (alpha, beta))
    return DiscountSequence(np.ones_like(t), t**gamma, positive, negative)


def discounted_plus(t: Floats, *, alpha: float, offset: float, gamma: float) -> DiscountSequence:
    """``R = [R d(t) + r]+``; average by ``t^gamma``."""
    discount = discounts(t - 1, alpha, offset, at_zero=1.0)
    return DiscountSequence(np.ones_like(t), t**gamma, discount, discount)


DISCOUNT_SEQUENCES: Mapping[str, tuple[Callable[..., DiscountSequence], bool]] = {
    "cfr": (plain, False),
    "cfr+": (plus, True),
    "lcfr": (linear, False),
    "dcfr": (discounted, False),
    "dcfr+": (discounted_plus, True),
}
"""The variants that combine with sampling, as arrays over t, and whether they floor regrets; :data:`VARIANTS` has defaults."""


class SampledSchedule:
    """A variant's weights as increments and running discounts.

    A full iteration multiplies every regret by a discount before it adds the new one. A walk comes to an infoset only now and
    then; it then applies the product of all discounts since its last visit, which is a difference of running logarithms. The
    average is kept by increments, weight ``t^gamma``, in place of the discounts of full iterations.

    Attributes:
        floor: regrets are set to zero where negative.
        discounts: old regrets are discounted.
        running: float64 [2], the logs of all discounts of positive and of negative regrets so far.
    """

    def __init__(self, text: str) -> None:
        """Read a spec such as ``lcfr`` or ``dcfr(alpha=2)``.

        Raises:
            SpecError: an unknown variant or parameter.
            AlgorithmError: a variant that does not combine with sampling.
        """
        self.name, self.parameters = checked_variant(text)
        self.course, self.floor = DISCOUNT_SEQUENCES[self.name]
        self.discounts = self._course(np.ones(1)).positive is not None
        self.running = np.zeros(2)

    def chunks(self, done: int, iterations: int) -> Iterator[Floats]:
        """Rows of :func:`treeplex.engine.histories.walks.iterate_sampled`, float64 [K, 4], for the iterations after ``done``.

        Raises:
            SpecError: weights that are not finite, or so large that their sums would not be.
        """
        for start in range(done, done + iterations, CHUNK):
            t = np.arange(start + 1, min(start + CHUNK, done + iterations) + 1, dtype=np.float64)
            course = self._course(t)
            rows = np.empty((len(t), 4))
            rows[:, REGRET_WEIGHT], rows[:, AVERAGE_WEIGHT] = course.regret, course.average
            for column, factor in enumerate((course.positive, course.negative)):
                rows[:, POSITIVE_LOG + column] = self._summed(column, factor)
            sound = np.isfinite(rows).all(axis=1) & (rows[:, : AVERAGE_WEIGHT + 1] <= MOST_WEIGHT).all(axis=1)
            if not sound.all():
                first = int(t[np.argmin(sound)])
                raise SpecError(f"{self.name} has weights beyond all numbers at iteration {first}; change its parameters")
            yield rows

    def _course(self, t: Floats) -> DiscountSequence:
        with np.errstate(over="ignore"):
            return self.course(t, **self.parameters)

    def _summed(self, column: int, factor: Floats | None) -> Floats | float:
        """Running logs, the same to the last bit however iterations are grouped."""
        if factor is None:
            return 0.0
        with np.errstate(divide="ignore"):
            logs = np.maximum(np.log(factor), LEAST_LOG)
        sums = np.add.accumulate(np.concatenate(([self.running[column]], logs)))[1:]
        self.running[column] = sums[-1]
        return np.asarray(sums)


def checked_variant(text: str) -> tuple[str, dict[str, float]]:
    """The name and all parameters of a variant.

    Raises:
        SpecError: an unknown variant or parameter.
        AlgorithmError: a variant that cannot be combined with sampling.
    """
    spec = parse_spec(text)
    if spec.name not in VARIANTS:
        raise SpecError(f"unknown variant {spec.name!r}{nearest(spec.name, DISCOUNT_SEQUENCES)}")
    variant = VARIANTS[spec.name]
    if spec.name not in DISCOUNT_SEQUENCES:
        reason = (
            "it plans for a number of full iterations"
            if variant.needs_horizon
            else "it predicts the next regrets from the last ones, and a walk sees regrets only where it goes"
        )
        raise AlgorithmError(
            f"variant={spec.name} does not combine with sampling: {reason}; use one of {', '.join(DISCOUNT_SEQUENCES)}"
        )
    for name, value in spec.parameters.items():
        if name not in variant.parameters:
            raise SpecError(f"{spec.name} has no parameter {name!r}{nearest(name, variant.parameters)}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise SpecError(f"parameter {name} of {spec.name} is a number, not {value!r}")
    given = {name: float(value) for name, value in spec.parameters.items() if isinstance(value, int | float)}
    return spec.name, {**variant.parameters, **given}
