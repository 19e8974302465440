"""Fitness: from exploitabilities to a number."""

import math

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import AlgorithmError, SpecError
from treeplex.learn.discount.fitness import exploitability_of, fitness_on, training_games
from treeplex.solvers.rules.discount_policy import untrained_discount_policy
from treeplex.solvers.solver import GameSolver

HORIZON = 60
GAMES = ("kuhn_poker", "small_matrix")


@pytest.fixture(scope="module")
def games():
    return training_games(GAMES)


def test_log_fitness_is_the_mean_gain_in_log_exploitability(games):
    fitness = fitness_on(games, HORIZON)
    first = [tp.solve(game, "dcfr", iterations=1).exploitability for game in games]
    reached = np.array([[1e-2, 3.0], [1e-20, 1.0]])
    wanted = [
        (math.log(first[0] / 1e-2) + math.log(first[1] / 3.0)) / 2,
        (math.log(first[0] / 1e-12) + math.log(first[1] / 1.0)) / 2,
    ]
    assert fitness.of(reached) == pytest.approx(wanted)


def test_relative_fitness_is_0_for_cfr_and_1_for_dcfr(games):
    fitness = fitness_on(games, HORIZON, kind="relative")
    cfr, dcfr = (
        [tp.solve(game, name, iterations=HORIZON, updates="alternating").exploitability for game in games]
        for name in ("cfr", "dcfr")
    )
    assert fitness.of(np.array([cfr, dcfr])) == pytest.approx([0, 1], abs=1e-9)
    assert fitness.of(np.sqrt(np.array(cfr) * np.array(dcfr))) == pytest.approx(0.5)


def test_without_a_floor_the_tiniest_exploitability_counts(games):
    fitness = fitness_on(games, HORIZON, floor=0)
    tiny, zero = fitness.of(np.array([[1e-20, 1.0], [0.0, 1.0]]))
    assert tiny == pytest.approx(fitness_on(games, HORIZON).of(np.array([1e-12, 1.0])) + math.log(1e8) / 2)
    assert tiny < zero < math.inf


def test_weights_count(games):
    even, weighted = fitness_on(games, HORIZON), fitness_on(games, HORIZON, weights=[3, 1])
    each = [even.of(np.array([1e-3, np.exp(even.top[1])])), even.of(np.array([np.exp(even.top[0]), 1e-3]))]
    assert weighted.of(np.array([1e-3, 1e-3])) == pytest.approx((3 * 2 * each[0] + 2 * each[1]) / 4)


def test_a_policy_reaches_what_its_solver_reaches(games):
    policy = untrained_discount_policy(horizon=HORIZON, seed=2)
    solver = GameSolver(games[0], policy)
    solver.run(HORIZON)
    wanted = tp.exploitability(games[0], solver.average_policy())
    assert exploitability_of(policy, games)[0] == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("weights", [[1.0], [1.0, 0.0], [1.0, math.nan], [1.0, -2.0]])
def test_wrong_weights_are_refused(games, weights):
    with pytest.raises(SpecError, match="one number above 0 for each of 2 games"):
        fitness_on(games, HORIZON, weights=weights)


def test_relative_fitness_needs_a_difference(games):
    with pytest.raises(AlgorithmError, match="kuhn_poker"):
        fitness_on(games[:1], 1, kind="relative")


def test_an_unknown_fitness_is_refused(games):
    with pytest.raises(SpecError, match="relative"):
        fitness_on(games, HORIZON, kind="relativ")


@pytest.mark.parametrize(
    ("specs", "error", "part"),
    [
        ((), SpecError, "at least one"),
        (("kuhn_pokr",), SpecError, "kuhn_poker"),
        (("kuhn_poker", "kuhn_poker(players=3)"), AlgorithmError, "has 3 players"),
        (("kuhn_poker", "kuhn_poker"), SpecError, "given twice"),
        (("kuhn_poker", "goofspiel(players=3,num_cards=3)"), AlgorithmError, "two-player zero-sum"),
    ],
)
def test_games_that_cannot_be_trained_on_are_named(specs, error, part):
    with pytest.raises(error, match=part):
        training_games(specs)


def test_a_game_that_is_not_zero_sum_is_named(tmp_path):
    path = tmp_path / "duel.efg"
    path.write_text(
        'EFG 2 R "duel" { "A" "B" }\np "" 1 1 "" { "l" "r" } 0\nt "" 1 "" { 1, 1 }\nt "" 2 "" { 0, 0 }\n', encoding="utf-8"
    )
    with pytest.raises(AlgorithmError, match=r"duel\.efg is not zero-sum"):
        training_games([str(path)])
