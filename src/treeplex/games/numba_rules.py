"""Ordinary rules from Numba rules on integers, for display, other tools and checks.

Here the functions run as plain Python, in which whole numbers have no end: values that do not fit into 64 bits and
writes outside the state are detected and reported. Kernels run the same functions compiled (:mod:`treeplex.engine.uncompiled`).
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
"""The least number that does not fit into 64 bits with a sign."""
ON_PURPOSE = "treeplex.engine"
"""Where functions count in 64 bits on purpose."""


Function = Callable[..., Any]


@dataclass(frozen=True)
class NumbaRules:
    """A game whose states are ``len(start)`` whole numbers of 64 bits, and whose rules are functions that Numba compiles.

    Every function gets the state as an int64 array; only ``play`` changes it. Plain functions are compiled as well as those
    that are decorated with ``njit``; functions that these call must be decorated.

    Attributes:
        start: the state at the root.
        actor: ``actor(state)``: the player to act, from 0, or ``CHANCE`` or ``TERMINAL``.
        actions: ``actions(state, found)``: writes the actions of the player to act, or of chance, whole numbers from 0, into
            the int64 array ``found`` and returns how many there are.
        play: ``play(state, action)``: makes ``state`` the next state.
        infoset: ``infoset(state, player)``: a whole number from 0 to 2**63 - 1 for all that a player knows when it acts, own
            past included. :func:`treeplex.engine.uncompiled.rules.mix` makes such a number of more than 63 bits.
        payoff: ``payoff(state, player)``: what a player gets at the end.
        probability: ``probability(state, action)`` of an action of chance; None where all are equally likely.
        most_actions: the most actions that ``actions`` writes.
        players: how many play.
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
            raise GameError(f"start is {self.start!r}; give the whole numbers of the first state, at least one")
        if self.most_actions < 1:
            raise GameError(f"most_actions is {self.most_actions}; give how many actions a state may have")


class NumbaGame(Game):
    """A game made of :class:`NumbaRules`. It may be too large to store: then every iteration walks it.

    Derive it to override :meth:`infostate_text` and :meth:`action_name`.

    Args:
        rules: the functions.
        spec: the text that names the game, for files; set for a game in a file of its own.
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
        """The infostate of ``player``: the infoset's number, unless a game says it in words."""
        return str(self.plain.infoset(words, player))

    def action_name(self, player: int, action: int) -> str:
        """The name of an action of a player or of chance (-1)."""
        return str(action)

    @cached_property
    def plain(self) -> "PlainRules":
        """The functions as plain Python."""
        return PlainRules(self.rules)


class PlainRules:
    """The functions of rules, run as plain Python on whole numbers without end.

    Raises:
        GameError: (all methods) numbers beyond 64 bits, or too many actions.
    """

    def __init__(self, rules: NumbaRules) -> None:
        self.rules = rules
        known: dict[int, Any] = {}
        self._actor, self._actions, self._play, self._infoset, self._payoff = (
            plain(each, known) for each in (rules.actor, rules.actions, rules.play, rules.infoset, rules.payoff)
        )
        self._probability = None if rules.probability is None else plain(rules.probability, known)

    def actor(self, words: tuple[int, ...]) -> int:
        return int(self._actor(array_of(words)))

    def actions(self, words: tuple[int, ...]) -> list[int]:
        found = array_of([0] * self.rules.most_actions)
        try:
            count = int(self._actions(array_of(words), found))
        except IndexError as error:
            raise GameError(
                f"actions() writes more than {self.rules.most_actions} actions in the state {words}; raise most_actions"
            ) from error
        if not 1 <= count <= self.rules.most_actions:
            raise GameError(f"actions() is {count} in the state {words}; give at least one action, at most most_actions")
        return [int(action) for action in found[:count]]

    def play(self, words: tuple[int, ...], action: int) -> tuple[int, ...]:
        state = array_of(words)
        try:
            self._play(state, action)
        except IndexError as error:
            raise GameError(
                f"play() reads or writes beside the {len(words)} numbers of the state {words} with action {action}; give "
                f"start more numbers ({error})"
            ) from error
        for number, word in enumerate(state):
            if not -LIMIT <= word < LIMIT:
                raise GameError(
                    f"number {number} of the state is {word} after action {action} in the state {words}, beyond 64 bits; "
                    "spread it over more numbers of start"
                )
        return tuple(int(word) for word in state)

    def infoset(self, words: tuple[int, ...], player: int) -> int:
        number = int(self._infoset(array_of(words), player))
        if not 0 <= number < LIMIT:
            raise GameError(
                f"infoset() is {number} for player {player} in the state {words}; give a number from 0 to 2**63 - 1, "
                "by treeplex.engine.uncompiled.rules.mix where there is too much to say"
            )
        return number

    def payoff(self, words: tuple[int, ...], player: int) -> float:
        return float(self._payoff(array_of(words), player))

    def probability(self, words: tuple[int, ...], action: int, count: int) -> float:
        return 1.0 / count if self._probability is None else float(self._probability(array_of(words), action))


def array_of(words: Sequence[int]) -> "np.ndarray[Any, np.dtype[np.object_]]":
    """Whole numbers without end as an array."""
    array = np.empty(len(words), object)
    array[:] = words
    return array


def plain(function: Callable[..., Any], known: dict[int, Any]) -> Callable[..., Any]:
    """A function with all that it calls as plain Python; ``known`` has those that are done, by identity."""
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
    for cell, own in zip(closure, source.__closure__ or (), strict=True):
        held = own.cell_contents
        cell.cell_contents = plain(held, known) if callable(held) else held
    return copy


class NumbaState(State):
    """A history of a :class:`NumbaGame`: the numbers of its state."""

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
