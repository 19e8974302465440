"""Solves one spot on many boards and writes the results to a folder; runs can be stopped and resumed.

============================ ===================================================================================
``run.json``                 boards, weights and settings
``boards/AsKd2c.json``       the result of one board, written once when the board is finished
``report.csv``, ``.md``      one line per board, and weighted averages
``report.png``               action frequencies at one decision, board by board
``errors.txt``               failed boards and their errors; absent when there are none
============================ ===================================================================================
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treeplex.base.digits import finite
from treeplex.base.storage.files import write_atomically
from treeplex.base.storage.reading import MOST_TEXT, parse_json, read_bytes
from treeplex.base.workers.crew import Inline
from treeplex.base.workers.executor import POLL_SECONDS, Executor, make_executor
from treeplex.errors import FileError, SpecError
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.study.batches.board import FAILURES, BoardTask, Row, Solve, StoppedError, deals_on, solve_row, words_of
from treeplex.holdem.study.batches.boards import Board
from treeplex.run.job.folder import LOCK, JobFolder, JobKind, kind_of
from treeplex.run.job.interrupt import Interrupt, StepAbandoned
from treeplex.run.job.job import Job, Session
from treeplex.run.job.record import Watcher

BATCH = JobKind(
    name="batch", unit="boards", maker="treeplex holdem flops", needs={"boards": dict}, noun="batch", recorded=False
)
"""Run format of batches: the results of the boards are the run's state; there are no records."""


@dataclass(frozen=True)
class Batch:
    """The results of a batch: rows of the finished boards in order, failures, and whether Ctrl-C stopped it."""

    folder: Path
    boards: int
    rows: tuple[Row, ...]
    failures: Mapping[str, str] = field(default_factory=dict)
    interrupted: bool = False
    reused: int = 0


class BatchJob(Job):
    """A running batch; a step ends when one board is finished (several with workers).

    Attributes:
        executor: solves as many boards in parallel as it has workers.
        rows: results by board.
        failures: error messages by board.
        reused: number of boards that were already finished.
    """

    kind = BATCH

    def __init__(
        self,
        spot_on: Callable[[str], Spot],
        boards: Sequence[Board],
        folder: Path,
        solve: Solve,
        settings: Mapping[str, Any],
        *,
        keep: bool = False,
        executor: Executor | None = None,
        interrupt: Interrupt | None = None,
    ) -> None:
        super().__init__(interrupt)
        self.executor = executor or make_executor("inline")
        self.boards, self.settings, self.folder, self.keeps_spots = boards, settings, folder, keep
        self.rows: dict[str, Row] = {}
        self.failures: dict[str, str] = {}
        self.reused = 0
        self._spot_on, self._solve = spot_on, solve

    @property
    def name(self) -> str:
        """The algorithm."""
        return str(self.settings.get("algorithm", BATCH.name))

    @property
    def identity(self) -> str:
        """Empty, since each result stores the identity of its own spot."""
        return ""

    @property
    def done(self) -> int:
        """Number of boards finished or failed."""
        return len(self.rows) + len(self.failures)

    @property
    def total(self) -> int:
        """Number of boards."""
        return len(self.boards)

    @property
    def ahead(self) -> int:
        """Steps per call: one board at a time."""
        return min(1, self.total - self.done)

    @property
    def _open(self) -> list[Board]:
        return [board for board in self.boards if board.name not in self.rows and board.name not in self.failures]

    def begin(self) -> None:
        """Read the finished results."""
        for board in self.boards:
            path = row_path(self.folder, board)
            if path.exists():
                with suppress(SpecError):  # a board that is no valid spot fails in its own step
                    self.rows[board.name] = read_row(path, board, self._spot_on(board.name), self.settings)
        self.reused = len(self.rows)

    def step(self, count: int) -> None:
        """Solve until a board is finished and write its result, or record its error."""
        waiting = self.executor.jobs()
        for board in [candidate for candidate in self._open if candidate.name not in waiting][
            : self.executor.size - len(waiting)
        ]:
            try:
                spot = self._spot_on(board.name)
            except FAILURES as error:
                self.failures[board.name] = words_of(error)
                return
            alone = isinstance(self.executor.crew, Inline)
            file = None if self.executor.elsewhere else row_path(self.folder, board).with_suffix(".spot")
            task = BoardTask(self._solve, spot, board, self.settings, file, self.keeps_spots, self.interrupt if alone else None)
            self.executor.add(board.name, solve_row, task)
        try:
            while not (results := self.executor.finished(POLL_SECONDS)):
                if self.interrupt.requested:
                    raise StoppedError
        except StoppedError as stopped:
            self.executor.give_up()
            raise StepAbandoned from stopped
        for name, (row, spot_bytes) in results:
            assert isinstance(name, str)
            if isinstance(row, str):
                self.failures[name] = row
                continue
            path = self.folder / "boards" / f"{name}.json"
            write_atomically(path, json.dumps(row_to_json(row), indent=1) + "\n")
            if spot_bytes is not None:
                write_atomically(path.with_suffix(".spot"), spot_bytes)
            if not self.keeps_spots:
                path.with_suffix(".spot").unlink(missing_ok=True)
            self.rows[name] = row

    def live(self) -> Mapping[str, Any]:
        """The first unfinished board, and the number of failures."""
        board = next(iter(self._open), None)
        return {"board": board.name if board else "", "failed": len(self.failures)}

    def about(self) -> Mapping[str, Any]:
        """Settings, and boards with their weights."""
        return {"settings": dict(self.settings), "boards": {board.name: board.weight for board in self.boards}}


