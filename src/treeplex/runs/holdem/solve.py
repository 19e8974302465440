"""Solve a poker spot: compile, check the memory, iterate and judge until a target, a number of iterations, time or Ctrl-C."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any

from treeplex.engine.threads import checked_threads
from treeplex.errors import FileError, Interrupted, SpecError
from treeplex.forms.holdem.compile_spot import CompiledSpot, compile_spot
from treeplex.forms.holdem.spot_form import DISK, FixedStrategy, checked_storage
from treeplex.games.poker.spots.fields import SolveFields
from treeplex.games.poker.spots.locks import AnyLock
from treeplex.games.poker.spots.spot import Spot
from treeplex.runs.holdem.carried_regrets import START, carried_over
from treeplex.runs.holdem.estimate import check_memory, check_spot
from treeplex.runs.holdem.first_street.until import UntilJob, stops_early, until_job
from treeplex.runs.holdem.job import SpotJob
from treeplex.runs.holdem.locks import solver_locks
from treeplex.runs.holdem.solution import HoldemSettings, HoldemSolution, reread, spot_file
from treeplex.runs.job.interrupt import Interrupt
from treeplex.runs.job.job import Session
from treeplex.runs.job.lock import FileLock
from treeplex.runs.job.record import Watcher, check_count, check_limits
from treeplex.runs.job.workers import Work
from treeplex.runs.solve.settings import DEFAULT_ITERATIONS, MOST_ITERATIONS
from treeplex.runs.solve.solvable import Asked
from treeplex.solvers.holdem.solver import HoldemSolver
from treeplex.solvers.registry import DEFAULT_ALGORITHM, AnyAlgorithm, is_own, pace_of, same_algorithm
from treeplex.storage.files import sweep

DEFAULT_STORAGE = "float32"
DEFAULT_SHARE = 0.005
"""The usual target: this share of the pot, blinds included."""


def solve_spot(
    spot: Spot | CompiledSpot | None = None,
    algorithm: AnyAlgorithm | None = None,
    *,
    iterations: int | None = None,
    target: float | None = None,
    seconds: float | None = None,
    threads: int | None = None,
    storage: str | None = None,
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
    interrupt: Interrupt | None = None,
    out: str | os.PathLike[str] | None = None,
) -> HoldemSolution:
    """Solve a spot: :func:`treeplex.solve` without a progress line.

    Args:
        spot: what to solve; may be left out with ``resume``. What its ``settings`` say counts where nothing is asked for here.
        algorithm, iterations, target, seconds, every, progress: as for :func:`treeplex.solve`; with 0 iterations the uniform
            strategy is judged.
        threads, storage, isomorphism, locks, most_memory, start, workers, ray, until, net: see
            :class:`treeplex.runs.solve.solvable.SpotOptions`.
        resume: resume this solution, whose spot, algorithm, storage and locks stay; it is not changed itself.
        interrupt: who listens for Ctrl-C already; then a solution with the status ``interrupted`` is returned.
        out: a file (``.spot``) for the solution, as for :func:`treeplex.solve`. An existing one is replaced.

    Raises:
        SpecError, GameError, AlgorithmError, FileError: as :func:`treeplex.solve` does.
        Interrupted: Ctrl-C or SIGTERM; its ``result`` is the solution so far, judged unless Ctrl-C came again meanwhile. A
            second Ctrl-C within the iteration is a plain KeyboardInterrupt.
    """
    given: dict[str, Any] = {"threads": threads, "storage": storage, "isomorphism": isomorphism, "locks": locks}
    given |= {"most_memory": most_memory, "start": start, "workers": workers, "ray": ray, "until": until, "net": net}
    options = {name: value for name, value in given.items() if value is not None}
    file = None if out is None else Path(out)
    asked = Asked(algorithm, iterations, target, seconds, every, file, True, resume, options, interrupt)
    with spot_session(spot, asked) as session:
        outcome = session.run(seconds=seconds, progress=progress)
        job = session.job
    assert isinstance(job, SpotJob | UntilJob)
    solution = job.solution(outcome)
    if solution.status == "interrupted" and interrupt is None:
        raise Interrupted(solution)
    return solution


@contextmanager
def spot_session(spot: Spot | CompiledSpot | None, asked: Asked) -> Iterator[Session]:
    """A session of a run on a spot, new or from a solution; what the spot's settings say counts where nothing is asked for.

    Args:
        spot: the spot, compiled or not; None for that of the solution to resume.
        asked: as for :func:`solve_spot`; ``resume`` is a solution.

    Raises:
        SpecError, GameError, AlgorithmError, FileError: as :func:`solve_spot` does.
    """
    with ExitStack() as stack:
        yield new_session(spot, asked, stack)


def new_session(spot: Spot | CompiledSpot | None, asked: Asked, stack: ExitStack) -> Session:
    """The session of :func:`spot_session`; what ends with it is put on the stack."""
    resume: HoldemSolution | None = asked.resume
    check_limits(asked.target, asked.seconds)
    if stops_early(spot.spot if isinstance(spot, CompiledSpot) else spot, asked):
        return until_session(spot.spot if isinstance(spot, CompiledSpot) else spot, asked, stack)
    every = 10 if asked.every is None else asked.every
    check_count("every", every)
    given = spot.spot if isinstance(spot, CompiledSpot) else spot
    how = SolveFields() if given is None else given.settings
    iterations = how.iterations if asked.iterations is None else asked.iterations
    if iterations is not None and iterations != 0:
        check_count("iterations", iterations)
    target = asked.target
    if target is None and how.target is not None and given is not None:
        target = how.target.chips(given.opening_pot)
    threads = checked_threads(asked.options.get("threads", how.threads))
    start: HoldemSolution | None = asked.options.get("start")
    algorithm, storage, most = asked.algorithm, asked.options.get("storage"), asked.options.get("most_memory")
    limits = iterations, target, asked.seconds
    work = Work(asked.options.get("workers"), asked.options.get("ray"))
    if resume is None:
        if given is None or spot is None:
            raise SpecError("no spot given; give one, or a solution to resume")
        locks = asked.options.get("locks", how.locks)
        isomorphism = asked.options.get("isomorphism", True) and not locks
        storage = checked_storage(storage or how.storage or DEFAULT_STORAGE)
        algorithm = (how.algorithm or DEFAULT_ALGORITHM) if algorithm is None else algorithm
        if start is not None:
            check_start(start, asked, how)
            isomorphism, storage, algorithm = start.game.isomorphism, start.settings.storage, start.algorithm
        check_spot(given, algorithm, isomorphism=isomorphism, storage=storage, threads=threads, most=most)
        if storage.startswith(DISK):
            stack.enter_context(writing(Path(storage.removeprefix(DISK)) / "run"))
        arrays: Mapping[str, Any] = {}
        if start is not None:
            game, arrays = carried_over(start, given)
        elif isinstance(spot, CompiledSpot) and spot.isomorphism == isomorphism:
            game = spot
        else:
            game = compile_spot(given, isomorphism=isomorphism)
        fixed = solver_locks(game, locks)
        settings = settings_of(given, storage, threads, limits, None)
        if iterations is None:
            settings = replace(settings, horizon=pace_of(algorithm) or settings.horizon)
        solver, memory = solver_for(game, algorithm, settings, fixed, most, work, stack)
        if start is not None:
            solver.restore(START, arrays)
    else:
        check_resume(resume, given, storage, asked.options.get("locks", ()))
        settings = settings_of(resume.spot, resume.settings.storage, threads, limits, resume)
        if algorithm is None and is_own(resume.algorithm):
            raise SpecError(
                f"the spot was solved by {resume.algorithm!r}, an algorithm of your own; code that a file names is not run, so "
                "give it again (-a, or algorithm=)"
            )
        algorithm = resume.algorithm if algorithm is None else algorithm
        solver, memory = solver_for(resume.game, algorithm, settings, resume.locks, most, work, stack)
        if not same_algorithm(solver.algorithm, resume.algorithm):
            raise SpecError(f"the solution to resume is one by {resume.algorithm}, not {solver.algorithm}; leave it out")
        solver.algorithm = resume.algorithm
        if iterations is not None and iterations < resume.iterations:
            done = resume.iterations
            raise SpecError(f"{done} iterations are done already; iterations counts all of them, so ask for more than {done}")
    longest = solver.longest
    total = iterations if iterations is not None else longest or usual_iterations(asked.seconds, resume)
    if longest is not None and total > longest:
        raise SpecError(f"{solver.algorithm} paces itself for {longest:,} iterations; ask for at most that many in total")
    file = claimed_file(asked, stack)
    job = SpotJob(solver, settings, memory, iterations=total, every=every, file=file, interrupt=asked.interrupt)
    if resume is None:
        return Session(job, records=job.kept_records())
    job.go_on(resume)
    # a record whose judging was broken off does not count
    return Session(job, records=[each for each in resume.records if not isnan(each.exploitability)])


def until_session(spot: Spot | None, asked: Asked, stack: ExitStack) -> Session:
    """The session of a spot that is solved on its first street alone; see :mod:`treeplex.runs.holdem.first_street.until`."""
    file = claimed_file(asked, stack)
    job = until_job(spot, replace(asked, out=file), stack)
    return Session(job, records=[] if asked.resume is None else list(asked.resume.records))


def claimed_file(asked: Asked, stack: ExitStack) -> Path | None:
    """The file of a run, which nobody else writes until the stack ends; None for none.

    Raises:
        FileError: it is there already, or another process writes it.
    """
    file, resume = None if asked.out is None else spot_file(asked.out), asked.resume
    if file is not None and file.exists() and not asked.force and (resume is None or resume.folder != file):
        raise FileError(f"{file} is there already; choose another name, resume it, or overwrite it (force)")
    if file is not None:
        stack.enter_context(writing(file))
    return file


@contextmanager
def writing(file: Path) -> Iterator[None]:
    """Make the folder of a file, let nobody else write the file, and sweep up what was left half-written of it.

    Raises:
        FileError: the folder cannot be made, or another process writes the file.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder {file.parent}: {error.strerror or error}; choose another") from error
    with FileLock(file.with_name(f".{file.name}.lock"), str(file)):
        sweep(file.parent, file.name)
        yield


