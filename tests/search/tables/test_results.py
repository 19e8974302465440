"""What hands add up to: means at once, intervals from enough hands on."""

import pytest
from scipy import stats

from treeplex.search.tables.judging import DecisionReview
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


def test_a_loss_says_how_many_decisions_it_covers() -> None:
    """Frequencies of a chart and a street without a solve have no EV, so they are not among the judged decisions."""
    unknown = (float("nan"),) * 2
    chart = DecisionReview("preflop", ("call", "fold"), 0, unknown, (0.0, 1.0), "chart")
    unsolved = DecisionReview("flop", ("check", "bet"), 1, unknown, (), "")
    river = DecisionReview("river", ("check", "bet"), 1, (1.0, 0.5), (1.0, 0.0), "agent", close=0.1)
    rows = results_of(
        [Hand(1, 0, 0, payoff=1.0, decided=[chart, unsolved, river]), Hand(2, 0, 0, payoff=0.0, decided=[chart])], 1.0
    )
    assert [(row["lost"], row["judged"], row["decisions"]) for row in rows["hands"]] == [(0.5, 1, 3), (None, 0, 1)]


def test_losses_by_hand_and_by_street_have_the_same_sum() -> None:
    """A solution's small losses count in both, a search's small losses and estimates in neither."""
    exact = DecisionReview("flop", ("check", "bet"), 1, (1.0, 0.95), (1.0, 0.0), "solution", close=0.1)
    search = DecisionReview("turn", ("check", "bet"), 1, (1.0, 0.95), (1.0, 0.0), "agent", close=0.1)
    rough = DecisionReview("turn", ("call", "fold"), 1, (2.0, 0.0), (), "estimate", close=0.1)
    alone = DecisionReview("river", ("call", "fold"), 1, (2.0, 0.0), (), "estimate", close=0.1)
    hands = [Hand(1, 0, 0, payoff=1.0, decided=[exact, search]), Hand(2, 0, 0, payoff=0.0, decided=[rough, alone])]
    rows = results_of(hands, 1.0)
    assert [row["lost"] for row in rows["hands"]] == [pytest.approx(0.05), None]
    assert [(row["where"], row["lost"], row["judged"], row["decisions"], row["mistakes"]) for row in rows["spots"]] == [
        ("flop", pytest.approx(0.05), 1, 1, 0),
        ("turn", 0.0, 1, 2, 1),
        ("river", None, 0, 1, 1),
    ]
