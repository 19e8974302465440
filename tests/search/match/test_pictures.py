"""Curves of matches."""

import numpy as np
import pytest

from treeplex.search.match.pictures import running


@pytest.mark.parametrize("count", [30, 31, 60, 1000])
def test_bands_are_finite_from_the_first_deal_that_has_one(count):
    curve = running(np.random.default_rng(0).normal(size=count), "agent", 1, 0)
    assert curve.low is not None
    assert curve.high is not None
    assert np.isfinite([*curve.low, *curve.high]).all()
    assert curve.across[0] == 30
    assert curve.across[-1] == count
