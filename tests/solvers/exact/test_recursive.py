"""Backward recursion: the same values as the linear program, equilibria on the original tree and after every move."""

import sys
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.random_games import SEEDS, STEADY, RandomGame, games
from tests.tree_games import After, Moves, TreeForm, drawn_payoffs, everything, feedback_form, ladder_sights, nothing
from treeplex.errors import AlgorithmError, FileError
from treeplex.evaluate import Judgement, judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.views.histories import grow
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.structure.classes import classify
from treeplex.games.base import TERMINAL, Game, State
from treeplex.games.builtin.matrix import MatrixGame
from treeplex.solvers import make_solver
from treeplex.solvers.exact.recursive import Recursive
from treeplex.solvers.exact.static import constant_sum, largest_gain, static_equilibrium, undominated

GAP = 1e-9
"""NashConv of what recursion finds, at most, payoffs being of the order of one."""


def solved(game: CompiledGame) -> tuple[Recursive, Policy, Judgement]:
    solver = Recursive(game)
    solver.run(1)
    policy = solver.average_policy()
    return solver, policy, judge(game, policy)


def value_by_program(game: CompiledGame) -> float:
    solver = make_solver(game, "lp")
    solver.run(1)
    return judge(game, solver.average_policy()).value[0]


ZERO_SUM = [
    ("kuhn_poker", False, 1),
    ("leduc_poker", False, 1),
    ("liars_dice(dice_sides=3)", False, 1),
    ("rock_paper_scissors", False, 1),
    ("small_matrix", False, 1),
    ("modified_rps", False, 1),
    ("matrix(rows=[[3,-1],[-2,1]])", False, 1),
    ("goofspiel(num_cards=4,imp_info=true,points_order=descending)", False, 17),
    ("goofspiel(num_cards=3)", False, 57),
    ("goofspiel(num_cards=4,points_order=descending)", True, 161),
    ("goofspiel(num_cards=4,points_order=ascending,returns_type=point_difference)", True, 161),
    pytest.param("goofspiel(num_cards=5,points_order=descending)", True, 4026, marks=pytest.mark.slow),
]


@pytest.mark.slow_cases(
    "leduc_poker-False-1", "goofspiel(num_cards=4,points_order=ascending,returns_type=point_difference)-True-161"
)
@pytest.mark.parametrize(("game", "refine", "pieces"), ZERO_SUM)
def test_value_of_the_linear_program(game: str, refine: bool, pieces: int) -> None:
    compiled = compile_game(game, refine=refine)
    solver, _, found = solved(compiled)
    assert found.value[0] == pytest.approx(value_by_program(compiled), abs=1e-9)
    assert abs(found.nash_conv) <= GAP
    assert solver.pieces == pieces


@pytest.mark.slow
def test_tic_tac_toe_is_a_draw() -> None:
    solver, policy, found = solved(compile_game("tic_tac_toe"))
    assert found.value == (0.0, 0.0)
    assert found.nash_conv == 0.0
    assert set(np.unique(policy.probabilities)) == {0.0, 1.0}
    assert solver.notes() == ["backward induction: every decision had perfect information"]


@pytest.mark.slow
@STEADY
@given(SEEDS, st.sampled_from([((0, 1), (0, 1)), ((1, 0), (0, 1), (1,)), ((0,), (1, 0), (0, 1))]), st.integers(2, 3))
def test_random_zero_sum_feedback_games(seed: int, levels: Sequence[Sequence[int]], count: int) -> None:
    form = feedback_form(seed, levels, [count, 2], 2, zero_sum=True)
    assert classify(grow(form)).feedback
    compiled = compile_game(form)
    _, policy, found = solved(compiled)
    assert found.value[0] == pytest.approx(value_by_program(compiled), abs=1e-9)
    assert abs(found.nash_conv) <= GAP
    after_every_level(form, policy, len(levels[0]))


