"""A policy table read at public states: how every hand plays there."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import PolicyError
from treeplex.forms.policies.tabular import Policy
from treeplex.games.public import PublicState, PublicTree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Blueprint:
    """A policy of a compiled game by the public states of its rules.

    Attributes:
        rules: the public-tree rules.
        table: the policy.
    """

    rules: PublicTree
    table: Policy

    def hands(self, state: PublicState) -> Ints:
        """The hands that the player to act may hold, int64 [n]."""
        return np.flatnonzero(self.rules.possible(state)[self.rules.options(state).player])

    def sequences(self, state: PublicState) -> Ints:
        """The sequences of the compiled game that leave a public state, int64 [A, n], one column per possible hand.

        Raises:
            PolicyError: the table lacks an infostate of these rules.
        """
        game, player = self.table.game, self.rules.options(state).player
        found = []
        for hand in self.hands(state).tolist():
            infostate = self.rules.infostate(state.node, player, hand)
            if (player, infostate) not in game.lookup:
                raise PolicyError(
                    f"the policy is for {game}, which has no infostate {infostate!r} of player {player}; give one for this game"
                )
            found.append(game.sequences_at(game.lookup[player, infostate]))
        return np.stack(found, axis=1)

    def at(self, state: PublicState) -> Floats:
        """How the player to act plays every hand, float64 [A, H]; uniform for hands that cannot be there.

        Raises:
            PolicyError: the table lacks an infostate of these rules.
        """
        options = self.rules.options(state)
        found = np.full((len(options.labels), len(self.rules.possible(state)[options.player])), 1.0 / len(options.labels))
        found[:, self.hands(state)] = self.table.probabilities[self.sequences(state)]
        return found
