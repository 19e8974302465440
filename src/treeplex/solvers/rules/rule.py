"""The update-rule interface: rows that a form iterates on, and average weights."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.engine.tree.learned import DiscountNetwork
from treeplex.forms.form import RuleKind


@runtime_checkable
class UpdateRule(Protocol):
    """How strategies are updated from one iteration to the next: CFR variants, fictitious play, value-tested, learned."""

    @property
    def name(self) -> str:
        """For reports."""
        ...

    @property
    def kind(self) -> RuleKind:
        """The kind of the rule's rows."""
        ...

    @property
    def needs(self) -> frozenset[str]:
        """Names of the arrays that it keeps; see the forms."""
        ...

    @property
    def averages(self) -> int:
        """The number of averages."""
        ...

    @property
    def network(self) -> DiscountNetwork | None:
        """Of a learned rule, the network that sets the weights; then there are no rows."""
        ...

    @property
    def pace(self) -> int | None:
        """Of a learned rule, the number of iterations that it believes are planned; it does no more."""
        ...

    @property
    def answers(self) -> tuple[str, ...]:
        """What the policies are called that the answer is chosen from; one where there is no choice."""
        ...

    @property
    def updates(self) -> str:
        """The usual order of updates, ``alternating`` or ``simultaneous``."""
        ...

    def rows(self, times: Sequence[int], horizon: int) -> Floats:
        """One row for each iteration t, from 1, of a run planned for ``horizon`` iterations, float64 [K, n].

        Raises:
            SpecError: the rule has no rows there, or one that is not finite.
            AlgorithmError: its rows depend on the run.
        """
        ...

    def average_factors(self, times: Sequence[int], horizon: int) -> Floats:
        """Each iteration's discount on the average and its weight in it, float64 [K, 2]."""
        ...


def average_weights(rule: UpdateRule, iterations: int) -> Floats:
    """The unnormalised weight of each of T iterations in the average policy, float64 [T]."""
    kept, weights = 1.0, np.empty(iterations)
    factors = rule.average_factors(range(1, iterations + 1), iterations)
    for t in range(iterations - 1, -1, -1):
        discount, weight = factors[t]
        weights[t] = kept * weight
        kept *= discount
    return weights


def average_after(rule: UpdateRule, horizon: int, iterations: int) -> tuple[float, float]:
    """What the first iterations leave of an average's start, and with which weight they enter it themselves."""
    kept, weight = 1.0, 0.0
    for discount, added in rule.average_factors(range(1, iterations + 1), horizon).tolist():
        kept, weight = discount * kept, discount * weight + added
    return kept, weight
