"""Network inputs for infosets (one row each), and output columns for actions."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.sampling.streams import Stream
from treeplex.errors import GameError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.stepping import outcomes
from treeplex.forms.compile.views.infoset_tensors import infoset_tensors
from treeplex.forms.compile.views.infostate_tensors import WORD
from treeplex.forms.compile.views.lazy_infostates import LazyInfostates
from treeplex.games.base import CHANCE, TERMINAL, Game, State

Rows = NDArray[np.float32]
TENSOR, WORDS = "tensor", "words"
"""Kinds of rows: ``information_state_tensor`` of the rules, or the words of the infostate string, each hashed to a column."""
HASHED = 512
"""Number of columns of :data:`WORDS`."""
PROBES, LONGEST = 200, 10_000
"""Number of random playthroughs that sample features, actions and payoffs, and their maximum number of moves."""


@dataclass(frozen=True)
class View:
    """Encoding of infosets for a network, and the action that each output column stands for.

    Attributes:
        kind: :data:`TENSOR` or :data:`WORDS`.
        scale: float32 [F], divisors of the numbers in a row.
        actions: the action id of each column of outputs, in ascending order.
    """

    kind: str
    scale: Rows
    actions: tuple[int, ...]

    @cached_property
    def column_of(self) -> Mapping[int, int]:
        """Output column of each action id."""
        return {action: column for column, action in enumerate(self.actions)}

    def row(self, state: State, player: int) -> Rows:
        """Return a player's network inputs at a state, float32 [F]."""
        if self.kind == WORDS:
            return hashed(state.information_state_string(player))
        tensor = state.information_state_tensor(player)
        if tensor is None or len(tensor) != len(self.scale):
            size = "nothing" if tensor is None else f"{len(tensor)} numbers"
            raise GameError(
                f"information_state_tensor() returns {size} at {state!r}, but {len(self.scale)} elsewhere; "
                "always return the same number"
            )
        return np.asarray(tensor, np.float32) / self.scale

    def columns(self, actions: Sequence[int]) -> list[int]:
        """Return the output columns of actions.

        Raises:
            GameError: an action without a column.
        """
        try:
            return [self.column_of[action] for action in actions]
        except KeyError as error:
            raise GameError(
                f"action {error} did not occur in {PROBES} random playthroughs; define the game's property "
                "num_distinct_actions, so that networks have an output for it"
            ) from error

    def rows_of(self, game: CompiledGame, begin: int, end: int) -> Rows:
        """Return network inputs for infosets ``begin`` to ``end - 1`` of a compiled game, float32 [n, F].

        Raises:
            GameError: tensors require a history of each infoset, and there are too many histories.
        """
        if self.kind == WORDS:
            return np.array([hashed(text) for text in game.infostates[begin:end]]).reshape(end - begin, HASHED)
        rows = game.infostates.tensors(begin, end) if isinstance(game.infostates, LazyInfostates) else None
        if rows is None:
            whole = infoset_tensors(game)
            if whole is None:
                raise GameError(
                    f"the rules of {game} have no information_state_tensor, the input of this network; give a game that has one"
                )
            rows = whole[begin:end]
        return rows / self.scale

    def to_json(self) -> str:
        """Return the encoding as JSON text for files."""
        return json.dumps({"kind": self.kind, "scale": self.scale.tolist(), "actions": self.actions})

    @classmethod
    def from_json(cls, text: str) -> "View":
        """Rebuild an encoding from the output of :meth:`to_json`.

        Raises:
            ValueError, KeyError, TypeError: the text is not a view.
        """
        data = json.loads(text)
        scale, actions = np.array(data["scale"], np.float32), tuple(int(action) for action in data["actions"])
        if data["kind"] not in (TENSOR, WORDS) or scale.ndim != 1 or not (scale > 0.0).all() or not actions:
            raise ValueError("invalid feature description")
        return cls(data["kind"], scale, actions)


class PlayStatistics(NamedTuple):
    """Statistics from random playthroughs.

    Attributes:
        view: the encoding of infosets.
        largest: the largest absolute payoff; 1 if all payoffs are 0.
        constant: the sum of all players' payoffs; None if it varies.
        cooperative: whether all players always had equal payoffs.
    """

    view: View
    largest: float
    constant: float | None
    cooperative: bool


def probe(rules: Game, kind: str | None = None) -> PlayStatistics:
    """Collect statistics of infosets from random playthroughs.

    Args:
        rules: rules with sequential moves.
        kind: :data:`TENSOR` or :data:`WORDS`; None: :data:`TENSOR` if the rules define it.

    Returns:
        The encoding of infosets, and the size and kind of payoffs.

    Raises:
        GameError: ``kind`` is :data:`TENSOR`, which the rules do not define.
    """
    actions, payoffs, most = set[int](), list[Sequence[float]](), np.zeros(0, np.float32)
    for number in range(PROBES):
        state, stream = rules.new_initial_state(), Stream(0, number, 0)
        for _ in range(LONGEST):
            player = state.current_player()
            if player == TERMINAL:
                payoffs.append(state.returns())
                break
            options = outcomes(state)[0] if player == CHANCE else list(state.legal_actions())
            if player != CHANCE:
                actions.update(options)
                tensor = None if kind == WORDS else state.information_state_tensor(player)
                if tensor is None and kind == TENSOR:
                    raise GameError(f"the rules of {rules} have no information_state_tensor; use features=words")
                kind = kind or (WORDS if tensor is None else TENSOR)
                if tensor is not None:
                    row = np.abs(np.asarray(tensor, np.float32))
                    most = np.maximum(most, row) if len(most) == len(row) else row
            state = state.child(options[int(stream.draw() * len(options))])
    known = rules.num_distinct_actions
    scale = np.ones(HASHED, np.float32) if kind == WORDS else np.maximum(most, np.float32(1.0))
    view = View(kind or WORDS, scale, tuple(sorted(actions)) if known is None else tuple(range(known)))
    sums = {round(sum(payoff), 9) for payoff in payoffs}
    largest = max(map(abs, chain.from_iterable(payoffs)), default=0.0) or 1.0
    return PlayStatistics(
        view, largest, sums.pop() if len(sums) == 1 else None, all(len(set(payoff)) == 1 for payoff in payoffs)
    )


def hashed(text: str) -> Rows:
    """Hash the words of a text and their positions to a binary row (Weinberger et al. 2009), float32 [:data:`HASHED`]."""
    row = np.zeros(HASHED, np.float32)
    row[[crc32(f"{index}:{word}".encode()) % HASHED for index, word in enumerate(WORD.findall(text))]] = 1.0
    return row
