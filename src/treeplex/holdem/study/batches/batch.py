"""One spot on many boards: solved one after the other into a folder, safe to stop and to start again.

============================ ===================================================================================
``run.json``                 what is solved: boards, weights, settings
``boards/AsKd2c.json``       the result of one board, written when it is finished and then never touched again
``report.csv``, ``.md``      a line a board and weighted averages
``report.png``               how often each action is taken at one decision, board by board
``errors.txt``               boards that failed, and why; gone when there are none
============================ ===================================================================================
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treeplex.base.storage.files import write_atomically
from treeplex.base.storage.reading import MOST_TEXT, parse_json, read_bytes
from treeplex.base.workers.crew import Inline
from treeplex.base.workers.executor import POLL_SECONDS, Executor, make_executor
from treeplex.errors import FileError, SpecError
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.study.batches.board import FAILURES, BoardTask, Row, Solve, StoppedError, number, solve_row, words_of
from treeplex.holdem.study.batches.boards import Board
from treeplex.run.job.folder import LOCK, JobFolder, JobKind, kind_of
from treeplex.run.job.interrupt import Interrupt, StepAbandoned
from treeplex.run.job.job import Job, Session
from treeplex.run.job.record import Watcher

BATCH = JobKind(
    name="batch", unit="boards", maker="treeplex holdem flops", needs={"boards": dict}, noun="batch", recorded=False
)
"""Batches of boards: the results of boards are the state, and there are no records."""


@dataclass(frozen=True)
class Batch:
    """What a batch did: rows of all finished boards in the order of the boards, failures, and whether Ctrl-C stopped it."""

    folder: Path
    boards: int
    rows: tuple[Row, ...]
    failures: Mapping[str, str] = field(default_factory=dict)
    interrupted: bool = False
    reused: int = 0


class BatchJob(Job):
    """A batch under way: a step ends with a board, or with several where workers solve.

    Attributes:
        executor: solves boards, as many at a time as it has workers.
        rows: results by board.
        failures: what went wrong, by board.
        reused: boards that were finished before.
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
        """None of its own: each result has that of its spot."""
        return ""

    @property
    def done(self) -> int:
        """Boards finished or failed."""
        return len(self.rows) + len(self.failures)

    @property
    def total(self) -> int:
        """Boards in all."""
        return len(self.boards)

    @property
    def ahead(self) -> int:
        """One board at a time."""
        return min(1, self.total - self.done)

    @property
    def _open(self) -> list[Board]:
        return [each for each in self.boards if each.name not in self.rows and each.name not in self.failures]

    def begin(self) -> None:
        """Read what is finished already."""
        for board in self.boards:
            path = row_path(self.folder, board)
            if path.exists():
                with suppress(SpecError):  # a board that is no spot fails when its turn comes
                    self.rows[board.name] = read_row(path, board, self._spot_on(board.name), self.settings)
        self.reused = len(self.rows)

    def step(self, count: int) -> None:
        """Solve boards until one is finished, and write its result; what goes wrong with it is noted."""
        waiting = self.executor.jobs()
        for board in [each for each in self._open if each.name not in waiting][: self.executor.size - len(waiting)]:
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
            while not (found := self.executor.finished(POLL_SECONDS)):
                if self.interrupt.requested:
                    raise StoppedError
        except StoppedError as stopped:
            self.executor.give_up()
            raise StepAbandoned from stopped
        for name, (row, kept) in found:
            assert isinstance(name, str)
            if isinstance(row, str):
                self.failures[name] = row
                continue
            path = self.folder / "boards" / f"{name}.json"
            write_atomically(path, json.dumps(row_to_json(row), indent=1) + "\n")
            if kept is not None:
                write_atomically(path.with_suffix(".spot"), kept)
            if not self.keeps_spots:
                path.with_suffix(".spot").unlink(missing_ok=True)
            self.rows[name] = row

    def live(self) -> Mapping[str, Any]:
        """The first board under way, and how many failed."""
        board = next(iter(self._open), None)
        return {"board": board.name if board else "", "failed": len(self.failures)}

    def about(self) -> Mapping[str, Any]:
        """Boards, weights and settings."""
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
    """Solve a spot on many boards; :mod:`treeplex.holdem.study.batches.report` puts the results together.

    Args:
        spot_on: the spot on a board, given as text.
        boards: which boards.
        folder: where results go; boards already finished there are not solved again.
        solve: solves one spot; it may raise :class:`StoppedError` when the interrupt it is given is requested, and keep what is
            unfinished in the file it is given.
        settings: algorithm, target and the like; results of other settings are refused.
        keep: keep the file in which each board was solved, next to its result.
        progress: called before the first board and after each.
        executor: solves boards at the same time; ``solve`` is then a function of a module, and hears of no interrupt: boards
            under way are given up, with what is in their files. On other machines nothing is kept of these.
        interrupt: the request to stop; Ctrl-C where none is given.

    Raises:
        FileError: the folder cannot be written, holds another batch, or another process writes it.
    """
    job = BatchJob(spot_on, boards, folder, solve, settings, keep=keep, executor=executor, interrupt=interrupt)
    with JobFolder(BATCH, folder) as place:
        if kind_of(folder) is not None:
            place.about()
        elif folder.is_dir() and any(each.name not in ("boards", LOCK) for each in folder.iterdir()):
            raise FileError(f"{folder} holds other files and no batch; choose another folder")
        place.make()
        (folder / "boards").mkdir(exist_ok=True)
        place.describe(job.about(), status="running", records=())
        outcome = Session(job, place).run(progress=progress)
    rows = tuple(job.rows[board.name] for board in boards if board.name in job.rows)
    return Batch(folder, len(boards), rows, job.failures, outcome.status == "interrupted", job.reused)


def row_path(folder: Path, board: Board) -> Path:
    """The path of a board's result."""
    return folder / "boards" / f"{board.name}.json"


def read_row(path: Path, board: Board, spot: Spot, settings: Mapping[str, Any]) -> Row:
    """The finished result of a board, with this batch's weight.

    Raises:
        FileError: it is damaged, or of another spot or other settings.
    """
    text = read_bytes(path, most=MOST_TEXT)
    try:
        data = parse_json(text)
        data |= {"weight": board.weight, "ev": tuple(map(known, data["ev"])), "equity": tuple(map(known, data["equity"]))}
        row = Row(**{name: data[name] for name in Row.__dataclass_fields__})
    except (ValueError, KeyError, TypeError) as error:
        raise FileError(f"{path}: not a result of a batch; remove the file to solve the board again") from error
    if row.identity != spot.identity:
        raise FileError(f"{path}: the result of another spot; choose another folder, or remove this one to start again")
    if dict(row.settings) != dict(settings):
        units = {"target": " chips"}
        old = ", ".join(f"{name} {value}{units.get(name, '')}" for name, value in row.settings.items() if value is not None)
        raise FileError(f"{path}: solved with {old}; ask for the same, choose another folder, or remove this one")
    return row


def row_to_json(row: Row) -> dict[str, Any]:
    """A row as plain data; nan as null."""
    pairs = {name: [number(value) for value in getattr(row, name)] for name in ("ev", "equity")}
    return {**row.__dict__, **pairs}


def known(value: float | None) -> float:
    """The number that :func:`number` wrote."""
    return math.nan if value is None else float(value)
