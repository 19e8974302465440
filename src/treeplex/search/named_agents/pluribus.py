"""Pluribus: search with three and more players."""

from dataclasses import dataclass

import numpy as np

from treeplex.base.settings import setting
from treeplex.errors import GameSizeError, SpecError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.games.base import Game
from treeplex.games.card_game import CardGame
from treeplex.run.judge import as_policy
from treeplex.search.agents.agent import Agent
from treeplex.search.many_players.sampled_rounds import GuidedBetting, SampledRounds
from treeplex.search.many_players.search import Continuations, EnumeratedRounds, Rounds, RoundSearchAgent
from treeplex.search.named_agents.kind import AgentKind, ThinkingSettings

MOST_COMBINATIONS = 20_000
"""Deals and combinations of continuations up to which rounds are searched exactly, if it is left to the agent."""


@dataclass(frozen=True, kw_only=True)
class PluribusSettings(ThinkingSettings):
    """How rounds are searched."""

    blueprint: str = setting(help="a run folder or policy file, or the folder of a blueprint of treeplex train")
    iterations: int = setting(200, "iterations of each search", low=1)
    continuations: int = setting(
        4, "among how many everybody chooses behind a round: blueprint, folding, calling, raising", low=1, high=4
    )
    bias: float = setting(5.0, "how many times as likely folds, calls or raises become in a continuation", above=0)
    search_after: int = setting(1, "betting rounds played by the blueprint before it searches", low=0)
    play: str = setting(
        "last", "which policy of a search is played: its last iteration's or its average", choices=("last", "average")
    )
    search: str = setting(
        "auto",
        "which deals a search sums over: all, or sampled ones; auto: all where they are few",
        choices=("auto", "all", "sampled"),
    )
    deals: int = setting(32, "deals of each iteration, where they are sampled; each is walked once for every player", low=1)


class Pluribus(AgentKind):
    """Searches each round from its start."""

    name = "pluribus"
    text = "searches each betting round from its start, everybody choosing among continuations behind it"
    source = "Brown and Sandholm 2019, Superhuman AI for multiplayer poker"
    plays = "card games of three and more players, holdem among them"
    example = "pluribus(blueprint=runs/leduc)"
    settings = PluribusSettings

    def make(self, game: Game, settings: PluribusSettings, generator: np.random.Generator) -> Agent:
        return round_agent(table_rounds(game, self.card_game(game), settings, generator), settings, generator)

    @staticmethod
    def card_game(game: Game) -> CardGame:
        """The public states of a game that it plays.

        Raises:
            SpecError: it plays another kind of games.
        """
        if not isinstance(game.public, CardGame):
            raise SpecError(f"pluribus plays card games of three and more players, such as leduc_poker(players=3), not {game}")
        return game.public


def table_rounds(game: Game, public: CardGame, settings: PluribusSettings, generator: np.random.Generator) -> Rounds:
    """Rounds searched with a policy table as the blueprint: by sums over all deals, or by sampling."""
    try:
        policy = as_policy(compile_game(game), settings.blueprint)
    except GameSizeError as error:
        raise SpecError(f"pluribus: {error}; or train its blueprint with treeplex train blueprint") from None
    deals = len(public.hands) ** public.players
    few = deals * settings.continuations**public.players <= MOST_COMBINATIONS
    if settings.search == "all" or (settings.search == "auto" and few):
        leaf = Continuations(public, policy, settings.continuations, settings.bias)
        return EnumeratedRounds(leaf, iterations=settings.iterations)
    return sampled(GuidedBetting.of_policy(public, policy), settings, generator)


def sampled(guided: GuidedBetting, settings: PluribusSettings, generator: np.random.Generator) -> SampledRounds:
    """Rounds searched by sampling, with a seed of the agent's own."""
    return SampledRounds(
        guided,
        iterations=settings.iterations,
        deals=settings.deals,
        count=settings.continuations,
        bias=settings.bias,
        seed=int(generator.integers(2**31)),
    )


def round_agent(rounds: Rounds, settings: PluribusSettings, generator: np.random.Generator) -> RoundSearchAgent:
    """The agent that searches so."""
    return RoundSearchAgent(
        rounds,
        think=settings.think,
        search_after=settings.search_after,
        average=settings.play == "average",
        generator=generator,
    )