def after_every_level(form: TreeForm, policy: Policy, length: int) -> None:
    """Where all know the state, the rest of the policy is an equilibrium of the rest of the game, reached or not."""
    states: list[State] = [form.new_initial_state()]
    for _ in range(length):
        states = [state.child(action) for state in states for action in state.legal_actions()]
    for state in states:
        rest = compile_game(After(form, state))
        part = np.ones(len(rest.tree.sequence_infoset))
        for infoset in range(len(rest.infostates)):
            known = policy.game.lookup[rest.player_of(infoset), rest.infostates[infoset]]
            part[rest.sequences_at(infoset)] = policy.probabilities[policy.game.sequences_at(known)]
        assert judge(rest, Policy(rest, part)).nash_conv <= GAP


@pytest.mark.slow
@STEADY
@given(SEEDS, st.lists(st.integers(1, 3), min_size=3, max_size=3))
def test_random_ladder_nested_games_of_three(seed: int, counts: list[int]) -> None:
    payoffs = drawn_payoffs(seed, 3, zero_sum=False, whole=seed % 2 == 0)
    form = TreeForm((0, 1, 2), ladder_sights(seed, counts), counts, 3, payoffs)
    assert classify(grow(form)).ladder_nested
    assert solved(compile_game(form))[2].nash_conv <= GAP


@pytest.mark.slow
@STEADY
@given(SEEDS)
def test_random_feedback_games_of_three(seed: int) -> None:
    form = feedback_form(seed, ((0, 1, 2), (2, 0, 1)), [2, 2, 2], 3, zero_sum=False)
    compiled = compile_game(form)
    _, policy, found = solved(compiled)
    assert found.nash_conv <= GAP
    after_every_level(form, policy, 3)


@pytest.mark.slow
@STEADY
@given(SEEDS)
def test_random_feedback_games_of_two_with_general_sums(seed: int) -> None:
    form = feedback_form(seed, ((0, 1), (1, 0)), [3, 3], 2, zero_sum=False)
    _, policy, found = solved(compile_game(form))
    assert found.nash_conv <= GAP
    after_every_level(form, policy, 2)


@pytest.mark.slow
@settings(STEADY, max_examples=120)
@given(games((2,), zero_sum=True))
def test_any_zero_sum_game_of_two(rules: RandomGame) -> None:
    compiled = compile_game(rules)
    found = solved(compiled)[2]
    assert found.value[0] == pytest.approx(value_by_program(compiled), abs=1e-9)
    assert abs(found.nash_conv) <= GAP


@pytest.mark.slow
@settings(STEADY, max_examples=120)
@given(games((2, 3), zero_sum=False))
@example(RandomGame(8211, 3, 6, zero_sum=False, unit=0.0))  # a static game with 124,416 strategies of a player
def test_any_game_is_solved_or_refused(rules: RandomGame) -> None:
    compiled, message = compile_game(rules), "recursive cannot solve random_game"
    try:
        assert abs(solved(compiled)[2].nash_conv) <= GAP
    except AlgorithmError:
        with pytest.raises(AlgorithmError, match=f"{message}.*(too many for a static game|found no equilibrium)"):
            Recursive(compiled).run(1)


@pytest.mark.slow
def test_few_random_games_are_refused() -> None:
    refused = 0
    for seed in range(60):
        try:
            solved(compile_game(RandomGame(seed, 3, 5, zero_sum=False)))
        except AlgorithmError:
            refused += 1
    assert refused <= 3


def test_parts_that_others_cannot_tell_apart_are_chosen_among() -> None:
    """Figure 3.2's form: who moves second learns one of three actions, so the other two make a static game of their own."""
    table = {(0, 0): (1, 0), (0, 1): (5, 9), (1, 0): (4, 1), (1, 1): (0, 2), (2, 0): (0, 2), (2, 1): (4, 1)}
    form = TreeForm((0, 1), [nothing, lambda moves: moves[0] == 0], [3, 2], 2, lambda moves: table[moves])  # type: ignore[arg-type, return-value]
    _, policy, found = solved(compile_game(form))
    assert policy["0:"] == {0: 1.0, 1: 0.0, 2: 0.0}
    assert policy["1:True"] == {0: 0.0, 1: 1.0}
    assert policy["1:False"] == pytest.approx({0: 0.5, 1: 0.5})
    assert found.value == (5.0, 9.0)
    assert found.nash_conv <= GAP


