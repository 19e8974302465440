"""Agents that play a hold'em blueprint without search."""

import numpy as np

from treeplex.games.base import Game
from treeplex.holdem.agents.endgames import blueprint_agent, plays_blueprint
from treeplex.holdem.blueprint.policy import is_holdem_blueprint
from treeplex.holdem.rules.public import HoldemGame
from treeplex.search.agents.agent import Agent
from treeplex.search.named_agents.tables import Blueprint, BlueprintSettings


class PlayedBlueprint(Blueprint):
    """Plays a policy table or a full-game hold'em blueprint without search."""

    def make(self, game: Game, settings: BlueprintSettings, generator: np.random.Generator) -> Agent:
        if plays_blueprint(game, settings.file) or (
            not isinstance(game.public, HoldemGame) and is_holdem_blueprint(settings.file)
        ):
            return blueprint_agent(game, settings.file, generator)
        return super().make(game, settings, generator)
