"""The linear program: known values, equilibria to rounding, refusals."""

from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from scipy.optimize import linprog

from tests.random_games import SEEDS, STEADY, RandomGame, games
from treeplex.errors import AlgorithmError
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.views.matrix_form import payoff_matrix
from treeplex.forms.compile.walk import compile_rules
from treeplex.games.base import TERMINAL, Game, State
from treeplex.run.solve.solve import solve
from treeplex.solvers import make_solver
from treeplex.solvers.exact import lp

BATTLESHIP = "battleship(board_width=2,board_height=2,ship_sizes=[2],ship_values=[2],num_shots={},allow_repeated_shots=false)"
GOOFSPIEL = "goofspiel(num_cards={},imp_info=true,points_order=descending)"
VALUES = {
    "kuhn_poker": -1 / 18,
    "leduc_poker": -0.0856064240780005,
    "leduc_poker(suit_isomorphism=true)": -0.0856064240780005,
    "liars_dice(dice_sides=2)": 1 / 2,
    "liars_dice(dice_sides=3)": 1 / 9,
    "liars_dice(dice_sides=4)": 1 / 16,
    "liars_dice(dice_sides=5)": 0.008,
    GOOFSPIEL.format(3): 0.0,
    GOOFSPIEL.format(4): 0.0,
    GOOFSPIEL.format(5): 0.0,
    BATTLESHIP.format(2): 1 / 8,
    BATTLESHIP.format(3): 5 / 8,
    "modified_rps": 0.0,
    "small_matrix": 0.0,
    "rock_paper_scissors": 0.0,
    "matrix(rows=[[3,-1],[-2,1]])": 1 / 7,
}
"""Value of the first player: another linear program, certified by OpenSpiel, or by symmetry, or by hand."""


def solved(game: CompiledGame) -> tuple[float, float]:
    solver = make_solver(game, "lp")
    assert solver.exact
    solver.run(1)
    found = judge(game, solver.average_policy())
    return found.value[0], found.nash_conv


@pytest.mark.slow_cases("liars_dice(dice_sides=5)", "goofspiel(num_cards=5,imp_info=true,points_order=descending)")
@pytest.mark.parametrize("game", VALUES)
def test_values(game: str) -> None:
    value, gap = solved(compile_game(game))
    assert value == pytest.approx(VALUES[game], abs=1e-9)
    assert abs(gap) < 1e-9


@STEADY
@given(games((2,), zero_sum=True))
def test_random_games(rules: RandomGame) -> None:
    assert abs(solved(compile_rules(rules))[1]) < 1e-9


@STEADY
@given(SEEDS)
def test_matrix_games_against_a_plain_program(seed: int) -> None:
    payoffs = np.random.default_rng(seed).integers(-9, 10, (3, 4))
    rows = ",".join(f"[{','.join(map(str, row))}]" for row in payoffs)
    plain = linprog(
        [0, 0, 0, -1], np.c_[-payoffs.T, np.ones(4)], np.zeros(4), [[1, 1, 1, 0]], [1], [(0, None)] * 3 + [(None, None)]
    )
    value, gap = solved(compile_game(f"matrix(rows=[{rows}])"))
    assert value == pytest.approx(-plain.fun, abs=1e-9)
    assert abs(gap) < 1e-9


class ConstantSum(Game):
    """Matching pennies for a prize of 1: payoffs sum to one."""

    spec = "constant_sum"

    def new_initial_state(self) -> "Pennies":
        return Pennies(())


class Pennies(State):
    def __init__(self, moves: tuple[int, ...]) -> None:
        self.moves = moves

    def current_player(self) -> int:
        return len(self.moves) if len(self.moves) < 2 else TERMINAL

    def legal_actions(self, player: int | None = None) -> list[int]:
        return [0, 1]

    def child(self, action: int) -> "Pennies":
        return Pennies((*self.moves, action))

    def returns(self) -> list[float]:
        return [1.0, 0.0] if self.moves[0] == self.moves[1] else [0.0, 1.0]

    def information_state_string(self, player: int | None = None) -> str:
        return "first" if self.current_player() == 0 else "second"


def test_constant_sums_are_welcome() -> None:
    game = compile_game(ConstantSum())
    assert game.constant == 1.0
    assert not game.zero_sum
    value, gap = solved(game)
    assert value == pytest.approx(0.5)
    assert abs(gap) < 1e-9


