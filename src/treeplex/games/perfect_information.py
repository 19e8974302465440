"""Games of perfect information as public trees."""

from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import GameError
from treeplex.games.base import CHANCE, TERMINAL, Game, State
from treeplex.games.public import Chance, Decision, OneDeal, Terminal


class PerfectInformation(OneDeal):
    """A game of perfect information as a public tree; nodes are states of the rules."""

    perfect_information = True

    def __init__(self, game: Game) -> None:
        """Check the rules along one playthrough.

        Raises:
            GameError: moves are simultaneous, players have private information, or payoffs do not sum to zero.
        """
        super().__init__()
        self.game, self.root = game, game.new_initial_state()
        state = self.first_state()
        while labels := self.options(state).labels:
            state = self.after(state, labels[0])

    def visit(self, node: Hashable) -> Decision | Chance | Terminal:
        assert isinstance(node, State)
        player = node.current_player()
        if player == TERMINAL:
            first, second = node.returns()
            if abs(first + second) > 1e-9 * max(1.0, abs(first)):
                raise GameError(f"payoffs {first} and {second} do not sum to zero; search needs two-player zero-sum games")
            return Terminal(np.ones((1, 1)), first)
        if player == CHANCE:
            return Chance([(action, np.full((1, 1), chance)) for action, chance in node.chance_outcomes() if chance > 0])
        if player < 0:
            raise GameError(
                f"{self.game} has simultaneous moves, which search does not support; implement Game.public_tree, or use "
                f"treeplex solve"
            )
        if node.information_state_string(0) != node.information_state_string(1):
            raise GameError(
                f"{self.game} has private information but its rules do not define public states, which search needs; implement "
                f"Game.public_tree, or use treeplex solve"
            )
        return Decision(player, list(node.legal_actions()))

    def child(self, node: Hashable, action: int) -> State:
        assert isinstance(node, State)
        return node.child(action)

    def infostate(self, node: Hashable, player: int, hand: int) -> str:
        assert isinstance(node, State)
        return node.information_state_string(player)

    def action_to_string(self, node: Hashable, action: int) -> str:
        assert isinstance(node, State)
        return node.action_to_string(action)

    def knowledge(self, node: Hashable, player: int, hand: int) -> str:
        assert isinstance(node, State)
        return node.knowledge(player)

    def picture(self, node: Hashable) -> str | None:
        assert isinstance(node, State)
        return node.picture()

    def future(self, node: Hashable) -> Hashable:
        """Return the part of a state that the future depends on (``State.future()``), by default the state itself."""
        said = getattr(node, "future", None)
        return node if said is None else said()

    def features(self, node: Hashable) -> "NDArray[np.float64] | None":
        """Return the state's network features (``State.features()``); None if undefined."""
        written = getattr(node, "features", None)
        return None if written is None else np.asarray(written(), np.float64)
