"""An agent that plays a hold'em blueprint without search."""

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.games.base import CHANCE
from treeplex.holdem.blueprint.policy import HoldemBlueprint, normalised_shares
from treeplex.holdem.whole.public import PublicHoldem, hand_of
from treeplex.search.agents.agent import BaseAgent
from treeplex.search.many_players.sampled_rounds import GuidedBetting
from treeplex.search.subgames.beliefs import Belief


class HoldemBlueprintAgent(BaseAgent):
    """Plays a blueprint in the game that it was trained on.

    Attributes:
        blueprint: the policy.
        node: the current node of its betting tree.
    """

    draws = False

    def __init__(self, game: PublicHoldem, blueprint: HoldemBlueprint, generator: np.random.Generator | None = None) -> None:
        """Create an agent for the game that the blueprint was trained on."""
        super().__init__(game, generator)
        self.blueprint, self.node = blueprint, 0

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """Begin a hand; see :meth:`treeplex.search.agents.agent.Agent.begin`.

        Raises:
            GameError: ``at`` lies within a hand.
        """
        self.sit_at_first(seat, generator, at)
        self.state, self.node = self.game.first_state(), 0

    def see(self, event: int) -> None:
        """Observe an event; see :meth:`treeplex.search.agents.agent.Agent.see`."""
        options = self.game.options(self.state)
        if options.player != CHANCE:
            self.node = self.blueprint.after(self.node, self.blueprint.labels(self.node).index(event))
        self.state = self.game.after(self.state, event)

    def policy(self) -> Floats:
        """The blueprint's policy at the current decision; see :meth:`treeplex.search.agents.agent.Agent.policy`."""
        self.check_acting()
        return self.blueprint.policy_at(self.node, hand_of(self.state).board)


def guided_betting(game: PublicHoldem, blueprint: HoldemBlueprint) -> GuidedBetting:
    """A trained blueprint in the form that searches of betting rounds use."""
    return GuidedBetting(game, blueprint.nodes, blueprint.rows, normalised_shares(blueprint), blueprint.decision)
