"""Libratus: plays a blueprint first, then nested safe subgame solving to the end of the game."""

from dataclasses import dataclass

import numpy as np

from treeplex.base.settings import setting
from treeplex.forms.sources.load import public_tree
from treeplex.games.base import Game
from treeplex.search.agents.agent import Agent
from treeplex.search.named_agents.blueprint_file import blueprint_policy
from treeplex.search.named_agents.common import ResolvingAgentSettings, resolving_agent
from treeplex.search.named_agents.kind import AgentKind
from treeplex.search.resolving.blueprint import Blueprint, TableBlueprint
from treeplex.search.resolving.settings import ROUND
from treeplex.search.subgames.horizon import TO_THE_END


@dataclass(frozen=True, kw_only=True)
class LibratusSettings(ResolvingAgentSettings):
    """Settings of Libratus."""

    blueprint: str = setting(help="run folder, policy file, solved spot, or full-game hold'em blueprint")
    start: int = setting(
        1,
        "number of deals before solving starts, during which the blueprint is played (at least 2 in full-game hold'em)",
        low=0,
    )
    gadget: str = "maxmargin"
    every: str = ROUND


class Libratus(AgentKind):
    """Nested safe subgame solving."""

    name = "libratus"
    text = "plays a blueprint, and re-solves the last rounds"
    source = "Brown and Sandholm 2017, 2018"
    plays = "two-player games with a public tree; hold'em spots; two-player no-limit holdem"
    example = "libratus(blueprint=runs/leduc,gadget=reach-maxmargin)"
    settings = LibratusSettings

    def make(self, game: Game, settings: LibratusSettings, generator: np.random.Generator) -> Agent:
        blueprint = self.blueprint(game, settings)
        return resolving_agent(game, settings, generator, horizon=TO_THE_END, blueprint=blueprint, start=settings.start)

    def blueprint(self, game: Game, settings: LibratusSettings) -> Blueprint:
        """Load the blueprint given in the settings.

        Raises:
            PolicyError, FileError, SpecError: the file belongs to another game, or cannot be read.
        """
        return TableBlueprint(public_tree(game.public), blueprint_policy(game, settings.blueprint), settings.start)
