"""Solve a poker spot: compile, check the memory, iterate and judge until a target, a number of iterations, time or Ctrl-C."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, dropwhile
from math import isnan
from time import perf_counter
from typing import Any

from numpy.typing import NDArray

from treeplex.engine.holdem.passes import BoardPool
from treeplex.errors import SpecError
from treeplex.evaluate.holdem.judge import HoldemJudgement, judge_spot, judging_crew
from treeplex.forms.holdem.compile_spot import CompiledSpot, compile_spot
from treeplex.games.poker.spots.spot import Spot, spot_from_json
from treeplex.notices import compilation_announced
from treeplex.runs.holdem.locks import AnyLock, NodeLock, solver_locks, with_locks
from treeplex.runs.holdem.report.view import View
from treeplex.runs.holdem.solution import HoldemRecord, HoldemSettings, HoldemSolution
from treeplex.runs.job.interrupt import Interrupt
from treeplex.runs.job.memory import check_memory, check_spot
from treeplex.runs.job.record import Progress, check_count
from treeplex.runs.solve.solve import check_limits
from treeplex.solvers.holdem.solver import HoldemSolver, Lock, checked_storage, checked_threads
from treeplex.solvers.registry import pace_of
from treeplex.solvers.rules.fictitious import FictitiousRule
from treeplex.solvers.rules.variants import Variant

__all__ = ["HoldemRecord", "HoldemSolution", "NodeLock", "SpotInterrupted", "View", "solve_spot"]

AnyAlgorithm = str | Variant | FictitiousRule
Watcher = Callable[[Progress], None]

DEFAULT_ALGORITHM, DEFAULT_STORAGE = "dcfr", "float32"
DEFAULT_ITERATIONS, MOST_ITERATIONS = 1000, 1_000_000
DEFAULT_SHARE = 0.005
"""The usual target: this share of the pot, blinds included."""

UNJUDGED = float("nan")
"""The exploitability and expected values of a strategy that nobody waited to see judged."""

CHUNK_SECONDS = 0.1
"""How long to iterate between two looks at the clock and at Ctrl-C."""


class SpotInterrupted(KeyboardInterrupt):
    """Ctrl-C during :func:`solve_spot`; ``solution`` holds what there is."""

    def __init__(self, solution: HoldemSolution) -> None:
        super().__init__("interrupted")
        self.solution = solution


def solve_spot(
    spot: Spot | None = None,
    algorithm: AnyAlgorithm | None = None,
    *,
    iterations: int | None = None,
    target: float | None = None,
    seconds: float | None = None,
    threads: int | None = None,
    storage: str | None = None,
    every: int = 10,
    isomorphism: bool = True,
    locks: Sequence[AnyLock] = (),
    progress: Watcher | None = None,
    resume: HoldemSolution | None = None,
    most_memory: float | None = None,
    interrupt: Interrupt | None = None,
) -> HoldemSolution:
    """Solve a spot.

    Args:
        spot: what to solve; may be left out with ``resume``.
        algorithm: a spec such as ``dcfr(gamma=3)``, or your own variant or play, which resuming then needs again; default
            ``dcfr``.
        iterations: iterations in total, those before a resume included; default 1,000 (more), or 1,000,000 with a time limit;
            a learned algorithm does as many as it paces itself for. With 0 the uniform strategy is judged.
        target: stop at the first check with at most this exploitability, in chips. Without target, iterations and time limit:
            0.5% of the pot.
        seconds: stop after this much time in the solver in this call; judging does not count.
        threads: default: one per core that this process may use.
        storage: numbers in which regrets and averages are kept, see ``solvers.holdem.solver.STORAGE``; default float32.
        every: check after every so many iterations.
        isomorphism: let boards that differ only in suits stand for each other where the ranges allow it; never with locks.
        locks: strategies that players keep: :class:`NodeLock`, or those of spot files. Best responses keep them too.
        progress: called about ten times a second with a :class:`treeplex.runs.job.record.Progress`.
        resume: go on with this solution, whose spot, algorithm, storage and locks stay; it is not changed itself.
        most_memory: bytes that may be used; default: what the machine has free.
        interrupt: who listens for Ctrl-C already; then a solution with the status ``interrupted`` is returned.

    Raises:
        SpecError: a value outside its range, an unknown name, a lock that does not fit, or a spot that needs too much memory.
        GameError: the ranges leave no pair of hands.
        AlgorithmError: an algorithm that does not run on spots.
        SpotInterrupted: Ctrl-C or SIGTERM; it carries the solution so far, judged unless Ctrl-C came again meanwhile. A second
            Ctrl-C within the iteration is a plain KeyboardInterrupt.
    """
    check_limits(target, seconds)
    check_count("every", every)
    if iterations is not None and iterations != 0:
        check_count("iterations", iterations)
    threads = checked_threads(threads)
    if resume is None:
        if spot is None:
            raise SpecError("no spot given; give one, or a solution to resume")
        isomorphism, storage = isomorphism and not locks, checked_storage(storage or DEFAULT_STORAGE)
        algorithm = DEFAULT_ALGORITHM if algorithm is None else algorithm
        check_spot(spot, algorithm, isomorphism=isomorphism, storage=storage, threads=threads, most=most_memory)
        game = compile_spot(spot, isomorphism=isomorphism)
        fixed = solver_locks(game, locks)
        settings = settings_of(spot, storage, threads, (iterations, target, seconds), None)
        if iterations is None:
            settings = replace(settings, horizon=pace_of(algorithm) or settings.horizon)
        run = start(game, algorithm, settings, fixed, most_memory)
    else:
        check_resume(resume, spot, storage, locks)
        settings = settings_of(resume.spot, resume.settings.storage, threads, (iterations, target, seconds), resume)
        run = start(resume.game, algorithm or resume.algorithm, settings, resume.locks, most_memory)
        run.go_on(resume)
    longest = run.solver.longest
    most = iterations if iterations is not None else longest or usual_iterations(seconds, resume)
    if longest is not None and most > longest:
        raise SpecError(f"{run.solver.algorithm} paces itself for {longest:,} iterations; ask for at most so many in all")
    with compilation_announced(progress is not None), Interrupt(wanted=interrupt is None) as own:
        status = run.iterate(Limits(most, seconds, every), interrupt or own, progress)
        solution = run.finish(status)
    if status == "interrupted" and interrupt is None:
        raise SpotInterrupted(solution)
    return solution


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


def reread(spot: Spot) -> Spot:
    """The spot as a file gives it back, whole numbers of chips as decimal ones."""
    return spot_from_json(spot.to_json(), spot.ranges, spot.strengths)


@dataclass(frozen=True)
class Limits:
    """When to stop and to check: the most iterations in total, solver seconds in this call, iterations between checks."""

    iterations: int
    seconds: float | None
    every: int

    def checks(self, first: int) -> Iterator[int]:
        """The iterations after ``first`` at which to judge, ascending; the last one is ``iterations``."""
        for point in dropwhile(lambda each: each <= first, count(self.every, self.every)):
            if point >= self.iterations:
                break
            yield point
        if self.iterations > first:
            yield self.iterations


@dataclass
class HoldemRun:
    """A run under way: the only thing here that changes."""

    solver: HoldemSolver
    settings: HoldemSettings
    memory: int
    crew: BoardPool
    records: list[HoldemRecord] = field(default_factory=list)
    seconds: float = 0.0
    judging_seconds: float = 0.0

    def at_target(self) -> bool:
        """Whether there is a target and the last record meets it."""
        target = self.settings.target
        return target is not None and bool(self.records) and self.records[-1].exploitability <= target

    def go_on(self, resume: HoldemSolution) -> None:
        """Take over the state of a solution."""
        assert resume.state is not None
        if self.solver.algorithm != resume.algorithm:
            raise SpecError(f"the solution to resume is one by {resume.algorithm}, not {self.solver.algorithm}; leave it out")
        self.solver.restore(resume.iterations, resume.state)
        self.records = list(resume.records)
        self.seconds, self.judging_seconds = resume.seconds, resume.judging_seconds

    def judge(self, average: NDArray[Any], *, expected: bool) -> HoldemJudgement:
        """Judge a strategy and record it."""
        begun = perf_counter()
        found = judge_spot(self.solver.game, average, self.solver.store, self.crew, expected=expected)
        self.judging_seconds += perf_counter() - begun
        record = HoldemRecord(self.solver.iteration, self.seconds, found.exploitability)
        while self.records and (self.records[-1].iteration == record.iteration or isnan(self.records[-1].exploitability)):
            self.records.pop()
        self.records.append(record)
        return found

    def iterate(self, limits: Limits, interrupt: Interrupt, watcher: Watcher | None) -> str:
        """Iterate and judge until something says stop; return what."""
        solver, begun, first = self.solver, self.seconds, self.solver.iteration
        if limits.iterations < first:
            raise SpecError(f"{first} iterations are done already; iterations counts all of them, so ask for more than {first}")
        if self.at_target():
            return "target reached"
        solver.run(0)
        chunk = 1
        for check in limits.checks(first):
            while solver.iteration < check:
                chunk = self.advance(min(chunk, check - solver.iteration), limits.seconds)
                if watcher:
                    watcher(self.progress(limits, first, self.seconds - begun))
                if interrupt.requested:
                    return "interrupted"
                if limits.seconds is not None and self.seconds - begun >= limits.seconds:
                    return "time up"
            if check < limits.iterations or self.settings.target is not None:
                self.judge(solver.store.average, expected=False)
            if self.at_target():
                return "target reached"
        return "finished"

    def advance(self, iterations: int, limit: float | None) -> int:
        """Run some iterations; return how many to run next."""
        begun = perf_counter()
        self.solver.run(iterations)
        spent = perf_counter() - begun
        self.seconds += spent
        piece = CHUNK_SECONDS if limit is None else min(CHUNK_SECONDS, limit / 20)
        return max(1, min(8 * iterations, int(iterations * piece / max(spent, 1e-9))))

    def progress(self, limits: Limits, first: int, spent: float) -> Progress:
        """Where the run stands."""
        done = self.solver.iteration
        rate = (done - first) / spent if spent > 0 else 0.0
        left = (limits.iterations - done) / rate if rate else None
        if limits.seconds is not None:
            rest = max(0.0, limits.seconds - spent)
            left = rest if left is None else min(left, rest)
        judged = [record.exploitability for record in self.records[-1:] if not isnan(record.exploitability)]
        exploitability = judged[0] if judged else None
        return Progress(self.solver.algorithm, done, limits.iterations, exploitability, rate, left)

    def finish(self, status: str) -> HoldemSolution:
        """Judge the strategy in full and hand out the solution; a second Ctrl-C of an interrupted run skips the judging."""
        solver = self.solver
        try:
            ev = self.judge(with_locks(solver.game, solver.store.average, solver.locks), expected=True).ev
        except KeyboardInterrupt:
            if status != "interrupted":
                raise
            ev = UNJUDGED, UNJUDGED
            self.records.append(HoldemRecord(solver.iteration, self.seconds, UNJUDGED))
        return HoldemSolution(
            game=solver.game,
            algorithm=solver.algorithm,
            settings=self.settings,
            records=tuple(self.records),
            ev=ev,
            status=status,
            average=solver.store.average,
            scales=solver.store.average_scales,
            state=solver.arrays(),
            locks=solver.locks,
            streets=len(solver.game.boards),
            judging_seconds=self.judging_seconds,
            memory=self.memory,
        )


def start(
    game: CompiledSpot, algorithm: AnyAlgorithm, settings: HoldemSettings, locks: Sequence[Lock], most_memory: float | None
) -> HoldemRun:
    """A run at iteration 0, if it fits into memory."""
    checked_storage(settings.storage)
    memory = check_memory(game.size, algorithm, storage=settings.storage, threads=settings.threads, most=most_memory)
    solver = HoldemSolver(
        game, algorithm, threads=settings.threads, storage=settings.storage, horizon=settings.horizon, locks=locks
    )
    settings = replace(settings, threads=solver.threads)
    return HoldemRun(solver, settings, memory, judging_crew(game, solver.threads))
