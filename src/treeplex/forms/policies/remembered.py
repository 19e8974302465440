"""States that remember how they came about, for policies that depend on more than the infoset."""

from collections.abc import Iterator
from typing import Any


class Remembered:
    """A state of any rules, and the states and actions before it; in everything else it is that state.

    Attributes:
        state: as the rules have it.
    """

    def __init__(self, state: Any, before: "Remembered | None" = None, action: int = -1) -> None:
        self.state, self._before, self._action = state, before, action

    def child(self, action: int) -> "Remembered":
        """The state after an action, which remembers this one."""
        return Remembered(self.state.child(action), self, action)

    def past(self, player: int) -> Iterator[tuple[Any, int]]:
        """The states before this one at which a player acted, and what it did there, the last one first."""
        at = self
        while (before := at._before) is not None:
            if before.state.current_player() == player:
                yield before.state, at._action
            at = before

    def __getattr__(self, name: str) -> Any:
        return getattr(self.state, name)

    def __repr__(self) -> str:
        return repr(self.state)
