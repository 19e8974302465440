"""Check that states are immutable: play sample histories and query every state again afterwards.

A walk holds many states at once and continues from each of them. A ``child`` that changes the state it is called on, a list
that two states share, or rules that draw random numbers would silently turn the game into another one.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from time import perf_counter
from typing import Any, Final, NoReturn, final
from weakref import WeakValueDictionary

from treeplex.errors import GameError
from treeplex.forms.compile.rule_errors import said_by
from treeplex.forms.sources.openspiel import OpenSpielGame
from treeplex.games.base import CHANCE, SIMULTANEOUS, TERMINAL, Game, State
from treeplex.games.open_loop import OpenLoop
from treeplex.games.turn_based import TurnBased

HISTORIES, SECONDS = 10, 0.1
"""Number of histories checked before rules are used, and the time limit in seconds; at least :data:`LEAST` are checked."""
LEAST = 4
MOST_HISTORIES, SHARE = 1000, 0.03
"""Maximum number of histories checked while rules are compiled, and the share of compile time for these checks."""
MOST_MOVES = 200
"""Maximum number of moves of a playthrough."""
REPEATS = 8
"""Number of repeated calls of a method that show whether calling it changes its value."""
SHOWN = 120
"""Maximum number of characters of a value in an error."""

MethodValues = dict[str, object]
"""Values returned by a state's methods, by method name."""

_checked: "WeakValueDictionary[int, Game]" = WeakValueDictionary()
"""Checked rules, by object identity."""


def check_states(game: Game) -> None:
    """Check a sample of histories, once per rules object; built-in rules are covered by tests instead.

    Raises:
        GameError: a state or the values of its methods change; the message names history, method and remedy.
    """
    rules = innermost(game)
    if is_foreign(rules) and id(rules) not in _checked:
        StateCheck(rules).run(HISTORIES, SECONDS)
        _checked[id(rules)] = rules


def innermost(game: Game) -> Game:
    """Return the rules inside wrappers."""
    while isinstance(game, TurnBased | OpenLoop):
        game = game.game
    return game


def is_foreign(rules: Game) -> bool:
    """Return whether rules are not built in: a user's rules, or an OpenSpiel game."""
    return isinstance(rules, OpenSpielGame) or not type(rules).__module__.startswith("treeplex.")


@dataclass(frozen=True)
class Failure:
    """An exception raised by a method, recorded in place of its return value."""

    what: str

    def __repr__(self) -> str:
        return self.what


@dataclass(frozen=True)
class Visit:
    """A state of a playthrough, the values of its methods, and the actions that lead to it."""

    state: State
    seen: MethodValues
    names: tuple[str, ...]
    actions: tuple[Any, ...]

    @property
    def where(self) -> str:
        """A description of the history, for error messages."""
        return f"after history [{', '.join(self.names)}]" if self.names else "at the root"


