"""Projection onto distributions, against the conditions that only the nearest one meets."""

import numpy as np

from treeplex.learn.neural.gradients.simplex import nearest_distributions


def test_the_nearest_distribution_lowers_all_that_is_above_zero_alike() -> None:
    rows = np.random.default_rng(1).normal(0.0, 1.0, (200, 5))
    legal = np.arange(5) < np.random.default_rng(2).integers(1, 6, 200)[:, None]
    for floor in (0.0, 0.05):
        found = nearest_distributions(rows, legal, floor)
        np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
        assert (found[~legal] == 0.0).all()
        assert (found[legal] >= floor).all()
        for row, distribution, allowed in zip(rows, found, legal, strict=True):
            above = allowed & (distribution > floor)
            shift = (row - distribution)[above]
            assert np.ptp(shift) < 1e-12  # Karush, Kuhn and Tucker: one multiplier where the floor does not bind
            assert ((row - floor)[allowed & ~above] <= shift.max() + 1e-12).all()


def test_distributions_are_their_own_nearest() -> None:
    rows = np.random.default_rng(3).dirichlet(np.ones(4), 20)
    np.testing.assert_allclose(nearest_distributions(rows), rows, atol=1e-15)
