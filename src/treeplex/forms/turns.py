"""Simultaneous moves, one player after the other: nobody sees the moves of the same turn."""

from collections.abc import Hashable, Sequence

from treeplex.games.base import SIMULTANEOUS, State


class TurnState(State):
    """A state at which the players before ``len(chosen)`` have moved in the present simultaneous turn.

    Everywhere else it is the wrapped state. Players without a legal action at a simultaneous node choose -1.
    """

    __slots__ = ("chosen", "players", "state")

    def __init__(self, state: State, players: int, chosen: tuple[int, ...] = ()) -> None:
        self.state = state
        self.players = players
        self.chosen = chosen

    def current_player(self) -> int:
        player = self.state.current_player()
        return len(self.chosen) if player == SIMULTANEOUS else player

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        if self.state.current_player() != SIMULTANEOUS:
            return self.state.legal_actions(player)
        mover = self.current_player()
        return (self.state.legal_actions(mover) or [-1]) if player in (None, mover) else []

    def child(self, action: int) -> "TurnState":
        if self.state.current_player() != SIMULTANEOUS:
            return TurnState(self.state.child(action), self.players)
        chosen = (*self.chosen, action)
        if len(chosen) < self.players:
            return TurnState(self.state, self.players, chosen)
        return TurnState(self.state.child(chosen), self.players)  # type: ignore[arg-type]

    def returns(self) -> Sequence[float]:
        return self.state.returns()

    def information_state_string(self, player: int | None = None) -> str:
        return self.state.information_state_string(self.current_player() if player is None else player)

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        return self.state.chance_outcomes()

    def action_to_string(self, action: int) -> str:
        return self.state.action_to_string(action)

    def public_state(self) -> Hashable | None:
        return self.state.public_state()