def usual_iterations(seconds: float | None, resume: HoldemSolution | None) -> int:
    """The most iterations where nothing was said."""
    return (DEFAULT_ITERATIONS if seconds is None else MOST_ITERATIONS) + (resume.iterations if resume else 0)


def settings_of(
    spot: Spot,
    storage: str,
    threads: int,
    asked: tuple[int | None, float | None, float | None],
    resume: HoldemSolution | None,
) -> HoldemSettings:
    """Settings with the defaults filled in; ``asked`` are iterations, target and seconds."""
    iterations, target, seconds = asked
    if target is None and iterations is None and seconds is None:
        target = resume.target if resume else None
        if target is None:
            target = DEFAULT_SHARE * spot.opening_pot
    horizon = resume.settings.horizon if resume else iterations or usual_iterations(seconds, None)
    return HoldemSettings(storage, threads, horizon, None if target is None else float(target))


def check_start(start: HoldemSolution, asked: Asked, how: SolveFields) -> None:
    """Refuse options that a solution to start from has settled, and too few iterations."""
    if asked.options.get("locks", how.locks):
        raise SpecError("locks do not go with a solution to start from; leave one of both out")
    if asked.options.get("storage") not in (None, start.settings.storage):
        raise SpecError(f"the solution to start from has storage {start.settings.storage}; leave storage out")
    if is_own(start.algorithm) or (asked.algorithm is not None and not same_algorithm(str(asked.algorithm), start.algorithm)):
        raise SpecError(f"the solution to start from is one by {start.algorithm}; leave the algorithm out, or solve afresh")
    if asked.iterations is not None and asked.iterations <= START:
        raise SpecError(f"{START} iterations count as done in a solution that starts from another; ask for more")


