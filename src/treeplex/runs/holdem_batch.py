"""One spot on many boards: solved one after the other into a folder, safe to stop and to start again.

============================ ===================================================================================
``batch.json``               what is solved: boards, weights, settings
``boards/AsKd2c.json``       the result of one board, written when it is finished and then never touched again
``report.csv``, ``.md``      a line a board and weighted averages
``report.png``               how often the first player takes each action, board by board
``errors.txt``               boards that failed, and why; gone when there are none
============================ ===================================================================================
"""

import csv
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from treeplex.errors import FileError, TreeplexError
from treeplex.forms.files import write_atomically
from treeplex.games.poker.spot import Spot
from treeplex.runs.holdem_boards import Board
from treeplex.runs.holdem_export import Solved, node_report
from treeplex.runs.interrupt import Interrupt

FORMAT, VERSION = "treeplex holdem batch", 1
REPORTS = ("report.csv", "report.md", "report.png")


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
        player: who acts first.
        actions: how often that player takes each action, by name.
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
    player: int | None
    actions: Mapping[str, float]
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
    """Solve a spot on many boards and write the report.

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
    batch = Batch(folder, len(boards), tuple(rows.values()), failures, interrupt.requested, reused)
    write_report(batch)
    return batch


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
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}; check the folder") from error
    try:
        data = json.loads(text)
        data |= {"weight": board.weight, "ev": tuple(map(known, data["ev"])), "equity": tuple(map(known, data["equity"]))}
        row = Row(**{name: data[name] for name in Row.__dataclass_fields__})
    except (ValueError, KeyError, TypeError) as error:
        raise FileError(f"{path}: not a result of a batch; remove the file to solve the board again") from error
    if row.identity != spot.identity:
        raise FileError(f"{path}: the result of another spot; choose another folder, or remove this one to start again")
    if dict(row.settings) != dict(settings):
        old = ", ".join(f"{name} {value}" for name, value in row.settings.items())
        raise FileError(f"{path}: solved with {old}; ask for the same, choose another folder, or remove this one")
    return row


def row_of(solution: Solved, board: Board, spot: Spot, settings: Mapping[str, Any]) -> Row:
    """The result of a solved board."""
    root = node_report(solution, "")
    acting = None if root.player is None else root.sides[root.player]
    totals = [] if acting is None else [float(each) for each in acting.totals]
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
        player=root.player,
        actions=dict(zip(root.actions, totals, strict=True)),
        identity=spot.identity,
        settings=dict(settings),
    )


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


def columns(rows: Sequence[Row]) -> list[str]:
    """The names of the columns of a report."""
    actions: dict[str, None] = {}
    for row in rows:
        actions |= dict.fromkeys(row.actions)
    fixed = ["board", "weight", "iterations", "seconds", "exploitability", "exploitability_percent"]
    return [*fixed, "ev_oop", "ev_ip", "equity_oop", "equity_ip", *actions]


def actions_of(rows: Sequence[Row]) -> list[str]:
    """The names of the first player's actions, those of all boards together."""
    names = columns(rows)
    return names[names.index("equity_ip") + 1 :]


def cells(row: Row) -> dict[str, Any]:
    """A row by column."""
    return {
        "board": row.board,
        "weight": row.weight,
        "iterations": row.iterations,
        "seconds": row.seconds,
        "exploitability": row.exploitability,
        "exploitability_percent": 100 * row.exploitability / row.pot if row.pot else math.nan,
        "ev_oop": row.ev[0],
        "ev_ip": row.ev[1],
        "equity_oop": row.equity[0],
        "equity_ip": row.equity[1],
        **row.actions,
    }


def averages(rows: Sequence[Row]) -> dict[str, float]:
    """Means over the boards, weighted; actions that a board does not have count as never taken."""
    total = sum(row.weight for row in rows)
    table = [(cells(row), row.weight) for row in rows]
    names = [name for name in columns(rows) if name not in ("board", "weight", "iterations", "seconds")]
    return {name: sum(weight * each.get(name, 0.0) for each, weight in table) / total for name in names} if total else {}


def write_report(batch: Batch) -> None:
    """Write table, averages and picture, and the list of failures."""
    folder, rows = batch.folder, batch.rows
    errors = folder / "errors.txt"
    if batch.failures:
        write_atomically(errors, "".join(f"{board}: {message}\n" for board, message in batch.failures.items()))
    else:
        errors.unlink(missing_ok=True)
    if not rows:
        return
    write_atomically(folder / "report.csv", report_csv(rows))
    write_atomically(folder / "report.md", report_markdown(batch))
    from treeplex.runs.holdem_batch_plot import batch_figure
    from treeplex.runs.plots import write_figure

    write_figure(batch_figure(rows), folder / "report.png")


def report_csv(rows: Sequence[Row]) -> str:
    """The table as CSV, numbers in full; the averages as the last line."""
    names = columns(rows)
    text = io.StringIO()
    table = csv.DictWriter(text, names, restval=0.0, lineterminator="\n")
    table.writeheader()
    for row in rows:
        table.writerow(cells(row))
    table.writerow(
        {**dict.fromkeys(names, ""), "board": "average", "weight": sum(row.weight for row in rows), **averages(rows)}
    )
    return text.getvalue()


def report_markdown(batch: Batch) -> str:
    """The table as Markdown, averages first."""
    rows = batch.rows
    actions = actions_of(rows)
    head = ["board", "weight", "EV OOP", "EV IP", "equity OOP", *actions, "exploitability"]

    def line(entry: Mapping[str, Any], board: str, weight: float) -> str:
        numbers = [f"{entry['ev_oop']:+.2f}", f"{entry['ev_ip']:+.2f}", f"{100 * entry['equity_oop']:.1f}%"]
        shares = [f"{100 * entry.get(name, 0.0):.1f}%" for name in actions]
        return "| " + " | ".join([board, f"{weight:g}", *numbers, *shares, f"{entry['exploitability_percent']:.2f}%"]) + " |"

    total = sum(row.weight for row in rows)
    lines = [
        f"{len(rows)} of {batch.boards} boards. EV: chips against half the starting pot. Exploitability: of the pot.",
        "",
        "| " + " | ".join(head) + " |",
        "|---" + "|--:" * (len(head) - 1) + "|",
        line(averages(rows), "**average**", total),
        *(line(cells(row), row.board, row.weight) for row in rows),
    ]
    if batch.failures:
        lines += ["", "Failed:", "", *(f"- {board}: {message}" for board, message in batch.failures.items())]
    return "\n".join(lines) + "\n"
