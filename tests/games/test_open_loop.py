"""Open-loop games as static ones."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from tests.tree_games import Moves, TreeForm, drawn_payoffs, everything, nothing
from treeplex.errors import GameError, ImperfectRecallError, SpecError
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.sources.load import load
from treeplex.games import CHANCE, SIMULTANEOUS, TERMINAL, Game, State
from treeplex.games.open_loop import OpenLoop
from treeplex.solvers import make_solver
from treeplex.solvers.exact.recursive import Recursive


def forgetful(order: Sequence[int], counts: Sequence[int], players: int = 2, seed: int = 0, zero_sum: bool = True) -> TreeForm:
    return TreeForm(
        order, [nothing] * len(order), counts, players, drawn_payoffs(seed, players, zero_sum=zero_sum), "forgetful"
    )


def test_plans_are_played_out() -> None:
    form = forgetful((0, 1, 0, 1), (2, 3, 2, 1))
    game = OpenLoop(form)
    assert game.spec == "open_loop(game=forgetful)"
    assert game.counts == [4, 3]
    root = game.new_initial_state()
    assert [root.action_to_string(action) for action in root.legal_actions()] == ["a, a", "a, b", "b, a", "b, b"]
    assert root.child(2).action_to_string(1) == "b, a"
    for first, second in product(range(4), range(3)):
        end = root.child(first).child(second)
        assert end.is_terminal()
        assert form.payoffs is not None
        assert end.returns() == form.payoffs((first // 2, second, first % 2, 0))


@pytest.mark.slow_cases("0", "1")
@pytest.mark.parametrize("seed", range(5))
def test_mixtures_over_sequences_reach_what_forgetful_players_cannot(seed: int) -> None:
    """The static game's saddle point against every mixture over the other's sequences, from the payoffs themselves."""
    form = forgetful((0, 1, 0, 1), (2, 2, 2, 2), seed=seed)
    with pytest.raises(ImperfectRecallError):
        compile_game(form)
    compiled = compile_game(OpenLoop(form))
    assert compiled.infosets == (1, 1)
    matrix = np.empty((4, 4))
    for a, b, c, d in product(range(2), repeat=4):
        assert form.payoffs is not None
        matrix[2 * a + c, 2 * b + d] = form.payoffs((a, b, c, d))[0]
    for solver in (Recursive(compiled), make_solver(compiled, "lp")):
        solver.run(1)
        policy = solver.average_policy()
        rows, columns = policy.probabilities[1:5], policy.probabilities[6:10]
        value = rows @ matrix @ columns
        assert (rows @ matrix).min() == pytest.approx(value, abs=1e-9)
        assert (matrix @ columns).max() == pytest.approx(value, abs=1e-9)


def test_three_players_with_general_sums() -> None:
    compiled = compile_game(OpenLoop(forgetful((0, 1, 2, 0), (2, 2, 2, 2), 3, zero_sum=False)))
    assert compiled.infosets == (1, 1, 1)
    solver = Recursive(compiled)
    solver.run(1)
    assert judge(compiled, solver.average_policy()).nash_conv <= 1e-9


class Rounds(Game):
    """Matching pennies, played twice at once, without ever seeing anything; a hidden coin doubles the stake."""

    spec, num_players = "rounds", 3

    def new_initial_state(self) -> "RoundsState":
        return RoundsState(())


class RoundsState(State):
    def __init__(self, moves: Moves) -> None:
        self.moves = moves

    def current_player(self) -> int:
        return [CHANCE, SIMULTANEOUS, SIMULTANEOUS, TERMINAL][len(self.moves)]

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        return [] if player == 1 else [0, 1]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(0, 0.5), (1, 0.5), (2, 0.0)]

    def child(self, action: int) -> "RoundsState":
        return RoundsState((*self.moves, action))

    def returns(self) -> list[float]:
        stake, *rounds = self.moves
        won = sum(1 if one == two else -1 for one, _, two in rounds) * (1 + stake)  # type: ignore[misc]
        return [float(won), 0.0, float(-won)]

    def information_state_string(self, player: int | None = None) -> str:
        return f"{player}: round {len(self.moves)}"


def test_simultaneous_moves_and_hidden_chance() -> None:
    game = OpenLoop(Rounds())
    assert [(stage.player, len(stage.actions)) for stage in game.stages] == [(0, 2), (2, 2), (0, 2), (2, 2)]
    compiled = compile_game(game)
    assert compiled.infosets == (1, 0, 1)
    solver = Recursive(compiled)
    solver.run(1)
    found = judge(compiled, solver.average_policy())
    assert found.value == pytest.approx((0.0, 0.0, 0.0), abs=1e-12)
    assert found.nash_conv <= 1e-9
    end = game.new_initial_state().child(1).child(1)
    assert end.chance_outcomes()[:2] == [(0, 0.5), (1, 0.5)]
    assert end.child(1).returns() == [4.0, 0.0, -4.0]


def test_by_its_spec() -> None:
    compiled = compile_game("open_loop(game=rock_paper_scissors)")
    assert compiled.spec == "open_loop(game=rock_paper_scissors)"
    assert compiled.infosets == (1, 1)
    assert load(compiled.spec).spec == compiled.spec
    assert compiled.action_names[0] == {0: "Rock", 1: "Paper", 2: "Scissors"}
    with pytest.raises(SpecError):
        load("open_loop(game=no_such_game)")


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (
            "kuhn_poker",
            r"kuhn_poker is not an open-loop game: after 0 moves, infostates '0' of player 0 and '1'",
        ),
        ("goofspiel(num_cards=3)", r"not an open-loop game: after 0 moves"),
    ],
)
def test_games_in_which_somebody_learns_something_are_refused(game: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        load(f"open_loop(game={game})")


def test_one_infostate_at_two_depths_is_refused() -> None:
    class LossyForm(TreeForm):
        def new_initial_state(self) -> "LostState":
            return LostState(())

    class LostState(RoundsState):
        def current_player(self) -> int:
            return 0 if len(self.moves) < 2 else TERMINAL

        def child(self, action: int) -> "LostState":
            return LostState((*self.moves, action))

        def information_state_string(self, player: int | None = None) -> str:
            return "lost"

    with pytest.raises(GameError, match="infostate 'lost' occurs at two depths"):
        OpenLoop(LossyForm((), (), (), 1))


def test_seeing_own_moves_is_learning_something() -> None:
    with pytest.raises(GameError, match=r"after 1 moves, infostates '1:\(0,\)' of player 1"):
        OpenLoop(TreeForm((0, 1), [nothing, everything], [2, 2]))


def test_too_many_plans() -> None:
    form = TreeForm([0] * 18, [nothing] * 18, [50] * 18, 1)
    with pytest.raises(GameError, match="more than 100,000 plans for a player; choose smaller parameters"):
        OpenLoop(form)
