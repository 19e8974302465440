"""Compile the kernels before the first run by using each once on a tiny game."""

from collections.abc import Callable

from treeplex.base.wings import named, provided_by_name
from treeplex.base.workers.executor import POLL_SECONDS, make_executor
from treeplex.engine.threads import available_cores
from treeplex.run.compare import compare
from treeplex.run.sample.sample import WORTH_COMPILING, sample
from treeplex.run.solve.solve import solve

TABULAR = ("cfr+", "dcfr", "pcfr+", "apcfr+", "vt-cfr+", "fp", "mmd", "rtcfr+", "greedy")
SAMPLED = ("es-mccfr", "os-mccfr", "vr-mccfr", "cs-mccfr")
"""Algorithms that together use all kernels of small games."""


def compile_small_games() -> None:
    """Solve and evaluate small games of each payoff form, with two and three players."""
    for game in ("kuhn_poker", "leduc_poker", "kuhn_poker(players=3)"):
        solve(game, "dcfr", iterations=2)
    for algorithm in TABULAR:
        solve("kuhn_poker", algorithm, iterations=2)
    compare("kuhn_poker", ["ddcfr", "cfr"], iterations=2)
    solve("modified_rps", "recursive")


def compile_sampling() -> None:
    """Sample compiled games and rules."""
    for algorithm in SAMPLED:
        solve("kuhn_poker", algorithm, iterations=2)
    for algorithm in ("es-mccfr", "os-mccfr"):
        sample("kuhn_poker", algorithm, iterations=WORTH_COMPILING)


def compile_joint_play() -> None:
    """Solve a three-player game for a correlated equilibrium."""
    for algorithm in ("cfr-s", "cfr-jr"):
        solve("kuhn_poker(players=3)", algorithm, iterations=2)


def compile_phantom_games() -> None:
    """Solve a small phantom game."""
    solve("phantom_ttt(rows=2,columns=2,line=2)", "dcfr", iterations=2)


JOBS: dict[str, Callable[[], None]] = {
    "small games": compile_small_games,
    "sampling": compile_sampling,
    "joint play": compile_joint_play,
    "phantom games": compile_phantom_games,
}


def jobs() -> dict[str, Callable[[], None]]:
    """Return the warm-up jobs of the core and of every wing by name; they run in parallel with little overlap."""
    return JOBS | {name: named(entry) for name, entry in provided_by_name("warm_ups").items()}


def warm_up(progress: Callable[[list[str]], None] | None = None) -> None:
    """Compile all kernels into the cache, in parallel on the available cores.

    Args:
        progress: called with the names of the running jobs.
    """
    waiting = jobs()
    with make_executor("processes", min(len(waiting), available_cores())) as executor:
        for name, job in waiting.items():
            executor.add(name, job)
        while left := list(map(str, executor.jobs())):
            if progress:
                progress(left)
            executor.finished(POLL_SECONDS)
    if progress:
        progress([])
