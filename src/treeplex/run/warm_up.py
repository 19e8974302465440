"""Compile the kernels that runs use, before the first run: each is used once on a game that takes no time."""

from collections.abc import Callable

from treeplex.base.wings import named, provided_by_name
from treeplex.base.workers.executor import POLL_SECONDS, make_executor
from treeplex.engine.threads import available_cores
from treeplex.run.sample.sample import sample
from treeplex.run.solve.solve import solve

TABULAR = ("cfr+", "dcfr", "pcfr+", "apcfr+", "vt-cfr+", "fp", "es-mccfr", "os-mccfr")
"""Algorithms that between them use the kernels of small games."""


def compile_small_games() -> None:
    """Solve, sample and judge Kuhn poker."""
    for algorithm in TABULAR:
        solve("kuhn_poker", algorithm, iterations=2)
    sample("kuhn_poker", iterations=2)


def jobs() -> dict[str, Callable[[], None]]:
    """Warm-up jobs by name. No two compile the same kernel, so they can run in parallel."""
    return {"small games": compile_small_games} | {name: named(entry) for name, entry in provided_by_name("warm_ups").items()}


def warm_up(progress: Callable[[list[str]], None] | None = None) -> None:
    """Compile the kernels, on several cores if this process may use them, and leave them in the cache for later runs.

    Args:
        progress: called with what is still being compiled.
    """
    found = jobs()
    with make_executor("processes", min(len(found), available_cores())) as executor:
        for name, job in found.items():
            executor.add(name, job)
        while left := list(map(str, executor.jobs())):
            if progress:
                progress(left)
            executor.finished(POLL_SECONDS)
    if progress:
        progress([])
