"""The loop of a run that samples rules: iterate, evaluate, save; stop at a limit or at Ctrl-C."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count, dropwhile, takewhile
from pathlib import Path
from time import perf_counter
from typing import final

from treeplex.evaluate import judge
from treeplex.evaluate.playouts import Player, estimate, head_to_head
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.sparse import TablePolicy
from treeplex.games.base import Game
from treeplex.runs.job.interrupt import Interrupt
from treeplex.runs.job.record import UNCOUNTED_ITERATIONS
from treeplex.runs.sample.folder import SampleFolder, SampleRecord, SampleSettings
from treeplex.solvers.sampling.rules_solver import RulesSampler

CHECKPOINT_SECONDS, LEAST_SHARE = 60.0, 20.0
"""A run is saved every minute; more seldom if saving takes more than a twentieth of the time."""
SLICE_SECONDS = 0.1


@dataclass(frozen=True)
class SampleProgress:
    """Where a run stands.

    Attributes:
        algorithm: the scheme.
        iteration: iterations done.
        nodes: histories walked.
        iteration_rate, node_rate: iterations and histories a second in this sitting.
        infosets: infosets in the tables.
        bytes, memory: memory that the tables take, and may take.
        full: whether the limit was reached.
        seconds_left: an estimate; None when nothing is known.
    """

    algorithm: str
    iteration: int
    nodes: int
    iteration_rate: float
    node_rate: float
    infosets: int
    bytes: int
    memory: int
    full: bool
    seconds_left: float | None


Watcher = Callable[[SampleProgress], None]


@dataclass
class SampleRun:
    """A run under way: the only thing here that changes."""

    sampler: RulesSampler
    settings: SampleSettings
    opponent: Player
    compiled: CompiledGame | None
    folder: SampleFolder | None
    records: list[SampleRecord] = field(default_factory=list)
    seconds: float = 0.0
    save_at: float = field(default_factory=lambda: perf_counter() + CHECKPOINT_SECONDS)

    def is_finished(self) -> bool:
        """Whether all iterations asked for are done, or all histories walked."""
        nodes = self.settings.nodes
        return self.sampler.iteration >= self.settings.iterations or (nodes is not None and self.sampler.nodes >= nodes)

    def is_evaluated(self) -> bool:
        """Whether the last record is about the sampler as it stands; not if a run was killed before it could be made."""
        return bool(self.records) and self.records[-1].iteration == self.sampler.iteration

    def evaluate(self) -> TablePolicy:
        """Estimate what the average policy is worth, and record it."""
        sampler, settings = self.sampler, self.settings
        policy = sampler.average_policy()
        own = estimate(sampler.game, policy, playouts=settings.playouts, seed=settings.seed)
        match = head_to_head(sampler.game, policy, self.opponent, playouts=settings.playouts, seed=settings.seed + 1)
        found = judge(self.compiled, policy.on(self.compiled)) if self.compiled is not None else None
        record = SampleRecord(
            iteration=sampler.iteration,
            seconds=self.seconds,
            nodes=sampler.nodes,
            infosets=sampler.infosets,
            bytes=sampler.bytes,
            unstored=sampler.unstored,
            value=own.value,
            error=own.error,
            match=match.value,
            match_error=match.error,
            exploitability=found.exploitability if found else None,
            nash_conv=found.nash_conv if found else None,
        )
        self.records.append(record)
        if self.folder:
            self.folder.append(record)
        return policy

    def save_now_and_then(self) -> None:
        """Save state and policy, once a minute."""
        if self.folder is None or perf_counter() < self.save_at:
            return
        begun = perf_counter()
        self.folder.save_state(self.sampler, self.seconds)
        self.folder.save_policy(self.sampler.average_policy())
        self.describe("running")
        self.save_at = perf_counter() + max(CHECKPOINT_SECONDS, LEAST_SHARE * (perf_counter() - begun))

    def describe(self, status: str) -> None:
        """Write ``sample.json``."""
        if self.folder:
            last = self.records[-1] if self.records else None
            self.folder.describe(self.sampler, self.settings, status=status, last=last)


@final
class Sampled:
    """What a run gave.

    Attributes:
        policy: the average policy.
        records: all evaluations; :attr:`last` is about ``policy``.
        settings: of the run.
        status: ``finished``, ``time up`` or ``interrupted``.
        sampler: from which more iterations can be done.
        folder: where it was written, if it was.
    """

    def __init__(self, run: SampleRun, policy: TablePolicy, status: str) -> None:
        self.policy, self.records, self.settings, self.status = policy, tuple(run.records), run.settings, status
        self.sampler, self.seconds = run.sampler, run.seconds
        self.folder: Path | None = run.folder.path if run.folder else None

    @property
    def last(self) -> SampleRecord:
        """The last evaluation."""
        return self.records[-1]

    @property
    def game(self) -> Game:
        """The rules."""
        return self.sampler.game

    @property
    def algorithm(self) -> str:
        """The scheme."""
        return self.sampler.algorithm

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write a run folder, from which the run can be resumed.

        Raises:
            FileError: the folder cannot be written, or holds files and ``force`` is not set.
        """
        folder = SampleFolder(path)
        folder.claim(force=force)
        folder.rewrite(self.records)
        self.write(folder)
        self.folder = folder.path
        return folder.path

    def write(self, folder: SampleFolder) -> None:
        """Write all but the metrics into a claimed folder."""
        folder.save_state(self.sampler, self.seconds)
        folder.save_policy(self.policy)
        folder.describe(self.sampler, self.settings, status=self.status, last=self.last)
        folder.plot(f"{self.game}, {self.algorithm}", self.settings.against, self.records)

    def __repr__(self) -> str:
        return (
            f"<sampled {self.game} by {self.algorithm}: {self.last.iteration:,} iterations, {self.last.nodes:,} nodes, "
            f"{self.last.infosets:,} infosets, {self.status}>"
        )