@final
class StateCheck:
    """Plays random histories of a game and raises :class:`GameError` as soon as a state changes.

    Attributes:
        histories: number of checked histories.
    """

    def __init__(self, game: Game) -> None:
        self._game: Final = game
        self._random: Final = Random(0)  # a separate generator: rules may use Python's global one
        self.histories = 0
        self._seconds = 0.0

    def keep_up(self, elapsed: float) -> None:
        """Check histories for a :data:`SHARE` of the ``elapsed`` seconds, or until the sample is complete."""
        while self.histories < MOST_HISTORIES and self._seconds < SHARE * elapsed:
            self.run(1)

    def run(self, histories: int, seconds: float = 0.0) -> None:
        """Check ``histories`` histories, or as many as fit into ``seconds``, but at least :data:`LEAST`."""
        begun = perf_counter()
        for number in range(histories):
            if number >= LEAST and perf_counter() - begun > seconds:
                break
            self._check_history()
            self.histories += 1
        self._seconds += perf_counter() - begun

    def _check_history(self) -> None:
        """Play a history and a second one that branches off it; query all states again, and replay the first."""
        try:
            range(self._game.num_players)
            root = self._game.new_initial_state()
        except (Exception, SystemExit):  # the job itself reports the error
            return
        visits = self._play(root)
        if not visits:
            return
        fork = self._random.randrange(max(len(visits) - 1, 1))
        taken = [visit.actions[-1] for visit in visits[fork + 1 : fork + 2]]
        self._play(visits[fork].state, visits[fork], avoid=taken)
        for visit in visits:
            again = self._observe(visit.state)
            if (method := difference(visit.seen, again)) is not None:
                self._refuse_unstable(visit, method)
                raise GameError(
                    f"{method} {visit.where} was {shown(visit.seen, method)} and is {shown(again, method)} after other "
                    "histories were played; states share a mutable object, such as a list: copy it in child()"
                )
        start = self._random.randrange(len(visits))
        self._replay(visits[start].state, visits[start:], "from a stored state")
        try:
            root = self._game.new_initial_state()
        except (Exception, SystemExit) as error:
            raise GameError(
                f"new_initial_state() raises {said_by(error)} on the second call; return a new state every time"
            ) from error
        self._replay(root, visits, "from new_initial_state()")

    def _play(self, state: State, start: Visit | None = None, avoid: Sequence[Any] = ()) -> list[Visit]:
        """Play at random until the end or until the rules fail (the walk reports that); return the states.

        The first action is not in ``avoid``, unless a few draws find no other.
        """
        visits: list[Visit] = []
        names, actions = ((), ()) if start is None else (start.names, start.actions)
        while len(visits) < MOST_MOVES:
            visit = Visit(state, self._observe(state), names, actions)
            check_kinds(visit, self._game.num_players)
            if any(isinstance(answer, Failure) for answer in visit.seen.values()):
                break
            visits.append(visit)
            try:
                action = self._choose(visit.seen)
                for _ in range(REPEATS if len(visits) == 1 else 0):
                    if action not in avoid:
                        break
                    action = self._choose(visit.seen)
                if action is None:
                    break
                child = state.child(action)
            except (Exception, SystemExit):
                break
            names, actions = (*names, name_of(state, visit.seen, action)), (*actions, action)
            self._check_child(visit, action, child)
            state = child
        return visits

    def _check_child(self, visit: Visit, action: Any, child: State | None) -> None:
        """Check that ``child`` returned a new state and left the old one unchanged."""
        if child is None:
            raise GameError(f"child({action}) returns None {visit.where}; return the next state")
        remedy = "return a new state with copies of the lists and other objects that child() changes"
        if child is visit.state:
            raise GameError(f"child({action}) returns the state that it is called on {visit.where}; {remedy}")
        again = self._observe(visit.state)
        if (method := difference(visit.seen, again)) is not None:
            self._refuse_unstable(visit, method)
            raise GameError(
                f"child({action}) changes the state that it is called on {visit.where}: {method} was "
                f"{shown(visit.seen, method)} and is {shown(again, method)} afterwards; {remedy}"
            )

    def _replay(self, state: State, visits: Sequence[Visit], start: str) -> None:
        """Replay the actions of some visits, starting from a state that should equal the first visit's."""
        for number, visit in enumerate(visits):
            again = self._observe(state)
            if (method := difference(visit.seen, again)) is not None:
                self._refuse_unstable(visit, method)
                before, after = shown(visit.seen, method), shown(again, method)
                self._refuse_replay(f"{method} is {before} {visit.where}, but {after}", start)
            if number + 1 < len(visits):
                action = visits[number + 1].actions[-1]
                try:
                    state = state.child(action)
                except (Exception, SystemExit) as error:
                    self._refuse_replay(f"child({action}) {visit.where} raises {said_by(error)}", start)

    def _refuse_replay(self, what: str, start: str) -> NoReturn:
        raise GameError(
            f"{what} when the same actions are played again {start}; use "
            "chance_outcomes() instead of random numbers, and let child() copy all that it changes"
        )

    def _refuse_unstable(self, visit: Visit, method: str) -> None:
        """Raise an error if calling a method changes its value; the test uses a new state of the same history."""
        try:
            state = self._game.new_initial_state()
            for action in visit.actions:
                state = state.child(action)
        except (Exception, SystemExit):
            state = visit.state
        first = self._observe(state)
        for _ in range(REPEATS):
            again = self._observe(state)
            if difference({method: first.get(method)}, {method: again.get(method)}) is not None:
                raise GameError(
                    f"{method} changes from call to call {visit.where}: {shown(first, method)}, then {shown(again, method)}; "
                    "return the same value every time, without random numbers, counters or modified lists"
                )

    def _observe(self, state: State) -> MethodValues:
        """Return the values of a state's methods; exceptions are recorded as :class:`Failure`."""
        seen: MethodValues = {}

        def ask(method: str, call: Callable[..., object], *arguments: int) -> Any:
            try:
                seen[method] = call(*arguments)
            except (Exception, SystemExit) as error:
                seen[method] = Failure(said_by(error))
            return seen[method]

        player = ask("current_player()", lambda: int(state.current_player()))
        if player == TERMINAL:
            ask("returns()", lambda: sequence(state.returns()))
        elif player == CHANCE:
            ask("chance_outcomes()", lambda: tuple(map(tuple, state.chance_outcomes())))
        elif player == SIMULTANEOUS:
            for seat in range(self._game.num_players):
                if ask(f"legal_actions({seat})", lambda who: tuple(state.legal_actions(who)), seat):
                    ask(f"information_state_string({seat})", state.information_state_string, seat)
        elif isinstance(player, int):
            ask("legal_actions()", lambda: tuple(state.legal_actions()))
            ask(f"information_state_string({player})", state.information_state_string, player)
        ask("public_state()", lambda: state.public_state())
        return seen

    def _choose(self, seen: MethodValues) -> Any:
        """Return a random argument for ``child``; None at a terminal or without actions."""
        player, choice = seen["current_player()"], self._random.choice
        if player == TERMINAL:
            return None
        if player == CHANCE:
            outcomes: Any = seen["chance_outcomes()"]
            possible = [action for action, probability in outcomes if probability > 0.0]
            return choice(possible) if possible else None
        if player == SIMULTANEOUS:
            joint: list[Any] = [seen[f"legal_actions({seat})"] for seat in range(self._game.num_players)]
            return tuple(choice(actions) if actions else 0 for actions in joint) if any(joint) else None
        actions: Any = seen["legal_actions()"]
        return choice(actions) if actions else None


