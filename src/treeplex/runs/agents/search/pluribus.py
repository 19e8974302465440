"""Pluribus: search with three and more players."""

from dataclasses import dataclass

import numpy as np

from treeplex.errors import SpecError
from treeplex.evaluate.match.agents import Agent
from treeplex.games.card_game import CardGame
from treeplex.runs.agents.kind import AgentKind, ThinkingSettings
from treeplex.runs.agents.played_game import PlayedGame
from treeplex.runs.judge import as_policy
from treeplex.search.many_players import Continuations, RoundSearchAgent
from treeplex.settings import setting


@dataclass(frozen=True, kw_only=True)
class PluribusSettings(ThinkingSettings):
    """How rounds are searched."""

    blueprint: str = setting(help="a run folder or policy file")
    iterations: int = setting(200, "iterations of each search", low=1)
    continuations: int = setting(
        4, "among how many everybody chooses behind a round: blueprint, folding, calling, raising", low=1, high=4
    )
    bias: float = setting(5.0, "how many times as likely folds, calls or raises become in a continuation", above=0)
    search_after: int = setting(1, "betting rounds played by the blueprint before it searches", low=0)
    play: str = setting(
        "last", "which policy of a search is played: its last iteration's or its average", choices=("last", "average")
    )


class Pluribus(AgentKind):
    """Searches each round from its start."""

    name = "pluribus"
    text = "searches each betting round from its start, everybody choosing among continuations behind it"
    source = "Brown and Sandholm 2019, Superhuman AI for multiplayer poker"
    plays = "card games of three and more players"
    example = "pluribus(blueprint=runs/leduc)"
    settings = PluribusSettings

    def make(self, game: PlayedGame, settings: PluribusSettings, generator: np.random.Generator) -> Agent:
        if not isinstance(game.public, CardGame):
            raise SpecError(f"pluribus plays card games of three and more players, such as leduc_poker(players=3), not {game}")
        blueprint = as_policy(game.compiled, settings.blueprint)
        return RoundSearchAgent(
            game.public,
            Continuations(game.public, blueprint, settings.continuations, settings.bias),
            iterations=settings.iterations,
            think=settings.think,
            search_after=settings.search_after,
            average=settings.play == "average",
            generator=generator,
        )
