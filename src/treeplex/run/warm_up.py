"""Compile the kernels that runs use, before the first run: each is used once on a game that takes no time."""

from collections.abc import Callable

from treeplex.base.workers.executor import POLL_SECONDS, make_executor
from treeplex.engine.threads import available_cores
from treeplex.holdem.betting.sizes import BetPlan
from treeplex.holdem.solve.solve import solve_spot
from treeplex.holdem.spots.known import holdem
from treeplex.run.sample.sample import sample
from treeplex.run.solve.solve import solve

TABULAR = ("cfr+", "dcfr", "pcfr+", "apcfr+", "vt-cfr+", "fp", "es-mccfr", "os-mccfr")
"""Algorithms that between them use the kernels of small games."""

BOARDS, STORAGE = ("Td9d6hQc2s", "Td9d6hQc"), ("float32", "int16")


def compile_small_games() -> None:
    """Solve, sample and judge Kuhn poker."""
    for algorithm in TABULAR:
        solve("kuhn_poker", algorithm, iterations=2)
    sample("kuhn_poker", iterations=2)


def compile_spots() -> None:
    """Solve, judge and look at a river and a turn of hold'em, in both kinds of storage."""
    for storage in STORAGE:
        for board in BOARDS:
            spot = holdem(board, "AA,KK", "QQ,JJ", pot=20, stack=60, bets=BetPlan.same("50%", "a"))
            solution = solve_spot(spot, iterations=2, threads=1, storage=storage)
            assert len(solution.at("").action_ev)


JOBS: dict[str, Callable[[], None]] = {"small games": compile_small_games, "hold'em": compile_spots}
"""What has kernels of its own, so that processes do not write the same files."""


def warm_up(progress: Callable[[list[str]], None] | None = None) -> None:
    """Compile the kernels, on several cores if this process may use them, and leave them in the cache for later runs.

    Args:
        progress: called with what is still being compiled.
    """
    with make_executor("processes", min(len(JOBS), available_cores())) as executor:
        for name, job in JOBS.items():
            executor.add(name, job)
        while left := list(map(str, executor.jobs())):
            if progress:
                progress(left)
            executor.finished(POLL_SECONDS)
    if progress:
        progress([])
