"""Regret matching alone: CFR's numbers on matrix games, regrets that bound what joint play leaves to gain, sampled actions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.random_games import SEEDS, STEADY
from tests.tree_games import TreeForm, drawn_payoffs, nothing
from treeplex.errors import AlgorithmError, SpecError
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.games.builtin.matrix import MatrixGame
from treeplex.solvers import make_solver
from treeplex.solvers.joint.regret_matching import RegretMatching

SHAPLEY = "matrix(rows=[[0,0,1],[1,0,0],[0,1,0]],second=[[0,1,0],[0,0,1],[1,0,0]])"
SMALL = "matrix(rows=[[2,-1],[-1,1]])"


def static_game(seed: int, counts: tuple[int, ...], *, zero_sum: bool) -> CompiledGame:
    players = len(counts)
    payoffs = drawn_payoffs(seed, players, zero_sum=zero_sum)
    return compile_game(TreeForm(range(players), [nothing] * players, counts, players, payoffs))


@pytest.mark.parametrize("game", ["rock_paper_scissors", "modified_rps", "small_matrix", SHAPLEY, SMALL])
def test_it_is_cfr_on_matrix_games(game: str) -> None:
    compiled = compile_game(game)
    alone, cfr = RegretMatching(compiled), make_solver(compiled, "cfr", updates="simultaneous")
    for _ in range(3):
        alone.run(50)
        cfr.run(50)
        for name in ("regrets", "policy", "average"):
            np.testing.assert_allclose(alone.arrays()[name], cfr.arrays()[name], rtol=1e-12, atol=1e-12)
    assert alone.nodes == cfr.nodes


@STEADY
@given(SEEDS, st.sampled_from([(2, 2), (3, 4), (2, 3, 2), (2, 1, 2, 2)]), st.booleans())
def test_it_is_cfr_on_static_games(seed: int, counts: tuple[int, ...], zero_sum: bool) -> None:
    compiled = static_game(seed, counts, zero_sum=zero_sum)
    alone, cfr = RegretMatching(compiled), make_solver(compiled, "cfr", updates="simultaneous")
    alone.run(100)
    cfr.run(100)
    np.testing.assert_allclose(alone.average_policy().probabilities, cfr.average_policy().probabilities, atol=1e-9)


def joint_play(game: MatrixGame, rounds: int, sampled: int) -> tuple[np.ndarray, RegretMatching]:
    """The mean over rounds of the product of what both played, [rows, columns], recorded round by round."""
    solver = RegretMatching(compile_game(game), sampled=sampled, seed=5)
    rows, columns = game.payoffs.shape[1:]
    joint, before = np.zeros((rows, columns)), solver.average.copy()
    for _ in range(rounds):
        solver.run(1)
        played = solver.average - before
        before = solver.average.copy()
        joint += np.outer(played[1 : 1 + rows], played[2 + rows :])
    return joint / rounds, solver


@pytest.mark.parametrize("sampled", [0, 1])
@pytest.mark.parametrize("seed", range(4))
def test_regret_is_what_leaving_the_joint_play_gains(seed: int, sampled: int) -> None:
    """The gap of the joint play as a coarse correlated equilibrium, from its definition."""
    generator = np.random.default_rng(seed)
    game = MatrixGame(generator.uniform(-2, 2, (3, 4)), generator.uniform(-2, 2, (3, 4)))
    joint, solver = joint_play(game, 200, sampled)
    leaving = [
        (game.payoffs[0] @ joint.sum(axis=0)).max() - (joint * game.payoffs[0]).sum(),
        (joint.sum(axis=1) @ game.payoffs[1]).max() - (joint * game.payoffs[1]).sum(),
    ]
    measures = solver.measures()
    np.testing.assert_allclose([measures["regret_0"], measures["regret_1"]], leaving, atol=1e-9)
    assert measures["cce_gap"] == pytest.approx(max(leaving), abs=1e-9)


@pytest.mark.slow
@STEADY
@given(SEEDS, st.sampled_from([(3, 3), (2, 2, 2), (4, 2, 3)]), st.sampled_from([10, 100, 1000]))
def test_average_regret_stays_below_the_bound(seed: int, counts: tuple[int, ...], rounds: int) -> None:
    """``range * sqrt(actions / rounds)`` (Blackwell 1956; Zinkevich et al. 2007, theorem 4)."""
    compiled = static_game(seed, counts, zero_sum=False)
    solver = RegretMatching(compiled)
    solver.run(rounds)
    for regret, count in zip(solver.average_regrets(), counts, strict=True):
        assert regret <= 6.0 * math.sqrt(count / rounds)


def test_zero_sum_averages_approach_the_saddle_point() -> None:
    compiled = compile_game("modified_rps")
    solver = RegretMatching(compiled)
    gaps = []
    for _ in range(3):
        solver.run(2000)
        found = judge(compiled, solver.average_policy())
        gaps.append(found.exploitability)
        assert found.nash_conv == pytest.approx(sum(solver.average_regrets()), abs=1e-9)
    assert gaps[-1] < 0.02
    assert solver.objective == "exploitability"
    assert RegretMatching(compile_game(SHAPLEY)).objective == "cce_gap"


@pytest.mark.slow
def test_drawn_actions() -> None:
    compiled = compile_game("modified_rps")
    solver = RegretMatching(compiled, sampled=1, seed=1)
    solver.run(1)
    assert set(solver.average[1:4]) | set(solver.average[5:8]) == {0.0, 1.0}
    solver.run(9999)
    assert solver.average[1:4].sum() == 10000
    assert solver.measures()["cce_gap"] < 0.06
    np.testing.assert_allclose(solver.average_policy().probabilities[1:4], [0.4, 0.4, 0.2], atol=0.06)
    again, other = (RegretMatching(compiled, sampled=1, seed=seed) for seed in (1, 2))
    again.run(10000)
    other.run(10000)
    np.testing.assert_array_equal(again.average, solver.average)
    assert (other.average != solver.average).any()


@pytest.mark.parametrize("sampled", [0, 1])
def test_continues_bit_for_bit(sampled: int) -> None:
    straight, first, second = (RegretMatching(compile_game("modified_rps"), sampled=sampled, seed=9) for _ in range(3))
    straight.run(60)
    first.run(25)
    second.restore(first.state())
    second.run(35)
    for name, array in straight.state().items():
        np.testing.assert_array_equal(second.state()[name], array, err_msg=name)


def test_players_without_a_choice() -> None:
    solver = RegretMatching(static_game(3, (2, 1, 2), zero_sum=False), sampled=1)
    solver.run(100)
    assert solver.measures()["regret_1"] == 0.0


def test_games_that_are_not_static_are_refused() -> None:
    with pytest.raises(AlgorithmError, match=r"rm needs a static game.*in kuhn_poker player 0 has 6; use cfr"):
        RegretMatching(compile_game("kuhn_poker"))
    with pytest.raises(SpecError, match=r"sampled of rm must be 0 .* or 1 .*, not 0\.5"):
        RegretMatching(compile_game("modified_rps"), sampled=0.5)