def run_batch(
    spot_on: Callable[[str], Spot],
    boards: Sequence[Board],
    folder: Path,
    solve: Solve,
    settings: Mapping[str, Any],
    *,
    keep: bool = False,
    progress: Watcher | None = None,
    executor: Executor | None = None,
    interrupt: Interrupt | None = None,
) -> Batch:
    """Solve a spot on many boards; :mod:`treeplex.holdem.study.batches.report` summarises the results.

    Args:
        spot_on: function from a board, as text, to its spot.
        boards: the boards.
        folder: folder of the results; boards already finished there are not solved again.
        solve: solves one spot; it may raise :class:`StoppedError` when its interrupt is requested, and save unfinished work in
            the file it is given.
        settings: algorithm, target and so on; results with other settings are rejected.
        keep: save each solved board's file next to its result.
        progress: called before the first board and after each.
        executor: solves boards in parallel; ``solve`` must then be a module-level function, and does not receive the
            interrupt. When the batch stops, unfinished boards are abandoned; local workers leave files to resume, workers on
            other machines do not.
        interrupt: the request to stop; default: Ctrl-C.

    Raises:
        FileError: the folder cannot be written, holds a different batch, or is in use by another process.
    """
    job = BatchJob(spot_on, boards, folder, solve, settings, keep=keep, executor=executor, interrupt=interrupt)
    with JobFolder(BATCH, folder) as job_folder:
        if kind_of(folder) is not None:
            job_folder.about()
        elif folder.is_dir() and any(entry.name not in ("boards", LOCK) for entry in folder.iterdir()):
            raise FileError(f"{folder} holds other files but no batch; choose another folder")
        job_folder.make()
        (folder / "boards").mkdir(exist_ok=True)
        job_folder.describe(job.about(), status="running", records=())
        outcome = Session(job, job_folder).run(progress=progress)
    rows = tuple(job.rows[board.name] for board in boards if board.name in job.rows)
    return Batch(folder, len(boards), rows, job.failures, outcome.status == "interrupted", job.reused)


def row_path(folder: Path, board: Board) -> Path:
    """The path of a board's result."""
    return folder / "boards" / f"{board.name}.json"


def read_row(path: Path, board: Board, spot: Spot, settings: Mapping[str, Any]) -> Row:
    """The finished result of a board, with its weight in this batch.

    Raises:
        FileError: the result is damaged, or belongs to another spot or other settings.
    """
    text = read_bytes(path, most=MOST_TEXT)
    try:
        data = parse_json(text)
        data |= {
            "weight": board.weight,
            "deals": deals_on(spot),
            "ev": tuple(map(number_or_nan, data["ev"])),
            "equity": tuple(map(number_or_nan, data["equity"])),
        }
        row = Row(**{name: data[name] for name in Row.__dataclass_fields__})
    except (ValueError, KeyError, TypeError) as error:
        raise FileError(f"{path}: not a batch result; remove the file to solve the board again") from error
    if row.identity != spot.identity:
        raise FileError(f"{path}: the result of another spot; choose another folder, or remove this one to restart")
    if dict(row.settings) != dict(settings):
        units = {"target": f" {row.unit}"}
        old = ", ".join(f"{name} {value}{units.get(name, '')}" for name, value in row.settings.items() if value is not None)
        raise FileError(f"{path}: solved with {old}; use the same settings, choose another folder, or remove this one")
    return row


def row_to_json(row: Row) -> dict[str, Any]:
    """A row as JSON data; NaN as null."""
    pairs = {name: [finite(value) for value in getattr(row, name)] for name in ("ev", "equity")}
    return {**row.__dict__, **pairs}


def number_or_nan(value: float | None) -> float:
    """Inverse of :func:`treeplex.base.digits.finite`."""
    return math.nan if value is None else float(value)
