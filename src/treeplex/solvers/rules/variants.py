"""The CFR family as data: a variant is a schedule of weights per iteration.

Notation: ``r`` is the instantaneous counterfactual regret, ``R`` the cumulative regret, ``t`` the iteration, from 1. Discounts
apply before ``r`` is added and use ``d_a(t) = (t-1)^a / ((t-1)^a + 1)``, which gives the same play as discounting by ``t``
after adding (Brown and Sandholm 2019), shifted by one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.base.spec import shown
from treeplex.engine.tree.discount import average_discount, discount
from treeplex.engine.tree.regret import (
    AVERAGE,
    AVERAGE_DISCOUNT,
    PREDICTED_NEGATIVE,
    PREDICTED_POSITIVE,
    PREDICTION,
    Weights,
)
from treeplex.errors import SpecError
from treeplex.forms.form import RuleKind

LOOK_AHEAD = 32
"""Number of iterations inspected to determine whether a variant predicts."""


ALPHA, BETA, GAMMA = 1.5, 0.0, 2.0
"""Exponents recommended by the authors of DCFR."""

Schedule = Callable[..., Weights]
"""``schedule(t, horizon, **parameters) -> Weights``: iteration t (from 1) of a run with ``horizon`` planned iterations."""


@dataclass(frozen=True)
class Variant:
    """A member of the CFR family.

    Attributes:
        name: its name on the command line.
        summary: one line.
        reference: the paper.
        schedule: returns the weights of iteration t.
        parameters: the schedule's parameters and their defaults.
        updates: the default order of updates, ``alternating`` or ``simultaneous``.
        adaptive: whether every infoset sets its own prediction strength (APCFR+).
        needs_horizon: whether the schedule depends on the planned number of iterations.
    """

    name: str
    summary: str
    reference: str
    schedule: Schedule
    parameters: Mapping[str, float] = field(default_factory=dict)
    updates: str = "alternating"
    adaptive: bool = False
    needs_horizon: bool = False
    kind: ClassVar[RuleKind] = RuleKind.REGRETS
    averages: ClassVar[int] = 1
    network: ClassVar[None] = None
    pace: ClassVar[None] = None
    answers: ClassVar[tuple[str, ...]] = ("average",)

    @cached_property
    def needs(self) -> frozenset[str]:
        """Names of arrays: regrets, an average, ``guesses`` for prediction, ``previous`` and ``changes`` for APCFR+."""
        more = {"guesses", "previous", "changes"} if self.adaptive else {"guesses"} if self.predicts else set()
        return frozenset({"regrets", "average", *more})

    @cached_property
    def predicts(self) -> bool:
        """Whether the next policy depends on more than the regrets, judged by the first :data:`LOOK_AHEAD` iterations.

        A schedule that fails here counts as predicting; its error is reported when it runs.
        """
        try:
            rows = self.rows(range(1, LOOK_AHEAD + 1), 1000)
        except Exception:  # a schedule may be user code
            return True
        return predicting(rows)

    def with_parameters(self, parameters: Mapping[str, float]) -> "Variant":
        """Return a copy with parameters of the schedule set."""
        return replace(self, parameters={**self.parameters, **parameters}) if parameters else self

    def rows(self, times: Sequence[int], horizon: int) -> Floats:
        """Return the weights of iterations as rows of :class:`Weights`, float64 [K, 9].

        Raises:
            SpecError: the schedule fails, does not return :class:`Weights`, or returns a weight that is not finite, or negative
                for the average.
        """
        weights = [self._weights_at(t, horizon) for t in times]
        try:
            rows = np.array(weights, np.float64).reshape(-1, len(Weights._fields))
        except (TypeError, ValueError) as error:
            raise self._no_weights(weights[0], times[0]) from error
        finite = np.isfinite(rows).all(axis=1)
        if not finite.all():
            bad = int(np.argmin(finite))
            raise SpecError(f"{self.name}: weights are not finite at iteration {times[bad]}: {weights[bad]}")
        negative = (rows[:, [AVERAGE, AVERAGE_DISCOUNT]] < 0.0).any(axis=1)
        if negative.any():
            bad = int(np.argmax(negative))
            raise SpecError(
                f"{self.name}: average and average_discount must be >= 0, but at iteration {times[bad]} they are "
                f"{rows[bad, AVERAGE]:g} and {rows[bad, AVERAGE_DISCOUNT]:g}"
            )
        return rows

    def _weights_at(self, t: int, horizon: int) -> Weights:
        try:
            weights = self.schedule(t, horizon, **self.parameters)
        except (ArithmeticError, ValueError) as error:
            raise SpecError(
                f"{self.name}: cannot compute the weights at iteration {t} ({error}); change its parameters"
            ) from error
        except TypeError as error:
            names = ", ".join(["t", "horizon", *self.parameters])
            raise SpecError(f"{self.name}: calling its schedule({names}) at iteration {t} failed: {error}") from error
        if not isinstance(weights, Weights):
            raise self._no_weights(weights, t)
        return weights

    def _no_weights(self, given: object, t: int) -> SpecError:
        must = "schedule must return treeplex.solvers.Weights of numbers"
        return SpecError(f"{self.name}: {must}, not {shown(repr(given))} (at iteration {t})")

    def average_factors(self, times: Sequence[int], horizon: int) -> Floats:
        """Return each iteration's discount on the average and its weight, float64 [K, 2]."""
        return self.rows(times, horizon)[:, [AVERAGE_DISCOUNT, AVERAGE]]


