"""Blueprints of whole hold'em as they are."""

import numpy as np

from treeplex.games.base import Game
from treeplex.holdem.agents.endgames import blueprint_agent
from treeplex.holdem.blueprint.policy import is_holdem_blueprint
from treeplex.holdem.rules.public import HoldemGame
from treeplex.search.agents.agent import Agent
from treeplex.search.named_agents.tables import Blueprint, BlueprintSettings


class PlayedBlueprint(Blueprint):
    """A policy as it is, or a blueprint of whole hold'em."""

    def make(self, game: Game, settings: BlueprintSettings, generator: np.random.Generator) -> Agent:
        if not isinstance(game.public, HoldemGame) and is_holdem_blueprint(settings.file):
            return blueprint_agent(game, settings.file, generator)
        return super().make(game, settings, generator)
