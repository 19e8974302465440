"""The built-in games are OpenSpiel's, node for node."""

import random
from typing import Any

import pytest

from treeplex.games import CHANCE, Game, State
from treeplex.games.registry import load

pyspiel = pytest.importorskip("pyspiel")

FULL = [
    "kuhn_poker",
    "kuhn_poker(players=3)",
    "kuhn_poker(players=4)",
    "leduc_poker",
    "leduc_poker(suit_isomorphism=true)",
    "liars_dice(dice_sides=3)",
    "liars_dice(numdice=2,dice_sides=2)",
    "goofspiel(num_cards=3)",
    "goofspiel(num_cards=3,imp_info=true)",
    "goofspiel(num_cards=4,imp_info=true,points_order=descending)",
    "goofspiel(num_cards=4,imp_info=true,num_turns=2,returns_type=point_difference)",
    "goofspiel(players=3,num_cards=3,points_order=ascending,returns_type=total_points)",
    "goofspiel(players=3,num_cards=3,points_order=ascending,imp_info=true)",
    "oshi_zumo(coins=3,size=1,horizon=3)",
    "oshi_zumo(coins=5,size=0,horizon=4,alesia=true,min_bid=2)",
    "battleship(board_width=2,board_height=2,ship_sizes=[2],ship_values=[2],num_shots=2,allow_repeated_shots=false)",
    "battleship(board_width=2,board_height=2,ship_sizes=[1;2],ship_values=[1;2.5],num_shots=1,loss_multiplier=2.0)",
    "battleship(board_width=3,board_height=1,ship_sizes=[1;1],ship_values=[1;3],num_shots=2)",
]
SAMPLED = [
    "kuhn_poker(players=6)",
    "leduc_poker(players=3)",
    "leduc_poker(players=3,suit_isomorphism=true)",
    "leduc_poker(players=5)",
    "liars_dice",
    "liars_dice(numdice=3)",
    "goofspiel",
    "goofspiel(imp_info=true,players=3,returns_type=point_difference)",
    "oshi_zumo",
    "oshi_zumo(coins=12,size=2,horizon=20,alesia=true,min_bid=1)",
    "battleship",
    "battleship(board_width=3,board_height=2,ship_sizes=[2;2],ship_values=[1;2],num_shots=4,allow_repeated_shots=false)",
    "battleship(board_width=3,board_height=3,ship_sizes=[3;3;3],ship_values=[1;2;3],num_shots=9)",
    "tic_tac_toe",
]


def theirs(name: str) -> Any:
    game = pyspiel.load_game(name)
    if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        return pyspiel.convert_to_turn_based(game)
    return game


def compare(game: Game, ours: State, other: Any) -> None:
    assert ours.current_player() == other.current_player()
    if ours.is_terminal():
        assert list(ours.returns()) == pytest.approx(list(other.returns()), abs=1e-12)
        return
    assert list(ours.legal_actions()) == list(other.legal_actions())
    if ours.current_player() == CHANCE:
        assert dict(ours.chance_outcomes()) == pytest.approx(dict(other.chance_outcomes()), abs=1e-15)
    for action in ours.legal_actions():
        assert ours.action_to_string(action) == other.action_to_string(action)
    for player in range(game.num_players):
        assert ours.information_state_string(player) == other.information_state_string(player)


@pytest.mark.parametrize("name", FULL)
def test_whole_tree(name: str) -> None:
    game, reference = load(name), theirs(name)
    assert game.num_players == reference.num_players()
    stack = [(game.new_initial_state(), reference.new_initial_state())]
    while stack:
        ours, other = stack.pop()
        compare(game, ours, other)
        stack.extend((ours.child(action), other.child(action)) for action in ours.legal_actions())


@pytest.mark.slow_cases("battleship")
@pytest.mark.parametrize("name", SAMPLED)
def test_random_plays(name: str) -> None:
    game, reference = load(name), theirs(name)
    generator = random.Random(0)
    for _ in range(10):
        ours, other = game.new_initial_state(), reference.new_initial_state()
        compare(game, ours, other)
        while not ours.is_terminal():
            action = generator.choice(list(ours.legal_actions()))
            ours, other = ours.child(action), other.child(action)
            compare(game, ours, other)


def test_matrix() -> None:
    rows, columns = ["a", "b"], ["x", "y", "z"]
    first, second = [[0, -1, 2], [1, 0, -2]], [[5, 1, 0], [0, 3, 0.5]]
    reference = pyspiel.convert_to_turn_based(pyspiel.create_matrix_game("m", "m", rows, columns, first, second))
    game = load("matrix(rows=[[0,-1,2],[1,0,-2]],second=[[5,1,0],[0,3,0.5]])")
    game.names = rows, columns
    stack = [(game.new_initial_state(), reference.new_initial_state())]
    while stack:
        ours, other = stack.pop()
        compare(game, ours, other)
        stack.extend((ours.child(action), other.child(action)) for action in ours.legal_actions())
