from collections.abc import Sequence

import pytest

from treeplex.errors import GameError
from treeplex.games import SIMULTANEOUS, TERMINAL, Game, State, TurnBased


class Pennies(State):
    """Four players, of whom two have no choice; player 0 wins by the same choice as player 2."""

    def __init__(self, moves: tuple[int, ...] = (), choosers: tuple[int, ...] = (0, 2)) -> None:
        self.moves = moves
        self.choosers = choosers

    def current_player(self) -> int:
        return TERMINAL if self.moves else SIMULTANEOUS

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        return [3, 5] if player in self.choosers else []

    def child(self, action: int) -> "Pennies":
        assert isinstance(action, tuple)
        return Pennies(action)

    def returns(self) -> Sequence[float]:
        assert self.moves[1] == self.moves[3] == 0
        return [1.0, 0.0, -1.0, 0.0] if self.moves[0] == self.moves[2] else [-1.0, 0.0, 1.0, 0.0]

    def information_state_string(self, player: int | None = None) -> str:
        return f"player {player}"


class PenniesGame(Game):
    spec = "pennies"
    num_players = 4

    def __init__(self, choosers: tuple[int, ...] = (0, 2)) -> None:
        self.choosers = choosers

    def new_initial_state(self) -> Pennies:
        return Pennies(choosers=self.choosers)


def test_moves_are_hidden_and_players_without_a_choice_are_skipped() -> None:
    game = TurnBased(PenniesGame())
    assert game.spec == "turn_based(game=pennies)"
    nameless = PenniesGame()
    nameless.spec = ""
    assert TurnBased(nameless).spec == ""
    assert game.num_players == 4
    root = game.new_initial_state()
    assert root.current_player() == 0
    assert root.public_state() is None
    first, other = root.child(3), root.child(5)
    assert first.current_player() == 2
    assert list(first.legal_actions()) == [3, 5]
    assert first.information_state_string() == other.information_state_string() == "Current player: 2\nplayer 2"
    assert first.information_state_string(0) == "Current player: 2\nObserver's action this turn: 3\nplayer 0"
    end = first.child(5)
    assert end.is_terminal()
    assert end.returns() == [-1.0, 0.0, 1.0, 0.0]
    assert first.child(3).returns() == [1.0, 0.0, -1.0, 0.0]


def test_somebody_must_have_a_move() -> None:
    with pytest.raises(GameError, match="no player has a legal action"):
        TurnBased(PenniesGame(choosers=())).new_initial_state()
