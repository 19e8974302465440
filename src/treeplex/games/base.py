"""Rules: what a game must say so that everything else can be done with it.

A :class:`State` is an immutable value: ``child(action)`` returns the next state and leaves this one as it was. Names, player
numbers and conventions are OpenSpiel's, so that rules written for one read like rules for the other.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

from treeplex.base.wings import named
from treeplex.errors import GameError

if TYPE_CHECKING:
    from treeplex.games.public import PublicGame, PublicTree

TREES = "treeplex.run.solve.tree_game:TreeGame"
"""What solves games that are compiled into trees of sequences, as most are."""
CHANCE = -1
"""The player who acts where chance does."""
SIMULTANEOUS = -2
"""The player who acts where all players move at once."""
TERMINAL = -4
"""The player who acts where the game is over."""
LONGEST_LINE = 160
"""Characters of a state in messages and at a prompt."""
MOST_SHOWN = 20
"""Legal actions that an error lists."""


class State(ABC):
    """One history of a game.

    Write ``current_player``, ``legal_actions``, ``child``, ``returns`` and ``information_state_string``; add
    ``chance_outcomes`` where the game has chance, ``action_to_string`` for readable actions, ``public_state`` for search,
    ``knowledge`` and ``picture`` for people who play it.
    """

    @abstractmethod
    def current_player(self) -> int:
        """The player to act (0-based), ``CHANCE``, ``SIMULTANEOUS`` or ``TERMINAL``."""

    @abstractmethod
    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        """Action ids the player to act may choose, in a fixed order; ``player`` matters at simultaneous nodes only."""

    @abstractmethod
    def child(self, action: int) -> "State":
        """The state after ``action`` (at a simultaneous node, after a tuple with one action a player)."""

    @abstractmethod
    def returns(self) -> Sequence[float]:
        """At a terminal state: the payoff of each player, in the game's own units."""

    @abstractmethod
    def information_state_string(self, player: int | None = None) -> str:
        """All that ``player`` (default: the player to act) knows here, own past actions included (perfect recall)."""

    def information_state_tensor(self, player: int | None = None) -> Sequence[float] | None:
        """The information state as a vector of fixed length for networks; None if undefined."""
        return None

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        """At a chance node: pairs (action, probability) that sum to one."""
        raise NotImplementedError(f"{type(self).__name__} has a chance node but no chance_outcomes()")

    def action_to_string(self, action: int) -> str:
        """A readable name of an action of the player to act (or of chance)."""
        return str(action)

    def public_state(self) -> Hashable | None:
        """The public state as a hashable value; None if the rules do not define it."""
        return None

    def knowledge(self, player: int) -> str:
        """The player's knowledge in readable form, with card names; by default the infostate."""
        return self.information_state_string(player)

    def hand_name(self, player: int) -> str | None:
        """The name of the player's hand; None in games without cards or dice."""
        return None

    def picture(self) -> str | None:
        """A picture of the public state, such as a board, as lines of text; None if there is none."""
        return None

    def is_terminal(self) -> bool:
        return self.current_player() == TERMINAL

    def is_chance_node(self) -> bool:
        return self.current_player() == CHANCE

    def is_simultaneous_node(self) -> bool:
        return self.current_player() == SIMULTANEOUS

    def __repr__(self) -> str:
        """The acting player and the infostate in one line; never raises."""
        name = type(self).__name__
        try:
            actor = self.current_player()
            if actor == TERMINAL:
                return on_one_line(f"<{name}: over, returns {', '.join(f'{value:+g}' for value in self.returns())}>")
            who = {CHANCE: "chance to act", SIMULTANEOUS: "all players to act"}.get(actor, f"player {actor} to act")
            try:
                known = self.information_state_string(max(actor, 0))
            except Exception:  # many rules say what is known only where that player acts
                known = ""
            return on_one_line(f"<{name}: {who}{f', {known}' if known else ''}>")
        except Exception:  # rules that are being written: their faults are reported elsewhere
            return f"<{name}>"


