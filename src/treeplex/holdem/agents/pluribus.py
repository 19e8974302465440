"""Pluribus in full-game hold'em, with a trained blueprint."""

import numpy as np

from treeplex.errors import SpecError
from treeplex.games.base import Game
from treeplex.holdem.agents.endgames import check_blueprint, plays_blueprint
from treeplex.holdem.blueprint.agent import guided_betting
from treeplex.holdem.blueprint.policy import HoldemBlueprint
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.search.agents.agent import Agent
from treeplex.search.named_agents.pluribus import Pluribus, PluribusSettings, round_agent, sampled
from treeplex.search.translation.agent import TranslatedAgent

REMEMBERED = 4
"""Number of searches cached, each of 30 MB and more; boards rarely repeat."""


class HoldemPluribus(Pluribus):
    """Re-solves each betting round from its start; in full-game hold'em, with a sampled search based on the blueprint."""

    def make(self, game: Game, settings: PluribusSettings, generator: np.random.Generator) -> Agent:
        public = self.card_game(game)
        if not plays_blueprint(game, settings.blueprint):
            return super().make(game, settings, generator)
        blueprint = HoldemBlueprint.load(settings.blueprint)
        if settings.search == "all":
            raise SpecError(
                "pluribus: search=all needs a policy table; for a blueprint trained with treeplex train choose a sampled search"
            )
        check_blueprint(game, settings.blueprint, blueprint)
        assert isinstance(public, PublicHoldem)
        blueprint_rules = blueprint.game.rules
        played = public if blueprint_rules == public.rules else PublicHoldem(blueprint_rules)
        rounds = sampled(guided_betting(played, blueprint), settings, generator)
        agent = round_agent(rounds, settings, generator, REMEMBERED)
        return agent if played is public else TranslatedAgent(public, agent, generator, mapping="likelier")
