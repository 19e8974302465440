"""Walks over game trees that the tests of games share."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from treeplex.games import Game, State


def histories(game: Game) -> Iterator[tuple[State, int]]:
    """Every state of a game with its depth (nodes on the path from the root)."""
    stack = [(game.new_initial_state(), 1)]
    while stack:
        state, depth = stack.pop()
        yield state, depth
        if not state.is_terminal():
            stack.extend((state.child(action), depth + 1) for action in state.legal_actions())


def playout(game: Game, generator: random.Random) -> Iterator[tuple[State, int | None]]:
    """The states of one random play with the action taken (None at the end)."""
    state = game.new_initial_state()
    while not state.is_terminal():
        action = generator.choice(list(state.legal_actions()))
        yield state, action
        state = state.child(action)
    yield state, None


@dataclass(frozen=True)
class Counts:
    """The columns of Table 4 of the DDCFR paper (Xu et al., 2024)."""

    histories: int
    infosets: int
    terminals: int
    depth: int
    largest: int


def count(game: Game) -> Counts:
    """Count the tree of a game."""
    members: Counter[tuple[int, str]] = Counter()
    total = terminals = deepest = 0
    for state, depth in histories(game):
        total += 1
        deepest = max(deepest, depth)
        player = state.current_player()
        terminals += state.is_terminal()
        if player >= 0:
            members[player, state.information_state_string()] += 1
    return Counts(total, len(members), terminals, deepest, max(members.values()))
