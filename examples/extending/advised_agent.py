"""A custom agent type with settings: depth-limited search with a policy's values at the leaves.

treeplex play leduc_poker --against "examples/extending/advised_agent.py:AdvisedSearch(policy=runs/leduc,think=500ms)"
"""

from dataclasses import dataclass

from blueprint_leaf import Blueprint

import treeplex as tp
from treeplex.learn import setting
from treeplex.search import PlaythroughSettings, SearchAgent


@dataclass(frozen=True)
class AdvisedSettings(tp.arena.ThinkingSettings):
    """The policy and the search depth, besides iterations and time to think."""

    policy: str = setting("uniform", "a run folder or policy file")
    depth: int = setting(2, "search depth in moves", low=1)


class AdvisedSearch(tp.arena.AgentKind):
    """A depth-limited search with a policy's values at the leaves."""

    name = "advised"
    text = "searches some moves ahead with a policy's values at the leaves"
    source = "our own"
    plays = "two-player games with a public tree"
    example = "advised_agent.py:AdvisedSearch(policy=runs/leduc,depth=3)"
    settings = AdvisedSettings

    def make(self, game, settings, generator):
        leaf = Blueprint(tp.policies.as_policy(game, settings.policy))
        searching = PlaythroughSettings(iterations=settings.iterations, depth=settings.depth)
        agent = SearchAgent(game.public, leaf, searching, generator, drawn=False)
        agent.think = settings.think
        return agent
