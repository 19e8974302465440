"""New or resumed runs on a poker spot: combines options and the spot's own settings, and sets up the solver."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

from treeplex.base.storage.files import sweep
from treeplex.base.wings import named, provided_by_name
from treeplex.engine.threads import checked_threads
from treeplex.errors import FileError, SpecError
from treeplex.holdem.forms.compile_spot import CompiledSpot, compile_spot
from treeplex.holdem.forms.split.form import SplitState
from treeplex.holdem.forms.spot_form import DISK, FixedStrategy, checked_storage
from treeplex.holdem.policies.locks import solver_locks
from treeplex.holdem.solve.carried_regrets import START, carried_over
from treeplex.holdem.solve.estimate import DEFAULT_SHARE, check_memory, check_spot
from treeplex.holdem.solve.job import SpotJob
from treeplex.holdem.solve.solution import HoldemSettings, HoldemSolution, reread, spot_file
from treeplex.holdem.solve.solver import CPU, HoldemSolver, check_device, resolved
from treeplex.holdem.spots.fields import SolveFields
from treeplex.holdem.spots.locks import AnyLock
from treeplex.holdem.spots.spot import Spot
from treeplex.run.job.job import Session
from treeplex.run.job.lock import FileLock
from treeplex.run.job.record import check_count, check_limits
from treeplex.run.job.workers import Work
from treeplex.run.solve.settings import DEFAULT_ITERATIONS, MOST_ITERATIONS
from treeplex.run.solve.solvable import SolveRequest
from treeplex.solvers.registry import DEFAULT_ALGORITHM, AnyAlgorithm, is_own, pace_of, same_algorithm

DEFAULT_STORAGE = "float32"
EVERY = 10
"""Default number of iterations between evaluations."""


@contextmanager
def spot_session(spot: Spot | CompiledSpot | None, request: SolveRequest) -> Iterator[Session]:
    """A session of a run on a spot, new or resumed; the spot's settings apply where options are not given.

    Args:
        spot: the spot, compiled or not; None for that of the solution to resume.
        request: as for :func:`solve_spot`; ``resume`` is a solution.

    Raises:
        SpecError, GameError, AlgorithmError, FileError: as in :func:`solve_spot`.
    """
    with ExitStack() as stack:
        yield new_session(spot, request, stack)


@dataclass(frozen=True)
class Limits:
    """Stopping criteria of a run, and its resources.

    Attributes:
        iterations, target, seconds: stopping criteria; None where not given.
        every: iterations between checks.
        threads: threads for iterations.
        device: where iterations run: ``cpu``, ``cuda`` or ``torch-cpu``.
        most_memory: maximum bytes; None for the machine's free memory.
        work: processes or a cluster that run the iterations instead.
    """

    iterations: int | None
    target: float | None
    seconds: float | None
    every: int
    threads: int
    device: str
    most_memory: float | None
    work: Work

    @classmethod
    def of(cls, spot: Spot | None, request: SolveRequest) -> "Limits":
        """The given options, with the spot's settings where options are not given.

        Raises:
            SpecError: a number out of range, or a device that is not available.
        """
        resumed = request.resume
        every = evaluated_every(request.every, None if resumed is None else resumed.settings.every)
        how, options = SolveFields() if spot is None else spot.settings, request.options
        iterations = how.iterations if request.iterations is None else request.iterations
        if iterations is not None and iterations != 0:
            check_count("iterations", iterations)
        target = request.target
        if target is None and how.target is not None and spot is not None:
            target = how.target.chips(spot.opening_pot)
        threads = checked_threads(options.get("threads", how.threads))
        work = Work(options.get("workers"), options.get("ray"))
        work.check()
        device = resolved(options.get("device") or how.device or (CPU if resumed is None else resumed.settings.device))
        return cls(iterations, target, request.seconds, every, threads, device, options.get("most_memory"), work)


def evaluated_every(given: int | None, known: int | None) -> int:
    """Iterations between evaluations: the given number, that of the run to resume, or :data:`EVERY`.

    Raises:
        SpecError: the number is below 1, or not that of the run to resume.
    """
    if given is None:
        return known or EVERY
    check_count("every", given)
    if known not in (None, given):
        raise SpecError(f"the run to resume is evaluated every {known} iterations, not {given}; leave out 'every'")
    return given


class SessionStart(NamedTuple):
    """A solver at the start of a session.

    Attributes:
        solver: the solver.
        settings: settings of the solve.
        memory: bytes for solving and evaluation.
    """

    solver: HoldemSolver
    settings: HoldemSettings
    memory: int


def new_session(spot: Spot | CompiledSpot | None, request: SolveRequest, stack: ExitStack) -> Session:
    """The session of :func:`spot_session`; resources to release with it are pushed on the stack."""
    given, resume = spot.spot if isinstance(spot, CompiledSpot) else spot, request.resume
    check_limits(request.target, request.seconds)
    if stops_early(given, request):
        device = request.options.get("device") or (given.settings.device if given is not None else None)
        if device is not None and resolved(device) != CPU:
            raise SpecError(f"'until' runs on the CPU; leave out 'device' ({device})")
        return until_session(given, request, stack)
    if request.options.get("judge"):
        raise SpecError("'judge' needs 'until', since solves of all streets are always evaluated; leave it out")
    limits = Limits.of(given, request)
    if resume is not None:
        solver, settings, memory = resumed_solver(given, request, limits, stack)
    elif spot is not None:
        solver, settings, memory = new_solver(spot, request, limits, stack)
    else:
        raise SpecError("no spot given; give one, or a solution to resume")
    longest = solver.longest
    total = limits.iterations if limits.iterations is not None else longest or usual_iterations(request.seconds, resume)
    if longest is not None and total > longest:
        raise SpecError(f"{solver.algorithm} supports at most {longest:,} iterations in total; set at most that many")
    every = limits.every
    if resume is None and isinstance(solver.tables, SplitState):
        solver.tables.every = every = evaluated_every(request.every, solver.tables.every)
        settings = replace(settings, every=every)
    file = claimed_file(request, stack)
    job = SpotJob(solver, settings, memory, iterations=total, every=every, file=file, interrupt=request.interrupt)
    if resume is None:
        return Session(job, records=job.kept_records())
    job.go_on(resume)
    # records of interrupted evaluations do not count
    return Session(job, records=[record for record in resume.records if not isnan(record.exploitability)])


def new_solver(spot: Spot | CompiledSpot, request: SolveRequest, limits: Limits, stack: ExitStack) -> SessionStart:
    """The solver of a new run, at iteration 0 or warm-started from a solution with different ranges or sizes.

    Raises:
        SpecError: options that contradict each other, or a spot that does not fit into memory.
    """
    given = spot.spot if isinstance(spot, CompiledSpot) else spot
    how, start = given.settings, request.options.get("start")
    locks = request.options.get("locks", how.locks)
    isomorphism = request.options.get("isomorphism", True) and not locks
    storage = checked_storage(request.options.get("storage") or how.storage or DEFAULT_STORAGE)
    algorithm = (how.algorithm or DEFAULT_ALGORITHM) if request.algorithm is None else request.algorithm
    if start is not None:
        check_start(start, request, how)
        isomorphism, storage, algorithm = start.game.isomorphism, start.settings.storage, start.algorithm
    if limits.device != CPU:
        check_device(limits.device, storage, in_workers=limits.work.asked)
    check_spot(given, algorithm, isomorphism=isomorphism, storage=storage, threads=limits.threads, most=limits.most_memory)
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
    settings = settings_of(given, storage, limits)
    if limits.iterations is None:
        settings = replace(settings, horizon=pace_of(algorithm) or settings.horizon)
    begun = solver_for(game, algorithm, settings, fixed, limits, stack)
    if start is not None:
        begun.solver.restore(START, arrays)
    return begun


def resumed_solver(spot: Spot | None, request: SolveRequest, limits: Limits, stack: ExitStack) -> SessionStart:
    """The solver for a solution to be resumed, at iteration 0.

    Raises:
        SpecError: the spot, algorithm or settings differ from the solution's, or no iterations remain.
    """
    resume: HoldemSolution = request.resume
    check_resume(resume, spot, request.options.get("storage"), request.options.get("locks", ()))
    settings = settings_of(resume.spot, resume.settings.storage, limits, resume)
    if request.algorithm is None and is_own(resume.algorithm):
        raise SpecError(
            f"the spot was solved by a custom algorithm, {resume.algorithm!r}; custom code is never run from a "
            "file, so give it again (-a, or algorithm=)"
        )
    algorithm = resume.algorithm if request.algorithm is None else request.algorithm
    begun = solver_for(resume.game, algorithm, settings, resume.locks, limits, stack)
    solver = begun.solver
    if not same_algorithm(solver.algorithm, resume.algorithm):
        raise SpecError(f"the solution to resume uses {resume.algorithm}, not {solver.algorithm}; leave the algorithm out")
    solver.algorithm = resume.algorithm
    if limits.iterations is not None and limits.iterations < resume.iterations:
        done = resume.iterations
        raise SpecError(f"'iterations' is the total, and {done} are already done; set more than {done}")
    return begun


def stops_early(spot: Spot | None, request: SolveRequest) -> bool:
    """Whether only the spot's first street is solved."""
    resume: HoldemSolution | None = request.resume
    net = text_option(request, "net") or (spot.settings.net if spot is not None else None)
    until = (
        text_option(request, "until")
        or (spot.settings.until if spot is not None else None)
        or (resume and resume.settings.until)
    )
    if net and not until:
        raise SpecError("'net' needs 'until'; give the street (until: turn, --until turn), or leave out 'net'")
    return bool(until)


