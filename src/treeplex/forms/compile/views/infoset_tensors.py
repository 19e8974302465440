"""``information_state_tensor`` of the rules for the infosets of a compiled game, and the states at its histories."""

from collections.abc import Iterator
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.histories.form import Histories
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.stepping import one_at_a_time
from treeplex.forms.compile.views.histories import histories_of
from treeplex.forms.sources.load import load
from treeplex.games.base import CHANCE, TERMINAL, State

Rows = NDArray[np.float32]
_tensors: "WeakKeyDictionary[CompiledGame, Rows | None]" = WeakKeyDictionary()


def infoset_tensors(game: CompiledGame) -> Rows | None:
    """Return the ``information_state_tensor`` of each infoset's first history, float32 [I, F]; None if undefined.

    The result is cached per game.

    Raises:
        GameError: the game has too many histories.
    """
    if game not in _tensors:
        _tensors[game] = first_tensors(game)
    return _tensors[game]


def first_tensors(game: CompiledGame) -> Rows | None:
    """Compute :func:`infoset_tensors` without its cache."""
    histories = histories_of(game)
    rows: list[NDArray[np.float64] | None] = [None] * len(game.infostates)
    left = len(rows)
    for node, state in states_of(game, histories):
        player, infoset = int(histories.nodes[node, 0]), int(histories.nodes[node, 3])
        if player < 0 or rows[infoset] is not None:
            continue
        tensor = state.information_state_tensor(player)
        if tensor is None:
            return None
        rows[infoset] = np.asarray(tensor)
        left -= 1
        if not left:
            break
    return np.array(rows, np.float32)


def states_of(game: CompiledGame, histories: Histories) -> Iterator[tuple[int, State]]:
    """Yield each history with its state, depth first."""
    rules = one_at_a_time(load(game.spec).enumerable_rules()) if game.rules is None else game.rules
    stack = [(0, rules.new_initial_state())]
    while stack:
        node, state = stack.pop()
        yield node, state
        player = state.current_player()
        if player == TERMINAL:
            continue
        if player == CHANCE:
            actions = [action for action, chance in state.chance_outcomes() if chance > 0.0]
        else:
            actions = [*state.legal_actions()]
        child = int(histories.nodes[node, 1])
        stack.extend((child + index, state.child(action)) for index, action in reversed([*enumerate(actions)]))
