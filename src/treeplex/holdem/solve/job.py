"""A resumable job that runs a solver on a poker spot and saves its state in one file."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from math import nan
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from treeplex.base.notices import notify
from treeplex.base.storage.files import write_atomically
from treeplex.errors import FileError
from treeplex.evaluate import Judgement
from treeplex.holdem.engine.passes import BoardPool
from treeplex.holdem.forms.spot_form import DISK, PACKED, SpotForm
from treeplex.holdem.policies.judge import judge_spot, judgement_of, judging_crew
from treeplex.holdem.policies.locks import with_locks
from treeplex.holdem.solve.solution import SPOT, HoldemSettings, HoldemSolution, records_of
from treeplex.holdem.solve.solver import HoldemSolver
from treeplex.run.job.interrupt import Interrupt
from treeplex.run.job.job import Outcome
from treeplex.run.job.record import Record
from treeplex.run.job.schedule import evaluation_points
from treeplex.run.solve.solvable import SolvingJob

RECORDS = "records.json"
"""Name of the file of records in a run's folder."""
LONG_ITERATION = 1.0
"""Mean seconds per iteration above which an interrupted run announces its final evaluation."""

SAVED_A_SECOND = 1e8
"""Approximate bytes of a solution compressed and written per second."""

NO_SCALES = np.zeros(0, np.float32)

UNJUDGED = Judgement(nan, nan, (nan, nan), (nan, nan))
"""Placeholder evaluation of a strategy whose evaluation was skipped."""