def test_undecomposable_pieces_of_three_are_written_out_as_static_games() -> None:
    """Nested but not ladder-nested: the third player learns what the second does not."""
    for seed in range(20):
        sights = [nothing, nothing, lambda moves: moves[0]]
        form = TreeForm((0, 1, 2), sights, [2, 2, 2], 3, drawn_payoffs(seed, 3, zero_sum=False))
        assert not classify(grow(form)).ladder_nested
        assert solved(compile_game(form))[2].nash_conv <= GAP


def test_goofspiel_of_three_and_with_general_sums() -> None:
    for game in ("goofspiel(num_cards=3,players=3)", "goofspiel(num_cards=3,returns_type=total_points)"):
        assert abs(solved(compile_game(game, refine=True))[2].nash_conv) <= GAP


def test_one_player() -> None:
    form = TreeForm((0, 0), [nothing, everything], [2, 3], 1, lambda moves: [float(moves[0] * 3 - moves[1])])
    assert solved(compile_game(form))[2].value == (3.0,)


class CoinGuessing(Game):
    """One player guesses a coin twice and learns after the first guess whether it was right."""

    spec, num_players = "hidden", 1

    def new_initial_state(self) -> "HiddenState":
        return HiddenState(())


class HiddenState(State):
    def __init__(self, moves: Moves) -> None:
        self.moves = moves

    def current_player(self) -> int:
        return [-1, 0, 0, TERMINAL][len(self.moves)]

    def legal_actions(self, player: int | None = None) -> list[int]:
        return [0, 1]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(0, 0.25), (1, 0.75)]

    def child(self, action: int) -> "HiddenState":
        return HiddenState((*self.moves, action))

    def returns(self) -> list[float]:
        return [float(self.moves[1] == self.moves[0]) + float(self.moves[2] == self.moves[0])]

    def information_state_string(self, player: int | None = None) -> str:
        learned = f"{self.moves[1]} {self.moves[1] == self.moves[0]}" if len(self.moves) == 2 else ""
        return f"guess {learned}"


def test_one_player_against_hidden_chance() -> None:
    assert solved(compile_game(CoinGuessing()))[2].value == pytest.approx((1.75,))


def test_too_large_a_piece_is_named() -> None:
    game = compile_game("leduc_poker(players=3,ranks=2,raises=1)")
    with pytest.raises(
        AlgorithmError, match=r"recursive cannot solve leduc.*: a piece has .* too many .*players 0 and 1 and 2"
    ):
        Recursive(game).run(1)


def test_without_nashpy(monkeypatch: pytest.MonkeyPatch) -> None:
    game = compile_game("matrix(rows=[[2,0],[0,1]],second=[[0,1],[3,0]])")
    assert solved(game)[2].nash_conv <= GAP
    monkeypatch.setitem(sys.modules, "nashpy", None)
    with pytest.raises(AlgorithmError, match=r"recursive cannot solve matrix.*pip install .*\[nash\]'"):
        Recursive(game).run(1)
    coordination = compile_game("matrix(rows=[[2,0],[0,1]],second=[[1,0],[0,2]])")
    assert solved(coordination)[2].value == (2.0, 1.0)


def test_one_iteration_is_all_and_it_can_be_kept() -> None:
    game = compile_game("kuhn_poker")
    solver = Recursive(game)
    assert solver.exact
    solver.run(0)
    assert judge(game, solver.average_policy()).nash_conv > 0.5
    assert solver.notes() == []
    solver.run(1)
    assert solver.notes() == ["backward recursion: 1 piece; the largest has 12 infosets with a choice"]
    policy = solver.average_policy().probabilities
    solver.run(3)
    assert solver.iteration == 4
    other = Recursive(game)
    other.restore(solver.state())
    np.testing.assert_array_equal(other.average_policy().probabilities, policy)
    with pytest.raises(FileError):
        other.restore({"iteration": np.ones(1)})


