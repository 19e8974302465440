"""Settings of search: how subgames are solved, where they end, and how play is averaged over playthroughs."""

from dataclasses import dataclass

from treeplex.base.settings import Settings, setting
from treeplex.search.methods import METHOD_NAMES, METHODS
from treeplex.search.subgames.horizon import Horizon

DRAWS = ("uniform", "average")
"""How self-play draws the iteration whose policy it goes on with; see
:func:`treeplex.search.stopping.training_iterations`."""

PASSED_ON = ("iteration", "average")
"""Whose policy self-play moves beliefs by, from a subgame to the next."""


@dataclass(frozen=True)
class SearchSettings(Settings):
    """How subgames are searched, and where they end."""

    method: str = setting("dcfr", "how subgames are solved", choices=METHODS, listed=METHOD_NAMES)
    iterations: int = setting(256, "iterations of each search, T; both players update in each", low=1)
    depth: int = setting(2, "actions until a subgame is cut off; 0: as many as there are", low=0)
    rounds: bool = setting(False, "whether a subgame is cut off at the end of a betting round as well", added=True)
    endgame: int = setting(
        0, "the most public nodes of an endgame that is not cut off, but solved to the end", low=0, added=True
    )

    @property
    def horizon(self) -> Horizon:
        """Where subgames end."""
        return Horizon(self.depth or None, self.rounds, self.endgame)


@dataclass(frozen=True)
class PlaythroughSettings(SearchSettings):
    """How an agent that searches is turned into a policy."""

    warm: int | None = setting(
        None, "iterations that the guess of a policy network counts as; none: as many as in its training", low=0
    )
    playthroughs: int = setting(128, "N, how often everything is drawn anew", low=1)
    batch: int = setting(256, "subgames solved side by side", low=1)