def check_resume(resume: HoldemSolution, spot: Spot | None, storage: str | None, locks: Sequence[AnyLock]) -> None:
    """Refuse to go on with another spot or other settings, or from a solution without its solver's state."""
    if resume.state is None:
        raise SpecError("this solution was saved without what solving on needs (resumable); solve the spot again")
    if spot is not None and reread(spot).identity != reread(resume.spot).identity:
        raise SpecError("the solution to resume is one of another spot; leave the spot out, or solve it from the start")
    if storage is not None and storage != resume.settings.storage:
        raise SpecError(f"the solution to resume has storage {resume.settings.storage}, not {storage}; leave storage out")
    if locks:
        raise SpecError("a resumed solution keeps its own locks; leave locks out, or solve the spot from the start")


def solver_for(
    game: CompiledSpot,
    algorithm: AnyAlgorithm,
    settings: HoldemSettings,
    locks: Sequence[FixedStrategy],
    most: float | None,
    work: Work,
    stack: ExitStack,
) -> tuple[HoldemSolver, int]:
    """A solver at iteration 0, if it fits into memory, and the bytes that solving and judging take."""
    checked_storage(settings.storage)
    executor = stack.enter_context(work.executor()) if work.asked else None
    threads = settings.threads if executor is None else executor.size
    memory = check_memory(game.size, algorithm, storage=settings.storage, threads=threads, most=most)
    solver = HoldemSolver(
        game,
        algorithm,
        threads=threads if executor is None else 1,
        storage=settings.storage,
        horizon=settings.horizon,
        locks=locks,
        executor=executor,
    )
    stack.callback(solver.close)
    return solver, memory
