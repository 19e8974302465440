"""Rules against rules: equal ones pass, and each kind of difference is found."""

from dataclasses import replace
from typing import Any

import pytest
from numba import njit

import treeplex as tp
from treeplex.errors import GameError, SpecError
from treeplex.games.base import CHANCE, SIMULTANEOUS, TERMINAL, Game, State
from treeplex.games.numba_rules import NumbaGame
from treeplex.games.registry import load

SPEC = "oshi_zumo(coins=3,size=1,horizon=3)"


@njit
def nothing(state, player):
    return 0


@njit
def one_action(state, found):
    found[0] = 0
    return 1


@njit
def half(state, player):
    return 0.5


def test_built_in_functions_are_their_rules() -> None:
    found = tp.check_rules(SPEC, playthroughs=100)
    assert found.others == ("its Numba functions as plain Python", "its Numba functions, compiled")
    assert 40 < found.infosets <= 180
    assert tp.check_rules(SPEC, playthroughs=100) == found


@pytest.mark.slow
@pytest.mark.parametrize(
    "spec",
    [
        "goofspiel(num_cards=6,imp_info=true,points_order=descending)",
        "goofspiel(num_cards=9,imp_info=true,players=3,points_order=ascending,returns_type=total_points)",
        "goofspiel(num_cards=11,imp_info=true,num_turns=8,returns_type=point_difference)",
        "goofspiel(num_cards=1,imp_info=true)",
        "oshi_zumo",
        "oshi_zumo(coins=20,size=2,horizon=30,alesia=true,min_bid=2)",
        "liars_dice(numdice=4)",
        "liars_dice(players=4,numdice=3,dice_sides=5)",
        "kuhn_poker(players=4)",
        pytest.param("leduc_poker", marks=pytest.mark.slow),
        "leduc_poker(players=3,suits=3,raises=3,bets=[1;3])",
        "phantom_ttt(gameversion=abrupt)",
        pytest.param("phantom_ttt(obstype=reveal-numturns,rows=2,columns=5)", marks=pytest.mark.slow),
        pytest.param("dark_hex", marks=pytest.mark.slow),
    ],
)
def test_all_built_in_functions_are_their_rules(spec: str) -> None:
    tp.check_rules(spec, playthroughs=100)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"infoset": nothing}, "two infosets of player [01] are one in other rules"),
        ({"actions": one_action}, r"actions: \[0, 1, 2, 3\], but \[0\] in "),
        ({"payoff": half}, r"payoffs: .* but \[0.5, 0.5\]"),
        ({"players": 3}, "has 2 players, but the other rules have a different number"),
    ],
)
def test_differences_are_found(changed: dict, message: str) -> None:
    other = NumbaGame(replace(load(SPEC).numba_rules(), **changed), "other rules")
    with pytest.raises(GameError, match=message):
        tp.check_rules(SPEC, other, playthroughs=30)


@pytest.mark.slow
def test_there_must_be_something_to_compare() -> None:
    with pytest.raises(SpecError, match="tic_tac_toe has no Numba functions to compare; give another implementation"):
        tp.check_rules("tic_tac_toe")
    with pytest.raises(GameError, match=r"actions: .* in leduc_poker \(after history \[\]\)"):
        tp.check_rules("kuhn_poker", "leduc_poker")


class CoinThenPennies(State):
    """A coin is tossed; then both players choose at once."""

    def __init__(self, coin: int | None = None, moves: tuple[int, ...] = ()) -> None:
        self.coin, self.moves = coin, moves

    def current_player(self) -> int:
        return CHANCE if self.coin is None else TERMINAL if self.moves else SIMULTANEOUS

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(0, 0.5), (1, 0.5)]

    def legal_actions(self, player: int | None = None) -> list[int]:
        return [0, 1]

    def child(self, action: Any) -> "CoinThenPennies":
        return CoinThenPennies(action) if self.coin is None else CoinThenPennies(self.coin, tuple(action))

    def returns(self) -> list[float]:
        return [1.0, -1.0] if self.moves[0] == self.moves[1] else [-1.0, 1.0]

    def information_state_string(self, player: int | None = None) -> str:
        return f"player {player}, coin {self.coin}"


class CoinThenPenniesGame(Game):
    spec, num_players = "coin_then_pennies", 2

    def new_initial_state(self) -> CoinThenPennies:
        return CoinThenPennies()


def test_simultaneous_moves_after_a_chance_node() -> None:
    found = tp.check_rules(CoinThenPenniesGame(), CoinThenPenniesGame(), playthroughs=5)
    assert found.histories >= 15
