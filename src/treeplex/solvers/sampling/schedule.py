"""The discounting of the CFR family in the form that sampled walks need, which visit infosets now and then."""

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
from treeplex.forms.sources.user_module import Wanted, is_user_spec, load_user_object, user_source
from treeplex.solvers.rules.variants import VARIANTS, Variant

CHUNK = 65_536
"""Iterations whose weights are prepared at a time."""
LEAST_LOG = -745.0
"""The logarithm that stands for a factor of zero."""
MOST_WEIGHT = 1e280
"""Weights beyond it are refused: their sums over iterations, times payoffs, have to stay finite too."""


def is_variant(thing: object) -> bool:
    """Whether it is a variant."""
    return isinstance(thing, Variant)


VARIANT = Wanted("variant", "DAMPED", "treeplex.solvers.Variant", is_variant, is_variant, AlgorithmError)


@dataclass(frozen=True)
class DiscountSequence:
    """What a variant does at iterations t, float64 [K]: weight of new regrets, weight in the average, factors on old regrets.

    The factors are None where old regrets are kept as they are, and ``kept``, that on the average, where its weights grow
    in its place.
    """

    regret: Floats
    average: Floats
    positive: Floats | None = None
    negative: Floats | None = None
    kept: Floats | None = None


def undiscounted(t: Floats) -> DiscountSequence:
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
    "cfr": (undiscounted, False),
    "cfr+": (plus, True),
    "lcfr": (linear, False),
    "dcfr": (discounted, False),
    "dcfr+": (discounted_plus, True),
}
"""Variants for many iterations at once, and whether they floor regrets; the same weights as those of :data:`VARIANTS`.

Other variants, a user's own among them, are asked for one iteration at a time; see :func:`sequence_of`.
"""


def sequence_of(variant: Variant) -> Callable[[Floats], DiscountSequence]:
    """The weights of iterations of any variant, by the rows of its schedule.

    Full iterations discount the average; here iteration t counts ``average(t) / (d(2) ... d(t))`` in its place, d being those
    discounts, which are given in ``kept``.
    """
    floor = variant.rows((1,), 0)[0, FLOOR]

    def weights(t: Floats) -> DiscountSequence:
        rows = variant.rows([int(one) for one in t], 0)
        factors = np.where(t[:, None] > 1, rows[:, [POSITIVE, NEGATIVE, AVERAGE_DISCOUNT]], 1.0)
        for wrong, what in (
            ((factors < 0.0).any(axis=1), "a negative discount"),
            (rows[:, FLOOR] != floor, "a floor that not all iterations have"),
        ):
            if wrong.any():
                at = int(t[np.argmax(wrong)])
                raise AlgorithmError(f"{variant.name} has {what} at iteration {at}, which does not combine with sampling")
        return DiscountSequence(rows[:, REGRET], rows[:, AVERAGE], *factors.T)

    return weights


class SampledSchedule:
    """A variant's weights as increments and running discounts.

    A full iteration multiplies every regret by a discount before it adds the new one. A walk comes to an infoset only now and
    then; it then applies the product of all discounts since its last visit, which is a difference of running logarithms. The
    average is kept by increments, weight ``t^gamma``, in place of the discounts of full iterations.

    Attributes:
        variant: the variant, with its parameters.
        floor: regrets are set to zero where negative.
        discounts: old regrets are discounted.
        running: float64 [3], the logs of all discounts of positive regrets, of negative ones and of the average so far.
    """

    def __init__(self, variant: str | Variant) -> None:
        """Read a spec such as ``lcfr`` or ``dcfr(alpha=2)``, or take a variant of your own.

        Raises:
            SpecError: an unknown variant or parameter.
            AlgorithmError: a variant that does not combine with sampling.
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
        """Rows of :func:`treeplex.engine.sampling.walks.iterate_sampled`, float64 [K, 4], for the iterations after ``done``.

        Raises:
            SpecError: weights that are not finite, or so large that their sums would not be.
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
                raise SpecError(
                    f"{self.variant.name} has weights beyond all numbers at iteration {first}; change its parameters"
                )
            yield rows

    def stop(self, done: int) -> None:
        """Rewind to ``done`` iterations; ``done`` lies within the last rows yielded."""
        self.running[:] = self._logs[done - self._chunk - 1]

    def _course(self, t: Floats) -> DiscountSequence:
        with np.errstate(over="ignore"):
            return self.course(t)

    def _summed(self, column: int, factor: Floats | None, count: int) -> Floats:
        """Running logs, the same to the last bit however iterations are grouped."""
        if factor is None:
            return np.zeros(count)
        with np.errstate(divide="ignore"):
            logs = np.maximum(np.log(factor), LEAST_LOG)
        return np.add.accumulate(np.concatenate(([self.running[column]], logs)))[1:]


def sampled_variant(variant: str | Variant) -> Variant:
    """A variant that combines with sampling.

    Raises:
        SpecError: an unknown variant or parameter.
        AlgorithmError: a variant that cannot be combined with sampling.
    """
    chosen = variant if isinstance(variant, Variant) else named_variant(variant)
    reason = (
        "it plans for a number of full iterations"
        if chosen.needs_horizon
        else "it predicts the next regrets from the last ones, and a walk sees regrets only where it goes"
    )
    if chosen.needs_horizon or chosen.adaptive or chosen.predicts:
        raise AlgorithmError(
            f"variant={chosen.name} does not combine with sampling: {reason}; use one of {', '.join(DISCOUNT_SEQUENCES)}"
        )
    return chosen


def named_variant(text: str) -> Variant:
    """The variant that a spec names, one of the library's or in a user's file.

    Raises:
        SpecError: an unknown variant or parameter.
        AlgorithmError: an exception in the user's code.
    """
    own = is_user_spec(text)
    found, spec = user_source(text, VARIANT) if own else (VARIANTS.get(parse_spec(text).name), parse_spec(text))
    if found is None:
        raise SpecError(f"unknown variant {spec.name!r}{nearest(spec.name, DISCOUNT_SEQUENCES)}")
    if not isinstance(found, Variant):
        found, spec = load_user_object(text, VARIANT), Spec(text)
    if not isinstance(found, Variant):
        raise AlgorithmError(f"{text!r} gave a {type(found).__name__}, not a treeplex.solvers.Variant")
    given = {name: checked_number(spec.name, name, value, found.parameters) for name, value in spec.parameters.items()}
    for name, value in given.items():
        if not isfinite(value):
            raise SpecError(f"parameter {name} of {spec.name} is a number, not {value!r}")
    return found.with_parameters(given)
