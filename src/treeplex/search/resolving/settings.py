"""Settings common to all re-solving agents; named agents add their own."""

from dataclasses import dataclass

from treeplex.base.settings import Settings, setting
from treeplex.errors import SpecError
from treeplex.search.methods import METHOD_NAMES, METHODS
from treeplex.search.resolving.resolved import RESOLVING
from treeplex.solvers.rules.fictitious import FictitiousRule

DECISION, ROUND = "decision", "round"
NESTED = (DECISION, ROUND)
"""Where subgames begin: at each decision of the agent, or with each betting round."""


@dataclass(frozen=True)
class ResolveSettings(Settings):
    """Settings for re-solving."""

    iterations: int = setting(1000, "iterations of each search", low=1)
    gadget: str = setting("resolve", "re-solving gadget of subgames; the prefix reach- adds gifts", choices=RESOLVING)
    every: str = setting(
        DECISION, "where subgames begin: at each decision of the agent, or with each betting round", choices=NESTED
    )
    method: str = setting("cfr+", "method that solves subgames", choices=METHODS, listed=METHOD_NAMES)
    skip: int = setting(
        0, "number of first iterations of each search to exclude from averages, for methods that floor regrets", low=0
    )
    threads: int = setting(1, "number of threads that share a solve's boards, in hold'em", low=1)

    def check(self) -> None:
        """See :meth:`treeplex.base.settings.Settings.check`."""
        if self.skip >= self.iterations:
            raise SpecError(f"skip is {self.skip}; it must be below the {self.iterations} iterations of a search")
        method = METHODS[self.method]
        if self.skip and (isinstance(method.scheme, FictitiousRule) or method.leaves == "modified"):
            raise SpecError(f"{self.method} cannot skip iterations, since it needs its whole average; leave out 'skip'")
