"""Settings shared by agents that solve streets of full-game hold'em during play."""

from dataclasses import dataclass
from typing import Any

from treeplex.base.settings import setting
from treeplex.holdem.search.street_solving import StreetSolving, check_sizes
from treeplex.search.methods import METHOD_NAMES, METHODS
from treeplex.search.named_agents.kind import ThinkingSettings
from treeplex.search.resolving.resolved import RESOLVING

DEFAULTS = StreetSolving()


@dataclass(frozen=True, kw_only=True)
class StreetSettings(ThinkingSettings):
    """Settings of :class:`treeplex.holdem.search.street_solving.StreetSolving`, and a thinking time."""

    iterations: int = setting(DEFAULTS.iterations, "maximum number of iterations per solve", low=1)
    think: float | None = setting(2.0, "seconds per decision; none: no time limit", above=0)
    flop: str = setting(DEFAULTS.later, "bet sizes on a solved flop, such as [50%;a]")
    turn: str = setting(DEFAULTS.bets[0], "bet sizes on a solved turn")
    river: str = setting(DEFAULTS.bets[1], "bet sizes on a solved river")
    later: str = setting(DEFAULTS.later, "bet sizes on later streets within a solve")
    raises: str = setting(DEFAULTS.raises, "raise sizes, dropped when time is short")
    add_allin: float = setting(DEFAULTS.add_allin, "offer all-in if it is at most this multiple of the pot", low=0)
    force_allin: float = setting(
        DEFAULTS.force_allin, "replace a bet by all-in if it leaves less than this multiple of the pot behind", low=0
    )
    gadget: str = setting(DEFAULTS.gadget, "gadget for solves with guaranteed values", choices=RESOLVING[:3])
    method: str = setting(DEFAULTS.method, "method that solves streets", choices=METHODS, listed=METHOD_NAMES)
    drop: float = setting(
        DEFAULTS.drop, "drop hands whose reach is below this fraction of the likeliest hand's", low=0, below=1
    )
    threads: int = setting(DEFAULTS.threads, "number of threads per solve", low=1)

    def check(self) -> None:
        """Reject invalid bet sizes, including those of streets that are not solved."""
        super().check()
        for name in ("flop", "turn", "river", "later", "raises"):
            check_sizes(name, getattr(self, name), raises=name == "raises")

    def solving(self, start: int, **more: Any) -> StreetSolving:
        """Return the settings of street solving.

        Args:
            start: the first street to solve, from 1 (flop) to 3 (river).
            more: further settings of street solving.
        """
        bets = (self.flop, self.turn, self.river)[start - 1 :]
        names = ("later", "raises", "add_allin", "force_allin", "iterations", "gadget", "method", "threads", "drop")
        return StreetSolving(start=start, bets=bets, **{name: getattr(self, name) for name in names}, **more)
