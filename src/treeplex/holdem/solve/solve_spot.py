"""Solves a poker spot: compile, check memory, then iterate until a target, a limit on iterations or time, or Ctrl-C."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from treeplex.errors import JobInterrupt
from treeplex.holdem.forms.compile_spot import CompiledSpot
from treeplex.holdem.solve.session import spot_session
from treeplex.holdem.solve.solution import HoldemSolution
from treeplex.holdem.spots.locks import AnyLock
from treeplex.holdem.spots.spot import Spot
from treeplex.run.job.interrupt import Interrupt
from treeplex.run.job.record import Watcher
from treeplex.run.solve.solvable import SolveRequest, SolvingJob
from treeplex.solvers.registry import AnyAlgorithm


def solve_spot(
    spot: Spot | CompiledSpot | None = None,
    algorithm: AnyAlgorithm | None = None,
    *,
    iterations: int | None = None,
    target: float | None = None,
    seconds: float | None = None,
    threads: int | None = None,
    storage: str | None = None,
    device: str | None = None,
    every: int | None = None,
    isomorphism: bool | None = None,
    locks: Sequence[AnyLock] | None = None,
    progress: Watcher | None = None,
    resume: HoldemSolution | None = None,
    most_memory: float | None = None,
    start: HoldemSolution | None = None,
    workers: int | None = None,
    ray: str | None = None,
    until: str | None = None,
    net: str | None = None,
    judge: bool | None = None,
    interrupt: Interrupt | None = None,
    out: str | os.PathLike[str] | None = None,
) -> HoldemSolution:
    """Solve a spot: :func:`treeplex.solve` without a progress line.

    Args:
        spot: the spot; optional with ``resume``. Its ``settings`` apply where options are not given.
        algorithm, iterations, target, seconds, every, progress: as for :func:`treeplex.solve`; with 0 iterations, the uniform
            strategy is evaluated.
        threads, storage, device, isomorphism, locks, most_memory, start, workers, ray, until, net, judge: see
            :class:`treeplex.holdem.solve.spot_game.SpotOptions`.
        resume: a solution to resume, with its spot, algorithm, storage and locks; it is not modified.
        interrupt: an existing listener for Ctrl-C; a solution with the status ``interrupted`` is then returned.
        out: a file (``.spot``) for the solution, as for :func:`treeplex.solve`. An existing file is replaced.

    Returns:
        The solution, evaluated: its average strategy, exploitability and both players' EVs, in chips.

    Raises:
        SpecError, GameError, AlgorithmError, FileError: as in :func:`treeplex.solve`.
        JobInterrupt: Ctrl-C or SIGTERM; its ``result`` is the solution so far, evaluated unless Ctrl-C is pressed again. A
            second Ctrl-C within the iteration raises a plain KeyboardInterrupt.
    """
    given: dict[str, Any] = {"threads": threads, "storage": storage, "isomorphism": isomorphism, "locks": locks}
    given |= {
        "device": device,
        "most_memory": most_memory,
        "start": start,
        "workers": workers,
        "ray": ray,
        "until": until,
        "net": net,
        "judge": judge,
    }
    options = {name: value for name, value in given.items() if value is not None}
    file = None if out is None else Path(out)
    request = SolveRequest(algorithm, iterations, target, seconds, every, file, True, resume, options, interrupt)
    with spot_session(spot, request) as session:
        outcome = session.run(seconds=seconds, progress=progress)
        job = session.job
        assert isinstance(job, SolvingJob)
        solution = job.solution(outcome)  # evaluated by the workers, which end with the session
        assert isinstance(solution, HoldemSolution)
    if solution.status == "interrupted" and interrupt is None:
        raise JobInterrupt(solution)
    return solution
