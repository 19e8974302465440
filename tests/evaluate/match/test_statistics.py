"""Means, intervals and the test of signs."""

import math

import numpy as np
import pytest
from scipy import stats

from treeplex.evaluate.match.statistics import sign_flip_test, summary


def test_means_and_intervals() -> None:
    samples = np.array([[1.0, -1.0], [3.0, -3.0], [2.0, -2.0], [6.0, -6.0]])
    found = summary(samples)
    assert found.mean == (3.0, -3.0)
    assert found.error[0] == pytest.approx(stats.sem(samples[:, 0]))
    low, high = found.interval[0]
    assert (low + high) / 2 == 3.0
    assert (high - low) / 2 == pytest.approx(1.959964 * found.error[0], rel=1e-6)
    assert summary(samples[:1]).mean == (1.0, -1.0)
    assert math.isnan(summary(samples[:1]).error[0])
    assert math.isnan(summary(samples[:0]).mean[0])


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
