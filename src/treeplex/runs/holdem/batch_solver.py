"""How the boards of a batch are solved: each as its spot's settings say, going on where an earlier run was stopped."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from treeplex.errors import FileError, SpecError
from treeplex.games.poker.spots.spot import Spot
from treeplex.runs.holdem.batch import Solve, StoppedError
from treeplex.runs.holdem.report.export import Solved
from treeplex.runs.holdem.solution import load_solution
from treeplex.runs.holdem.solve import DEFAULT_SHARE, DEFAULT_STORAGE, solve_spot
from treeplex.runs.job.interrupt import Interrupt
from treeplex.runs.job.record import Progress
from treeplex.runs.solve.settings import DEFAULT_ITERATIONS
from treeplex.solvers.registry import DEFAULT_ALGORITHM, pace_of


def solver_of_batch(watch: Callable[[Progress], None]) -> Solve:
    """What solves one board of a batch as the spot's settings say, or goes on with the file of one that was stopped."""

    def solve(spot: Spot, interrupt: Interrupt, file: Path) -> Solved:
        how = spot.settings
        given = partial(solve_spot, spot, how.algorithm, storage=how.storage, progress=watch, interrupt=interrupt, out=file)
        try:
            begun = load_solution(file) if file.exists() else None
            if begun is not None and begun.locks:
                raise SpecError("locks may be others now")
            solution = given(resume=begun)
        except (FileError, SpecError):
            if not file.exists():
                raise
            file.unlink()  # of other settings, or damaged
            solution = given()
        if solution.status == "interrupted":
            raise StoppedError
        return solution

    return solve


def batch_settings(spot: Spot) -> dict[str, Any]:
    """What decides the results of a batch besides the spot; it is one of its boards."""
    settings, pot = spot.settings, spot.pot
    pace_of(settings.algorithm or DEFAULT_ALGORITHM)  # an unknown one is one error, not one per board
    usual = settings.target is None and settings.iterations is None
    target = DEFAULT_SHARE * pot if usual else None if settings.target is None else settings.target.chips(pot)
    iterations = settings.iterations if settings.iterations is not None else DEFAULT_ITERATIONS
    locks = [
        f"{lock.line}: {', '.join(f'{action} {100 * share:g}%' for action, share in lock.strategy)}" for lock in settings.locks
    ]
    return {
        "algorithm": settings.algorithm or DEFAULT_ALGORITHM,
        "target": target,
        "iterations": iterations,
        "storage": settings.storage or DEFAULT_STORAGE,
        **({"locks": "; ".join(locks)} if locks else {}),
    }
