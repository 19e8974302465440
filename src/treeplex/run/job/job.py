"""The frame of every long job: step, evaluate, save, tell; stop at the end, a limit, a target or on request."""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
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

CHECKPOINT_SECONDS, LEAST_SHARE = 40.0, 20.0
"""A job is saved so often; more seldom if saving takes more than a twentieth of the time."""
RECORD_SECONDS = 5.0
"""How often jobs without points to evaluate at are evaluated."""
FITTED = 20
"""The most records from which the time to a target is estimated."""
LONGEST_LEFT = 365 * 86400.0
"""An estimate of more seconds than these says nothing and is left out."""
CHUNK_SECONDS = 0.1
"""How long to iterate between two looks at the clock and at requests to stop."""


@dataclass
class Clock:
    """Time spent in the steps of a job, over all its sessions, evaluation and compiling of kernels excluded.

    Attributes:
        seconds: by the wall.
        cpu_seconds: of the processor; jobs add that of their workers.
    """

    seconds: float = 0.0
    cpu_seconds: float = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Add the time of a block, unless it raises :class:`StepAbandoned`, whose work is done again."""
        began, processor = work_time(), work_cpu_time()
        yield
        self.seconds += work_time() - began
        self.cpu_seconds += work_cpu_time() - processor


class Job(ABC):
    """Long work in steps that can be saved between any two of them: one kind of it overrides what differs.

    Attributes:
        kind: its kind.
        clock: the time of its steps so far.
        interrupt: the request to stop; steps that last long may look at it and raise :class:`StepAbandoned`.
    """

    kind: ClassVar[JobKind]

    def __init__(self, interrupt: Interrupt | None = None) -> None:
        self.clock: Final = Clock()
        self.interrupt: Final = interrupt or Interrupt()

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of what runs, such as the algorithm's canonical spec."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """Identity of the game or data; a saved state is restored only if it matches."""

    @property
    @abstractmethod
    def done(self) -> int:
        """Progress in the unit of the kind."""

    @property
    @abstractmethod
    def total(self) -> int | None:
        """The planned total of units; None if something else stops the job."""

    @property
    def ahead(self) -> int:
        """The most units that the next step may do; 0 when all that was asked for is done."""
        return 0 if self.total is None else max(0, self.total - self.done)

    @property
    def left(self) -> float | None:
        """Estimate of the remaining units; None if unknown."""
        return None if self.total is None else max(0, self.total - self.done)

    @property
    def seconds_left(self) -> float | None:
        """About how long it goes on, for jobs that know better than by units and rate."""
        return None

    @property
    def saving_seconds(self) -> float:
        """About how long saving takes, before anybody has seen it; 0 for a moment."""
        return 0.0

    @property
    def target(self) -> tuple[str, float] | None:
        """A measure, and the value of it at which to stop."""
        return None

    def begin(self) -> None:  # noqa: B027
        """Get ready for the first step of a session: what takes time but counts for none."""

    @abstractmethod
    def step(self, count: int) -> None:
        """Do ``count`` units, or as many as a step has where that is fixed."""

    def measure(self) -> Mapping[str, Any]:
        """The numbers of a record."""
        return {}

    def live(self) -> Mapping[str, Any]:
        """Current numbers for the live display, in addition to the last record."""
        return {}

    def points(self) -> Iterator[int] | None:
        """Where to evaluate, ascending; None for every few seconds. A function of what was asked for alone."""
        return None

    @abstractmethod
    def about(self) -> Mapping[str, Any]:
        """The job's request, for ``run.json``."""

    def state(self) -> State | None:
        """Everything from which :meth:`restore` goes on bit for bit; None where the artefacts are the state."""
        return None

    def restore(self, arrays: Arrays) -> None:
        """Go on where :meth:`state` was; for a new job.

        Raises:
            FileError, AlgorithmError, KeyError, ValueError, TypeError, IndexError: the arrays do not fit.
        """
        raise NotImplementedError

    def write(self, path: Path, records: Sequence[Record], *, ended: bool) -> None:  # noqa: B027
        """Write what the job makes into its folder; pictures only when it has ended."""

    def keep(self, records: Sequence[Record], status: str) -> None:  # noqa: B027
        """Write everything where a job keeps itself that has no folder."""


