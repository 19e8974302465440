"""A kind of agents of one's own, with settings: a search some moves ahead that takes a policy's word for the rest.

treeplex play leduc_poker --against "examples/extending/advised_agent.py:Advised(policy=runs/leduc,think=500ms)"
"""

from dataclasses import dataclass

from blueprint_leaf import Blueprint

import treeplex as tp
from treeplex.learn import setting
from treeplex.search import PlaythroughSettings, SearchAgent


@dataclass(frozen=True)
class AdvisedSettings(tp.arena.ThinkingSettings):
    """Beside iterations and time to think: whose word it takes, and after how many moves."""

    policy: str = setting("uniform", "a run folder or policy file")
    depth: int = setting(2, "moves that it looks ahead", low=1)


class Advised(tp.arena.AgentKind):
    """A search that takes a policy's word."""

    name = "advised"
    text = "searches some moves ahead, and takes a policy's word for the rest"
    source = "our own"
    plays = "games of two players with a public tree"
    example = "advised_agent.py:Advised(policy=runs/leduc,depth=3)"
    settings = AdvisedSettings

    def make(self, game, settings, generator):
        leaf = Blueprint(tp.policies.as_policy(game, settings.policy))
        searching = PlaythroughSettings(iterations=settings.iterations, depth=settings.depth)
        agent = SearchAgent(game.public, leaf, searching, generator, drawn=False)
        agent.think = settings.think
        return agent
