"""Ordinary rules derived from Numba rules on integers, for display, other tools and checks.

This module runs the functions as plain Python with unbounded integers, which detects values beyond 64 bits and writes outside
the state. Kernels run the compiled functions (:mod:`treeplex.engine.uncompiled`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np

from treeplex.errors import GameError
from treeplex.games.base import TERMINAL, Game, State
from treeplex.games.parameters import observer

LIMIT = 1 << 63
"""Smallest positive number that does not fit into a signed 64-bit integer."""
ON_PURPOSE = "treeplex.engine"
"""Functions that use 64-bit wrap-around on purpose."""


Function = Callable[..., Any]


@dataclass(frozen=True)
class NumbaRules:
    """Rules as Numba functions; a state is an array of ``len(start)`` 64-bit integers.

    Every function takes the state as an int64 array; only ``play`` changes it. The functions may be plain or decorated with
    ``njit``; functions that they call must be decorated.

    Attributes:
        start: the state at the root.
        actor: ``actor(state)`` returns the player to act, from 0, or ``CHANCE`` or ``TERMINAL``.
        actions: ``actions(state, found)`` writes the action ids (from 0) of the player to act or of chance into the int64 array
            ``found`` and returns their number.
        play: ``play(state, action)`` updates ``state`` to the next state.
        infoset: ``infoset(state, player)`` returns the infoset as an integer from 0 to 2**63 - 1 that identifies all the player
            knows, own past included. Use :func:`treeplex.engine.uncompiled.rules.mix` to hash more than 63 bits.
        payoff: ``payoff(state, player)`` returns the player's payoff at a terminal state.
        probability: ``probability(state, action)`` returns the probability of a chance action; None if all are equally likely.
        most_actions: maximum number of actions that ``actions`` writes.
        players: number of players.
    """

    start: tuple[int, ...]
    actor: Function
    actions: Function
    play: Function
    infoset: Function
    payoff: Function
    probability: Function | None = None
    most_actions: int = 64
    players: int = 2

    def __post_init__(self) -> None:
        if not self.start or not all(isinstance(word, int | np.integer) for word in self.start):
            raise GameError(f"start is {self.start!r}; give the initial state as one or more integers")
        if self.most_actions < 1:
            raise GameError(f"most_actions is {self.most_actions}; give the largest number of actions in any state")


class NumbaGame(Game):
    """A game given by :class:`NumbaRules`; if it is too large to store, it is walked in every iteration.

    Subclasses may override :meth:`infostate_text` and :meth:`action_name`.

    Args:
        rules: the functions.
        spec: the game's spec for saved files; set automatically for a game in a user file.
    """

    def __init__(self, rules: NumbaRules, spec: str = "") -> None:
        self.rules = rules
        self.num_players = rules.players
        self.spec = spec

    def numba_rules(self) -> NumbaRules:
        return self.rules

    def new_initial_state(self) -> "NumbaState":
        return NumbaState(self, self.rules.start)

    def infostate_text(self, words: tuple[int, ...], player: int) -> str:
        """Return the infostate string of ``player``; by default the infoset's number."""
        return str(self.plain.infoset(words, player))

    def action_name(self, player: int, action: int) -> str:
        """Return the name of an action of a player, or of chance (player -1)."""
        return str(action)

    @cached_property
    def plain(self) -> "PlainRules":
        """The functions as plain Python."""
        return PlainRules(self.rules)