def sequence(answer: object) -> object:
    """Convert a sequence to a tuple; return other values unchanged."""
    return tuple(answer) if isinstance(answer, Iterable) else answer


def check_kinds(visit: Visit, players: int) -> None:
    """Check that infostates are strings, public states hashable and payoffs a sequence."""
    for method, answer in visit.seen.items():
        if isinstance(answer, Failure):
            continue
        if method.startswith("information_state_string") and not isinstance(answer, str):
            raise GameError(f"{method} is {cut(answer)} {visit.where}; return a string")
        if method == "returns()" and not isinstance(answer, tuple):
            raise GameError(f"returns() is {cut(answer)} {visit.where}; return {players} finite payoffs")
        if method == "public_state()":
            try:
                hash(answer)
            except TypeError:
                raise GameError(
                    f"public_state() is {cut(answer)} {visit.where}; return a hashable value such as a tuple"
                ) from None


def difference(one: MethodValues, other: MethodValues) -> str | None:
    """Return the first method whose values differ; None if all values agree."""
    for method, answer in one.items():
        if method not in other or not (answer == other[method] or repr(answer) == repr(other[method])):  # NaN is equal here
            return method
    return None


def name_of(state: State, seen: MethodValues, action: Any) -> str:
    """Return the name of an action, or its number if it has no name or the node is simultaneous."""
    if seen["current_player()"] == SIMULTANEOUS:
        return str(action)
    try:
        return str(state.action_to_string(action))
    except (Exception, SystemExit):
        return str(action)


def shown(seen: MethodValues, method: str) -> str:
    """Format a method's value for an error message."""
    return cut(seen[method]) if method in seen else "unavailable"


def cut(answer: object) -> str:
    """Return the representation of a value in one line of bounded length."""
    text = " ".join(repr(answer).split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
