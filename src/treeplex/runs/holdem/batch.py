"""One spot on many boards: solved one after the other into a folder, safe to stop and to start again.

============================ ===================================================================================
``batch.json``               what is solved: boards, weights, settings
``boards/AsKd2c.json``       the result of one board, written when it is finished and then never touched again
``report.csv``, ``.md``      a line a board and weighted averages
``report.png``               how often each action is taken at one decision, board by board
``errors.txt``               boards that failed, and why; gone when there are none
============================ ===================================================================================
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from treeplex.errors import FileError, TreeplexError
from treeplex.games.poker.spots.spot import Spot
from treeplex.runs.holdem.boards import Board
from treeplex.runs.holdem.report.export import Solved, node_report
from treeplex.runs.job.interrupt import Interrupt
from treeplex.storage.files import write_atomically
from treeplex.storage.reading import MOST_TEXT, parse_json, read_bytes

FORMAT, VERSION = "treeplex holdem batch", 1


class StoppedError(Exception):
    """Solving one board stopped on Ctrl-C; its result does not count."""


Solve = Callable[[Spot, Interrupt], Solved]


@dataclass(frozen=True)
class Row:
    """The result of one board.

    Attributes:
        board: the cards.
        weight: how many boards it stands for.
        iterations: done.
        seconds: in the solver.
        exploitability: in chips.
        pot: in chips, for exploitability in per cent.
        ev: chips of both players against half the pot.
        equity: of both players, in [0, 1].
        lines: by line, every decision of the first street: ``player`` who acts, ``reach`` how often it comes to it, and
            ``actions``, how often the whole range takes each.
        identity: the SHA-256 of the spot.
        settings: what else decides the result.
    """

    board: str
    weight: float
    iterations: int
    seconds: float
    exploitability: float
    pot: float
    ev: tuple[float, float]
    equity: tuple[float, float]
    lines: Mapping[str, Mapping[str, Any]]
    identity: str
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class BatchProgress:
    """Where a batch stands.

    Attributes:
        board: the board under way.
        done: boards finished, those of earlier runs included.
        total: boards in all.
        failed: boards that failed in this run.
        seconds_left: an estimate; None before the first board of this run is finished.
    """

    board: str
    done: int
    total: int
    failed: int
    seconds_left: float | None


@dataclass(frozen=True)
class Batch:
    """What a batch did: rows of all finished boards in the order of the boards, failures, and whether Ctrl-C stopped it."""

    folder: Path
    boards: int
    rows: tuple[Row, ...]
    failures: Mapping[str, str] = field(default_factory=dict)
    interrupted: bool = False
    reused: int = 0


def run_batch(
    spot_on: Callable[[str], Spot],
    boards: Sequence[Board],
    folder: Path,
    solve: Solve,
    settings: Mapping[str, Any],
    *,
    progress: Callable[[BatchProgress], None] | None = None,
) -> Batch:
    """Solve a spot on many boards; :mod:`treeplex.runs.holdem.batch_report` puts the results together.

    Args:
        spot_on: the spot on a board, given as text.
        boards: which boards.
        folder: where results go; boards already finished there are not solved again.
        solve: solves one spot; it may raise :class:`StoppedError` when the interrupt it is given is requested.
        settings: algorithm, target and the like; results of other settings are refused.
        progress: called before each board.

    Raises:
        FileError: the folder cannot be written or holds another batch.
    """
    claim(folder, boards, settings)
    rows: dict[str, Row] = {}
    failures: dict[str, str] = {}
    reused, begun, solved = 0, perf_counter(), 0
    with Interrupt() as interrupt:
        for board in boards:
            try:
                spot = spot_on(board.name)
                found = read_row(row_path(folder, board), board, spot, settings)
                if found is not None:
                    rows[board.name], reused = found, reused + 1
                    continue
                if interrupt.requested:
                    break
                if progress:
                    pace = (perf_counter() - begun) / solved if solved else None
                    left = None if pace is None else pace * (len(boards) - len(rows) - len(failures))
                    progress(BatchProgress(board.name, len(rows), len(boards), len(failures), left))
                row = row_of(solve(spot, interrupt), board, spot, settings)
                write_atomically(row_path(folder, board), json.dumps(plain(row), indent=1) + "\n")
                rows[board.name], solved = row, solved + 1
            except StoppedError:
                break
            except FileError:
                raise
            except (TreeplexError, ArithmeticError, ValueError, RuntimeError, MemoryError) as error:
                failures[board.name] = " ".join(str(error).split()) or type(error).__name__
    return Batch(folder, len(boards), tuple(rows.values()), failures, interrupt.requested, reused)


def row_path(folder: Path, board: Board) -> Path:
    """Where the result of a board is kept."""
    return folder / "boards" / f"{board.name}.json"


def claim(folder: Path, boards: Sequence[Board], settings: Mapping[str, Any]) -> None:
    """Make the folder, or check that it holds a batch."""
    path = folder / "batch.json"
    try:
        (folder / "boards").mkdir(parents=True, exist_ok=True)
        strange = not path.exists() and any(each.name != "boards" for each in folder.iterdir())
    except (FileExistsError, NotADirectoryError) as error:
        raise FileError(f"{folder} is a file; give a folder") from error
    except OSError as error:
        raise FileError(f"cannot write the folder {folder}: {error.strerror or error}; choose another") from error
    if strange:
        raise FileError(f"{folder} holds other files and no batch; choose another folder")
    about = {
        "format": FORMAT,
        "version": VERSION,
        "settings": dict(settings),
        "boards": {board.name: board.weight for board in boards},
    }
    write_atomically(path, json.dumps(about, indent=1) + "\n")


def read_row(path: Path, board: Board, spot: Spot, settings: Mapping[str, Any]) -> Row | None:
    """The finished result of a board, with this batch's weight; None if there is none.

    Raises:
        FileError: it is damaged, or of another spot or other settings.
    """
    if not path.exists():
        return None
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


def row_of(solution: Solved, board: Board, spot: Spot, settings: Mapping[str, Any]) -> Row:
    """The result of a solved board."""
    root = node_report(solution, "")
    equity = tuple(side.mean(side.equity) for side in root.sides)
    return Row(
        board=board.name,
        weight=board.weight,
        iterations=solution.iterations,
        seconds=float(solution.seconds),
        exploitability=float(solution.exploitability),
        pot=spot.pot,
        ev=(float(solution.ev[0]), float(solution.ev[1])),
        equity=(equity[0], equity[1]),
        lines=first_street(solution),
        identity=spot.identity,
        settings=dict(settings),
    )


def first_street(solution: Solved) -> dict[str, dict[str, Any]]:
    """Every decision of the first street by its line, see :class:`Row`."""
    found: dict[str, dict[str, Any]] = {}
    waiting, everyone = [""], 0.0
    while waiting:
        view = solution.at(waiting.pop())
        if view.player is None:
            continue
        met = np.asarray(view.compatible_of(view.player), dtype=np.float64)
        reach = float(met.sum())
        everyone = everyone or reach
        often = np.asarray(view.strategy, dtype=np.float64) @ met / reach if reach else np.full(len(view.actions), np.nan)
        shares = {str(action): number(float(part)) for action, part in zip(view.actions, often, strict=True)}
        found[view.line] = {"player": view.player, "reach": reach / everyone if everyone else 0.0, "actions": shares}
        waiting += reversed(view.children())
    return found


def plain(row: Row) -> dict[str, Any]:
    """A row as plain data; nan as null."""
    pairs = {name: [number(value) for value in getattr(row, name)] for name in ("ev", "equity")}
    return {**row.__dict__, **pairs}


def number(value: float) -> float | None:
    """A number for JSON, nan as null."""
    return value if math.isfinite(value) else None


def known(value: float | None) -> float:
    """The number that :func:`number` wrote."""
    return math.nan if value is None else float(value)