class PlainRules:
    """The rules' functions as plain Python, on unbounded integers.

    Raises:
        GameError: (all methods) a number exceeds 64 bits, or there are too many actions.
    """

    def __init__(self, rules: NumbaRules) -> None:
        self.rules = rules
        known: dict[int, Any] = {}
        self._actor, self._actions, self._play, self._infoset, self._payoff = (
            plain(function, known) for function in (rules.actor, rules.actions, rules.play, rules.infoset, rules.payoff)
        )
        self._probability = None if rules.probability is None else plain(rules.probability, known)

    def actor(self, words: tuple[int, ...]) -> int:
        return int(self._actor(array_of(words)))

    def actions(self, words: tuple[int, ...]) -> list[int]:
        legal = array_of([0] * self.rules.most_actions)
        try:
            count = int(self._actions(array_of(words), legal))
        except IndexError as error:
            raise GameError(
                f"actions() writes more than {self.rules.most_actions} actions in state {words}; raise most_actions"
            ) from error
        if not 1 <= count <= self.rules.most_actions:
            raise GameError(f"actions() returns {count} in state {words}; return 1 to most_actions actions")
        return [int(action) for action in legal[:count]]

    def play(self, words: tuple[int, ...], action: int) -> tuple[int, ...]:
        state = array_of(words)
        try:
            self._play(state, action)
        except IndexError as error:
            raise GameError(
                f"play() with action {action} indexes outside the {len(words)} numbers of state {words} ({error}); "
                "make start longer"
            ) from error
        for number, word in enumerate(state):
            if not -LIMIT <= word < LIMIT:
                raise GameError(
                    f"number {number} of the state is {word} after action {action} in state {words}, which exceeds 64 bits; "
                    "split it into several numbers"
                )
        return tuple(int(word) for word in state)

    def infoset(self, words: tuple[int, ...], player: int) -> int:
        number = int(self._infoset(array_of(words), player))
        if not 0 <= number < LIMIT:
            raise GameError(
                f"infoset() is {number} for player {player} in state {words}; return a number from 0 to 2**63 - 1, "
                "such as a hash computed with treeplex.engine.uncompiled.rules.mix"
            )
        return number

    def payoff(self, words: tuple[int, ...], player: int) -> float:
        return float(self._payoff(array_of(words), player))

    def probability(self, words: tuple[int, ...], action: int, count: int) -> float:
        return 1.0 / count if self._probability is None else float(self._probability(array_of(words), action))


def array_of(words: Sequence[int]) -> "np.ndarray[Any, np.dtype[np.object_]]":
    """Return unbounded integers as an object array."""
    array = np.empty(len(words), object)
    array[:] = words
    return array


def plain(function: Callable[..., Any], known: dict[int, Any]) -> Callable[..., Any]:
    """Return a function and its callees as plain Python; ``known`` caches converted functions by their ids."""
    source: Any = getattr(function, "py_func", function)
    if not isinstance(source, FunctionType) or source.__module__.startswith(ON_PURPOSE):
        return function
    if id(function) in known:
        return known[id(function)]  # type: ignore[no-any-return]
    closure = tuple(CellType() for _ in source.__closure__ or ())
    code: CodeType = source.__code__
    names = dict(source.__globals__)
    copy = FunctionType(code, names, source.__name__, source.__defaults__, closure)
    known[id(function)] = copy
    for name in set(code.co_names) & names.keys():
        if hasattr(names[name], "py_func"):
            names[name] = plain(names[name], known)
    for cell, source_cell in zip(closure, source.__closure__ or (), strict=True):
        held = source_cell.cell_contents
        cell.cell_contents = plain(held, known) if callable(held) else held
    return copy


class NumbaState(State):
    """A history of a :class:`NumbaGame`, given by its integer state."""

    __slots__ = ("game", "words")

    def __init__(self, game: NumbaGame, words: tuple[int, ...]) -> None:
        self.game = game
        self.words = words

    def current_player(self) -> int:
        return self.game.plain.actor(self.words)

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        return [] if self.current_player() == TERMINAL else self.game.plain.actions(self.words)

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        actions = self.game.plain.actions(self.words)
        return [(action, self.game.plain.probability(self.words, action, len(actions))) for action in actions]

    def child(self, action: int) -> "NumbaState":
        return NumbaState(self.game, self.game.plain.play(self.words, action))

    def returns(self) -> Sequence[float]:
        return [self.game.plain.payoff(self.words, player) for player in range(self.game.num_players)]

    def information_state_string(self, player: int | None = None) -> str:
        return self.game.infostate_text(self.words, observer(self, player))

    def action_to_string(self, action: int) -> str:
        return self.game.action_name(self.current_player(), action)
