"""What networks see of infosets and of histories: one row of numbers each, made once for the whole game."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.histories.form import Histories
from treeplex.errors import GameError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.histories import histories_of
from treeplex.forms.compile.infostate_tensors import word_tensors
from treeplex.forms.compile.sequential import one_at_a_time
from treeplex.forms.sources.load import load_rules
from treeplex.games.base import CHANCE, TERMINAL, State

Rows = NDArray[np.float32]
USUAL, TENSOR, WORDS, ONE_HOT = "usual", "tensor", "words", "one-hot"
KINDS = (USUAL, TENSOR, WORDS, ONE_HOT)
"""``tensor``: ``information_state_tensor`` of the rules, as OpenSpiel's games, card games of the library and rules of one's own
may have it. ``words``: a column for each word at each place of the infostate's text. ``one-hot``: a column for each infoset.
``usual``: the first of the first two that tells all infosets apart."""


def infoset_features(game: CompiledGame, kind: str = USUAL) -> Rows:
    """A row of features for each infoset of all players, float32 [I, F], no number above 1 in size.

    Raises:
        GameError: ``tensor`` is asked for, and the rules have none, or the same for infosets of one player that differ.
    """
    infosets = len(game.infostates)
    if kind == ONE_HOT:
        return np.eye(infosets, dtype=np.float32)
    if kind in (USUAL, TENSOR):
        found = infoset_tensors(game)
        if found is not None and tells_apart(game, found):
            return scaled(found)
        if kind == TENSOR:
            why = "have no information_state_tensor" if found is None else "give infosets that differ the same tensor"
            raise GameError(f"the rules of {game} {why}; take features=words")
    return word_tensors(game.infostates).astype(np.float32)


def history_features(game: CompiledGame, kind: str = USUAL) -> Rows:
    """What all players together know at each history, float32 [H, F]: their features side by side; zeros where nobody acts.

    Two histories have the same row only if no player could tell them apart.
    """
    histories = histories_of(game)
    size = len(histories.nodes)
    if kind == ONE_HOT:
        return np.eye(size, dtype=np.float32)
    states = [(node, state) for node, state in states_of(game, histories) if histories.nodes[node, 0] >= 0]
    nodes = np.array([node for node, _ in states], np.int64)
    parts = []
    for player in range(game.players):
        tensors = [state.information_state_tensor(player) for _, state in states] if kind != WORDS else []
        if tensors and tensors[0] is not None:
            parts.append(scaled(np.array(tensors, np.float32)))
        else:
            parts.append(word_tensors([state.information_state_string(player) for _, state in states]).astype(np.float32))
    found = np.zeros((size, sum(part.shape[1] for part in parts)), np.float32)
    found[nodes] = np.concatenate(parts, axis=1)
    return found


def infoset_tensors(game: CompiledGame) -> Rows | None:
    """``information_state_tensor`` of the first history of each infoset, float32 [I, F]; None where the rules have none."""
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
    """Each history with the state of the rules there, depth first."""
    rules = one_at_a_time(load_rules(game.spec)) if game.rules is None else game.rules
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
        stack.extend((child + place, state.child(action)) for place, action in reversed([*enumerate(actions)]))


def tells_apart(game: CompiledGame, rows: Rows) -> bool:
    """Whether infosets of one player all have rows of their own."""
    offsets = game.tree.infoset_offsets
    return all(
        len(np.unique(rows[offsets[player] : offsets[player + 1]], axis=0)) == offsets[player + 1] - offsets[player]
        for player in range(game.players)
    )


def scaled(rows: Rows) -> Rows:
    """Columns divided by the largest number in them, where that is above 1; constant columns left out."""
    rows = rows[:, (rows != rows[:1]).any(axis=0)] if len(rows) > 1 else rows
    return np.asarray(rows / np.maximum(np.abs(rows).max(axis=0, initial=0.0), 1.0), np.float32)
