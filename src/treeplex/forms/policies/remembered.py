"""States that record their history, for policies that depend on more than the infoset."""

from collections.abc import Iterator
from typing import Any


class HistoryState:
    """Wraps a state to record the states and actions before it; otherwise behaves like the wrapped state.

    Attributes:
        state: the state of the rules.
    """

    def __init__(self, state: Any, before: "HistoryState | None" = None, action: int = -1) -> None:
        self.state, self._before, self._action = state, before, action

    def child(self, action: int) -> "HistoryState":
        """Return the state after an action; it remembers this state."""
        return HistoryState(self.state.child(action), self, action)

    def past(self, player: int) -> Iterator[tuple[Any, int]]:
        """Yield a player's previous decision states and actions, latest first."""
        at = self
        while (before := at._before) is not None:
            if before.state.current_player() == player:
                yield before.state, at._action
            at = before

    def __getattr__(self, name: str) -> Any:
        return getattr(self.state, name)

    def __repr__(self) -> str:
        return repr(self.state)