def on_one_line(text: str, most: int = LONGEST_LINE) -> str:
    """A text in angle brackets with its white space joined, at most this long."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 4]}...>"


class CheckedState(State):
    """A state of our own games: it has ``after``, and its ``child`` refuses illegal actions first."""

    def child(self, action: int) -> Self:
        """The state after a legal action.

        Raises:
            GameError: the action is not legal here.
        """
        check_legal(self, action)
        return self.after(action)

    @abstractmethod
    def after(self, action: int) -> Self:
        """``child`` without the check."""


def check_legal(state: State, action: int | tuple[int, ...], player: int | None = None) -> None:
    """Refuse an action that is not legal at a state; ``player`` names whose action it is at a simultaneous one.

    Raises:
        GameError: it is not legal.
    """
    if player is None and state.is_simultaneous_node():
        if not isinstance(action, tuple):
            raise GameError(f"all players move at once here, not with action {action!r}; give a tuple with one action a player")
        for seat, move in enumerate(action):
            check_legal(state, move, seat)
        return
    if action not in state.legal_actions(player):
        legal = list(state.legal_actions(player))
        if not legal:
            if player is not None and action == 0:  # who has no choice
                return
            raise GameError(f"no action is legal here, {action!r} neither; stop where is_terminal() is true")
        shown = ", ".join(map(str, legal[:MOST_SHOWN])) + (", ..." if len(legal) > MOST_SHOWN else "")
        raise GameError(f"action {action!r} is not legal here; choose one of legal_actions(): {shown}")


class Game(ABC):
    """A game: its players and its root.

    ``spec`` is the text that :func:`treeplex.load` turns back into this game; it goes into every file.
    """

    spec: str = ""
    num_players: int = 2
    solvable: ClassVar[str] = TREES
    """What solves and judges it (:class:`treeplex.run.solve.solvable.Solvable`), as ``"module:name"``."""
    table_kind: ClassVar[str] = ""
    """Its own kind of table for people, made of an agent and a generator, as ``"module:name"``; empty for the usual ones."""
    terminal: ClassVar[str] = ""
    """What seats a person at the terminal, a function of the game and a :class:`treeplex.search.cli.play.Seat`; likewise."""

    @property
    def num_distinct_actions(self) -> int | None:
        """Players' action ids are whole numbers from 0 to below this; None where the rules do not say."""
        return None

    @abstractmethod
    def new_initial_state(self) -> State:
        """The root of the game tree."""

    def enumerable_rules(self) -> "Game":
        """The rules for what enumerates infosets: the game itself, unless that is impossible.

        Raises:
            GameError: its infosets are never enumerated; the message says what can be done with it.
        """
        return self

    def walkable_rules(self) -> "Game":
        """The rules for what walks histories one at a time: the game itself, unless it has others for that.

        Raises:
            GameError: it cannot be walked.
        """
        return self

    def check_decisions(self) -> None:  # noqa: B027 (most games have nothing to check)
        """Refuse parameters that leave the game without a decision.

        Raises:
            SpecError: no player has a decision.
        """

    def public_tree(self) -> "PublicTree | None":
        """The public tree of a two-player game, by which it is also compiled; None where it is not written."""
        return None

    def public_game(self) -> "PublicGame | None":
        """Public states and private hands for any number of players; None where they are not written. Ask :attr:`public`."""
        return None

    @cached_property
    def public(self) -> "PublicGame":
        """Public states and private hands: :meth:`public_tree`, :meth:`public_game`, or a game of perfect information.

        One object: agents that meet have to share it.

        Raises:
            GameError: the rules do not say what is public.
            SpecError: no player has a decision.
        """
        self.check_decisions()
        found = (self.public_tree() if self.num_players == 2 else None) or self.public_game()
        if found is not None:
            return found
        if self.num_players == 2:
            certain: PublicGame = named("treeplex.games.perfect_information:PerfectInformation")(self)
            return certain
        raise GameError(
            f"{self} has {self.num_players} players, and its rules do not say what is public; agents of more than two play "
            "poker such as leduc_poker(players=3), or write Game.public_game for it"
        )

    @property
    def big_blind(self) -> float | None:
        """The chips in which poker results are counted: the big blind, or the ante if there are no blinds."""
        return None

    def numba_rules(self) -> "object | None":
        """The rules as :class:`treeplex.games.numba_rules.NumbaRules`; None if there are none."""
        return None

    def compile_directly(self, limit: int | None) -> "object | None":
        """The compiled game (:class:`treeplex.forms.compile.compiled_game.CompiledGame`) of a game that compiles itself.

        None of all others, which are compiled from their public tree, their Numba functions or their histories. ``limit`` is
        the most histories that may be walked.
        """
        return None

    def parameters(self) -> Mapping[str, object]:
        """The parameters this game was made with."""
        return {}

    def __getstate__(self) -> object:
        """The state to pickle: everything except :attr:`public`, which is rebuilt."""
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "public"} if isinstance(state, dict) else state

    def __str__(self) -> str:
        """The game's spec, or its representation if it has none."""
        return self.spec or repr(self)

    def __repr__(self) -> str:
        return f"<{self.spec or type(self).__name__}: {self.num_players} players>"
