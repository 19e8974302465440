"""The named agent that plays AlphaHoldem's network."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from treeplex.base.settings import setting
from treeplex.errors import SpecError
from treeplex.games.base import Game
from treeplex.holdem.spots.spot import Spot
from treeplex.learn.alphaholdem.agent import AlphaHoldemAgent, NetworkFile
from treeplex.learn.alphaholdem.planes import POKER, PlaneCoder, poker_of
from treeplex.search.agents.agent import Agent
from treeplex.search.named_agents.kind import AgentKind, AgentSettings


@dataclass(frozen=True)
class AlphaHoldemAgentSettings(AgentSettings):
    """Settings of the agent."""

    net: str = setting(help="folder of an alphaholdem training run, or a network file in it")


class AlphaHoldemKind(AgentKind):
    """The agent type that plays a network from ``treeplex train alphaholdem``."""

    name = "alphaholdem"
    text = "plays poker with a network, without search"
    source = "Zhao et al. 2022, AlphaHoldem (AAAI)"
    plays = f"two-player poker: {POKER}"
    example = "alphaholdem(net=runs/alphaholdem)"
    settings = AlphaHoldemAgentSettings

    def make(self, game: Game, settings: Any, generator: np.random.Generator) -> Agent:
        network = NetworkFile.load(settings.net)
        if isinstance(game, Spot):
            raise SpecError(f"alphaholdem plays full hands from the deal, not {game}; use holdem")
        if network.spec != str(game):
            raise SpecError(f"{settings.net} is a network for {network.spec}, not for {game}; train one for this game")
        coder = PlaneCoder(poker_of(game), network.settings.sizes, network.settings.slots)
        return AlphaHoldemAgent(game.public, coder, network.policy_for(coder), generator)
