"""Discounts of the CFR family for sampled walks, which visit infosets irregularly."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from math import isfinite

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.base.spec import Spec, checked_number, nearest, parse_spec
from treeplex.engine.sampling.schemes import AVERAGE_WEIGHT, POSITIVE_LOG, REGRET_WEIGHT
from treeplex.engine.tree.discount import discounts
from treeplex.engine.tree.regret import AVERAGE, AVERAGE_DISCOUNT, FLOOR, NEGATIVE, POSITIVE, REGRET
from treeplex.errors import AlgorithmError, SpecError
from treeplex.forms.sources.user_module import ObjectKind, is_user_spec, load_user_object, user_source
from treeplex.solvers.rules.variants import VARIANTS, Variant

CHUNK = 65_536
"""Number of iterations whose weights are prepared at a time."""
LEAST_LOG = -745.0
"""The logarithm that stands for a factor of zero."""
MOST_WEIGHT = 1e280
"""Largest allowed weight, so that weighted sums over iterations stay finite."""


def is_variant(thing: object) -> bool:
    """Return whether an object is a variant."""
    return isinstance(thing, Variant)


VARIANT = ObjectKind("variant", "DAMPED", "treeplex.solvers.Variant", is_variant, is_variant, AlgorithmError)


@dataclass(frozen=True)
class DiscountSequence:
    """A variant's weights at iterations t, float64 [K]: of new regrets, in the average, and factors on old regrets.

    The factors are None if old regrets are not discounted. ``kept``, the factor on the average, is None if growing weights
    replace it.
    """

    regret: Floats
    average: Floats
    positive: Floats | None = None
    negative: Floats | None = None
    kept: Floats | None = None


def undiscounted(t: Floats) -> DiscountSequence:
    """``R += r``, uniform average."""
    return DiscountSequence(np.ones_like(t), np.ones_like(t))


def plus(t: Floats, *, gamma: float) -> DiscountSequence:
    """``R = [R + r]+``, average weighted by ``t^gamma``."""
    return DiscountSequence(np.ones_like(t), t**gamma)


def linear(t: Floats) -> DiscountSequence:
    """``R += t r``, average weighted by t."""
    return DiscountSequence(t, t)


def discounted(t: Floats, *, alpha: float, beta: float, gamma: float) -> DiscountSequence:
    """Old regrets times ``(t-1)^a / ((t-1)^a + 1)``, a depending on their sign; average weighted by ``t^gamma``."""
    positive, negative = (discounts(t - 1, exponent, 1.0, at_zero=1.0) for exponent in (alpha, beta))
    return DiscountSequence(np.ones_like(t), t**gamma, positive, negative)


def discounted_plus(t: Floats, *, alpha: float, offset: float, gamma: float) -> DiscountSequence:
    """``R = [R d(t) + r]+``; average weighted by ``t^gamma``."""
    discount = discounts(t - 1, alpha, offset, at_zero=1.0)
    return DiscountSequence(np.ones_like(t), t**gamma, discount, discount)


DISCOUNT_SEQUENCES: Mapping[str, tuple[Callable[..., DiscountSequence], bool]] = {
    "cfr": (undiscounted, False),
    "cfr+": (plus, True),
    "lcfr": (linear, False),
    "dcfr": (discounted, False),
    "dcfr+": (discounted_plus, True),
}
"""Vectorised variants, and whether they floor regrets; the weights equal those of :data:`VARIANTS`.

