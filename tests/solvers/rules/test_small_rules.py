"""Smooth PCFR+ and VAD-CFR: projections against quadratic programming, updates against the formulas written out."""

import numpy as np
import pytest
from scipy.optimize import minimize

from treeplex.errors import SpecError
from treeplex.evaluate.judge import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.solvers import make_solver
from treeplex.solvers.rules.custom import RuleSolver, Step
from treeplex.solvers.rules.smooth import projected
from treeplex.solvers.rules.volatility import VolatilityAdaptive
from treeplex.solvers.solver import GameSolver


@pytest.mark.parametrize("point", [[0.2, -1.0, 0.1], [-3.0, -2.0, -2.5], [2.0, -1.0, 0.0], [0.0, 0.0, 0.0], [0.9, 0.05, -0.2]])
def test_the_projection_is_the_nearest_point(point: list[float]) -> None:
    wanted = np.array(point)
    best = minimize(
        lambda x: ((x - wanted) ** 2).sum(),
        np.full(3, 1.0),
        bounds=[(0, None)] * 3,
        constraints={"type": "ineq", "fun": lambda x: x.sum() - 1.0},
        tol=1e-12,
    ).x
    two = np.concatenate([[5.0], wanted, [7.0, 1.0]])
    found = projected(two, np.array([-1, 0, 0, 0, 1, 1]), 1.0)
    np.testing.assert_allclose(found, [0.0, *best, 7.0, 1.0], atol=1e-6)


def test_smooth_with_no_bound_is_predictive_cfr_plus() -> None:
    game = compile_game("kuhn_poker")
    ours, known = make_solver(game, "smooth-pcfr+(least=0)"), make_solver(game, "pcfr+")
    for _ in range(4):
        ours.run(5)
        known.run(5)
        np.testing.assert_allclose(ours.average_policy().probabilities, known.average_policy().probabilities, atol=1e-10)


def test_smooth_keeps_regrets_away_from_zero_and_converges() -> None:
    game = compile_game("kuhn_poker")
    solver = make_solver(game, "smooth-pcfr+")
    solver.run(500)
    memory = solver.arrays()["memory"][0]
    inner = game.tree.sequence_infoset >= 0
    assert np.bincount(game.tree.sequence_infoset[inner], memory[inner]).min() >= 1.0 - 1e-12
    assert judge(game, solver.average_policy()).exploitability < 1e-5


def test_a_step_of_vad_cfr_by_hand() -> None:
    """One infoset of two actions at t = 3, with numbers from the formulas of the paper's appendix."""
    memory = np.array([[0.0, 4.0, -2.0], [0.0, 1.0, 1.0]])
    regrets = np.array([0.0, 0.5, -1.5])
    infosets = np.array([-1, 0, 0])
    step = Step(3, 0, np.zeros(3), regrets, np.zeros(3), infosets, memory)
    rule = VolatilityAdaptive()
    weights = rule.weights(step)
    mean = 0.1 * 1.5 + 0.9 * 1.0
    v = mean / 2.0
    up, down = 3 ** (1.5 - 0.5 * v), 3 ** (-0.1 - 0.5 * v)
    kept = 4.0 * up / (up + 1) + 1.1 * 0.5, -2.0 * down / (down + 1) - 1.5
    np.testing.assert_allclose(memory[0, 1:], kept)
    np.testing.assert_allclose(memory[1, 1:], mean)
    ahead = kept[0] * up / (up + 1) + (1 - 0.5 * v) / (1 + 2 / 100) * 1.1 * 0.5
    np.testing.assert_allclose(weights[1:], [ahead**1.5, 0.0])
    assert (rule.averaging(step) == 0.0).all()
    late = VolatilityAdaptive(warm_up=0).averaging(step)
    np.testing.assert_allclose(late[1:], 3 ** (2 + 1.5 * 0.75) / (1 + 1.5**1.5) * np.sqrt(1 + 0.75))


def test_vad_cfr_has_no_average_before_its_warm_up_and_then_converges() -> None:
    game = compile_game("kuhn_poker")
    solver = make_solver(game, "vad-cfr(warm_up=50)")
    solver.run(50)
    assert not solver.average[1:].any()
    solver.run(450)
    assert judge(game, solver.average_policy()).exploitability < 1e-6


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker"])
def test_wop_cfr_plays_as_vad_cfr_without_what_it_leaves_out(name: str) -> None:
    game = compile_game(name)
    bare = VolatilityAdaptive(sensitivity=0.0, boost=1.0, lowest=-1e9, power=1.0).rule()
    ours, known = make_solver(game, "wop-cfr(warm_up=20)"), make_solver(game, bare)
    assert isinstance(ours, GameSolver)
    assert isinstance(known, RuleSolver)
    for _ in range(4):
        ours.run(5)
        known.run(5)
        np.testing.assert_allclose(ours.current_policy().probabilities, known.policy, atol=1e-9)
    ours.run(480)
    assert judge(game, ours.average_policy()).exploitability < 2e-3


@pytest.mark.parametrize("name", ["smooth-pcfr+(least=-1)", "vad-cfr(scale=0)", "vad-cfr(lowest=1)", "vad-cfr(rate=2)"])
def test_constants_out_of_range(name: str) -> None:
    with pytest.raises(SpecError):
        make_solver(compile_game("kuhn_poker"), name)
