"""The interface that the rules of a game implement.

A :class:`State` is an immutable value: ``child(action)`` returns the next state and leaves the current one unchanged. Names,
player numbers and conventions follow OpenSpiel, which makes rules easy to port.
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
"""The default solver class, for games compiled into sequence-form trees."""
CHANCE = -1
"""Player number of chance."""
SIMULTANEOUS = -2
"""Player number of simultaneous moves."""
TERMINAL = -4
"""Player number at the end of the game."""
LONGEST_LINE = 160
"""Maximum number of characters of a state's representation in messages and at a prompt."""
MOST_SHOWN = 20
"""Number of legal actions listed in an error."""


class State(ABC):
    """One history of a game.

    Implement ``current_player``, ``legal_actions``, ``child``, ``returns`` and ``information_state_string``. Also implement
    ``chance_outcomes`` if the game has chance, ``action_to_string`` for readable actions, ``public_state`` for search, and
    ``knowledge`` and ``picture`` for human players.
    """

    @abstractmethod
    def current_player(self) -> int:
        """Return the player to act (0-based), ``CHANCE``, ``SIMULTANEOUS`` or ``TERMINAL``."""

    @abstractmethod
    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        """Return the legal action ids in a fixed order; ``player`` is used at simultaneous nodes only."""

    @abstractmethod
    def child(self, action: int) -> "State":
        """Return the state after ``action``, which at a simultaneous node is a tuple with one action per player."""

    @abstractmethod
    def returns(self) -> Sequence[float]:
        """Return the payoff of each player at a terminal state, in the game's units."""

    @abstractmethod
    def information_state_string(self, player: int | None = None) -> str:
        """Return the infostate of ``player`` (default: the player to act), including own past actions (perfect recall)."""

    def information_state_tensor(self, player: int | None = None) -> Sequence[float] | None:
        """Return the infostate as a vector of fixed length for networks; None if undefined."""
        return None

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        """Return the pairs (action, probability) of a chance node; the probabilities sum to one."""
        raise NotImplementedError(f"{type(self).__name__} has a chance node but no chance_outcomes()")

    def action_to_string(self, action: int) -> str:
        """Return a readable name of an action of the player to act or of chance."""
        return str(action)

    def public_state(self) -> Hashable | None:
        """Return the public state as a hashable value; None if undefined."""
        return None

    def knowledge(self, player: int) -> str:
        """Return the player's knowledge in readable form, with card names; defaults to the infostate."""
        return self.information_state_string(player)

    def hand_name(self, player: int) -> str | None:
        """Return the name of the player's hand; None in games without hands."""
        return None

    def picture(self) -> str | None:
        """Return the public state drawn as text, such as a board; None if undefined."""
        return None

    def is_terminal(self) -> bool:
        return self.current_player() == TERMINAL

    def is_chance_node(self) -> bool:
        return self.current_player() == CHANCE

    def is_simultaneous_node(self) -> bool:
        return self.current_player() == SIMULTANEOUS

    def __repr__(self) -> str:
        """Return the player to act and the infostate on one line; never raises an exception."""
        name = type(self).__name__
        try:
            actor = self.current_player()
            if actor == TERMINAL:
                return on_one_line(f"<{name}: over, returns {', '.join(f'{value:+g}' for value in self.returns())}>")
            who = {CHANCE: "chance to act", SIMULTANEOUS: "all players to act"}.get(actor, f"player {actor} to act")
            try:
                known = self.information_state_string(max(actor, 0))
            except Exception:  # many rules define the infostate only where that player acts
                known = ""
            return on_one_line(f"<{name}: {who}{f', {known}' if known else ''}>")
        except Exception:  # faults in unfinished rules are reported elsewhere
            return f"<{name}>"


