"""Common settings of re-solving agents; named agents add their own."""

from dataclasses import dataclass

from treeplex.base.settings import Settings, setting
from treeplex.errors import SpecError
from treeplex.search.methods import METHOD_NAMES, METHODS
from treeplex.search.resolving.resolved import RESOLVING
from treeplex.solvers.rules.fictitious import FictitiousRule

DECISION, ROUND = "decision", "round"
NESTED = (DECISION, ROUND)
"""Where a subgame begins: at each own decision, or with each betting round."""


@dataclass(frozen=True)
class Resolving(Settings):
    """How an agent solves again."""

    iterations: int = setting(1000, "iterations of each search", low=1)
    gadget: str = setting("resolve", "what stands in front of subgames; reach-: with gifts", choices=RESOLVING)
    every: str = setting(DECISION, "where subgames begin: at each own decision, or with each betting round", choices=NESTED)
    method: str = setting("cfr+", "how subgames are solved", choices=METHODS, listed=METHOD_NAMES)
    skip: int = setting(
        0, "iterations at the beginning of each search that averages leave out; of methods that floor regrets", low=0
    )
    threads: int = setting(1, "in hold'em: threads that share the boards of a solve", low=1)

    def check(self) -> None:
        """See :meth:`treeplex.base.settings.Settings.check`."""
        if self.skip >= self.iterations:
            raise SpecError(f"skip must be below the {self.iterations} iterations of a solve, not {self.skip}")
        if self.skip and isinstance(METHODS[self.method].scheme, FictitiousRule):
            raise SpecError(f"{self.method} cannot skip iterations, for it plays against its average; leave skip out")
