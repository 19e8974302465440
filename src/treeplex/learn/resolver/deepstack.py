"""DeepStack in two-player no-limit hold'em."""

import numpy as np

from treeplex.errors import SpecError
from treeplex.games.base import Game
from treeplex.holdem.search.street_solving import StreetSolving
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.learn.deepstack.named_agent import EXACT, DeepStack, DeepStackAgentSettings
from treeplex.learn.resolver.kind import DEFAULTS, charted_agent
from treeplex.search.agents.agent import Agent
from treeplex.search.resolving.resolved import RESOLVING


class HoldemDeepStack(DeepStack):
    """DeepStack, extended to full-game hold'em.

    It is ``resolver`` with a gadget at each of its decisions. Differences from Moravčík et al. 2017: preflop it plays charts, a
    street is first solved from ranges alone, and networks value single hands instead of buckets.
    """

    plays = "two-player games with a public tree; hold'em spots; two-player no-limit holdem"

    def make(self, game: Game, settings: DeepStackAgentSettings, generator: np.random.Generator) -> Agent:
        if not isinstance(game.public, PublicHoldem):
            return super().make(game, settings, generator)
        if settings.gadget not in RESOLVING[:3] or settings.rounds != 1 or settings.depth or settings.leaf != EXACT:
            raise SpecError(
                "in full-game hold'em deepstack solves flops until the turn with a network, and later streets to the end; "
                f"leave out 'leaf', 'rounds' and 'depth', and use gadget={' or '.join(RESOLVING[:3])}"
            )
        solving = StreetSolving(
            start=1,
            bets=DEFAULTS.bets,
            iterations=settings.iterations,
            gadget=settings.gadget,
            method=settings.method,
            threads=settings.threads,
            every=settings.every,
            skip=settings.skip,
        )
        return charted_agent(self.name, game, solving, settings.think, generator, net=settings.net)