def iterate(run: SampleRun, seconds: float | None, interrupt: Interrupt, watcher: Watcher | None) -> str:
    """Iterate and evaluate until something says stop; return what."""
    sampler, settings = run.sampler, run.settings
    if run.is_finished():
        return "finished"
    drop_unscheduled(run)
    begun, first, walked, chunk = perf_counter(), sampler.iteration, sampler.nodes, 1
    if watcher:
        watcher(progress_of(run, 0, 0, 0.0, seconds))  # the first iteration may take long
    for point in dropwhile(lambda point: point < first or (point == first and run.is_evaluated()), evaluation_points(settings)):
        while sampler.iteration < point and not run.is_finished():
            chunk = advance(run, min(chunk, point - sampler.iteration))
            run.save_now_and_then()
            elapsed = perf_counter() - begun
            if watcher:
                watcher(progress_of(run, sampler.iteration - first, sampler.nodes - walked, elapsed, seconds))
            if interrupt.requested:
                return "interrupted"
            if seconds is not None and elapsed >= seconds:
                return "finished" if run.is_finished() else "time up"
        if run.is_finished():
            break
        run.evaluate()
        if interrupt.requested:
            return "interrupted"
        if seconds is not None and perf_counter() - begun >= seconds:
            return "time up"
    return "finished"


def evaluation_points(settings: SampleSettings) -> Iterator[int]:
    """The iterations after which the average policy is evaluated: multiples of ``every``, or 1, 2, 5, 10, 20, 50, ...

    Fewer than where policies are judged exactly, since playouts take their time.
    """
    last = settings.iterations
    decades = (digit * 10**power for power in count() for digit in (1, 2, 5))
    points = decades if settings.every is None else count(settings.every, settings.every)
    yield from takewhile(lambda point: point < last, points)
    yield last


def drop_unscheduled(run: SampleRun) -> None:
    """Keep the records that an unbroken run would have made."""
    at = run.sampler.iteration
    scheduled = set(takewhile(lambda point: point <= at, evaluation_points(run.settings)))
    run.records = [record for record in run.records if record.iteration in scheduled]
    if run.folder and at:
        run.describe("running")
        run.folder.rewrite(run.records)


def advance(run: SampleRun, iterations: int) -> int:
    """Run some iterations; return how many to run next so that it takes about a tenth of a second."""
    begun = perf_counter()
    run.sampler.run(iterations, nodes=run.settings.nodes)
    spent = perf_counter() - begun
    run.seconds += spent
    return max(1, min(8 * iterations, int(iterations * SLICE_SECONDS / max(spent, 1e-9))))


def progress_of(run: SampleRun, iterations: int, nodes: int, elapsed: float, limit: float | None) -> SampleProgress:
    """Where the run stands, from what was done in this sitting."""
    sampler, settings = run.sampler, run.settings
    estimates = [] if limit is None else [max(0.0, limit - elapsed)]
    if settings.iterations < UNCOUNTED_ITERATIONS and iterations:
        estimates.append((settings.iterations - sampler.iteration) * elapsed / iterations)
    if settings.nodes is not None and nodes:
        estimates.append(max(0, settings.nodes - sampler.nodes) * elapsed / nodes)
    return SampleProgress(
        algorithm=sampler.algorithm,
        iteration=sampler.iteration,
        nodes=sampler.nodes,
        iteration_rate=iterations / elapsed if elapsed > 0 else 0.0,
        node_rate=nodes / elapsed if elapsed > 0 else 0.0,
        infosets=sampler.infosets,
        bytes=sampler.bytes,
        memory=settings.memory,
        full=sampler.full,
        seconds_left=min(estimates, default=None),
    )


def finish(run: SampleRun, status: str) -> Sampled:
    """Evaluate if need be, save, and hand out what there is."""
    policy = run.sampler.average_policy() if run.is_evaluated() else run.evaluate()
    sampled = Sampled(run, policy, status)
    if run.folder:
        sampled.write(run.folder)
    return sampled
