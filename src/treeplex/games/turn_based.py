"""Simultaneous moves as hidden sequential moves.

At a ``SIMULTANEOUS`` node of the wrapped rules, the players with a choice move one after another, player 0 first, and no player
observes the moves of this round before all are made. The equilibria are unchanged. Infostates are those of OpenSpiel's
``turn_based_simultaneous_game``: the player to act, the observer's own move of this round, then the wrapped infostate.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, cast

from treeplex.errors import GameError
from treeplex.games.base import SIMULTANEOUS, CheckedState, Game, State, check_legal
from treeplex.games.parameters import observer


def turn_text(player: int) -> str:
    """Return the prefix of infostates of the player to act in a turn-based game."""
    return f"Current player: {player}\n"


def other_names(player: int, infostate: str) -> tuple[str, str]:
    """Return the acting player's infostate without and with the turn prefix."""
    return infostate.removeprefix(turn_text(player)), f"{turn_text(player)}{infostate}"


class TurnBasedState(State):
    """A wrapped state and, at a simultaneous node, the moves chosen so far (0 for a player without a choice)."""

    __slots__ = ("moves", "player", "players", "state")

    def __init__(self, state: State, players: int, moves: tuple[int, ...] = ()) -> None:
        self.state = state
        self.players = players
        self.moves = moves
        self.player = state.current_player()
        if self.player == SIMULTANEOUS:
            self.moves = self.with_skipped(moves)
            self.player = len(self.moves)
            if self.player == players:
                raise GameError(
                    "no player has a legal action at a simultaneous node; return TERMINAL from current_player() there"
                )

    def with_skipped(self, moves: tuple[int, ...]) -> tuple[int, ...]:
        """Return the moves, extended by those of the following players who have no choice."""
        while len(moves) < self.players and not self.state.legal_actions(len(moves)):
            moves += (0,)
        return moves

    def current_player(self) -> int:
        return self.player

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        if self.state.current_player() == SIMULTANEOUS:
            return self.state.legal_actions(self.player)
        return self.state.legal_actions()

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        return self.state.chance_outcomes()

    def child(self, action: int) -> "TurnBasedState":
        if self.state.current_player() != SIMULTANEOUS:
            return TurnBasedState(self.state.child(action), self.players)
        check_legal(self, action)
        return self.after(action)

    def after(self, action: int) -> "TurnBasedState":
        """Return the state after a legal action, without checking it."""
        state, joint = self.state, cast(Any, action)
        if state.current_player() == SIMULTANEOUS:
            moves = self.with_skipped((*self.moves, action))
            if len(moves) < self.players:
                return TurnBasedState(state, self.players, moves)
            joint = moves
        return TurnBasedState(state.after(joint) if isinstance(state, CheckedState) else state.child(joint), self.players)

    def returns(self) -> Sequence[float]:
        return self.state.returns()

    def information_state_string(self, player: int | None = None) -> str:
        player = observer(self, player)
        own_move = f"Observer's action this turn: {self.moves[player]}\n" if player < len(self.moves) else ""
        return turn_text(self.player) + own_move + self.state.information_state_string(player)

    def information_state_tensor(self, player: int | None = None) -> Sequence[float] | None:
        return self.state.information_state_tensor(observer(self, player))

    def knowledge(self, player: int) -> str:
        own_move = f"Observer's action this turn: {self.moves[player]}\n" if player < len(self.moves) else ""
        return turn_text(self.player) + own_move + self.state.knowledge(player)

    def public_state(self) -> Hashable | None:
        public = self.state.public_state()
        return None if public is None else (self.player, public)

    def picture(self) -> str | None:
        return self.state.picture()

    def action_to_string(self, action: int) -> str:
        named = getattr(self.state, "joint_action_to_string", None)
        if named is not None and self.state.current_player() == SIMULTANEOUS:
            return str(named(self.player, action))
        return self.state.action_to_string(action)


class TurnBased(Game):
    """A game with simultaneous moves made sequential; rules without such moves change only in their infostates.

    A simultaneous state may have a method ``joint_action_to_string(player, action)`` to name its actions.
    """

    def __init__(self, game: Game, spec: str | None = None) -> None:
        self.game = game
        self.num_players = game.num_players
        named = f"turn_based(game={game.spec})" if game.spec else ""
        self.spec = named if spec is None else spec

    def __str__(self) -> str:
        return self.spec or str(self.game)

    @property
    def num_distinct_actions(self) -> int | None:
        return self.game.num_distinct_actions

    def new_initial_state(self) -> TurnBasedState:
        return TurnBasedState(self.game.new_initial_state(), self.num_players)

    def numba_rules(self) -> object | None:
        return self.game.numba_rules()

    def parameters(self) -> Mapping[str, object]:
        return self.game.parameters()
