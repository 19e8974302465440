"""Settings of a match, and the files in its folder.

===================== ===========================================================================================
``run.json``          game, agents, names, settings, versions, status and the last record
``hands.jsonl``       one line per hand: its number, its deal, agents and payoffs by seat, failures
``metrics.jsonl``     means and standard errors after 1, 2, 5, 10, ... hands
``result.json``       the result, as ``--json`` prints it
``match.png``         the running means with 95% bands, or the matrix of all against all
``state.safetensors`` number of hands, for resuming the match
===================== ===========================================================================================
"""

from dataclasses import dataclass

from treeplex.base.settings import Settings, setting
from treeplex.run.job.folder import JobKind
from treeplex.run.job.record import each, integer, maybe, real

HANDS, RESULT, PLOT = "hands.jsonl", "result.json", "match.png"
DEFAULT_HANDS = 1000
MOST_HANDS = 5_000_000
ROTATE, EVERY, FIXED = "rotate", "all", "fixed"
AUTOMATIC, ZERO, CHECKED = "auto", "zero", "checked"
MATCH = JobKind(
    name="match",
    unit="hands",
    maker="treeplex match",
    numbers={"value": each(maybe(real)), "error": each(maybe(real)), "failed": integer},
    needs={"game": str, "agents": list, "settings": dict},
    files=(RESULT, PLOT),
    noun="match",
)
"""Matches. A record has the mean payoff of each agent at each table, its standard error (None while unknown), and the number of
failed hands."""


@dataclass(frozen=True)
class MatchSettings(Settings):
    """Settings that determine the hands of a match; stored in ``run.json``."""

    hands: int = setting(DEFAULT_HANDS, "hands per table, rounded up to complete rounds", low=1, high=MOST_HANDS)
    seats: str = setting(
        ROTATE, "rotate: each agent in each seat; all: every order of agents; fixed: as named", choices=(ROTATE, EVERY, FIXED)
    )
    duplicate: bool = setting(False, "whether the hands of a round, one for each seating, have the same cards")
    aivat: str | None = setting(None, "value function for luck adjustment; none: unadjusted payoffs")
    table: bool = setting(False, "whether to play a round robin")
    sampled: bool = setting(False, "whether to play hands even if exact values can be computed")
    think: float | None = setting(None, "seconds per decision for agents that search; none: each agent's own setting", above=0)
    seed: int = setting(0, "random seed for cards and agents", low=0)
