"""Local best response as a named agent."""

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
    """Opponent and actions of a local best response."""

    against: str = setting(help="the agent to respond to, by name and settings")
    actions: str = setting("all", "actions considered: all, or fc and any of h, p and a (half pot, pot, all-in)")
    first_round: int = setting(0, "only check and call before this betting round", low=0)
    models: int = setting(1, "draws used to model an agent with a random policy", low=1)


class LocalBest(AgentKind):
    """Agent type for local best response to a known agent.

    Args:
        named: function that creates an agent from its name, as :func:`treeplex.search.named_agents.registry.agent` does.
    """

    name = "lbr"
    text = "knows an agent's policy, and takes the action that is best if both check and call from then on"
    source = "Lisý and Bowling 2017, Equilibrium approximation quality of current no-limit poker bots"
    plays = "two-player poker"
    example = "lbr(against=uniform,actions=fcpa)"
    settings = LocalBestSettings

    def __init__(self, named: Callable[..., Agent]) -> None:
        self.named = named

    def make(self, game: Game, settings: LocalBestSettings, generator: np.random.Generator) -> Agent:
        opponent = self.named(settings.against, game, seed=int(generator.integers(2**31)))
        moves = Moves(settings.actions, settings.first_round)
        return LocalBestResponse(opponent, generator, moves=moves, models=settings.models)
