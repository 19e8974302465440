"""One board of a batch: solved by a worker, and its result as a row."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from treeplex.errors import FileError, SpecError, TreeplexError
from treeplex.holdem.solve.session import DEFAULT_SHARE, DEFAULT_STORAGE
from treeplex.holdem.solve.solution import HoldemSolution, load_solution
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.study.batches.boards import Board
from treeplex.holdem.study.report.export import Solved, node_report
from treeplex.run.job.interrupt import Interrupt
from treeplex.run.job.record import Watcher
from treeplex.run.solve.settings import DEFAULT_ITERATIONS
from treeplex.solvers.registry import DEFAULT_ALGORITHM, pace_of

FAILURES = (TreeplexError, ArithmeticError, ValueError, RuntimeError, MemoryError)
"""Exceptions that fail one board and not the others."""


class StoppedError(Exception):
    """Solving one board stopped on Ctrl-C; its result does not count."""


Solve = Callable[[Spot, Interrupt, Path], Solved]
"""Solves a spot, listens to an interrupt, and may keep what is unfinished in a file, from which it goes on next time."""


@dataclass(frozen=True)
class Row:
    """The result of one board.

    Attributes:
        board: the cards.
        weight: how many boards it stands for.
        iterations: done.
        seconds: in the solver.
        exploitability: in chips.
        pot: in chips, for exploitability in percent.
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


class BoardTask(NamedTuple):
    """A board to solve.

    Attributes:
        solve: how.
        spot, board, settings: what; see :func:`row_of`.
        file: what is unfinished; None on a machine without the folder.
        keep: whether the solved spot is wanted.
        interrupt: checked while it is solved, in this process.
    """

    solve: Solve
    spot: Spot
    board: Board
    settings: Mapping[str, Any]
    file: Path | None
    keep: bool
    interrupt: Interrupt | None


def solve_row(task: BoardTask) -> tuple[Row | str, bytes | None]:
    """The result of a board, or what went wrong; and the solved spot, if it is wanted and there is no folder for it.

    Raises:
        StoppedError: on request.
        FileError: its file cannot be written.
    """
    with TemporaryDirectory() as elsewhere:
        file = task.file or Path(elsewhere) / f"{task.board.name}.spot"
        try:
            solved = task.solve(task.spot, task.interrupt or Interrupt(), file)
            row = row_of(solved, task.board, task.spot, task.settings)
        except FileError:
            raise
        except FAILURES as error:
            return words_of(error), None
        return row, file.read_bytes() if task.keep and task.file is None else None


def words_of(error: Exception) -> str:
    """An error as one line of text."""
    return " ".join(str(error).split()) or type(error).__name__


def solve_board(spot: Spot, interrupt: Interrupt, file: Path, watch: Watcher | None = None) -> HoldemSolution:
    """Solve one board of a batch by the spot's settings, or resume its file if it was stopped.

    Raises:
        StoppedError: on request.
    """
    how = spot.settings
    given = partial(solve_spot, spot, how.algorithm, storage=how.storage, progress=watch, interrupt=interrupt, out=file)
    try:
        begun = load_solution(file) if file.exists() else None
        if begun is not None and begun.locks:
            raise SpecError("locks may be others now")
        solution = given(resume=begun)
    except (FileError, SpecError):
        if not file.exists():
            raise
        file.unlink()  # of other settings, or damaged
        solution = given()
    if solution.status == "interrupted":
        raise StoppedError
    return solution


def batch_settings(spot: Spot) -> dict[str, Any]:
    """What decides the results of a batch besides the spot; it is one of its boards.

    Raises:
        SpecError: a spot to be solved on its first street alone.
    """
    settings, pot = spot.settings, spot.pot
    if settings.until:
        raise SpecError("until: batches solve every street; leave it out, or solve one flop at a time (treeplex solve)")
    pace_of(settings.algorithm or DEFAULT_ALGORITHM)  # an unknown one is one error, not one per board
    usual = settings.target is None and settings.iterations is None
    target = DEFAULT_SHARE * pot if usual else None if settings.target is None else settings.target.chips(pot)
    iterations = settings.iterations if settings.iterations is not None else DEFAULT_ITERATIONS
    locks = [
        f"{lock.line}: {', '.join(f'{action} {100 * share:g}%' for action, share in lock.strategy)}" for lock in settings.locks
    ]
    return {
        "algorithm": settings.algorithm or DEFAULT_ALGORITHM,
        "target": target,
        "iterations": iterations,
        "storage": settings.storage or DEFAULT_STORAGE,
        **({"locks": "; ".join(locks)} if locks else {}),
    }


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
        reach = float(view.compatible_of(view.player).sum())
        everyone = everyone or reach
        shares = {str(action): number(float(part)) for action, part in zip(view.actions, view.frequency, strict=True)}
        found[view.line] = {"player": view.player, "reach": reach / everyone if everyone else 0.0, "actions": shares}
        waiting += reversed(view.children())
    return found


def number(value: float) -> float | None:
    """A number for JSON, nan as null."""
    return value if math.isfinite(value) else None