def added_up(scheme: Variant, horizon: int, warm: int, regrets: Floats) -> Floats:
    """Return the sum of equal regrets over ``warm`` iterations, discounted and floored by the variant."""
    total = np.zeros_like(regrets)
    for t in range(1, warm + 1):
        row = scheme.schedule(t, horizon, **scheme.parameters)
        total = np.where(total > 0.0, total * row.positive, total * row.negative) + row.regret * regrets
        if row.floor > 0.0:
            total = np.maximum(total, 0.0)
    return total


def predicting(rows: Floats) -> bool:
    """Return whether any of these rows of :class:`Weights` uses prediction."""
    return bool((rows[:, [PREDICTED_POSITIVE, PREDICTED_NEGATIVE, PREDICTION]] != (1.0, 1.0, 0.0)).any())


def usual(schedule: Schedule) -> dict[str, float]:
    """Return the parameters of a schedule and their defaults, which are its keyword-only arguments."""
    return dict(getattr(schedule, "__kwdefaults__", None) or {})


def cfr(t: int, horizon: int) -> Weights:
    """CFR: ``R += r``; uniform average."""
    return Weights()


def cfr_plus(t: int, horizon: int, *, gamma: float = 1.0) -> Weights:
    """CFR+: ``R = [R + r]+``; average weighted by ``t^gamma``."""
    return Weights(floor=1.0, average_discount=average_discount(t, gamma))


def linear_cfr(t: int, horizon: int) -> Weights:
    """Linear CFR: ``R += t r``; average weighted by t."""
    return Weights(regret=float(t), average_discount=average_discount(t, 1.0))


def dcfr(t: int, horizon: int, *, alpha: float = ALPHA, beta: float = BETA, gamma: float = GAMMA) -> Weights:
    """DCFR: ``R = R d_alpha(t) + r`` where R > 0, ``R d_beta(t) + r`` elsewhere; average weighted by ``t^gamma``."""
    return Weights(positive=discount(t - 1, alpha), negative=discount(t - 1, beta), average_discount=average_discount(t, gamma))


def pcfr_plus(t: int, horizon: int, *, gamma: float = 2.0) -> Weights:
    """PCFR+: ``R = [R + r]+``; next policy proportional to ``[R + r]+`` with the new R; average weighted by ``t^gamma``."""
    return Weights(floor=1.0, prediction=1.0, average_discount=average_discount(t, gamma))


def sapcfr_plus(t: int, horizon: int, *, a: float = 2.0, gamma: float = 2.0) -> Weights:
    """SAPCFR+: ``R = [R + r]+``; next policy proportional to ``[R + r / (1 + a)]+``; average weighted by ``t^gamma``."""
    return Weights(floor=1.0, prediction=1.0 / (1.0 + a), average_discount=average_discount(t, gamma))