Other variants, including custom ones, are evaluated one iteration at a time; see :func:`sequence_of`.
"""


def sequence_of(variant: Variant) -> Callable[[Floats], DiscountSequence]:
    """Return a function that computes any variant's weights from the rows of its schedule.

    Full iterations discount the average. Here iteration t has weight ``average(t) / (d(2) ... d(t))`` instead, where d are
    those discounts, returned in ``kept``.
    """
    floor = variant.rows((1,), 0)[0, FLOOR]

    def weights(t: Floats) -> DiscountSequence:
        rows = variant.rows([int(one) for one in t], 0)
        factors = np.where(t[:, None] > 1, rows[:, [POSITIVE, NEGATIVE, AVERAGE_DISCOUNT]], 1.0)
        for wrong, what in (
            ((factors < 0.0).any(axis=1), "a negative discount"),
            ((factors[:, :2] > 1.0).any(axis=1), "a discount above 1"),
            (rows[:, FLOOR] != floor, "a floor in only some iterations"),
        ):
            if wrong.any():
                at = int(t[np.argmax(wrong)])
                raise AlgorithmError(
                    f"{variant.name} has {what} at iteration {at}, which sampling does not support; use another variant"
                )
        return DiscountSequence(rows[:, REGRET], rows[:, AVERAGE], *factors.T)

    return weights


class SampledSchedule:
    """A variant's weights as increments and cumulative discounts.

    A full iteration multiplies every regret by a discount before adding the new one. A walk visits an infoset irregularly and
    then applies the product of all discounts since the last visit, a difference of cumulative logarithms. The average uses
    increments of weight ``t^gamma`` in place of discounts.

    Attributes:
        variant: the variant, with its parameters.
        floor: whether negative regrets are set to zero.
        discounts: whether old regrets are discounted.
        running: float64 [3], cumulative log discounts of positive regrets, of negative regrets and of the average.
    """

    def __init__(self, variant: str | Variant) -> None:
        """Parse a spec such as ``lcfr`` or ``dcfr(alpha=2)``, or use a custom variant.

        Raises:
            SpecError: an unknown variant or parameter.
            AlgorithmError: the variant does not support sampling.
        """
        chosen = sampled_variant(variant)
        self.variant = chosen
        if VARIANTS.get(chosen.name) is not None and chosen.schedule is VARIANTS[chosen.name].schedule:
            course, self.floor = DISCOUNT_SEQUENCES[chosen.name]
            self.course: Callable[[Floats], DiscountSequence] = partial(course, **chosen.parameters)
        else:
            self.course, self.floor = sequence_of(chosen), bool(chosen.rows((1,), 0)[0, FLOOR])
        self.discounts = self._course(np.ones(1)).positive is not None
        self.running = np.zeros(3)
        self._chunk, self._logs = 0, np.zeros((0, 3))

    def chunks(self, done: int, iterations: int) -> Iterator[Floats]:
        """Yield rows for :func:`treeplex.engine.sampling.walks.iterate_sampled`, float64 [K, 4], after iteration ``done``.

        Raises:
            SpecError: weights are not finite or too large.
        """
        for start in range(done, done + iterations, CHUNK):
            t = np.arange(start + 1, min(start + CHUNK, done + iterations) + 1, dtype=np.float64)
            course = self._course(t)
            factors = course.positive, course.negative, course.kept
            logs = np.stack([self._summed(column, factor, len(t)) for column, factor in enumerate(factors)], axis=1)
            self._chunk, self._logs, self.running[:] = start, logs, logs[-1]
            rows = np.empty((len(t), 4))
            rows[:, REGRET_WEIGHT], rows[:, AVERAGE_WEIGHT] = course.regret, course.average
            if course.kept is not None:
                with np.errstate(over="ignore"):
                    rows[:, AVERAGE_WEIGHT] *= np.exp(-logs[:, 2])
            rows[:, POSITIVE_LOG:] = logs[:, :2]
            sound = np.isfinite(rows).all(axis=1) & (rows[:, : AVERAGE_WEIGHT + 1] <= MOST_WEIGHT).all(axis=1)
            if not sound.all():
                first = int(t[np.argmin(sound)])
                raise SpecError(f"{self.variant.name}: weights are too large at iteration {first}; change its parameters")
            yield rows

    def stop(self, done: int) -> None:
        """Rewind to iteration ``done`` within the last yielded rows."""
        self.running[:] = self._logs[done - self._chunk - 1]

    def _course(self, t: Floats) -> DiscountSequence:
        with np.errstate(over="ignore"):
            return self.course(t)

    def _summed(self, column: int, factor: Floats | None, count: int) -> Floats:
        """Return cumulative logs, bit-identical for any grouping of iterations."""
        if factor is None:
            return np.zeros(count)
        with np.errstate(divide="ignore"):
            logs = np.maximum(np.log(factor), LEAST_LOG)
        return np.add.accumulate(np.concatenate(([self.running[column]], logs)))[1:]


def sampled_variant(variant: str | Variant) -> Variant:
    """Return a variant that supports sampling.

    Raises:
        SpecError: an unknown variant or parameter.
        AlgorithmError: the variant does not support sampling.
    """
    chosen = variant if isinstance(variant, Variant) else named_variant(variant)
    reason = (
        "it plans for a number of full iterations"
        if chosen.needs_horizon
        else "it predicts the next regrets from the last ones, which a walk updates only at visited infosets"
    )
    if chosen.needs_horizon or chosen.adaptive or chosen.predicts:
        raise AlgorithmError(
            f"variant={chosen.name} does not support sampling: {reason}; use one of {', '.join(DISCOUNT_SEQUENCES)}"
        )
    return chosen


def named_variant(text: str) -> Variant:
    """Load the variant named by a spec, built in or in a user's file.

    Raises:
        SpecError: an unknown variant or parameter.
        AlgorithmError: an exception in the user's code.
    """
    custom = is_user_spec(text)
    variant, spec = user_source(text, VARIANT) if custom else (VARIANTS.get(parse_spec(text).name), parse_spec(text))
    if variant is None:
        raise SpecError(f"unknown variant {spec.name!r}{nearest(spec.name, DISCOUNT_SEQUENCES)}")
    if not isinstance(variant, Variant):
        variant, spec = load_user_object(text, VARIANT), Spec(text)
    if not isinstance(variant, Variant):
        raise AlgorithmError(f"{text!r} returned a {type(variant).__name__}, not a treeplex.solvers.Variant")
    given = {name: checked_number(spec.name, name, value, variant.parameters) for name, value in spec.parameters.items()}
    for name, value in given.items():
        if not isfinite(value):
            raise SpecError(f"parameter {name} of {spec.name} must be a number, not {value!r}")
    return variant.with_parameters(given)
