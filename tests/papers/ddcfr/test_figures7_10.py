"""Which of two schemes is lower, where ranges of perturbed runs overlap and where they do not."""

import pytest

from papers.ddcfr.figures7_10 import HIGHER, LOWER, NOT_HIGHER, overlap, pairs_lower, undecided, verdict
from papers.ddcfr.runs import Run


def run(*finals: float) -> Run:
    """A run and perturbed ones that end there."""
    return Run([finals[0]], [[final] for final in finals])


LOW, HIGH = run(1.0, 1.1, 1.2), run(2.0, 2.2)
ACCIDENT = run(1e-12, *[2.0] * 30)
"""The run itself ends on an equilibrium, perturbed ones do not."""


def test_ranges_apart_decide() -> None:
    assert not overlap(LOW, HIGH)
    assert [verdict(LOW, HIGH, says) for says in (LOWER, NOT_HIGHER, HIGHER)] == ["yes", "yes", "no"]
    assert [verdict(HIGH, LOW, says) for says in (LOWER, NOT_HIGHER, HIGHER)] == ["no", "no", "yes"]


def test_pairs_decide_where_ranges_overlap() -> None:
    assert overlap(LOW, ACCIDENT)
    assert pairs_lower(LOW, ACCIDENT) == (90, 93)
    assert ACCIDENT.middle < LOW.middle  # geometric means would say the opposite
    assert (verdict(LOW, ACCIDENT, LOWER), verdict(ACCIDENT, LOW, LOWER)) == ("yes", "no")


@pytest.mark.parametrize("other", [run(1.0, 1.15, 1.4), run(0.5, 3.0, 3.0)])
def test_what_is_undecided(other: Run) -> None:
    assert undecided(LOW, other)
    assert undecided(other, LOW)
    assert [verdict(LOW, other, says) for says in (LOWER, NOT_HIGHER, HIGHER)] == ["undecided", "yes", "undecided"]
