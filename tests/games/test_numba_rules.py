"""Numba functions as ordinary rules, in plain Python: what does not fit is found."""

import pytest
from numba import njit

from treeplex.errors import GameError
from treeplex.games.base import TERMINAL
from treeplex.games.numba_rules import NumbaGame, NumbaRules


@njit
def doubled(number):
    return number << 30


@njit
def actor(state):
    return 0 if state[0] < 8 else TERMINAL


@njit
def actions(state, found):
    for action in range(state[2]):
        found[action] = action
    return state[2]


@njit
def play(state, action):
    state[0] += 1
    state[1] = doubled(state[1])
    state[state[3]] += action


@njit
def infoset(state, player):
    return state[1] * state[1]


@njit
def payoff(state, player):
    return 1.0 - 2.0 * player


def game(width: int, at: int) -> NumbaGame:
    """A player moves, and a number grows by 30 bits each time; ``at`` is where actions are written."""
    return NumbaGame(NumbaRules((0, 1, width, at), actor, actions, play, infoset, payoff, most_actions=2))


def test_numbers_beyond_64_bits_are_found() -> None:
    state = game(1, 0).new_initial_state().child(0).child(0)
    assert state.words == (2, 1 << 60, 1, 0)
    with pytest.raises(GameError, match=r"number 1 of the state is 1237940039285380274899124224 after action 0 in state"):
        state.child(0)
    with pytest.raises(GameError, match=r"infoset\(\) is 1329227995784915872903807060280344576 for player 0"):
        state.information_state_string()


def test_writing_beside_the_state_is_found() -> None:
    with pytest.raises(GameError, match=r"play\(\) with action .* indexes outside the 4 numbers of state .* make start longer"):
        game(1, 4).new_initial_state().child(0)
    with pytest.raises(GameError, match=r"actions\(\) writes more than 2 actions"):
        game(3, 0).new_initial_state().legal_actions()


def test_rules_without_a_state_are_refused() -> None:
    with pytest.raises(GameError, match=r"start is \(\); give the initial state"):
        NumbaRules((), actor, actions, play, infoset, payoff)
