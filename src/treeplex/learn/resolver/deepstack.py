"""DeepStack in two-player no-limit hold'em."""

import numpy as np

from treeplex.errors import SpecError
from treeplex.games.base import Game
from treeplex.holdem.search.street_solving import StreetSolving
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.learn.deepstack.named_agent import DeepStack, DeepStackAgentSettings
from treeplex.learn.resolver.kind import DEFAULTS, charted_agent
from treeplex.search.agents.agent import Agent
from treeplex.search.resolving.resolved import RESOLVING


class HoldemDeepStack(DeepStack):
    """DeepStack, extended to full-game hold'em.

    It plays like ``resolver``, but re-solves at each of its decisions, with a gadget. Differences from Moravčík et al. 2017: it
    plays charts before the flop, its networks value single hands instead of buckets, and the first solve of a flop or turn uses
    ranges alone, without a gadget.
    """

    plays = "two-player games with a public tree; hold'em spots; two-player no-limit holdem"

    def make(self, game: Game, settings: DeepStackAgentSettings, generator: np.random.Generator) -> Agent:
        if not isinstance(game.public, PublicHoldem):
            return super().make(game, settings, generator)
        usual = DeepStackAgentSettings()
        for name in ("leaf", "leaf_iterations", "rounds", "depth", "skip"):
            if getattr(settings, name) != getattr(usual, name):
                raise SpecError(
                    f"{name} does not apply to full-game hold'em, where flops are solved until the turn with a network and "
                    "later streets to the end; leave it out"
                )
        if settings.gadget not in RESOLVING[:3]:
            raise SpecError(f"in full-game hold'em gadget must be {' or '.join(RESOLVING[:3])}, not {settings.gadget}")
        solving = StreetSolving(
            start=1,
            bets=DEFAULTS.bets,
            iterations=settings.iterations,
            gadget=settings.gadget,
            method=settings.method,
            threads=settings.threads,
            every=settings.every,
        )
        return charted_agent(self.name, game, solving, settings.think, generator, net=settings.net)
