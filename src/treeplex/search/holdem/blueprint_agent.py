"""Whole hold'em played by a policy in buckets, as it is."""

import numpy as np

from treeplex.arrays import Floats
from treeplex.evaluate.match.agents import Seat
from treeplex.forms.policies.holdem.blueprint import HoldemBlueprint
from treeplex.forms.subgames.beliefs import Belief
from treeplex.games.base import CHANCE
from treeplex.games.poker.whole.public import PublicHoldem, hand_of


class HoldemBlueprintAgent(Seat):
    """Plays the game that a blueprint was made for.

    Attributes:
        blueprint: the policy.
        node: where the betting stands in its tree.
    """

    draws = False

    def __init__(self, game: PublicHoldem, blueprint: HoldemBlueprint, generator: np.random.Generator | None = None) -> None:
        """Sit down at the blueprint's own game."""
        super().__init__(game, generator)
        self.blueprint, self.node = blueprint, 0

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`treeplex.evaluate.match.agents.Agent.begin`.

        Raises:
            GameError: to begin within a hand.
        """
        self.sit_at_first(seat, generator, at)
        self.state, self.node = self.game.first_state(), 0

    def see(self, event: int) -> None:
        """See :meth:`treeplex.evaluate.match.agents.Agent.see`."""
        options = self.game.options(self.state)
        if options.player != CHANCE:
            self.node = self.blueprint.after(self.node, self.blueprint.labels(self.node).index(event))
        self.state = self.game.after(self.state, event)

    def policy(self) -> Floats:
        """See :meth:`treeplex.evaluate.match.agents.Agent.policy`."""
        self.check_acting()
        return self.blueprint.policy_at(self.node, hand_of(self.state).board)