def dcfr_plus(t: int, horizon: int, *, alpha: float = 1.5, offset: float = 1.5, gamma: float = 4.0) -> Weights:
    """DCFR+: ``R = [R (t-1)^alpha / ((t-1)^alpha + offset) + r]+``; average weighted by ``t^gamma``.

    The paper's formula has an offset of 1; the default is that of the authors' code, which produced their results.
    """
    return Weights(positive=discount(t - 1, alpha, offset), floor=1.0, average_discount=average_discount(t, gamma))


def pdcfr(t: int, horizon: int, *, alpha: float = ALPHA, beta: float = BETA, gamma: float = GAMMA) -> Weights:
    """PDCFR: DCFR with the next policy proportional to ``[R d(t+1) + r]+``, d depending on the sign of R.

    The authors published no code; the definition is inferred from the paper's description.
    """
    return Weights(
        positive=discount(t - 1, alpha),
        negative=discount(t - 1, beta),
        predicted_positive=discount(t, alpha),
        predicted_negative=discount(t, beta),
        prediction=1.0,
        average_discount=average_discount(t, gamma),
    )


def pdcfr_plus(t: int, horizon: int, *, alpha: float = 2.3, gamma: float = 5.0) -> Weights:
    """PDCFR+: ``R = [R d_alpha(t) + r]+``; next policy proportional to ``[R d_alpha(t+1) + r]+``; average weighted by
    ``t^gamma``."""
    return Weights(
        positive=discount(t - 1, alpha),
        floor=1.0,
        predicted_positive=discount(t, alpha),
        prediction=1.0,
        average_discount=average_discount(t, gamma),
    )


def hs_dcfr(t: int, horizon: int, *, gamma: float = 30.0) -> Weights:
    """HS-DCFR: with ``s = (t-1)/n``, alpha ``1 + 3 s``, beta ``-1 - 2 s``, gamma reduced by ``5 s``; n is the horizon."""
    done = (t - 1) / max(horizon, 1)
    return dcfr(t, horizon, alpha=1.0 + 3.0 * done, beta=-1.0 - 2.0 * done, gamma=max(gamma - 5.0 * done, 0.0))


def hs_pcfr_plus(t: int, horizon: int, *, gamma: float = 30.0) -> Weights:
    """HS-PCFR+: PCFR+ with gamma reduced by ``5 (t-1)/n``; n is the horizon."""
    done = (t - 1) / max(horizon, 1)
    return pcfr_plus(t, horizon, gamma=max(gamma - 5.0 * done, 0.0))


def wop_cfr(
    t: int,
    horizon: int,
    *,
    alpha: float = ALPHA,
    beta: float = -0.1,
    decay: float = 100.0,
    gamma: float = GAMMA,
    warm_up: float = 500,
) -> Weights:
    """WOP-CFR: ``R = D(R) + r``; next policy proportional to ``[D(R) + r / (1 + (t-1) / decay)]+``; average after ``warm_up``.

    D discounts by ``t^alpha / (t^alpha + 1)`` where R > 0, and with beta elsewhere. Up to ``warm_up`` the average is the
    current policy; later iterations have weight ``t^gamma``. This is VAD-CFR (:mod:`treeplex.solvers.rules.volatility`) without
    volatility, boost, floor and powers; the definition is inferred from the paper's description.
    """
    positive, negative = discount(t, alpha), discount(t, beta)
    return Weights(
        positive=positive,
        negative=negative,
        predicted_positive=positive,
        predicted_negative=negative,
        prediction=1.0 / (1.0 + (t - 1) / decay),
        average_discount=average_discount(t, gamma) if t > warm_up + 1 else 0.0,
    )


DISCOUNTED = (
    "Brown and Sandholm 2019, Solving Imperfect-Information Games via Discounted Regret Minimization (arXiv 1809.04040)"
)

