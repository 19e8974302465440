"""Means, intervals and the test of signs."""

import math

import numpy as np
import pytest
from scipy import stats

from treeplex.search.evaluate.statistics import FEWEST_DEALS, half_width, half_widths, permutation_test, sign_flip_test, summary


def test_means_and_intervals() -> None:
    samples = np.repeat([[1.0, -1.0], [3.0, -3.0], [2.0, -2.0], [6.0, -6.0]], 10, axis=0)
    found = summary(samples)
    assert found.mean == (3.0, -3.0)
    assert found.error[0] == pytest.approx(stats.sem(samples[:, 0]))
    assert found.interval[0] == pytest.approx(stats.t.interval(0.95, 39, loc=3.0, scale=stats.sem(samples[:, 0])))
    assert summary(samples[:1]).mean == (1.0, -1.0)
    assert math.isnan(summary(samples[:1]).error[0])
    assert math.isnan(summary(samples[:0]).mean[0])


def test_few_deals_have_no_interval() -> None:
    """Four hands whose exact p-value is .125 had an interval of +.93 to +2.07 by the normal distribution."""
    few = np.array([1.0, 1.0, 2.0, 2.0])[:, None]
    assert sign_flip_test(few[:, 0]) == 0.125
    assert all(math.isnan(end) for end in summary(few).interval[0])
    widths = half_widths(np.ones(3), np.array([FEWEST_DEALS - 1, FEWEST_DEALS, 10**7]))
    np.testing.assert_allclose(widths, [np.nan, stats.t.ppf(0.975, FEWEST_DEALS - 1), 1.959964], rtol=1e-6)
    assert half_width(2.0, 100) == pytest.approx(2 * stats.t.ppf(0.975, 99))


DISTRIBUTIONS = {
    "normal": lambda generator, shape: generator.normal(size=shape),
    "coins": lambda generator, shape: generator.choice([-1.0, 1.0], size=shape),
    "exponential": lambda generator, shape: generator.exponential(size=shape) - 1.0,
    "pots and stacks": lambda generator, shape: generator.choice(
        [-50.0, -5.0, -1.0, 1.0, 5.0, 50.0], p=[0.025, 0.2, 0.275, 0.275, 0.2, 0.025], size=shape
    ),
}
"""Payoffs with mean zero."""


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_intervals_hold_what_they_say_from_the_fewest_deals_on(name: str) -> None:
    """With fewer, intervals of the skewed ones hold too little; this is why :data:`FEWEST_DEALS` is what it is."""
    held = {}
    for deals in (4, 10, FEWEST_DEALS):
        samples = DISTRIBUTIONS[name](np.random.default_rng(0), (20_000, deals))
        half = stats.t.ppf(0.975, deals - 1) * samples.std(axis=1, ddof=1) / deals**0.5
        held[deals] = float((np.abs(samples.mean(axis=1)) <= half).mean())
    assert held[FEWEST_DEALS] >= 0.925
    if name == "exponential":
        assert held[4] < 0.89
        assert held[10] < 0.91


@pytest.mark.parametrize("seed", range(4))
def test_few_samples_are_tested_exactly(seed: int) -> None:
    samples = np.random.default_rng(seed).normal(0.4, 1.0, 9)
    exact = stats.permutation_test(
        (samples,), lambda x, axis: abs(x.mean(axis=axis)), permutation_type="samples", alternative="greater", vectorized=True
    )
    assert sign_flip_test(samples) == pytest.approx(exact.pvalue, abs=1e-12)
    assert sign_flip_test(np.append(samples, [0.0, 0.0])) == sign_flip_test(samples)


@pytest.mark.parametrize("values", [(1.0, 2.0, 5.0), None])
def test_many_samples_are_tested_like_a_t_test(values: tuple[float, ...] | None) -> None:
    generator = np.random.default_rng(1)
    samples = generator.normal(0.15, 1.0, 200) if values is None else generator.choice([*values, -1.0, -2.0, -4.0], 200)
    assert sign_flip_test(samples) == pytest.approx(stats.ttest_1samp(samples, 0.0).pvalue, abs=0.03)
    assert sign_flip_test(samples) == sign_flip_test(samples)


def test_certainty_and_none() -> None:
    assert sign_flip_test(np.zeros(30)) == 1.0
    assert sign_flip_test(np.ones(10)) == 2 / 2**10
    assert sign_flip_test(np.ones(1000)) == pytest.approx(1e-4, rel=0.01)


def test_two_agents_exchange_signs() -> None:
    samples = np.random.default_rng(0).normal(size=(40, 2))
    apart = samples[:, 0] - samples[:, 1]
    assert permutation_test(samples) == (sign_flip_test(apart), sign_flip_test(-apart))


def test_exchanges_of_three_agents_are_enumerated() -> None:
    """Differences are 3 and -1.5 twice; sums of two of them are 6 once, 1.5 four times and -3 four times."""
    samples = np.array([[2.0, -1.0, -1.0], [2.0, -1.0, -1.0], [0.0, 0.0, 0.0]])
    assert permutation_test(samples) == pytest.approx((1 / 9, 5 / 9, 5 / 9))
    assert permutation_test(np.zeros((30, 3))) == (1.0,) * 3


@pytest.mark.parametrize("deals", [6, 12, 30])
def test_equal_agents_at_a_large_table_rarely_differ(deals: int) -> None:
    """One of six takes everything; flipped signs called equal agents different in up to a quarter of these matches."""
    generator, different = np.random.default_rng(0), 0
    for _ in range(200):
        samples = np.full((deals, 6), -1.0)
        samples[np.arange(deals), generator.integers(0, 6, deals)] = 5.0
        different += permutation_test(samples)[0] <= 0.05
    assert different <= 0.06 * 200


def test_many_agents_are_tested_like_by_a_t_test() -> None:
    samples = np.random.default_rng(1).normal(size=(300, 4))
    samples[:, 0] += 0.12
    found, others = permutation_test(samples), (samples.sum(axis=1, keepdims=True) - samples) / 3
    assert found == pytest.approx(stats.ttest_1samp(samples - others, 0.0).pvalue, abs=0.03)
    assert found == permutation_test(samples)