def on_one_line(text: str, most: int = LONGEST_LINE) -> str:
    """Collapse the white space of a text, enclose it in angle brackets and shorten it to ``most`` characters."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 4]}...>"


class CheckedState(State):
    """Base class of built-in states: ``child`` checks that the action is legal and calls ``after``."""

    def child(self, action: int) -> Self:
        """Return the state after a legal action.

        Raises:
            GameError: the action is not legal here.
        """
        check_legal(self, action)
        return self.after(action)

    @abstractmethod
    def after(self, action: int) -> Self:
        """Return the state after a legal action, without checking it."""


def check_legal(state: State, action: int | tuple[int, ...], player: int | None = None) -> None:
    """Check that an action is legal at a state; ``player`` selects the player at a simultaneous node.

    Raises:
        GameError: the action is not legal.
    """
    if player is None and state.is_simultaneous_node():
        if not isinstance(action, tuple):
            raise GameError(f"action {action!r} is not legal at a simultaneous node; give a tuple with one action per player")
        for seat, move in enumerate(action):
            check_legal(state, move, seat)
        return
    if action not in state.legal_actions(player):
        legal = list(state.legal_actions(player))
        if not legal:
            if player is not None and action == 0:  # a player without a choice
                return
            raise GameError(f"action {action!r} is not legal: the game is over; stop where is_terminal() is true")
        shown = ", ".join(map(str, legal[:MOST_SHOWN])) + (", ..." if len(legal) > MOST_SHOWN else "")
        raise GameError(f"action {action!r} is not legal here; choose one of legal_actions(): {shown}")


class Game(ABC):
    """A game: its players and its root.

    ``spec`` is the text from which :func:`treeplex.load` recreates this game; every saved file contains it.
    """

    spec: str = ""
    num_players: int = 2
    solvable: ClassVar[str] = TREES
    """Class that solves and evaluates it (:class:`treeplex.run.solve.solvable.Solvable`), as ``"module:name"``."""
    table_kind: ClassVar[str] = ""
    """Table for human players as ``"module:name"``, called with an agent and a generator; empty for the default."""
    terminal: ClassVar[str] = ""
    """Function of the game and a :class:`treeplex.search.cli.play.Seat` for terminal play, as ``"module:name"``; or empty."""

    @property
    def num_distinct_actions(self) -> int | None:
        """Exclusive upper bound of the players' action ids; None if unknown."""
        return None

    @abstractmethod
    def new_initial_state(self) -> State:
        """Return the root of the game tree."""

    def enumerable_rules(self) -> "Game":
        """Return rules whose infosets can be enumerated: the game itself if possible.

        Raises:
            GameError: the infosets cannot be enumerated; the message lists alternatives.
        """
        return self

    def walkable_rules(self) -> "Game":
        """Return rules whose histories can be walked one at a time; by default the game itself.

        Raises:
            GameError: the game cannot be walked.
        """
        return self

    def check_decisions(self) -> None:  # noqa: B027 (most games have nothing to check)
        """Check that at least one player has a decision with these parameters.

        Raises:
            SpecError: no player has a decision.
        """

    def public_tree(self) -> "PublicTree | None":
        """Return the public tree of a two-player game, also used to compile it; None if not implemented.

        A tree with private actions is for search only and returned by :meth:`public_game`.
        """
        return None

    def compilation_tree(self) -> "PublicTree | None":
        """Return public-tree rules for compiling the game, by default :meth:`public_tree`; None to walk its histories."""
        return self.public_tree()

    def public_game(self) -> "PublicGame | None":
        """Return public states and private hands for any number of players, or None; callers use :attr:`public`.

        They serve search and matches; unlike :meth:`public_tree`, they are not used to compile the game.
        """
        return None

    @cached_property
    def public(self) -> "PublicGame":
        """Public states and private hands: :meth:`public_tree`, :meth:`public_game`, or a game of perfect information.

        The object is cached, since agents in a match must share it.

        Raises:
            GameError: the rules do not define public states.
            SpecError: no player has a decision.
        """
        self.check_decisions()
        game = (self.public_tree() if self.num_players == 2 else None) or self.public_game()
        if game is not None:
            return game
        if self.num_players == 2:
            certain: PublicGame = named("treeplex.games.perfect_information:PerfectInformation")(self)
            return certain
        raise GameError(
            f"{self} has {self.num_players} players and its rules do not define public states; for more than two players use "
            f"poker such as leduc_poker(players=3), or implement Game.public_game"
        )

    @property
    def big_blind(self) -> float | None:
        """Return the number of chips in one unit of poker results: the big blind, or the ante if there are no blinds; else
        None.
        """
        return None

    def numba_rules(self) -> "object | None":
        """Return the rules as :class:`treeplex.games.numba_rules.NumbaRules`; None if not implemented."""
        return None

    def compile_directly(self, limit: int | None) -> "object | None":
        """Return the :class:`treeplex.forms.compile.compiled_game.CompiledGame` of a game with its own compiler; otherwise
        None.

        Other games are compiled from their public tree, Numba functions or histories. ``limit`` bounds the number of histories
        walked.
        """
        return None

    def parameters(self) -> Mapping[str, object]:
        """The game's parameters by name."""
        return {}

    def __getstate__(self) -> object:
        """Return the state to pickle: everything except :attr:`public`, which is rebuilt."""
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "public"} if isinstance(state, dict) else state

    def __str__(self) -> str:
        """Return the game's spec, or its representation without one."""
        return self.spec or repr(self)

    def __repr__(self) -> str:
        return f"<{self.spec or type(self).__name__}: {self.num_players} players>"
