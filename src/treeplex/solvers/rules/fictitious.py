"""Fictitious play: best responses against averages (Brown 1951; Heinrich, Lanctot and Silver 2015 in sequence form)."""

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
    """A kind of fictitious play.

    Attributes:
        name: what the command line calls it.
        summary: one line.
        reference: the paper.
        step: how far the average moves toward the reply of iteration t (from 1; the uniform policy is iteration 0).
        optimism: weight of the last reply in what others respond to at iteration t.
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
        """Replies and an average; a ``target`` if others respond to mixtures of both."""
        return frozenset({"replies", "average", *(("target",) if numbers_of(self, "optimism", (1, 2, 10)).any() else ())})

    def rows(self, times: Sequence[int], horizon: int = 0) -> Floats:
        """Step, optimism and next optimism of iterations, float64 [K, 3].

        Raises:
            SpecError: a function cannot be called with an iteration, or gives something that is no finite number.
        """
        rows = np.empty((len(times), 3))
        rows[:, STEP], rows[:, OPTIMISM] = numbers_of(self, "step", times), numbers_of(self, "optimism", times)
        rows[:, NEXT_OPTIMISM] = numbers_of(self, "optimism", [t + 1 for t in times])
        return rows

    def average_factors(self, times: Sequence[int], horizon: int = 0) -> Floats:
        """Each iteration's discount on the average and its reply's weight in it, float64 [K, 2]."""
        steps = self.rows(times)[:, STEP]
        return np.stack((1.0 - steps, steps), axis=1)


FICTITIOUS_RULES: Mapping[str, FictitiousRule] = {
    play.name: play
    for play in (
        FictitiousRule(
            "fp",
            "fictitious play: best responses against uniform averages",
            "Brown 1951, Iterative Solution of Games by Fictitious Play; Heinrich, Lanctot and Silver 2015",
            step=lambda t: 1.0 / (t + 1.0),
        ),
        FictitiousRule(
            "linear-fp",
            "fictitious play with reply t weighted by t + 1, the uniform start by 2",
            "Brown, Bakhtin, Lerer and Gong 2020, ReBeL, Table 2 (as their released solver weights it)",
            step=lambda t: (t + 1.0) / (2.0 + t * (t + 3.0) / 2.0),
        ),
        FictitiousRule(
            "flop",
            "fictitious linear optimistic play: reply t weighted by t, the uniform start by 1, the last reply counted twice",
            "Brown, Bakhtin, Lerer and Gong 2020, ReBeL, appendix H (where the start has weight 0)",
            step=lambda t: t / (1.0 + t * (t + 1.0) / 2.0),
            optimism=lambda t: 2.0 / (t + 2.0),
        ),
    )
}
"""The kinds of fictitious play by name.

``flop`` keeps the uniform start with weight 1. Appendix H gives it weight 0; then the average is a pure reply at first,
infosets that it never reaches get no reply of consequence, and on Liar's Dice exploitability stays near 1 for a hundred
iterations. With the start kept, FLOP beats linear fictitious play as the paper's figure 4 says.
"""


def numbers_of(play: FictitiousRule, name: str, times: Sequence[int]) -> Floats:
    """What one of a play's functions gives for these iterations, float64 [K].

    Raises:
        SpecError: it cannot be called with an iteration, or gives something that is no finite number.
    """
    function = getattr(play, name)
    try:
        found = [function(t) for t in times]
    except (TypeError, ArithmeticError, ValueError) as error:
        raise SpecError(f"{play.name}: calling its {name}(t) failed: {error}") from error
    for t, number in zip(times, found, strict=True):
        if not isinstance(number, Real) or not isfinite(number):
            raise SpecError(f"{play.name}: its {name} must return a finite number, not {number!r} (at iteration {t})")
    return np.array(found, np.float64)