class TestStatic:
    @STEADY
    @given(SEEDS, st.sampled_from([(2, 2), (3, 4), (5, 5), (2, 2, 2), (2, 3, 2), (2, 2, 2, 2), (3, 1, 4)]), st.booleans())
    def test_random_games(self, seed: int, shape: tuple[int, ...], whole: bool) -> None:
        generator = np.random.default_rng(seed)
        payoffs = generator.integers(-2, 3, (len(shape), *shape)) if whole else generator.uniform(-3, 3, (len(shape), *shape))
        found = static_equilibrium(payoffs.astype(np.float64))
        assert found is not None
        assert all(strategy.min() >= 0.0 and strategy.sum() == pytest.approx(1.0, abs=1e-12) for strategy in found)
        assert largest_gain(payoffs.astype(np.float64), found) <= 1e-9

    @STEADY
    @given(SEEDS)
    def test_zero_sum_games_have_the_value_of_the_linear_program(self, seed: int) -> None:
        matrix = np.random.default_rng(seed).integers(-9, 10, (4, 5)).astype(np.float64)
        found = static_equilibrium(np.stack((matrix, -matrix)))
        assert found is not None
        assert found[0] @ matrix @ found[1] == pytest.approx(value_by_program(compile_game(MatrixGame(matrix))), abs=1e-9)

    def test_larger_games_of_two(self) -> None:
        for seed in range(3):
            payoffs = np.random.default_rng(seed).uniform(size=(2, 16, 16))
            found = static_equilibrium(payoffs)
            assert found is not None
            assert largest_gain(payoffs, found) <= 1e-9

    def test_the_pure_equilibrium_best_for_all(self) -> None:
        """A stag hunt: hunting hares is safe, hunting the stag together is better."""
        stag = np.array([[3.0, 3.0, 0.0], [3.0, 3.0, 0.0], [0.0, 0.0, 5.0]])
        found = static_equilibrium(np.stack((stag, stag.T)))
        assert found is not None
        np.testing.assert_array_equal(np.stack(found), [[0, 0, 1]] * 2)

    def test_matching_pennies_of_three(self) -> None:
        """Each but the last wants to match the next, the last to differ from the first: no pure equilibrium, one mixed."""
        payoffs = np.empty((3, 2, 2, 2))
        for a, b, c in np.ndindex(2, 2, 2):
            payoffs[:, a, b, c] = a == b, b == c, c != a
        found = static_equilibrium(payoffs)
        assert found is not None
        np.testing.assert_allclose(np.stack(found), 0.5, atol=1e-12)

    def test_dominated_actions_go_one_after_another(self) -> None:
        """The second row, then the second column, then the third row."""
        first = np.array([[3.0, 0.0], [2.0, -1.0], [1.0, 5.0]])
        second = np.array([[1.0, 0.0], [0.0, 9.0], [1.0, 0.0]])
        assert undominated(np.stack((first, second))) == [[0], [0]]

    def test_small_payoffs_are_not_taken_for_constant_sums(self) -> None:
        """A penalty game without a pure equilibrium; the sums of payoffs differ by as little as the payoffs themselves."""
        for unit, level in ((1e-14, 0.0), (1.0, 0.0), (1e-4, 1e8)):
            payoffs = level + unit * np.array([[[2.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [3.0, 0.0]]])
            found = static_equilibrium(payoffs)
            assert found is not None
            np.testing.assert_allclose(found[0], [3 / 4, 1 / 4], atol=1e-3)
            np.testing.assert_allclose(found[1], [1 / 3, 2 / 3], atol=1e-3)
        assert constant_sum(1e9 * np.array([[0.1, 0.7], [0.9, 0.3]]))

    def test_players_with_payoffs_of_different_sizes(self) -> None:
        """The first player is indifferent; the second cares for what is lost in the sum of both payoffs."""
        payoffs = np.stack((np.full((2, 2), 1e9), 1e-9 * np.array([[0.0, 1.0], [0.0, 1.0]])))
        found = static_equilibrium(payoffs)
        assert found is not None
        np.testing.assert_array_equal(found[1], [0.0, 1.0])

    def test_payoffs_of_any_size(self) -> None:
        for unit in (1e-10, 1.0, 1e8):
            payoffs = unit * np.array([[[1.0, -1.0], [-1.0, 3.0]], [[-1.0, 1.0], [1.0, -3.0]]])
            found = static_equilibrium(payoffs)
            assert found is not None
            np.testing.assert_allclose(found, [[2 / 3, 1 / 3]] * 2)
