"""A strategy for limit hold'em in buckets as an agent by name."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from treeplex.base.settings import setting
from treeplex.errors import SpecError
from treeplex.games.base import Game
from treeplex.holdem.limit.agent import LimitAgent
from treeplex.holdem.limit.run import load_limit
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.search.agents.agent import Agent
from treeplex.search.named_agents.kind import AgentKind, AgentSettings


@dataclass(frozen=True)
class LimitAgentSettings(AgentSettings):
    """Which strategy is played."""

    folder: str = setting(help="a run folder of treeplex holdem limit solve")


class Limit(AgentKind):
    """What ``treeplex holdem limit solve`` has solved."""

    name = "limit"
    text = "plays a strategy for limit hold'em in buckets"
    source = "Zinkevich, Johanson, Bowling and Piccione 2007"
    plays = "holdem(bets=[2;2;4;4]) of two players"
    example = "limit(folder=runs/five)"
    settings = LimitAgentSettings

    def make(self, game: Game, settings: LimitAgentSettings, generator: np.random.Generator) -> Agent:
        if not isinstance(game.public, PublicHoldem):
            raise SpecError(f"{settings.folder} plays limit hold'em, holdem(bets=[2;2;4;4]), not {game}")
        return LimitAgent(game.public, load_limit(Path(settings.folder)), generator)
