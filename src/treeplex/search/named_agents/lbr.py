"""Local best response as an agent that sits at a table."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from treeplex.base.settings import setting
from treeplex.games.base import Game
from treeplex.search.agents.agent import Agent
from treeplex.search.evaluate.lbr import LocalBestResponse, Moves
from treeplex.search.named_agents.kind import AgentKind, AgentSettings


@dataclass(frozen=True)
class LocalBestSettings(AgentSettings):
    """Whom it plays against, and what it considers."""

    against: str = setting(help="the agent that it knows, by name and settings")
    actions: str = setting("all", "what it considers: all; fc and any of h, p and a (half of the pot, pot, all-in)")
    first_round: int = setting(0, "before this betting round it checks and calls", low=0)
    models: int = setting(1, "draws of an agent that draws how it plays, which stand for what is known of it", low=1)


class LocalBest(AgentKind):
    """Local best response to an agent that is known.

    Args:
        named: makes the agent of a name, as :func:`treeplex.search.named_agents.registry.agent` does.
    """

    name = "lbr"
    text = "knows how an agent plays, and takes the action that is best if all check and call from then on"
    source = "Lisý and Bowling 2017, Equilibrium approximation quality of current no-limit poker bots"
    plays = "poker for two"
    example = "lbr(against=uniform,actions=fcpa)"
    settings = LocalBestSettings

    def __init__(self, named: Callable[..., Agent]) -> None:
        self.named = named

    def make(self, game: Game, settings: LocalBestSettings, generator: np.random.Generator) -> Agent:
        opponent = self.named(settings.against, game, seed=int(generator.integers(2**31)))
        moves = Moves(settings.actions, settings.first_round)
        return LocalBestResponse(opponent, generator, moves=moves, models=settings.models)
