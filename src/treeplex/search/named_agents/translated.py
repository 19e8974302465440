"""An agent of a game with few bets at the table of one with many."""

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
    """Who plays, and what it takes bets for that it does not know."""

    agent: str = setting(help="the agent, of the game with few bets, such as blueprint(file=runs/few)")
    game: str = setting(help="that game, with the same cards, such as no_limit_leduc")
    mapping: str = setting("random", "how bets are heard: as one of two sizes at random, or as the likelier", choices=MAPPINGS)
    off_tree: str = setting(
        TRANSLATE, "whether bets are heard as others, or an agent that searches adds and solves them", choices=OFF_TREE
    )
    think: float | None = setting(None, "seconds for each decision of the agent; none: what it says itself", above=0)


class Translated(AgentKind):
    """Action translation."""

    name = "translated"
    text = "lets an agent of a game with few bets play one with many"
    source = "Ganzfried and Sandholm 2013; new bets as in Brown and Sandholm 2018 (Libratus)"
    plays = "poker with bets of several sizes"
    example = "translated(agent=blueprint(file=runs/few),game=no_limit_leduc)"
    settings = TranslatedSettings

    def __init__(self, named: Callable[..., Agent]) -> None:
        """With the function that makes agents by name."""
        self.named = named

    def make(self, game: Game, settings: TranslatedSettings, generator: np.random.Generator) -> Agent:
        coarse = load(settings.game)
        if game.public.bets(game.public.first_state()) is None or coarse.public.bets(coarse.public.first_state()) is None:
            raise SpecError(f"{game} and {coarse} are to be games of poker with bets, which can be translated")
        inner = self.named(settings.agent, coarse, think=settings.think, seed=int(generator.integers(2**63)))
        return TranslatedAgent(game.public, inner, generator, mapping=settings.mapping, off_tree=settings.off_tree)
