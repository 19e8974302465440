"""The scripts on sampling: the article's loop is what they say, and so are their measures."""

import numpy as np
import pytest

import treeplex as tp
from papers.mccfr import article, averaging, runs
from treeplex.evaluate import judge


@pytest.fixture(scope="module")
def kuhn():
    return tp.compile("kuhn_poker")


@pytest.mark.parametrize("bluff", [0.0, 0.2, 1 / 3])
def test_the_equilibria_of_kuhn_poker_are_equilibria(kuhn, bluff):
    bets = np.array(article.equilibrium(bluff))
    policy = article.policy_of(kuhn, np.stack((1.0 - bets, bets), axis=1))
    found = judge(kuhn, policy)
    assert found.exploitability == pytest.approx(0.0, abs=1e-12)
    assert found.value[0] == pytest.approx(-1 / 18)
    assert article.bets_of(policy) == pytest.approx(bets.tolist())


@pytest.mark.slow
def test_exact_cfr_solves_the_game_and_with_the_floor_another_one(kuhn):
    plain, floored = (article.policy_of(kuhn, article.exact(20_000, mix)) for mix in (0.0, article.MIX))
    assert judge(kuhn, plain).exploitability < 2e-4
    found = judge(kuhn, floored)
    assert 0.0095 < found.exploitability < 0.0110
    assert -0.0480 < found.value[0] < -0.0465
    assert min(article.bets_of(floored)) >= article.MIX / 2 - 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_the_loop_finds_the_game_with_exploration_in_the_sampling_only(kuhn, weighted):
    points = np.array([1000, 300_000])
    losses = {}
    for name, (floor, exploration) in {"floor": (article.MIX, 0.0), "sampling": (0.0, article.MIX)}.items():
        sums, payoff = article.trajectories(300_000, 3, floor, exploration, weighted, points)
        losses[name] = [judge(kuhn, article.policy_of(kuhn, each)).exploitability for each in sums]
        assert -0.09 < payoff < -0.02
    assert losses["sampling"][1] < 0.0115 < losses["floor"][1]
    assert all(later < earlier for earlier, later in losses.values())


def test_distance_is_zero_to_itself_and_two_between_opposites(kuhn):
    run = runs.solver(kuhn, "os-mccfr", 1, {})
    left = np.zeros(len(run.slots))
    left[run.layout.infosets[:, 0]] = 1.0
    assert runs.distance(left, left, run) == 0.0
    assert runs.distance(1.0 - left, left, run) == pytest.approx(2.0)
    assert runs.distance(np.full_like(left, 0.5), left, run) == pytest.approx(1.0)


def test_lazy_averaging_is_exact_on_the_same_walks_and_naive_averaging_is_not(kuhn):
    found = runs.compare(kuhn, "os-mccfr", 1, [500, 2000])
    assert max(found["lazy"]["distance"]) < 1e-12 < min(found["naive"]["distance"])
    assert found["lazy"]["exploitability"] == pytest.approx(found["full"]["exploitability"])


def test_what_stochastic_averaging_misses_does_not_vanish_in_expectation(kuhn, monkeypatch):
    monkeypatch.setattr(averaging, "EXPECTED", 300)
    assert averaging.expected_stochastic(kuhn, "es-mccfr", 1) > 0.001


def test_learned_baselines_lower_variance_and_exact_ones_take_it_all(kuhn):
    run = runs.solver(kuhn, "vr-mccfr", 1, {})
    run.run(5000)
    (learned, whole), (plain, whole_plain), (none, least) = (runs.variances(run, kind) for kind in (None, 0, 2))
    assert none == pytest.approx(0.0, abs=1e-12)
    assert learned < plain / 10
    assert least <= whole < whole_plain
    assert runs.variances(run, None, runs.exact_where_never_sampled(run))[0] <= learned + 1e-12


def test_checkpoints_and_numbers_are_round():
    assert runs.quarters(1000, 10_000) == [1000, 1800, 3200, 5600, 10_000]
    assert [runs.three(value) for value in (0.01234, 2.0, 12.34, 1234.5)] == ["0.0123", "2.00", "12.3", "1,230"]
    assert runs.band([1.0, 2.0, 6.0], ".1f") == "3.0 [1.0, 6.0]"
