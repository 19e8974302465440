"""Theorem 2 and the figures beside it, on small numbers of iterations."""

import numpy as np
import pytest

from papers.rebel import theory


def test_theorem_2_algorithm_1_comes_to_what_nested_searches_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """The approximator that keeps the latest sample, 0 at first, on Kuhn poker with T = 2."""
    monkeypatch.setattr(theory, "LITERAL", 2)
    monkeypatch.setattr(theory, "EPISODES", 3)
    early = theory.literal()
    monkeypatch.setattr(theory, "EPISODES", 150)
    found = theory.literal()
    assert found["gap"] < 1e-12 < early["gap"]
    assert found["policies"] < 1e-12


def test_theorem_2_errors_fall_as_the_root_of_the_iterations() -> None:
    few, many = (theory.errors(2, count, "cfr")["leaves"] for count in (4, 8))
    assert few > 0.05
    assert many < few / 2**0.5


def test_figure_1b_equilibrium_values_do_not_tell_actions_apart() -> None:
    found = theory.one_ply()
    plain, right = found["equilibrium values"], found["values of beliefs"]
    assert plain["values"] == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
    assert plain["loses"] == pytest.approx(1 / 3)
    assert right["policy"] == pytest.approx([0.4, 0.4, 0.2], abs=0.03)
    assert right["loses"] < 0.05


def test_figure_3_the_value_is_the_lower_of_two_lines() -> None:
    found = theory.coin()
    assert found["whole"][0] == pytest.approx(-np.abs(1 - 2 * theory.CHANCES), abs=1e-3)
    assert theory.above(found) < 1e-6
