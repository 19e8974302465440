"""Pluribus: search with three or more players."""

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
"""Maximum number of deals times combinations of continuations for which ``auto`` searches rounds exactly."""


@dataclass(frozen=True, kw_only=True)
class PluribusSettings(ThinkingSettings):
    """Settings for searching betting rounds."""

    blueprint: str = setting(help="run folder, policy file, or blueprint folder of treeplex train")
    iterations: int = setting(200, "iterations of each search", low=1)
    continuations: int = setting(
        4,
        "number of continuations after a round: the blueprint, then its versions biased towards folding, calling and raising",
        low=1,
        high=4,
    )
    bias: float = setting(5.0, "factor by which a continuation multiplies the probability of folds, calls or raises", above=0)
    search_after: int = setting(1, "betting rounds played by the blueprint before searching", low=0)
    play: str = setting(
        "last", "policy to play after a search: the last iteration's or the average", choices=("last", "average")
    )
    search: str = setting(
        "auto",
        "deals used in a search: all or sampled; auto: all if there are few",
        choices=("auto", "all", "sampled"),
    )
    deals: int = setting(32, "sampled deals per iteration; each is traversed once for every player", low=1)


class Pluribus(AgentKind):
    """Re-solves each betting round from its start."""

    name = "pluribus"
    text = "re-solves each betting round from its start, with all players choosing among continuations after it"
    source = "Brown and Sandholm 2019, Superhuman AI for multiplayer poker"
    plays = "card games with three or more players, including holdem"
    example = "pluribus(blueprint=runs/leduc)"
    settings = PluribusSettings

    def make(self, game: Game, settings: PluribusSettings, generator: np.random.Generator) -> Agent:
        return round_agent(table_rounds(game, self.card_game(game), settings, generator), settings, generator)

    @staticmethod
    def card_game(game: Game) -> CardGame:
        """Return the public states of a supported game.

        Raises:
            SpecError: the game is not supported.
        """
        if not isinstance(game.public, CardGame):
            raise SpecError(
                f"pluribus needs a card game with three or more players, such as leduc_poker(players=3), not {game}"
            )
        return game.public


def table_rounds(game: Game, public: CardGame, settings: PluribusSettings, generator: np.random.Generator) -> Rounds:
    """Create the betting-round search, exact or sampled, with a policy table as blueprint."""
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
    """Create a sampled betting-round search with its own random seed."""
    return SampledRounds(
        guided,
        iterations=settings.iterations,
        deals=settings.deals,
        count=settings.continuations,
        bias=settings.bias,
        seed=int(generator.integers(2**31)),
    )


def round_agent(
    rounds: Rounds, settings: PluribusSettings, generator: np.random.Generator, remember: int = 512
) -> RoundSearchAgent:
    """Create the agent for a betting-round search, with a cache of ``remember`` searches."""
    return RoundSearchAgent(
        rounds,
        think=settings.think,
        search_after=settings.search_after,
        average=settings.play == "average",
        generator=generator,
        remember=remember,
    )
