"""DeepStack: continual re-solving of depth-limited subgames with leaf values."""

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
from treeplex.search.named_agents.common import ResolvingAgentSettings, horizon_for, resolving_agent
from treeplex.search.named_agents.kind import AgentKind

EXACT, ZERO = "exact", "zero"
MOST_INNER = 10_000
"""Limit on the iterations of exact leaf values in one search with ``depth``; beyond it a decision takes minutes."""


@dataclass(frozen=True)
class DeepStackAgentSettings(ResolvingAgentSettings):
    """Settings of the DeepStack agent."""

    net: str | None = setting(
        None,
        "networks for leaf values: a folder or file of train deepstack, or in full-game hold'em a file of train hand-values "
        "with at=end (none: leaf, or in full-game hold'em the shipped one)",
    )
    leaf: str = setting(EXACT, "leaf values: exact, zero, or my.py:MyLeaf")
    leaf_iterations: int = setting(100, "iterations per exact leaf value", low=1)
    rounds: int = setting(1, "betting rounds per subgame (0: no limit)", low=0)
    depth: int = setting(0, "actions per subgame (0: no limit)", low=0)

    def check(self) -> None:
        super().check()
        inner = self.iterations * self.leaf_iterations
        if self.depth and self.leaf == EXACT and self.net is None and self.think is None and inner > MOST_INNER:
            raise SpecError(
                "with a depth limit, exact leaf values re-solve the rest of the game in each iteration, which "
                f"takes {inner:,} iterations per decision; choose 'iterations' and 'leaf_iterations' with a product "
                f"of at most {MOST_INNER:,}, set a time limit (think), or leave out 'depth'"
            )


class DeepStack(AgentKind):
    """The DeepStack agent, which re-solves continually."""

    name = "deepstack"
    text = "re-solves at each decision to the end of the betting round"
    source = "Moravčík et al. 2017"
    plays = "two-player games with a public tree; hold'em spots"
    example = "deepstack(leaf=exact,iterations=500)"
    settings = DeepStackAgentSettings

    def make(self, game: Game, settings: DeepStackAgentSettings, generator: np.random.Generator) -> Agent:
        horizon = horizon_for(game, settings.rounds, settings.depth)
        return resolving_agent(game, settings, generator, horizon=horizon, leaves=leaf_for(settings, game))


def leaf_for(settings: DeepStackAgentSettings, game: Game) -> LeafValue:
    """Create the leaf value selected by the settings.

    Raises:
        SpecError: an unknown name, or networks with subgames that do not end with the betting round.
        FileError, PolicyError: the networks cannot be read, or were trained on another game.
    """
    if settings.net is not None:
        from treeplex.learn.deepstack.files import deepstack_leaf

        if settings.rounds != 1 or settings.depth:
            raise SpecError("networks give values only at the ends of betting rounds; leave out 'rounds' and 'depth'")
        return deepstack_leaf(settings.net, public_tree(game.public))
    if settings.leaf == EXACT:
        return ExactLeaf(method="cfr+", iterations=settings.leaf_iterations)
    if settings.leaf == ZERO:
        return ZeroLeaf()
    if is_user_spec(settings.leaf):
        return load_leaf(settings.leaf)
    raise SpecError(f"leaf must be {EXACT}, {ZERO} or a file such as my.py:MyLeaf, not {settings.leaf!r}")
