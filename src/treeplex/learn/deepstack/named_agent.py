"""DeepStack: continual re-solving, each subgame cut off where a value function says what hands are worth."""

from dataclasses import dataclass

import numpy as np

from treeplex.base.settings import setting
from treeplex.errors import SpecError
from treeplex.forms.sources.load import public_tree
from treeplex.forms.sources.user_module import is_user_spec
from treeplex.games.base import Game
from treeplex.search.agents.agent import Agent
from treeplex.search.agents.of_users import load_leaf
from treeplex.search.exact_leaf import ExactLeaf
from treeplex.search.leaf import LeafValue, ZeroLeaf
from treeplex.search.named_agents.common import ResolvingSettings, horizon_for, resolving_agent
from treeplex.search.named_agents.kind import AgentKind

EXACT, ZERO = "exact", "zero"
MOST_INNER = 10_000
"""Iterations of exact values in one search with ``depth``, which leaves most of the game below: beyond it takes minutes."""


@dataclass(frozen=True)
class DeepStackAgentSettings(ResolvingSettings):
    """Settings of DeepStack's play."""

    net: str | None = setting(None, "networks that train deepstack made, a folder or file, as values where subgames end")
    leaf: str = setting(EXACT, "values where subgames end: exact, zero, or my.py:MyLeaf")
    leaf_iterations: int = setting(100, "iterations of each exact value", low=1)
    rounds: int = setting(1, "betting rounds until a subgame ends; 0: as many as there are", low=0)
    depth: int = setting(0, "actions until a subgame ends; 0: as many as there are", low=0)

    def check(self) -> None:
        super().check()
        inner = self.iterations * self.leaf_iterations
        if self.depth and self.leaf == EXACT and self.net is None and self.think is None and inner > MOST_INNER:
            raise SpecError(
                f"depth with exact leaves solves the rest of the game anew in each iteration, {inner:,} iterations a decision; "
                f"give iterations and leaf_iterations whose product is at most {MOST_INNER:,}, a time (think), or no depth"
            )


class DeepStack(AgentKind):
    """Continual re-solving."""

    name = "deepstack"
    text = "solves again at each decision, down to the end of the round"
    source = "Moravčík et al. 2017"
    plays = "games of two players with a public tree; hold'em spots"
    example = "deepstack(leaf=exact,iterations=500)"
    settings = DeepStackAgentSettings

    def make(self, game: Game, settings: DeepStackAgentSettings, generator: np.random.Generator) -> Agent:
        horizon = horizon_for(game, settings.rounds, settings.depth)
        return resolving_agent(game, settings, generator, horizon=horizon, leaves=leaf_for(settings, game))


def leaf_for(settings: DeepStackAgentSettings, game: Game) -> LeafValue:
    """The values at leaves that settings name.

    Raises:
        SpecError: another word, or networks for subgames that do not end with their round.
        FileError, PolicyError: networks that cannot be read, or of another game.
    """
    if settings.net is not None:
        from treeplex.learn.deepstack.files import deepstack_leaf

        if settings.rounds != 1 or settings.depth:
            raise SpecError("networks value ends of betting rounds; leave rounds and depth out")
        return deepstack_leaf(settings.net, public_tree(game.public))
    if settings.leaf == EXACT:
        return ExactLeaf(method="cfr+", iterations=settings.leaf_iterations)
    if settings.leaf == ZERO:
        return ZeroLeaf()
    if is_user_spec(settings.leaf):
        return load_leaf(settings.leaf)
    raise SpecError(f"leaf must be {EXACT}, {ZERO} or a file such as my.py:MyLeaf, not {settings.leaf!r}")
