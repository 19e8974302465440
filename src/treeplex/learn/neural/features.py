"""Network inputs for infosets and histories: one feature row each, computed once per game."""

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import GameError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.views.histories import histories_of
from treeplex.forms.compile.views.infoset_tensors import infoset_tensors, states_of
from treeplex.forms.compile.views.infostate_tensors import word_tensors
from treeplex.forms.policies.views import TENSOR, WORDS
from treeplex.games.base import Game

Rows = NDArray[np.float32]
USUAL, ONE_HOT = "usual", "one-hot"
KINDS = (USUAL, TENSOR, WORDS, ONE_HOT)
"""Feature types.

``tensor``: the rules' ``information_state_tensor``, as in OpenSpiel's games, the library's card games and custom rules that
define it. ``words``: a column for each word at each position of the infostate string. ``one-hot``: a column for each infoset.
``usual``: ``tensor`` if it distinguishes all infosets, otherwise ``words``."""


def infoset_features(game: CompiledGame | str | Game, kind: str = USUAL) -> Rows:
    """Feature rows of all players' infosets, float32 [I, F], with absolute values of at most 1.

    Args:
        game: a spec, rules or the compiled game.
        kind: one of :data:`KINDS`.

    Raises:
        GameError: ``tensor`` is requested, but the rules do not define it, or it is equal for different infosets of a player.
    """
    game = compile_game(game)
    infosets = len(game.infostates)
    if kind == ONE_HOT:
        return np.eye(infosets, dtype=np.float32)
    if kind in (USUAL, TENSOR):
        rows = infoset_tensors(game)
        if rows is not None and tells_apart(game, rows):
            return scale_columns(rows)
        if kind == TENSOR:
            why = "have no information_state_tensor" if rows is None else "have the same tensor for different infosets"
            raise GameError(f"the rules of {game} {why}; use features=words")
    return word_tensors(game.infostates).astype(np.float32)


def history_features(game: CompiledGame, kind: str = USUAL) -> Rows:
    """Features of all players at each history, concatenated, float32 [H, F]; zeros where no player acts.

    Two histories have the same row only if no player could distinguish them.
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
            parts.append(scale_columns(np.array(tensors, np.float32)))
        else:
            parts.append(word_tensors([state.information_state_string(player) for _, state in states]).astype(np.float32))
    rows = np.zeros((size, sum(part.shape[1] for part in parts)), np.float32)
    rows[nodes] = np.concatenate(parts, axis=1)
    return rows


def tells_apart(game: CompiledGame, rows: Rows) -> bool:
    """Whether the infosets of each player have distinct rows."""
    offsets = game.tree.infoset_offsets
    return all(
        len(np.unique(rows[offsets[player] : offsets[player + 1]], axis=0)) == offsets[player + 1] - offsets[player]
        for player in range(game.players)
    )


def scale_columns(rows: Rows) -> Rows:
    """Drop constant columns, and divide each other column by its largest absolute value if that exceeds 1."""
    rows = rows[:, varying_columns(rows)]
    return np.asarray(rows / largest_in(rows), np.float32)


def varying_columns(rows: Rows) -> NDArray[np.bool_]:
    """Mask of columns that are not constant, bool [F]; all columns if there is a single row."""
    return np.asarray((rows != rows[:1]).any(axis=0) | (len(rows) == 1))


def largest_in(rows: Rows) -> Rows:
    """Largest absolute value of each column, at least 1; [F]."""
    return np.asarray(np.maximum(np.abs(rows).max(axis=0, initial=0.0), 1.0))
