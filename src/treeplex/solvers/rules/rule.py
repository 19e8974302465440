"""The update-rule interface: rows of weights for each iteration, and averaging weights."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.engine.tree.learned import DiscountNetwork
from treeplex.forms.form import RuleKind


@runtime_checkable
class UpdateRule(Protocol):
    """A rule for updating strategies: CFR variant, fictitious play, value-tested or learned discounting."""

    @property
    def name(self) -> str:
        """Name for reports."""
        ...

    @property
    def kind(self) -> RuleKind:
        """The kind of the rule's rows."""
        ...

    @property
    def needs(self) -> frozenset[str]:
        """Names of the state arrays that the rule needs."""
        ...

    @property
    def averages(self) -> int:
        """The number of averages."""
        ...

    @property
    def network(self) -> DiscountNetwork | None:
        """The network of a learned rule, which replaces rows; None for other rules."""
        ...

    @property
    def pace(self) -> int | None:
        """The number of iterations that a learned rule plans for, which is also its maximum; None for other rules."""
        ...

    @property
    def answers(self) -> tuple[str, ...]:
        """Names of the candidate policies for the result; one name if there is no choice."""
        ...

    @property
    def updates(self) -> str:
        """The default order of updates, ``alternating`` or ``simultaneous``."""
        ...

    def rows(self, times: Sequence[int], horizon: int) -> Floats:
        """Return one row per iteration t (from 1) of a run with ``horizon`` planned iterations, float64 [K, n].

        Raises:
            SpecError: the rule has no row for an iteration, or a non-finite one.
            AlgorithmError: the rows depend on the run.
        """
        ...

    def average_factors(self, times: Sequence[int], horizon: int) -> Floats:
        """Return each iteration's discount on the average and its weight, float64 [K, 2]."""
        ...


def average_weights(rule: UpdateRule, iterations: int) -> Floats:
    """Return the unnormalised weight of each of T iterations in the average policy, float64 [T]."""
    undiscounted, weights = 1.0, np.empty(iterations)
    factors = rule.average_factors(range(1, iterations + 1), iterations)
    for t in range(iterations - 1, -1, -1):
        discount, weight = factors[t]
        weights[t] = undiscounted * weight
        undiscounted *= discount
    return weights


def average_after(rule: UpdateRule, horizon: int, iterations: int) -> tuple[float, float]:
    """Return the weight that an average's initial value retains after the iterations, and the iterations' total weight."""
    start, weight = 1.0, 0.0
    for discount, added in rule.average_factors(range(1, iterations + 1), horizon).tolist():
        start, weight = discount * start, discount * weight + added
    return start, weight