class SpotJob(SolvingJob):
    """A running solver.

    Args:
        solver: the solver at iteration 0.
        settings: settings of the solve.
        memory: bytes for solving and evaluation.
        iterations: maximum total number of iterations.
        every: number of iterations between evaluations.
        file: file of the run; None for none.
        interrupt: an existing interrupt listener.
    """

    kind = SPOT

    def __init__(
        self,
        solver: HoldemSolver,
        settings: HoldemSettings,
        memory: int,
        *,
        iterations: int,
        every: int,
        file: Path | None = None,
        interrupt: Interrupt | None = None,
    ) -> None:
        super().__init__(interrupt)
        self.solver, self.settings, self.memory = solver, settings, memory
        self.iterations, self.every, self.file = iterations, every, file
        self.judging_seconds = 0.0
        self._crew: BoardPool | None = None
        self._full: tuple[int, Judgement] | None = None

    @property
    def name(self) -> str:
        """The algorithm's canonical spec."""
        return self.solver.algorithm

    @property
    def identity(self) -> str:
        """The spot's identity."""
        return self.solver.game.spot.identity

    @property
    def _on_disk(self) -> bool:
        """Whether the run is stored in a folder, from which it resumes."""
        return self.solver.storage.startswith(DISK)

    @property
    def _storage(self) -> str:
        """Storage of the solution."""
        return PACKED if self._on_disk else self.solver.storage

    @property
    def done(self) -> int:
        """Iterations done."""
        return self.solver.iteration

    @property
    def total(self) -> int:
        """Number of iterations requested."""
        return self.iterations

    @property
    def saving_seconds(self) -> float:
        """Estimated time to save, from the memory of the solve; 0 for a run in a folder, which is already saved."""
        return 0.0 if self._on_disk or self.file is None else self.memory / SAVED_A_SECOND

    @property
    def target(self) -> tuple[str, float] | None:
        """Target exploitability in chips."""
        return None if self.settings.target is None else ("exploitability", self.settings.target)

    def begin(self) -> None:
        """Prepare the solver."""
        self.solver.run(0)

    def step(self, count: int) -> None:
        """Run iterations."""
        self.solver.run(count)

    def measure(self) -> Mapping[str, Any]:
        """Evaluate the average strategy; after the last iteration, both players' EVs are included."""
        if self.done >= self.total:
            return {"exploitability": self.judge_fully().exploitability}
        return {"exploitability": self._judged(expected=False).exploitability}

    def judge_fully(self) -> Judgement:
        """Evaluate the final average strategy with both players' EVs; a second Ctrl-C skips this."""
        if self._full is None or self._full[0] != self.done:
            self._full = self.done, self._judged(expected=True)
        return self._full[1]

    def _judged(self, *, expected: bool) -> Judgement:
        solver, began = self.solver, perf_counter()
        if self.interrupt.requested and self.clock.seconds > solver.iteration * LONG_ITERATION:
            notify("evaluating the strategy; press Ctrl-C again to save it without evaluation")
        try:
            judgement = self._judgement(expected=expected)
        except KeyboardInterrupt:
            if not self.interrupt.requested:
                raise
            judgement = UNJUDGED
            self._full = self.done, judgement
        self.judging_seconds += perf_counter() - began
        return judgement

    def _judgement(self, *, expected: bool) -> Judgement:
        solver, form = self.solver, self.solver.form
        if not isinstance(form, SpotForm):
            return judgement_of(solver.game, partial(form.root_values, solver.tables), expected=expected)
        self._crew = self._crew or judging_crew(solver.game, solver.threads)
        average = with_locks(solver.game, solver.store.average, solver.locks) if expected else solver.store.average
        return judge_spot(solver.game, average, solver.store, self._crew, expected=expected)

    @property
    def disk(self) -> tuple[int, float]:
        """Bytes read and written in the run's folder, and the seconds that workers spent on it; zeros without a folder."""
        return self.solver.form.moved if self._on_disk else (0, 0.0)

    def live(self) -> Mapping[str, Any]:
        """Disk throughput in MB/s."""
        size, seconds = self.disk
        return {"disk_mb_per_second": size / 1e6 / seconds} if seconds else {}

    def points(self) -> Iterator[int]:
        """Iterations at which to evaluate."""
        return evaluation_points(self.iterations, every=self.every)

    def about(self) -> Mapping[str, Any]:
        """Spot, algorithm and settings."""
        return {"spot": self.solver.game.spot.to_json(), "algorithm": self.name, "settings": asdict(self.settings)}

    def go_on(self, resume: HoldemSolution) -> None:
        """Resume from the state of a solution."""
        assert resume.state is not None
        self.solver.restore(resume.iterations, resume.state)
        last = resume.records[-1]
        self.clock.seconds, self.clock.cpu_seconds = last.seconds, last.cpu_seconds
        self.judging_seconds = resume.judging_seconds

    def keep(self, records: Sequence[Record], status: str) -> None:
        """Write a file from which the solve can be resumed."""
        if self._on_disk:
            self._keep_records(records)
        if self.file is not None and not (self._on_disk and status == "running"):
            self.made(records, status).save(self.file)

    def _keep_records(self, records: Sequence[Record]) -> None:
        folder = self.solver.form.folder
        assert folder is not None
        rows = [list(record.plain().values()) for record in records]
        write_atomically(folder / RECORDS, json.dumps(rows).encode())

    def kept_records(self) -> list[Record]:
        """The run's records in the folder up to the current iteration; also restores the run's clock.

        Raises:
            FileError: the records are damaged.
        """
        folder = self.solver.form.folder
        path = folder and folder / RECORDS
        if path is None or not self.done or not path.exists():
            return []
        try:
            records = records_of(json.loads(path.read_text()))
        except (OSError, ValueError, TypeError, IndexError) as error:
            raise FileError(f"cannot read {path} ({error}); delete it, which discards its records") from error
        records = tuple(record for record in records if record.done <= self.done)
        if records:
            self.clock.seconds, self.clock.cpu_seconds = records[-1].seconds, records[-1].cpu_seconds
        return list(records)

    def solution(self, outcome: Outcome) -> HoldemSolution:
        """The solution at the end of a session."""
        return self.made(outcome.records, outcome.status)

    def made(self, records: Sequence[Record], status: str) -> HoldemSolution:
        """The solution at the current iteration, fully evaluated; it shares the solver's arrays."""
        solver, judgement = self.solver, self.judge_fully()
        state = None if self._on_disk else solver.arrays()
        average, scales = solver.average() if state is None else (state["average"], state.get("average_scales", NO_SCALES))
        last = Record(self.done, self.clock.seconds, self.clock.cpu_seconds, {"exploitability": judgement.exploitability})
        return HoldemSolution(
            game=solver.game,
            algorithm=solver.algorithm,
            settings=replace(self.settings, threads=solver.threads, storage=self._storage),
            records=(*(record for record in records if record.done < self.done), last),
            ev=(judgement.value[0], judgement.value[1]),
            status=status,
            average=average,
            scales=scales,
            state=state,
            locks=solver.locks,
            streets=len(solver.game.boards),
            judging_seconds=self.judging_seconds,
            memory=self.memory,
            disk=self.disk,
            best=(judgement.best_response_values[0], judgement.best_response_values[1]),
            folder=self.file,
        )
