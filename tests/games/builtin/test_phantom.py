"""Phantom tic-tac-toe and dark hex against OpenSpiel's."""

import random

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import SpecError

pyspiel = pytest.importorskip("pyspiel")

GAMES = {
    "phantom_ttt": "phantom_ttt",
    "phantom_ttt(gameversion=abrupt)": "phantom_ttt(gameversion=abrupt)",
    "phantom_ttt(obstype=reveal-numturns)": "phantom_ttt(obstype=reveal-numturns)",
    "phantom_ttt(gameversion=abrupt,obstype=reveal-numturns)": "phantom_ttt(gameversion=abrupt,obstype=reveal-numturns)",
    "dark_hex": "dark_hex(board_size=3)",
    "dark_hex(gameversion=adh)": "dark_hex(board_size=3,gameversion=adh)",
    "dark_hex(num_rows=2,num_cols=3)": "dark_hex(num_rows=2,num_cols=3)",
    "dark_hex(board_size=2,gameversion=adh)": "dark_hex(board_size=2,gameversion=adh)",
    "dark_hex(obstype=reveal-numturns)": "dark_hex(board_size=3,obstype=reveal-numturns)",
    "dark_hex(gameversion=adh,obstype=reveal-numturns)": "dark_hex(board_size=3,gameversion=adh,obstype=reveal-numturns)",
}


def without_turns(infostate: str) -> str:
    """OpenSpiel's dark hex shows how many turns there were, even where it reveals nothing."""
    lines = infostate.split("\n")
    return "\n".join([*lines[:-2], lines[-1]])


def compare(ours: str, theirs: str, plays: int) -> None:
    game, other = tp.load(ours), pyspiel.load_game(theirs)
    draw = random.Random(ours)
    forgets = "dark_hex" in ours and "numturns" not in ours
    for _ in range(plays):
        state, their = game.new_initial_state(), other.new_initial_state()
        while not their.is_terminal():
            assert state.current_player() == their.current_player()
            assert list(state.legal_actions()) == their.legal_actions()
            for player in (0, 1):
                infostate = their.information_state_string(player)
                infostate = without_turns(infostate) if forgets else infostate
                assert state.information_state_string(player) == infostate
            action = draw.choice(their.legal_actions())
            assert state.action_to_string(action) == their.action_to_string(their.current_player(), action)
            state = state.child(action)
            their.apply_action(action)
        assert state.is_terminal()
        assert list(state.returns()) == their.returns()


@pytest.mark.parametrize("ours", GAMES)
def test_as_openspiel(ours: str) -> None:
    compare(ours, GAMES[ours], 40)


@pytest.mark.slow
@pytest.mark.parametrize("ours", GAMES)
def test_as_openspiel_in_ten_thousand_plays(ours: str) -> None:
    compare(ours, GAMES[ours], 10_000)


@pytest.mark.parametrize("spec", [*GAMES, "phantom_ttt(rows=2,columns=4)"])
def test_a_spec_names_the_game_again(spec: str) -> None:
    assert tp.load(spec).spec == spec == tp.load(tp.load(spec).spec).spec


def test_what_a_player_knows_up_to_symmetry() -> None:
    state = tp.load("phantom_ttt(symmetric=true)").new_initial_state()
    assert state.legal_actions() == [0, 1, 4]  # a corner, an edge, the middle
    state = state.child(1)
    assert state.chance_outcomes() == [(cell, 0.25) for cell in (1, 3, 5, 7)]
    state = state.child(7)
    assert (state.current_player(), state.marks(None)) == (1, [*".......x."])
    assert np.flatnonzero(state.information_state_tensor(0)).tolist() == [1, 18 + 1]
    assert state.information_state_string(0) == ".x.\n...\n...\n0,1 "
    assert state.information_state_string(1) == "...\n...\n...\n"
    state = state.child(4)
    assert state.legal_actions() == [0, 3, 4, 6, 7]  # left is right
    assert state.knowledge(0) == ".x.\n...\n...\ntried x(0,1)"


def test_what_a_player_knows() -> None:
    state = tp.load("phantom_ttt(rows=2,columns=2,line=2)").new_initial_state().child(0).child(0)
    assert state.knowledge(1) == "x.\n..\ntried o(0,0)"
    assert state.knowledge(0) == "x.\n..\ntried x(0,0)"


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("phantom_ttt(rows=5,columns=4)", "more than 16 cells; choose a smaller board"),
        ("phantom_ttt(gameversion=cdh)", "gameversion cannot be 'cdh'"),
        ("dark_hex(obstype=all)", "obstype cannot be 'all'"),
        ("dark_hex(symmetric=8)", "symmetric must be true or false"),
        ("dark_hex(board_size=0)", "board_size must be an integer of at least 1"),
    ],
)
def test_bad_parameters(spec: str, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        tp.load(spec)