VARIANTS: Mapping[str, Variant] = {
    variant.name: variant
    for variant in (
        Variant(
            "cfr",
            "counterfactual regret minimization: no discount, uniform average",
            "Zinkevich, Johanson, Bowling and Piccione 2007, Regret Minimization in Games with Incomplete Information",
            cfr,
        ),
        Variant(
            "cfr+",
            "regrets floored at zero, linear average",
            "Tammelin 2014, Solving Large Imperfect Information Games Using CFR+ (arXiv 1407.5042)",
            cfr_plus,
            usual(cfr_plus),
        ),
        Variant(
            "lcfr",
            "Linear CFR: regrets and average weighted by t",
            DISCOUNTED,
            linear_cfr,
        ),
        Variant(
            "dcfr",
            "Discounted CFR: alpha discounts positive regrets, beta negative ones, gamma the average",
            DISCOUNTED,
            dcfr,
            usual(dcfr),
        ),
        Variant(
            "pcfr+",
            "Predictive CFR+: the last regrets predict the next ones",
            "Farina, Kroer and Sandholm 2021, Faster Game Solving via Predictive Blackwell Approachability (arXiv 2007.14358)",
            pcfr_plus,
            usual(pcfr_plus),
        ),
        Variant(
            "pdcfr",
            "DCFR with prediction of the discounted regrets",
            "Xu et al. 2024, Dynamic Discounted CFR, where it is a baseline (ICLR 2024)",
            pdcfr,
            usual(pdcfr),
        ),
        Variant(
            "dcfr+",
            "DCFR with regrets floored at zero",
            "Xu et al. 2022, AutoCFR: Learning to Design CFR Algorithms (AAAI 2022)",
            dcfr_plus,
            usual(dcfr_plus),
        ),
        Variant(
            "pdcfr+",
            "DCFR+ with prediction of the discounted regrets",
            "Xu et al. 2024, Minimizing Weighted Counterfactual Regret with Optimistic Online Mirror Descent "
            "(arXiv 2404.13891)",
            pdcfr_plus,
            usual(pdcfr_plus),
        ),
        Variant(
            "apcfr+",
            "asynchronous PCFR+: each infoset damps its prediction by the stability of its regrets",
            "Meng, Zhang, Ge, Yang and Gao 2025, Asynchronous Predictive CFR+ (arXiv 2503.12770)",
            pcfr_plus,
            usual(pcfr_plus),
            adaptive=True,
        ),
        Variant(
            "sapcfr+",
            "simple APCFR+: prediction damped by 1/(1+a) everywhere",
            "Meng, Zhang, Ge, Yang and Gao 2025, Asynchronous Predictive CFR+ (arXiv 2503.12770)",
            sapcfr_plus,
            usual(sapcfr_plus),
        ),
        Variant(
            "p2pcfr+",
            "pessimistic PCFR+: sapcfr+ with the prediction damped more",
            "Pessimistic Predictive CFR+, under review 2025 (OpenReview njyZgDDeY4)",
            sapcfr_plus,
            {"a": 5.0, "gamma": 2.0},
        ),
        Variant(
            "apdcfr+",
            "asynchronous PDCFR+: discounted regrets, with per-infoset damping of the prediction",
            "Meng, Zhang, Ge, Yang and Gao 2025, Asynchronous Predictive CFR+ (arXiv 2503.12770)",
            pdcfr_plus,
            usual(pdcfr_plus),
            adaptive=True,
        ),
        Variant(
            "hs-dcfr",
            "DCFR whose alpha, beta and gamma follow hyperparameter schedules over the planned run",
            "Zhang, McAleer and Sandholm 2024, Faster Game Solving via Hyperparameter Schedules (arXiv 2404.09097)",
            hs_dcfr,
            usual(hs_dcfr),
            needs_horizon=True,
        ),
        Variant(
            "hs-pcfr+",
            "PCFR+ whose gamma follows a hyperparameter schedule over the planned run",
            "Zhang, McAleer and Sandholm 2024, Faster Game Solving via Hyperparameter Schedules (arXiv 2404.09097)",
            hs_pcfr_plus,
            usual(hs_pcfr_plus),
            needs_horizon=True,
        ),
        Variant(
            "wop-cfr",
            "warm-started optimistic predictive CFR: discounts, decaying prediction, late averaging",
            "Li, Schultz, Hennes and Lanctot 2026, Discovering Multiagent Learning Algorithms with Large Language Models "
            "(arXiv 2602.16928)",
            wop_cfr,
            usual(wop_cfr),
        ),
    )
}
"""The variants by name."""
