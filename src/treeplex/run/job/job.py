"""The main loop of long jobs: step, evaluate, save, report; stops at the end, at a limit or target, or on request."""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise, takewhile
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar, Final

from treeplex.base.work_clock import work_cpu_time, work_time
from treeplex.engine.tree.walked import walks_raise
from treeplex.errors import AlgorithmError, FileError, GameError, PolicyError, SpecError
from treeplex.run.job.checkpoint import Arrays, Position, State, position_of
from treeplex.run.job.folder import METRICS, RUN, STATE, JobFolder, JobKind, digest_of
from treeplex.run.job.interrupt import Interrupt, StepAbandoned
from treeplex.run.job.record import Progress, Record, Watcher

RUNNING = "running"
"""Status of a job that has not ended."""
CHECKPOINT_SECONDS, LEAST_SHARE = 40.0, 20.0
"""Seconds between checkpoints; longer if saving would take more than a twentieth of the time."""
RECORD_SECONDS = 5.0
"""Seconds between evaluations of jobs without evaluation points."""
FITTED = 20
"""Maximum number of records used to estimate the time to a target."""
LONGEST_LEFT = 365 * 86400.0
"""Longest estimate, in seconds, that is shown."""
SETTLED_SECONDS = 1.0
"""Seconds of steps after which the share of evaluation counts half in the time left; before, it is mostly the start's."""
CHUNK_SECONDS = 0.1
"""Seconds of iterations between checks of time and stop requests."""


@dataclass
class Clock:
    """Time spent in a job's steps over all sessions, excluding evaluation and kernel compilation.

    Attributes:
        seconds: wall-clock time.
        cpu_seconds: CPU time; jobs add that of their workers.
    """

    seconds: float = 0.0
    cpu_seconds: float = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Add the time of a block, unless it raises :class:`StepAbandoned` and will be repeated."""
        began, processor = work_time(), work_cpu_time()
        yield
        self.seconds += work_time() - began
        self.cpu_seconds += work_cpu_time() - processor


class Job(ABC):
    """Base class for long jobs that run in steps and can save a checkpoint between any two steps.

    Attributes:
        kind: the kind of job.
        clock: time of its steps so far.
        interrupt: the stop request; long steps may check it and raise :class:`StepAbandoned`.
    """

    kind: ClassVar[JobKind]

    def __init__(self, interrupt: Interrupt | None = None) -> None:
        self.clock: Final = Clock()
        self.interrupt: Final = interrupt or Interrupt()

    @property
    @abstractmethod
    def name(self) -> str:
        """The job's name, such as the algorithm's canonical spec."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """Identity of the game or data; only a matching checkpoint is restored."""

    @property
    @abstractmethod
    def done(self) -> int:
        """Progress in the unit of the kind."""

    @property
    @abstractmethod
    def total(self) -> int | None:
        """Planned total; None if something else stops the job."""

    @property
    def ahead(self) -> int:
        """Maximum units of the next step; 0 when the request is complete."""
        return 0 if self.total is None else max(0, self.total - self.done)

    @property
    def left(self) -> float | None:
        """Estimate of the remaining units; None if unknown."""
        return None if self.total is None else max(0, self.total - self.done)

    @property
    def seconds_left(self) -> float | None:
        """Estimate of the remaining seconds, for jobs that can estimate them better than from the current speed."""
        return None

    @property
    def saving_seconds(self) -> float:
        """Initial estimate of the seconds that saving takes; 0 if negligible."""
        return 0.0

    @property
    def target(self) -> tuple[str, float] | None:
        """Return a measure and the value at which to stop; None without a target."""
        return None

    def begin(self) -> None:  # noqa: B027
        """Prepare for the first step of a session; its time is not counted."""

    @abstractmethod
    def step(self, count: int) -> None:
        """Run ``count`` units, or one step of fixed size."""

    def measure(self) -> Mapping[str, Any]:
        """Return the numbers of a record."""
        return {}

    def live(self) -> Mapping[str, Any]:
        """Return current numbers for the progress display, in addition to the last record."""
        return {}

    def points(self) -> Iterator[int] | None:
        """Yield evaluation points in ascending order, determined by the request alone; None evaluates every few seconds."""
        return None

    @abstractmethod
    def about(self) -> Mapping[str, Any]:
        """Return the job's request for ``run.json``."""

    def state(self) -> State | None:
        """Return the complete state for :meth:`restore`; None if the files that the job writes are its state."""
        return None

    def restore(self, arrays: Arrays) -> None:
        """Restore a new job to a :meth:`state`.

        Raises:
            FileError, AlgorithmError, KeyError, ValueError, TypeError, IndexError: the arrays do not fit.
        """
        raise NotImplementedError

    def write(self, path: Path, records: Sequence[Record], *, status: str) -> None:  # noqa: B027
        """Write the job's results to its folder; plots only when it has ended, with a ``status`` other than :data:`RUNNING`."""

    def keep(self, records: Sequence[Record], status: str) -> None:  # noqa: B027
        """Save a job that is not stored in a folder."""