def text_option(request: SolveRequest, name: str) -> str | None:
    """An option as text; None if not given."""
    value = request.options.get(name)
    return None if value is None else str(value)


def until_session(spot: Spot | None, request: SolveRequest, stack: ExitStack) -> Session:
    """The session for a spot of which only the first street is solved."""
    file = claimed_file(request, stack)
    job = named(provided_by_name("first_streets")["job"])(spot, replace(request, out=file), stack)
    return Session(job, records=[] if request.resume is None else list(request.resume.records))


def claimed_file(request: SolveRequest, stack: ExitStack) -> Path | None:
    """The file of a run, locked for writing until the stack ends; None without a file.

    Raises:
        FileError: the file exists, or another process is writing it.
    """
    file, resume = None if request.out is None else spot_file(request.out), request.resume
    if file is not None and file.exists() and not request.force and (resume is None or resume.folder != file):
        raise FileError(f"{file} already exists; choose another name, resume it, or overwrite it (force)")
    if file is not None:
        stack.enter_context(writing(file))
    return file


@contextmanager
def writing(file: Path) -> Iterator[None]:
    """Create a file's folder, lock the file for writing, and remove half-written leftovers.

    Raises:
        FileError: the folder cannot be created, or another process is writing the file.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot create the folder {file.parent}: {error.strerror or error}; choose another") from error
    with FileLock(file.with_name(f".{file.name}.lock"), str(file)):
        sweep(file.parent, file.name)
        yield


def usual_iterations(seconds: float | None, resume: HoldemSolution | None) -> int:
    """Default maximum number of iterations."""
    return (DEFAULT_ITERATIONS if seconds is None else MOST_ITERATIONS) + (resume.iterations if resume else 0)


def settings_of(spot: Spot, storage: str, limits: Limits, resume: HoldemSolution | None = None) -> HoldemSettings:
    """Settings with the defaults filled in."""
    iterations, target, seconds = limits.iterations, limits.target, limits.seconds
    if target is None and iterations is None and seconds is None:
        target = resume.target if resume else None
        if target is None:
            target = DEFAULT_SHARE * spot.opening_pot
    horizon = resume.settings.horizon if resume else iterations or usual_iterations(seconds, None)
    chips = None if target is None else float(target)
    return HoldemSettings(storage, limits.threads, horizon, chips, device=limits.device, every=limits.every)


def check_start(start: HoldemSolution, request: SolveRequest, how: SolveFields) -> None:
    """Reject options that the initial solution fixes, and iteration totals that it has already reached."""
    if request.options.get("locks", how.locks):
        raise SpecError("locks cannot be combined with a solution to start from; leave one of them out")
    if request.options.get("storage") not in (None, start.settings.storage):
        raise SpecError(f"the solution to start from has storage {start.settings.storage}; leave out 'storage'")
    if is_own(start.algorithm) or (
        request.algorithm is not None and not same_algorithm(str(request.algorithm), start.algorithm)
    ):
        raise SpecError(f"the solution to start from uses {start.algorithm}; leave the algorithm out, or solve from the start")
    if request.iterations is not None and request.iterations <= START:
        raise SpecError(f"a warm-started solution begins at iteration {START}; set iterations above {START}")


def check_resume(resume: HoldemSolution, spot: Spot | None, storage: str | None, locks: Sequence[AnyLock]) -> None:
    """Reject resuming with a different spot or settings, or from a solution without solver state."""
    if resume.state is None:
        raise SpecError("this solution was saved without solver state (resumable); solve the spot again")
    if spot is not None and reread(spot).identity != reread(resume.spot).identity:
        raise SpecError("the solution to resume belongs to another spot; leave the spot out, or solve it from the start")
    if storage is not None and storage != resume.settings.storage:
        raise SpecError(f"the solution to resume has storage {resume.settings.storage}, not {storage}; leave out 'storage'")
    if locks:
        raise SpecError("a resumed solution keeps its own locks; leave out 'locks', or solve the spot from the start")


def solver_for(
    game: CompiledSpot,
    algorithm: AnyAlgorithm,
    settings: HoldemSettings,
    locks: Sequence[FixedStrategy],
    limits: Limits,
    stack: ExitStack,
) -> SessionStart:
    """A solver at iteration 0, if it fits into memory."""
    checked_storage(settings.storage)
    executor = stack.enter_context(limits.work.executor()) if limits.work.asked else None
    threads = settings.threads if executor is None else executor.size
    memory = check_memory(game.size, algorithm, storage=settings.storage, threads=threads, most=limits.most_memory)
    solver = HoldemSolver(
        game,
        algorithm,
        threads=threads if executor is None else 1,
        storage=settings.storage,
        horizon=settings.horizon,
        locks=locks,
        executor=executor,
        device=settings.device,
        most_memory=limits.most_memory,
    )
    if solver.device != CPU:
        memory = solver.device_memory
    stack.callback(solver.close)
    return SessionStart(solver, settings, memory)
