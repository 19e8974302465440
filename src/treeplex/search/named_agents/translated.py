"""Action translation: lets an agent of a game with few bet sizes play one with many."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from treeplex.base.settings import setting
from treeplex.errors import SpecError
from treeplex.forms.sources.load import load
from treeplex.games.base import Game
from treeplex.search.agents.agent import Agent
from treeplex.search.named_agents.kind import AgentKind, AgentSettings
from treeplex.search.translation.agent import OFF_TREE, TRANSLATE, TranslatedAgent
from treeplex.search.translation.mapping import MAPPINGS


@dataclass(frozen=True)
class TranslatedSettings(AgentSettings):
    """Settings: the agent, and how bets outside its game are translated."""

    agent: str = setting(help="an agent for a coarser betting abstraction of the game, such as blueprint(file=runs/few)")
    game: str = setting(help="the agent's game, with the same cards, such as no_limit_leduc")
    mapping: str = setting(
        "random", "how bets are translated: to one of two sizes at random, or to the likelier", choices=MAPPINGS
    )
    off_tree: str = setting(
        TRANSLATE, "how off-tree bets are handled: translated, or added and solved by an agent that searches", choices=OFF_TREE
    )
    think: float | None = setting(None, "seconds per decision; none: the agent's own setting", above=0)


class ActionTranslation(AgentKind):
    """Agent type for action translation."""

    name = "translated"
    text = "lets an agent of a game with few bet sizes play one with many"
    source = "Ganzfried and Sandholm 2013; new bets as in Brown and Sandholm 2018 (Libratus)"
    plays = "poker with several bet sizes"
    example = "translated(agent=blueprint(file=runs/few),game=no_limit_leduc)"
    settings = TranslatedSettings

    def __init__(self, named: Callable[..., Agent]) -> None:
        """Store the function that creates agents from their names."""
        self.named = named

    def make(self, game: Game, settings: TranslatedSettings, generator: np.random.Generator) -> Agent:
        coarse = load(settings.game)
        if game.public.bets(game.public.first_state()) is None or coarse.public.bets(coarse.public.first_state()) is None:
            raise SpecError(f"{game} and {coarse} have no bets to translate between; give two poker games with bets")
        inner = self.named(settings.agent, coarse, think=settings.think, seed=int(generator.integers(2**63)))
        return TranslatedAgent(game.public, inner, generator, mapping=settings.mapping, off_tree=settings.off_tree)