def units_to_target(records: Sequence[Record], measure: str, target: float) -> float | None:
    """Extrapolate the total units at which a measure will reach its target.

    Fits a power law by least squares (a line on logarithmic scales) to the last half of the records, at least three and at most
    :data:`FITTED`. If the measure rose in between and has fallen at each record since, only the fall is fitted.

    Returns:
        Total units; infinity if the measure does not fall or the target is 0; None with fewer than two usable records.
    """
    late = records[-min(FITTED, max(3, len(records) // 2)) :]
    known = [
        (math.log(record.done), math.log(value)) for record in late if record.done and (value := record.measure(measure)) > 0
    ]
    if len(known) < 2:
        return None
    fall = known[max(range(len(known)), key=lambda at: known[at][1]) :]
    if len(fall) > 3 and all(later[1] < earlier[1] for earlier, later in pairwise(fall)):
        known = fall
    done, value = (sum(column) / len(known) for column in zip(*known, strict=True))
    spread = sum((x - done) ** 2 for x, _ in known)
    slope = sum((x - done) * (y - value) for x, y in known) / spread if spread else 0.0
    if slope >= 0.0 or target <= 0.0:
        return math.inf
    end = done + (math.log(target) - value) / slope
    return math.exp(end) if end < 700.0 else math.inf


@dataclass(frozen=True)
class Outcome:
    """The outcome of a session of a job.

    Attributes:
        records: all records, including those of earlier sessions.
        status: ``finished``, ``target reached``, ``time up`` or ``interrupted``.
        folder: the job's folder, if any.
    """

    records: tuple[Record, ...]
    status: str
    folder: Path | None


class Session:
    """A run of a job from its start or a checkpoint to its end or a stop.

    Attributes:
        job: the job.
        folder: the claimed or reopened folder, if any.
        records: all records.
        recorded: called with each new record.
        new: whether the job started with this session.
    """

    new = False

    def __init__(self, job: Job, folder: JobFolder | None = None, records: Sequence[Record] = ()) -> None:
        self.job, self.folder, self.records = job, folder, list(records)
        self._save_at = perf_counter() + max(CHECKPOINT_SECONDS, LEAST_SHARE * job.saving_seconds)
        self._worked = False
        self._began, self._point = work_time(), 0
        self.recorded: Callable[[Record], None] | None = None

    @property
    def judged(self) -> bool:
        """Whether the last record describes the current state; False if a job was killed before evaluating."""
        return not self.job.kind.recorded or (bool(self.records) and self.records[-1].done == self.job.done)

    @property
    def target_reached(self) -> bool:
        """Whether the last record meets the target, if there is one."""
        target = self.job.target
        return target is not None and bool(self.records) and self.records[-1].measure(target[0]) <= target[1]

    def run(self, *, seconds: float | None = None, progress: Watcher | None = None) -> Outcome:
        """Run until the end, a limit, a target or a stop request, and save.

        Args:
            seconds: approximate time limit of this call, including evaluation unless the kind counts solver time, and without
                kernel compilation.
            progress: called before the first step and after each.

        Returns:
            All records, the status and the folder.

        Raises:
            AlgorithmError: the job cannot continue; its last checkpoint is kept.
            GameError, PolicyError, SpecError: the request is invalid; a new job without a checkpoint leaves no files.
        """
        with self.job.interrupt:
            try:
                status = self._iterate(seconds, progress)
                if not self.judged:
                    self.evaluate()
            except AlgorithmError as error:
                raise self._failed(error) from error
            except (GameError, PolicyError, SpecError):
                if self.new and self.folder and not (self.folder.path / STATE).exists():
                    self.folder.discard()
                raise
            if self.folder is None or self._worked or not self._is_saved(self.folder, status):
                self.save(status)
        return Outcome(tuple(self.records), status, self.folder.path if self.folder else None)

    def _iterate(self, seconds: float | None, progress: Watcher | None) -> str:
        job = self.job
        if self.target_reached and self.judged:
            return "target reached"
        if not job.ahead and self.judged:
            return "finished"
        self.drop_unscheduled()
        job.begin()
        began, recorded, solved, first, chunk = work_time(), perf_counter(), job.clock.seconds, job.done, 1
        self._began = began
        piece = CHUNK_SECONDS if seconds is None else min(CHUNK_SECONDS, seconds / 20)
        upcoming = self._upcoming()
        point = next(upcoming, None)
        by_clock = job.points() is None and job.kind.recorded
        if by_clock and not self.records:
            self.evaluate()
        while True:
            if point is not None and job.done >= point:
                if not self.judged:
                    self.evaluate()
                point = next(upcoming, None)
                if self.target_reached:
                    return "target reached"
            elif by_clock and perf_counter() - recorded >= RECORD_SECONDS and not self.judged:
                self.evaluate()
                recorded = perf_counter()
            if self._worked:
                self.save_now_and_then()
            if not job.ahead:
                return "finished"
            if job.interrupt.requested:
                return "interrupted"
            self._point = 0 if point is None else point
            elapsed = (job.clock.seconds - solved) if job.kind.solver_time else work_time() - began
            if seconds is not None and elapsed >= seconds:
                return "time up"
            if progress and job.done == first:
                progress(self.progress(first, elapsed, seconds))
            before = job.done
            count = min(chunk, job.ahead, job.ahead if point is None else point - before)
            try:
                with job.clock.running(), walks_raise():
                    step_began = work_time()
                    job.step(count)
            except StepAbandoned:
                return "interrupted"
            self._worked = True
            spent = work_time() - step_began
            chunk = max(1, min(8 * count, int(count * piece / max(spent, 1e-9))))
            if progress and not job.interrupt.requested:
                elapsed = (job.clock.seconds - solved) if job.kind.solver_time else work_time() - began
                progress(self.progress(first, elapsed, seconds))

    def _upcoming(self) -> Iterator[int]:
        """Yield the remaining evaluation points, including the current one if a job was killed before evaluating."""
        at, judged = self.job.done, self.judged
        return (point for point in self.job.points() or () if point > at or (point == at and not judged))

    def drop_unscheduled(self) -> None:
        """Drop records that an uninterrupted run would not have, in memory and in the folder."""
        points = self.job.points()
        if points is None:
            return
        scheduled = set(takewhile(lambda point: point <= self.job.done, points))
        records = [record for record in self.records if record.done in scheduled]
        if len(records) == len(self.records):
            return
        others = len(records) < len(self.records) - (1 if self.judged and self.records[-1] not in records else 0)
        self.records = records
        if self.folder:
            if others:
                self.save("running")  # the checkpoint counts them
            else:
                self.folder.describe(self.job.about(), status=RUNNING, records=records)
            self.folder.rewrite(records)

    def evaluate(self) -> Record:
        """Evaluate the current state; record and return the result."""
        job = self.job
        measured = job.measure()
        numbers = {name: read(measured[name]) for name, read in job.kind.numbers.items()}
        record = Record(job.done, job.clock.seconds, job.clock.cpu_seconds, numbers)
        self.records.append(record)
        self._worked = True
        if self.folder:
            self.folder.append(record)
        if self.recorded:
            self.recorded(record)
        return record

    def progress(self, first: int, elapsed: float, limit: float | None) -> Progress:
        """Return the progress of a session that began at ``first``, ``elapsed`` seconds ago.

        The time left includes evaluation at its share so far, and ends at an evaluation that can meet the target.
        """
        job = self.job
        rate = (job.done - first) / elapsed if elapsed > 0 else 0.0
        estimates = [] if limit is None else [max(0.0, limit - elapsed)]
        target = job.target
        if job.seconds_left is not None:
            estimates.append(job.seconds_left)
        elif target is None:
            if job.left is not None and rate:
                estimates.append(job.left / rate if job.ahead else 0.0)
        elif rate and (end := units_to_target(self.records, *target)) is not None:
            most = math.inf if job.left is None else job.left
            estimates.append(min(max(0.0, end - job.done, self._point - job.done), most) / rate if job.ahead else 0.0)
        numbers = {**(self.records[-1].numbers if self.records else {}), **job.live()}
        worked = work_time() - self._began if job.kind.solver_time else elapsed
        slowed = max(1.0, (worked + SETTLED_SECONDS) / (elapsed + SETTLED_SECONDS))
        left = min((slowed * estimate for estimate in estimates if slowed * estimate < LONGEST_LEFT), default=None)
        return Progress(job.name, job.kind.unit, job.done, job.total, rate, left, numbers)

    def save_now_and_then(self) -> None:
        """Save if the last checkpoint is old enough."""
        if perf_counter() < self._save_at:
            return
        began = perf_counter()
        self.save("running")
        self._save_at = perf_counter() + max(CHECKPOINT_SECONDS, LEAST_SHARE * (perf_counter() - began))

    def save(self, status: str) -> None:
        """Write everything: the state first, ``run.json`` last."""
        if self.folder is None:
            self.job.keep(self.records, status)
            return
        job, records = self.job, self.records
        state = job.state()
        if state is not None:
            times = job.clock.seconds, job.clock.cpu_seconds
            before = [record for record in records if record.done < job.done]  # the record at this point is in run.json
            at = Position(job.kind.name, job.name, job.identity, job.done, *times, len(before), digest_of(before))
            self.folder.save_state(at, state)
        job.write(self.folder.path, records, status=status)
        self.folder.describe(job.about(), status=status, records=records)

    def _is_saved(self, folder: JobFolder, status: str) -> bool:
        """Return whether the folder is already up to date."""
        saved = folder.about() == folder.description(self.job.about(), status=status, records=self.records)
        return saved and all((folder.path / name).exists() for name in (STATE, *self.job.kind.files))

    def _failed(self, error: AlgorithmError) -> AlgorithmError:
        """Mark the job as failed; return the error to raise."""
        if self.folder is None:
            return error
        self.folder.mark("failed")
        if not (self.folder.path / STATE).exists():
            return error
        with self.folder.state() as file:
            done = position_of(file).done
        return AlgorithmError(f"{error}; {self.folder.path} has a checkpoint at {done:,} {self.job.kind.unit}")


def start(job: Job, folder: JobFolder | None, *, force: bool = False) -> Session:
    """Return a session of a new job, after claiming its folder."""
    if folder:
        folder.claim(force=force)
        folder.describe(job.about(), status=RUNNING, records=())
    session = Session(job, folder)
    session.new = True
    return session


def go_on(job: Job, folder: JobFolder) -> Session:
    """Return a session that resumes from the checkpoint in a reopened folder, or starts if there is none.

    Raises:
        FileError: the checkpoint or the records are missing, damaged or not of this job.
    """
    path, last = folder.path / STATE, folder.about().get("last")
    if last is None and not path.exists():
        folder.rewrite([])
        return Session(job, folder)
    if not path.exists():
        raise FileError(f"{folder.path} has no {STATE} to resume from; restart the {job.kind.noun} (with --force)")
    with folder.state() as file:
        at = position_of(file)
        if (at.kind, at.name, at.identity) != (job.kind.name, job.name, job.identity):
            raise FileError(f"{path}: state belongs to another {job.kind.noun} ({at.name}); restore the matching file")
        try:
            job.restore(file)
        except (FileError, AlgorithmError, KeyError, ValueError, TypeError, IndexError) as error:
            why = str(error).removeprefix(f"{path} ")
            if isinstance(error, FileError) and str(folder.path) in why:
                raise  # the error names another file of the folder
            raise FileError(f"{path}: not a state of {job.name} ({why}); restart (with --force)") from error
    if job.done != at.done:
        raise FileError(
            f"{path}: arrays are at {job.done:,} and the header at {at.done:,} {job.kind.unit}; restore the matching file"
        )
    job.clock.seconds, job.clock.cpu_seconds = at.seconds, at.cpu_seconds
    stored, schema = folder.records(), folder.kind.numbers
    newest = None if last is None else Record.from_json(json.dumps(last), schema, str(folder.path / RUN))
    if newest and newest.done > job.done:
        raise FileError(f"{path}: older than {RUN}, which has {newest.done:,} {job.kind.unit}; restore the matching file")
    records = stored[: at.records] + [record for record in stored[at.records :] if record.done == job.done]
    if digest_of(records[: at.records]) != at.records_digest or (newest and newest not in records):
        raise FileError(
            f"{folder.path / METRICS}: truncated or edited: records counted in {STATE} or {RUN} are missing; restore a "
            "backup or restart (with --force)"
        )
    folder.rewrite(records)
    return Session(job, folder, records)