def units_to_target(records: Sequence[Record], measure: str, target: float) -> float | None:
    """How many units a job will have done when a measure meets its target, if it goes on falling as it did of late.

    The measure is taken for a power of the units done: a straight line through its records on logarithmic scales, by least
    squares, of the last half of them, at least three and at most :data:`FITTED`.

    Returns:
        The units in total, infinite where the measure does not fall or the target is 0; None where fewer than two records tell.
    """
    late = records[-min(FITTED, max(3, len(records) // 2)) :]
    known = [(math.log(each.done), math.log(value)) for each in late if each.done and (value := each.measure(measure)) > 0]
    if len(known) < 2:
        return None
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
        records: all records, those of earlier sessions included.
        status: ``finished``, ``target reached``, ``time up`` or ``interrupted``.
        folder: where the job is, if anywhere.
    """

    records: tuple[Record, ...]
    status: str
    folder: Path | None


class Session:
    """A job from its start, or from where a checkpoint stands, to its end or a stop.

    Attributes:
        job: the job.
        folder: where it is written, if anywhere; claimed or reopened.
        records: all records.
        recorded: called with each new record.
        new: whether the job began with this session.
    """

    new = False

    def __init__(self, job: Job, folder: JobFolder | None = None, records: Sequence[Record] = ()) -> None:
        self.job, self.folder, self.records = job, folder, list(records)
        self._save_at = perf_counter() + max(CHECKPOINT_SECONDS, LEAST_SHARE * job.saving_seconds)
        self._worked = False
        self.recorded: Callable[[Record], None] | None = None

    @property
    def judged(self) -> bool:
        """Whether the last record is about the job as it stands; not if a job was killed before it could be made."""
        return not self.job.kind.recorded or (bool(self.records) and self.records[-1].done == self.job.done)

    @property
    def target_reached(self) -> bool:
        """Whether there is a target and the last record meets it."""
        target = self.job.target
        return target is not None and bool(self.records) and self.records[-1].measure(target[0]) <= target[1]

    def run(self, *, seconds: float | None = None, progress: Watcher | None = None) -> Outcome:
        """Run until something says stop, and save.

        Args:
            seconds: stop after about this much time in this call, evaluation included unless the kind counts solver time;
                compiling of kernels does not count.
            progress: called before the first step and after each.

        Raises:
            AlgorithmError: the job cannot go on; its last good checkpoint stays.
            GameError, PolicyError, SpecError: what it is asked for cannot be done; a new job without a checkpoint leaves no
                files.
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
        """Where to evaluate from here on; a job killed between saving and evaluating stands at a point to come."""
        at, judged = self.job.done, self.judged
        return (point for point in self.job.points() or () if point > at or (point == at and not judged))

    def drop_unscheduled(self) -> None:
        """Keep the records that an unbroken run would have made, in memory and in the folder."""
        points = self.job.points()
        if points is None:
            return
        scheduled = set(takewhile(lambda point: point <= self.job.done, points))
        kept = [record for record in self.records if record.done in scheduled]
        if len(kept) == len(self.records):
            return
        others = len(kept) < len(self.records) - (1 if self.judged and self.records[-1] not in kept else 0)
        self.records = kept
        if self.folder:
            if others:
                self.save("running")  # for the checkpoint counts them
            else:
                self.folder.describe(self.job.about(), status="running", records=kept)
            self.folder.rewrite(kept)

    def evaluate(self) -> Record:
        """Measure and write down where the job stands."""
        job = self.job
        found = job.measure()
        numbers = {name: read(found[name]) for name, read in job.kind.numbers.items()}
        record = Record(job.done, job.clock.seconds, job.clock.cpu_seconds, numbers)
        self.records.append(record)
        self._worked = True
        if self.folder:
            self.folder.append(record)
        if self.recorded:
            self.recorded(record)
        return record

    def progress(self, first: int, elapsed: float, limit: float | None) -> Progress:
        """Where the job stands in a session that began at ``first``, ``elapsed`` seconds ago."""
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
            estimates.append(min(max(0.0, end - job.done), most) / rate if job.ahead else 0.0)
        numbers = {**(self.records[-1].numbers if self.records else {}), **job.live()}
        left = min((each for each in estimates if each < LONGEST_LEFT), default=None)
        return Progress(job.name, job.kind.unit, job.done, job.total, rate, left, numbers)

    def save_now_and_then(self) -> None:
        """Save if the last time is long enough ago."""
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
            before = [record for record in records if record.done < job.done]  # the one at this place is in run.json
            at = Position(job.kind.name, job.name, job.identity, job.done, *times, len(before), digest_of(before))
            self.folder.save_state(at, state)
        job.write(self.folder.path, records, ended=status != "running")
        self.folder.describe(job.about(), status=status, records=records)

    def _is_saved(self, folder: JobFolder, status: str) -> bool:
        """Whether the folder says all this already, so that nothing has to be written."""
        saved = folder.about() == folder.description(self.job.about(), status=status, records=self.records)
        return saved and all((folder.path / name).exists() for name in (STATE, *self.job.kind.files))

    def _failed(self, error: AlgorithmError) -> AlgorithmError:
        """Mark the job as failed; return the error to raise."""
        if self.folder is None:
            return error
        self.folder.mark("failed")
        if not (self.folder.path / STATE).exists():
            return AlgorithmError(f"{error}; there is no checkpoint yet, so start again with --force")
        with self.folder.state() as file:
            done = position_of(file).done
        return AlgorithmError(f"{error}; {self.folder.path} has a checkpoint at {done:,} {self.job.kind.unit}")


def start(job: Job, folder: JobFolder | None, *, force: bool = False) -> Session:
    """A session of a new job, with its folder claimed."""
    if folder:
        folder.claim(force=force)
        folder.describe(job.about(), status="running", records=())
    session = Session(job, folder)
    session.new = True
    return session


def go_on(job: Job, folder: JobFolder) -> Session:
    """A session of a new job put where the checkpoint in its reopened folder stands; at the start if it never came to one.

    Raises:
        FileError: the checkpoint or the records are missing, damaged or not of this job.
    """
    path, last = folder.path / STATE, folder.about().get("last")
    if last is None and not path.exists():
        folder.rewrite([])
        return Session(job, folder)
    with folder.state() as file:
        at = position_of(file)
        if (at.kind, at.name, at.identity) != (job.kind.name, job.name, job.identity):
            raise FileError(f"{path}: the state of another {job.kind.noun} ({at.name}); put back the right file")
        try:
            job.restore(file)
        except (FileError, AlgorithmError, KeyError, ValueError, TypeError, IndexError) as error:
            why = str(error).removeprefix(f"{path} ")
            if isinstance(error, FileError) and str(folder.path) in why:
                raise  # it names another file of the folder
            raise FileError(f"{path}: not a state of {job.name} ({why}); start again (with --force)") from error
    if job.done != at.done:
        raise FileError(f"{path}: its arrays are at {job.done:,}, not at {at.done:,} {job.kind.unit}; put back the right file")
    job.clock.seconds, job.clock.cpu_seconds = at.seconds, at.cpu_seconds
    found, schema = folder.records(), folder.kind.numbers
    newest = None if last is None else Record.from_json(json.dumps(last), schema, str(folder.path / RUN))
    if newest and newest.done > job.done:
        raise FileError(f"{path}: older than {RUN}, which has {newest.done:,} {job.kind.unit}; put back the right file")
    records = found[: at.records] + [record for record in found[at.records :] if record.done == job.done]
    if digest_of(records[: at.records]) != at.records_digest or (newest and newest not in records):
        raise FileError(
            f"{folder.path / METRICS}: truncated or changed, for it lacks records that {STATE} or {RUN} counts; "
            "put back a copy or start again (with --force)"
        )
    folder.rewrite(records)
    return Session(job, folder, records)
