"""What hands add up to: means at once, intervals from enough hands on."""

import pytest
from scipy import stats

from treeplex.search.tables.results import Hand, results_of


@pytest.mark.parametrize("count", [1, 29, 30, 31])
def test_intervals_need_thirty_hands(count: int) -> None:
    payoffs = [float(number % 7) - 3.0 for number in range(count)]
    found = results_of([Hand(number, 0, 0, payoff=payoff) for number, payoff in enumerate(payoffs)], 2.0)
    assert found["raw"]["mean"] == pytest.approx(sum(payoffs) / count)
    assert found["fewest"] == 30
    if count < 30:
        assert found["raw"]["half"] is None
    else:
        assert found["raw"]["half"] == pytest.approx(stats.t.ppf(0.975, count - 1) * stats.sem(payoffs))
    assert found["luckless"] is None
