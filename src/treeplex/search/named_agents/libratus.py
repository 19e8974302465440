"""Libratus: a blueprint at first, then nested safe solving of subgames to the end of the game."""

from dataclasses import dataclass

import numpy as np

from treeplex.base.settings import setting
from treeplex.forms.sources.load import public_tree
from treeplex.games.base import Game
from treeplex.search.agents.agent import Agent
from treeplex.search.named_agents.blueprint_file import blueprint_policy
from treeplex.search.named_agents.common import ResolvingSettings, resolving_agent
from treeplex.search.named_agents.kind import AgentKind
from treeplex.search.resolving.blueprint import Blueprint, TableBlueprint
from treeplex.search.resolving.settings import ROUND
from treeplex.search.subgames.horizon import TO_THE_END


@dataclass(frozen=True, kw_only=True)
class LibratusSettings(ResolvingSettings):
    """How Libratus plays."""

    blueprint: str = setting(help="a run folder, policy file, solved spot, or blueprint of whole hold'em")
    start: int = setting(1, "deals until it solves; before, it plays the blueprint; in whole hold'em 2 at least", low=0)
    gadget: str = "maxmargin"
    every: str = ROUND


class Libratus(AgentKind):
    """Nested safe solving."""

    name = "libratus"
    text = "plays a blueprint, and solves the last rounds again"
    source = "Brown and Sandholm 2017, 2018"
    plays = "games of two players with a public tree; hold'em spots; holdem of two players without limit"
    example = "libratus(blueprint=runs/leduc,gadget=reach-maxmargin)"
    settings = LibratusSettings

    def make(self, game: Game, settings: LibratusSettings, generator: np.random.Generator) -> Agent:
        blueprint = self.blueprint(game, settings)
        return resolving_agent(game, settings, generator, horizon=TO_THE_END, blueprint=blueprint, start=settings.start)

    def blueprint(self, game: Game, settings: LibratusSettings) -> Blueprint:
        """The blueprint that settings name.

        Raises:
            PolicyError, FileError, SpecError: it belongs to another game, or cannot be read.
        """
        return TableBlueprint(public_tree(game.public), blueprint_policy(game, settings.blueprint), settings.start)
