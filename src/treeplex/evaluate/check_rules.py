"""Comparison of two implementations of a game by random playthroughs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isclose
from random import Random
from typing import Any

from treeplex.base.notebook import facts
from treeplex.base.notices import reporting, tell
from treeplex.base.spec import suggests_arguments
from treeplex.errors import GameError, SpecError
from treeplex.forms.compile.numba_rules import CompiledRules
from treeplex.forms.compile.rule_errors import failed_rules
from treeplex.forms.compile.stepping import turn_by_turn
from treeplex.forms.sources.load import load
from treeplex.games.base import CHANCE, TERMINAL, Game, State
from treeplex.games.numba_rules import NumbaGame, NumbaRules

PLAYTHROUGHS = 1000
CLOSE = 1e-9
"""Tolerance for probabilities and payoffs."""


@dataclass(frozen=True)
class RulesCheck:
    """The result of a comparison that found no difference.

    Attributes:
        game: the game.
        others: the other implementations.
        playthroughs, histories, infosets: numbers compared.
    """

    game: str
    others: tuple[str, ...]
    playthroughs: int
    histories: int
    infosets: int

    def _repr_html_(self) -> str:
        return facts({name: f"{value:,}" if isinstance(value, int) else str(value) for name, value in vars(self).items()})


@suggests_arguments
def check_rules(
    game: Any,
    against: Any = None,
    *,
    playthroughs: int = PLAYTHROUGHS,
    seed: int = 0,
    watch: Callable[[int], None] | None = None,
    progress: bool | None = None,
) -> RulesCheck:
    """Compare implementations of a game in uniformly random playthroughs.

    A game with Numba functions is compared with them, both as plain Python (where numbers do not overflow) and compiled. At
    every history the player to act, actions, chance and payoffs must agree, and two histories must be in one infoset of the
    player to act either in all implementations or in none.

    Args:
        game: a spec, rules, or an OpenSpiel game.
        against: another implementation of the game.
        playthroughs: number of playthroughs.
        seed: random seed.
        watch: called with the number of playthroughs so far.
        progress: False hides progress; None shows it on a terminal or in a notebook, see :func:`treeplex.solve`.

    Returns:
        The implementations and the numbers of playthroughs, histories and infosets compared.

    Raises:
        GameError: the implementations differ (the message names the history), or the rules fail.
        SpecError: there is nothing to compare.
    """
    with reporting(progress, "comparing rules"):
        return compare_rules(game, against, playthroughs, seed, watch)


def compare_rules(game: Any, against: Any, playthroughs: int, seed: int, watch: Callable[[int], None] | None) -> RulesCheck:
    """Compare implementations; arguments as for :func:`check_rules`."""
    first = turn_by_turn(load(game).enumerable_rules())
    others = dict(views_of(first))
    if against is not None:
        other = turn_by_turn(load(against).enumerable_rules())
        others[str(other)] = other
    if not others:
        raise SpecError(
            f"{first} has no Numba functions to compare; give another implementation of the game (against, --against)"
        )
    random, histories = Random(seed), 0
    known: list[dict[tuple[int, str], str]] = [{} for _ in range(2 * len(others))]
    for playthrough in range(playthroughs):
        tell(f"comparing rules: {playthrough:,}/{playthroughs:,} playthroughs")
        if watch is not None:
            watch(playthrough)
        path: list[str] = []
        try:
            histories += play_through(first, others, known, random, path)
        except GameError as error:
            raise GameError(f"{error} (after history [{', '.join(path)}])") from error
        except Exception as error:
            raise failed_rules(error, f"after history [{', '.join(path)}]") from error
    return RulesCheck(str(first), tuple(others), playthroughs, histories, len(known[0]))


def views_of(game: Game) -> Iterator[tuple[str, Game]]:
    """Yield each Numba implementation of a game as rules, with its name."""
    rules = game.numba_rules()
    if isinstance(rules, NumbaRules):
        if not isinstance(game, NumbaGame):
            yield "its Numba functions as plain Python", NumbaGame(rules)
        yield "its Numba functions, compiled", KernelGame(rules)


def play_through(
    game: Game, others: dict[str, Game], known: list[dict[tuple[int, str], str]], random: Random, path: list[str]
) -> int:
    """Compare one playthrough; return its number of histories. ``known`` maps infostates in both directions."""
    if any(other.num_players != game.num_players for other in others.values()):
        raise GameError(f"{game} has {game.num_players} players, but the other rules have a different number")
    state, states = game.new_initial_state(), [other.new_initial_state() for other in others.values()]
    length = 1
    while not state.is_terminal():
        for number, (name, other) in enumerate(zip(others, states, strict=True)):
            compare_nodes(state, other, name, known[2 * number : 2 * number + 2])
        if state.is_chance_node():
            actions = [action for action, probability in state.chance_outcomes() if probability > 0.0]
        else:
            actions = list(state.legal_actions())
        action = random.choice(actions)
        path.append(state.action_to_string(action))
        state, states = state.child(action), [other.child(action) for other in states]
        length += 1
    for name, other in zip(others, states, strict=True):
        compare("the player to act", TERMINAL, other.current_player(), name)
        compare_numbers("payoffs", state.returns(), other.returns(), name)
    return length


def compare_nodes(state: State, other: State, name: str, known: list[dict[tuple[int, str], str]]) -> None:
    """Compare two non-terminal nodes; ``known`` maps infostates in both directions."""
    player = state.current_player()
    compare("the player to act", player, other.current_player(), name)
    if player == CHANCE:
        ours, theirs = state.chance_outcomes(), other.chance_outcomes()
        compare("actions", [action for action, _ in ours], [action for action, _ in theirs], name)
        compare_numbers(
            "probabilities", [probability for _, probability in ours], [probability for _, probability in theirs], name
        )
        return
    compare("actions", list(state.legal_actions()), list(other.legal_actions()), name)
    one, two = state.information_state_string(), other.information_state_string()
    joined = known[0].setdefault((player, one), two) != two
    if joined or known[1].setdefault((player, two), one) != one:
        here, there = ("one infoset", "is two") if joined else ("two infosets", "are one")
        raise GameError(f"{here} of player {player} {there} in {name}")


def compare(what: str, mine: object, theirs: object, name: str) -> None:
    """Raise :class:`GameError` unless the values are equal."""
    if mine != theirs:
        raise GameError(f"{what}: {mine}, but {theirs} in {name}")


def compare_numbers(what: str, mine: Any, theirs: Any, name: str) -> None:
    """Raise :class:`GameError` unless the numbers are equal up to rounding."""
    if len(mine) != len(theirs) or not all(isclose(a, b, abs_tol=CLOSE) for a, b in zip(mine, theirs, strict=True)):
        compare(what, list(mine), list(theirs), name)


class KernelGame(Game):
    """Compiled Numba functions as ordinary rules."""

    def __init__(self, rules: NumbaRules) -> None:
        self.num_players = rules.players
        self.rules = CompiledRules(rules)

    def new_initial_state(self) -> "KernelState":
        return KernelState(self.rules, self.rules.start)


class KernelState(State):
    """A state of a :class:`KernelGame` with the functions' outputs."""

    def __init__(self, rules: CompiledRules, words: Any) -> None:
        self.rules, self.words = rules, words
        self.player, self.actions, self.numbers, self.infoset = rules.enter_at(words)

    def current_player(self) -> int:
        return self.player

    def legal_actions(self, player: int | None = None) -> list[int]:
        return self.actions

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return list(zip(self.actions, self.numbers, strict=False))

    def child(self, action: int) -> "KernelState":
        return KernelState(self.rules, self.rules.step_from(self.words, action))

    def returns(self) -> list[float]:
        return self.numbers[: self.rules.calls.players]

    def information_state_string(self, player: int | None = None) -> str:
        return str(self.infoset)
