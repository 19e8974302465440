"""Fictitious play: best responses to averages (Brown 1951; Heinrich, Lanctot and Silver 2015 in sequence form)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import ClassVar

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import SpecError
from treeplex.forms.form import NEXT_OPTIMISM, OPTIMISM, STEP, RuleKind


@dataclass(frozen=True)
class FictitiousRule:
    """A variant of fictitious play.

    Attributes:
        name: its name on the command line.
        summary: one line.
        reference: the paper.
        step: step size of the average toward the best response of iteration t (from 1; the uniform policy is iteration 0), 0
            to 1.
        optimism: weight of the last best response in the mixture that others respond to at iteration t, 0 to 1.
    """

    name: str
    summary: str
    reference: str
    step: Callable[[int], float]
    optimism: Callable[[int], float] = lambda t: 0.0
    kind: ClassVar[RuleKind] = RuleKind.REPLIES
    updates: ClassVar[str] = "alternating"
    averages: ClassVar[int] = 1
    network: ClassVar[None] = None
    pace: ClassVar[None] = None
    answers: ClassVar[tuple[str, ...]] = ("average",)

    @property
    def needs(self) -> frozenset[str]:
        """Names of arrays: best responses and an average, and ``target`` if others respond to mixtures of both."""
        return frozenset({"replies", "average", *(("target",) if numbers_of(self, "optimism", (1, 2, 10)).any() else ())})

    def rows(self, times: Sequence[int], horizon: int = 0) -> Floats:
        """Return step, optimism and next optimism of iterations, float64 [K, 3].

        Raises:
            SpecError: a function fails or does not return a number from 0 to 1.
        """
        rows = np.empty((len(times), 3))
        rows[:, STEP], rows[:, OPTIMISM] = numbers_of(self, "step", times), numbers_of(self, "optimism", times)
        rows[:, NEXT_OPTIMISM] = numbers_of(self, "optimism", [t + 1 for t in times])
        return rows

    def average_factors(self, times: Sequence[int], horizon: int = 0) -> Floats:
        """Return each iteration's discount on the average and weight of its best response, float64 [K, 2]."""
        steps = self.rows(times)[:, STEP]
        return np.stack((1.0 - steps, steps), axis=1)


FICTITIOUS_RULES: Mapping[str, FictitiousRule] = {
    play.name: play
    for play in (
        FictitiousRule(
            "fp",
            "fictitious play: best responses to uniform averages",
            "Brown 1951, Iterative Solution of Games by Fictitious Play; Heinrich, Lanctot and Silver 2015",
            step=lambda t: 1.0 / (t + 1.0),
        ),
        FictitiousRule(
            "linear-fp",
            "linear fictitious play: best response t has weight t + 1, the uniform start 2",
            "Brown, Bakhtin, Lerer and Gong 2020, ReBeL, Table 2 (as their released solver weights it)",
            step=lambda t: (t + 1.0) / (2.0 + t * (t + 3.0) / 2.0),
        ),
        FictitiousRule(
            "flop",
            "fictitious linear optimistic play: best response t has weight t, the uniform start 1, the last one counts twice",
            "Brown, Bakhtin, Lerer and Gong 2020, ReBeL, appendix H (where the start has weight 0)",
            step=lambda t: t / (1.0 + t * (t + 1.0) / 2.0),
            optimism=lambda t: 2.0 / (t + 2.0),
        ),
    )
}
"""The variants of fictitious play by name.

``flop`` gives the uniform start weight 1. Appendix H gives it weight 0; the average is then a pure best response at first,
play at unreached infosets is arbitrary, and on Liar's Dice exploitability stays near 1 for a hundred iterations. With
weight 1, FLOP beats linear fictitious play as in the paper's figure 4.
"""


def numbers_of(play: FictitiousRule, name: str, times: Sequence[int]) -> Floats:
    """Evaluate one of the rule's functions at these iterations, float64 [K].

    Raises:
        SpecError: the function fails or does not return a number from 0 to 1.
    """
    function = getattr(play, name)
    try:
        numbers = [function(t) for t in times]
    except (TypeError, ArithmeticError, ValueError) as error:
        raise SpecError(f"{play.name}: calling its {name}(t) failed: {error}") from error
    for t, number in zip(times, numbers, strict=True):
        if not isinstance(number, Real) or not isfinite(number):
            raise SpecError(f"{play.name}: {name} must return a finite number, not {number!r} (at iteration {t})")
        if not 0.0 <= float(number) <= 1.0:
            raise SpecError(f"{play.name}: {name} must return a number from 0 to 1, not {number!r} (at iteration {t})")
    return np.array(numbers, np.float64)
