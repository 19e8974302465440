"""Libratus: a blueprint at first, then nested safe solving of subgames to the end of the game."""

from dataclasses import dataclass

import numpy as np

from treeplex.evaluate.match.agents import Agent
from treeplex.forms.subgames.horizon import TO_THE_END
from treeplex.runs.agents.kind import AgentKind
from treeplex.runs.agents.played_game import PlayedGame
from treeplex.runs.agents.search.common import ResolvingSettings, blueprint_for, resolving_agent
from treeplex.search.resolving.agent import NESTED
from treeplex.search.resolving.resolved import RESOLVING
from treeplex.settings import setting


@dataclass(frozen=True, kw_only=True)
class LibratusSettings(ResolvingSettings):
    """How Libratus plays."""

    blueprint: str = setting(help="a run folder, policy file or solved spot")
    start: int = setting(1, "deals until it solves; before, it plays the blueprint", low=0)
    gadget: str = setting("maxmargin", "what stands in front of subgames; reach-: with gifts", choices=RESOLVING)
    every: str = setting("round", "where subgames begin: at each own decision, or with each betting round", choices=NESTED)


class Libratus(AgentKind):
    """Nested safe solving."""

    name = "libratus"
    text = "plays a blueprint, and solves the last rounds again"
    source = "Brown and Sandholm 2017, 2018"
    plays = "games of two players with a public tree; hold'em spots"
    example = "libratus(blueprint=runs/leduc,gadget=reach-maxmargin)"
    settings = LibratusSettings

    def make(self, game: PlayedGame, settings: LibratusSettings, generator: np.random.Generator) -> Agent:
        blueprint = blueprint_for(game, settings.blueprint, settings.start)
        return resolving_agent(game, settings, generator, horizon=TO_THE_END, blueprint=blueprint, start=settings.start)