def test_one_iteration_is_all() -> None:
    game = compile_game("kuhn_poker")
    solver = make_solver(game, "lp")
    np.testing.assert_array_equal(solver.average_policy().probabilities[1:3], [0.5, 0.5])
    solver.run(0)
    assert judge(game, solver.average_policy()).nash_conv > 0.5
    solver.run(1)
    first = solver.average_policy().probabilities
    solver.run(5)
    assert solver.iteration == 6
    np.testing.assert_array_equal(solver.average_policy().probabilities, first)


def test_payoffs_are_collected_once(monkeypatch: pytest.MonkeyPatch) -> None:
    collect = Mock(side_effect=payoff_matrix)
    monkeypatch.setattr(lp, "payoff_matrix", collect)
    solution = solve("kuhn_poker", "lp")
    assert collect.call_count == 1
    assert "payoffs" not in vars(solution.solver)  # type: ignore[attr-defined]


def test_three_players_are_refused() -> None:
    with pytest.raises(AlgorithmError, match=r"lp needs a two-player game.*kuhn_poker\(players=3\) has 3 players$"):
        make_solver(compile_game("kuhn_poker(players=3)"), "lp")


def test_general_sums_are_refused() -> None:
    with pytest.raises(AlgorithmError, match="2 players and general-sum payoffs"):
        make_solver(compile_rules(RandomGame(7, zero_sum=False)), "lp")


def test_payoffs_below_what_the_solver_takes_for_zero() -> None:
    unit = 1e-10
    game = compile_game(f"matrix(rows=[[{unit},{-unit}],[{-unit},{3 * unit}]])")
    solver = make_solver(game, "lp")
    solver.run(1)
    found = judge(game, solver.average_policy())
    assert found.value[0] / unit == pytest.approx(1 / 3)
    assert found.nash_conv / unit < 1e-9


@pytest.mark.parametrize("unit", [1e-310, 1e-300, 1e-19, 1e-3, 1e19, 1e150, 1e300])
def test_any_unit_of_payoffs(unit: float) -> None:
    """The equilibrium does not depend on the unit; HiGHS by itself refuses numbers beyond 1e15 or so."""
    solver = make_solver(compile_game([[3 * unit, -unit], [-2 * unit, unit]]), "lp")
    solver.run(1)
    policy = solver.average_policy()
    assert [list(policy.at(infoset).values()) for infoset in (0, 1)] == [
        pytest.approx([3 / 7, 4 / 7], abs=1e-12),
        pytest.approx([2 / 7, 5 / 7], abs=1e-12),
    ]


@pytest.mark.parametrize("added", [1e8, -1e9])
def test_payoffs_beyond_the_tolerances_are_an_error(added: float) -> None:
    payoffs = np.array([[0.0, -1.0, 2.0], [1.0, 0.0, -2.0], [-2.0, 2.0, 0.0]])
    rows = payoffs + added if added > 0 else np.vstack([payoffs, [added] * 3])
    with pytest.raises(AlgorithmError, match="subtract a constant from large payoffs"):
        solve(rows.tolist(), "lp", iterations=1)


def test_large_programs_go_by_an_interior_point(monkeypatch: pytest.MonkeyPatch) -> None:
    game, methods = compile_game("leduc_poker"), []

    def watched(*arguments: object, method: str, **options: object) -> object:
        methods.append(method)
        return linprog(*arguments, method=method, **options)

    monkeypatch.setattr(lp, "linprog", watched)
    monkeypatch.setattr(lp, "LARGE", 1000)
    value, exploitability = solved(game)
    assert methods == ["highs-ipm"]
    assert value == pytest.approx(VALUES["leduc_poker"], abs=1e-9)
    assert exploitability < 1e-9


def test_programs_of_minutes_are_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    game = compile_game("kuhn_poker")
    assert make_solver(game, "lp").announcement() == ""
    monkeypatch.setattr(lp, "PATIENCE_SECONDS", 0.0)
    with pytest.warns(
        UserWarning, match=r"a linear program with 26 sequences and .* payoffs takes .* without progress reports; pcfr"
    ):
        solve(game, "lp", progress=False)
    assert lp.time_text(lp.expected_seconds(2_000_000)) == "4 minutes"
