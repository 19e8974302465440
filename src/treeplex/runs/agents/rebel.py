"""ReBeL: a value network at leaves, no gadget, and a random iteration's policy in each play."""

from dataclasses import dataclass

import numpy as np

from treeplex.evaluate.match.agents import Agent
from treeplex.runs.agents.kind import AgentKind, ThinkingSettings
from treeplex.runs.agents.played_game import PlayedGame
from treeplex.search.agent import SearchAgent
from treeplex.search.subgame import METHODS
from treeplex.settings import setting


@dataclass(frozen=True)
class RebelSettings(ThinkingSettings):
    """How ReBeL plays; what is left out is as in the network's training."""

    net: str = setting("rebel", "a training's folder, a network's file, rebel:NAME, or rebel for one of the library")
    iterations: int = setting(0, "iterations of each search; 0: as in training", low=0)
    method: str | None = setting(None, "how subgames are solved; none: as in training", choices=METHODS)
    depth: int | None = setting(None, "actions until a subgame ends; none: as in training, 0: as many as there are", low=0)


class Rebel(AgentKind):
    """Search with a value network."""

    name = "rebel"
    text = "searches with a value network, and plays a random iteration"
    source = "Brown et al. 2020"
    plays = "games with a network"
    example = "rebel(iterations=256)"
    settings = RebelSettings

    def make(self, game: PlayedGame, settings: RebelSettings, generator: np.random.Generator) -> Agent:
        from treeplex.runs.rebel.judge import net_of

        net = net_of(settings.net, game.tree)
        given = {"method": settings.method, "depth": settings.depth}
        searching = net.searching(iterations=settings.iterations or net.play_iterations, **given)
        agent = SearchAgent(game.tree, net.leaf(game.tree), searching, generator)
        agent.think = settings.think
        return agent
