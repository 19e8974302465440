"""Settings for search: how subgames are solved, where they end, and how many playthroughs are averaged."""

from dataclasses import dataclass

from treeplex.base.settings import Settings, setting
from treeplex.search.methods import METHOD_NAMES, METHODS
from treeplex.search.subgames.horizon import Horizon

DRAWS = ("uniform", "average")
"""How self-play draws the iteration whose policy it follows; see :func:`treeplex.search.stopping.training_iterations`."""

PASSED_ON = ("iteration", "average")
"""Whose policy self-play uses to update beliefs between subgames."""


@dataclass(frozen=True)
class SearchSettings(Settings):
    """Settings of a search: method, iterations, and where subgames end."""

    method: str = setting("dcfr", "method that solves subgames", choices=METHODS, listed=METHOD_NAMES)
    iterations: int = setting(256, "iterations of each search, T; both players update in each", low=1)
    depth: int = setting(2, "actions before a subgame is cut; 0: no limit", low=0)
    rounds: bool = setting(False, "whether a subgame is also cut at the end of a betting round", added=True)
    endgame: int = setting(0, "maximum public nodes of an endgame that is solved without a cut", low=0, added=True)

    @property
    def horizon(self) -> Horizon:
        """Where subgames end."""
        return Horizon(self.depth or None, self.rounds, self.endgame)


@dataclass(frozen=True)
class PlaythroughSettings(SearchSettings):
    """Settings for computing the policy of an agent that searches."""

    warm: int | None = setting(
        None, "iterations that a warm start from a policy network counts as; none: the value used in training", low=0
    )
    playthroughs: int = setting(128, "number of playthroughs, N", low=1)
    batch: int = setting(256, "subgames solved together", low=1)
