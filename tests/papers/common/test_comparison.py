"""The criterion by which runs count as different: exact, and with the false-positive rate that it promises."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from papers.common.comparison import HIGHER, LEVEL, LOWER, TOO_FEW, UNDECIDED, p_value, verdict

Draw = Callable[[np.random.Generator, int], np.ndarray]
SAME: dict[str, Draw] = {
    "normal": lambda generator, size: generator.normal(size=size),
    "skewed": lambda generator, size: generator.lognormal(0.0, 2.0, size=size),
    "tied": lambda generator, size: generator.integers(0, 4, size=size).astype(float),
    "two lumps": lambda generator, size: generator.normal(size=size) + 10.0 * generator.integers(0, 2, size=size),
}
"""Distributions that both kinds of runs are drawn from in A/A tests."""


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("runs", [4, 5, 9])
def test_the_false_positive_rate_is_at_most_the_level(name: str, runs: int) -> None:
    generator, trials = np.random.default_rng(0), 500 if runs < 9 else 100
    told = 0
    for _ in range(trials):
        values = SAME[name](generator, 2 * runs)
        told += verdict((values[:runs], values[runs:])) in (HIGHER, LOWER)
    assert told / trials <= LEVEL + 2.5 * (LEVEL * (1 - LEVEL) / trials) ** 0.5


def test_three_runs_each_never_decide_though_their_ranges_are_apart_one_time_in_ten() -> None:
    generator, apart, told = np.random.default_rng(1), 0, 0
    for _ in range(3000):
        first, second = generator.normal(size=(2, 3))
        apart += min(first) > max(second) or min(second) > max(first)
        told += verdict((first, second)) != TOO_FEW
    assert apart / 3000 == pytest.approx(0.1, abs=0.015)
    assert told == 0
    assert p_value(([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])) == pytest.approx(0.1)


@pytest.mark.parametrize(("runs", "rate"), [(4, 1 / 35), (9, 1 / 24_310)])
def test_ranges_of_four_runs_or_more_are_rarely_apart_by_chance(runs: int, rate: float) -> None:
    values = np.random.default_rng(3).lognormal(size=(20_000, 2, runs))
    apart = (values.min(axis=2) > values.max(axis=2)[:, ::-1]).any(axis=1).mean()
    assert apart == pytest.approx(rate, abs=4 * (rate / 20_000) ** 0.5)
    assert rate < LEVEL


def test_pairs_together_have_the_rate_too() -> None:
    generator = np.random.default_rng(2)
    values = generator.lognormal(size=(500, 2, 6))
    told = sum(verdict(*((row[:3], row[3:]) for row in each)) in (HIGHER, LOWER) for each in values)
    assert 0.01 < told / 500 <= 0.075


def test_differences_are_found() -> None:
    low, high = [0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8]
    assert (verdict((high, low)), verdict((low, high))) == (HIGHER, LOWER)
    assert verdict((low, low)) == UNDECIDED
    assert verdict((high[:3], low[:3]), (low[:3], high[:3])) == UNDECIDED
    assert verdict((high[:3], low[:3]), (high[:3], low[:3])) == HIGHER


@pytest.mark.parametrize("seed", range(5))
def test_p_values_are_those_of_the_rank_sum_test(seed: int) -> None:
    first, second = np.random.default_rng(seed).normal(size=(2, 7))
    exact = stats.mannwhitneyu(first, second[:5], method="exact").pvalue
    assert p_value((first, second[:5])) == pytest.approx(exact, abs=1e-12)
