"""Solves one board of a batch and summarises its result as a row."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from treeplex.base.digits import finite
from treeplex.errors import FileError, SpecError, TreeplexError
from treeplex.holdem.cards.ranges import range_to_string
from treeplex.holdem.solve.budget import Budget
from treeplex.holdem.solve.estimate import DEFAULT_SHARE
from treeplex.holdem.solve.job import SpotJob
from treeplex.holdem.solve.session import DEFAULT_STORAGE, spot_session
from treeplex.holdem.solve.solution import HoldemSolution, load_solution
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.study.batches.boards import Board
from treeplex.holdem.study.report.export import SpotSolution, node_report
from treeplex.run.job.interrupt import Interrupt
from treeplex.run.job.record import Watcher
from treeplex.run.solve.settings import DEFAULT_ITERATIONS
from treeplex.run.solve.solvable import SolveRequest
from treeplex.solvers.registry import DEFAULT_ALGORITHM, pace_of

NO_LIMITS = Budget()
FAILURES = (TreeplexError, ArithmeticError, ValueError, RuntimeError, MemoryError)
"""Exceptions that mark one board as failed without stopping the others."""


class StoppedError(Exception):
    """Raised when Ctrl-C stops the solve of one board; its result is discarded."""


Solve = Callable[[Spot, Interrupt, Path], SpotSolution]
"""Solves a spot, checks an interrupt, and may save unfinished work in a file, from which it resumes."""


@dataclass(frozen=True)
class Row:
    """The result of one board.

    Attributes:
        board: the cards.
        weight: the number of boards that it represents.
        iterations: iterations run.
        seconds: solving time.
        exploitability: exploitability in the unit.
        pot: starting pot in the unit, for exploitability in percent.
        ev: EV of both players, in the unit, relative to half the pot.
        equity: equity of both players, in [0, 1].
        deals: probability of the board, up to a factor common to all boards: the weight of all pairs of hands from both ranges
            that share no card with it or each other.
        lines: every decision of the first street by its line: ``player``, the player to act; ``reach``, the probability of
            reaching it; and ``actions``, the range's frequency of each action.
        identity: SHA-256 of the spot.
        settings: all other settings that determine the result.
        unit: the unit of the amounts, ``chips`` or ``bb``.
    """

    board: str
    weight: float
    iterations: int
    seconds: float
    exploitability: float
    pot: float
    ev: tuple[float, float]
    equity: tuple[float, float]
    deals: float
    lines: Mapping[str, Mapping[str, Any]]
    identity: str
    settings: Mapping[str, Any]
    unit: str


class BoardTask(NamedTuple):
    """A board to solve.

    Attributes:
        solve: the solving function.
        spot, board, settings: see :func:`row_of`.
        file: file of unfinished work; None on a machine without the folder.
        keep: whether to keep the solved spot.
        interrupt: checked while the board is solved, if solved in this process.
    """

    solve: Solve
    spot: Spot
    board: Board
    settings: Mapping[str, Any]
    file: Path | None
    keep: bool
    interrupt: Interrupt | None


def solve_row(task: BoardTask) -> tuple[Row | str, bytes | None]:
    """The board's result or error message, and the solved spot as bytes if requested and not saved in the folder.

    Raises:
        StoppedError: on request.
        FileError: the board's file cannot be written.
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
    """An error as one line."""
    return " ".join(str(error).split()) or type(error).__name__


def solve_board(
    spot: Spot, interrupt: Interrupt, file: Path, watch: Watcher | None = None, limits: Budget = NO_LIMITS
) -> HoldemSolution:
    """Solve one board of a batch with the spot's settings, for the time of ``limits``, or resume it from its file.

    Raises:
        StoppedError: on request.
    """

    def solve(begun: HoldemSolution | None) -> HoldemSolution:
        how = spot.settings
        options = {} if how.storage is None else {"storage": how.storage}
        request = SolveRequest(how.algorithm, None, None, None, None, file, True, begun, options, interrupt)
        with spot_session(spot, request) as session:
            job = session.job
            assert isinstance(job, SpotJob)
            outcome = session.run(seconds=limits.seconds_left(job.clock.seconds), progress=watch)
            return job.solution(outcome)

    try:
        begun = load_solution(file) if file.exists() else None
        if begun is not None and begun.locks:
            raise SpecError("locks may have changed")
        solution = solve(begun)
    except (FileError, SpecError):
        if not file.exists():
            raise
        file.unlink()  # written with other settings, or damaged
        solution = solve(None)
    if solution.status == "interrupted":
        raise StoppedError
    return solution


def batch_settings(spot: Spot, limits: Budget = NO_LIMITS) -> dict[str, Any]:
    """Settings, besides the spot itself (given on one board of the batch), that determine a batch's results.

    Raises:
        SpecError: only the spot's first street is solved.
    """
    settings, pot = spot.settings, spot.pot
    if settings.until:
        raise SpecError("until: batches solve every street; leave it out, or solve one flop at a time with treeplex solve")
    pace_of(settings.algorithm or DEFAULT_ALGORITHM)  # raise one error for an unknown algorithm, not one per board
    usual = settings.target is None and settings.iterations is None
    target = DEFAULT_SHARE * pot if usual else None if settings.target is None else settings.target.chips(pot)
    iterations = settings.iterations if settings.iterations is not None else DEFAULT_ITERATIONS
    locks = [
        f"{lock.line}{'' if lock.hands is None else f' [{range_to_string(lock.hands)}]'}: "
        + ", ".join(f"{action} {100 * share:g}%" for action, share in lock.strategy)
        for lock in settings.locks
    ]
    return {
        "algorithm": settings.algorithm or DEFAULT_ALGORITHM,
        "target": target,
        "iterations": iterations,
        "storage": settings.storage or DEFAULT_STORAGE,
        **({"locks": "; ".join(locks)} if locks else {}),
        **({} if limits.seconds is None else {"seconds": limits.solver_seconds}),
    }


def row_of(solution: SpotSolution, board: Board, spot: Spot, settings: Mapping[str, Any]) -> Row:
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
        deals=deals_on(spot),
        lines=first_street(solution),
        identity=spot.identity,
        settings=dict(settings),
        unit=spot.unit,
    )


def first_street(solution: SpotSolution) -> dict[str, dict[str, Any]]:
    """Every decision of the first street by its line; see :class:`Row`."""
    decisions: dict[str, dict[str, Any]] = {}
    waiting, everyone = [""], 0.0
    while waiting:
        view = solution.at(waiting.pop())
        if view.player is None:
            continue
        reach = float(view.compatible_of(view.player).sum())
        everyone = everyone or reach
        shares = {str(action): finite(float(part)) for action, part in zip(view.actions, view.frequency, strict=True)}
        decisions[view.line] = {"player": view.player, "reach": reach / everyone if everyone else 0.0, "actions": shares}
        waiting += reversed(view.children())
    return decisions


def deals_on(spot: Spot) -> float:
    """The weight of all pairs of hands that share no card, from both ranges on the spot's board."""
    hands, (oop, ip) = spot.format.hands, spot.ranges
    held = np.zeros((2, 52))
    for column in hands.T:
        held += [np.bincount(column, weights, 52) for weights in (oop, ip)]
    both = oop @ ip if hands.shape[1] > 1 else 0.0  # a pair of equal hands shares two cards
    return float(oop.sum() * ip.sum() - held[0] @ held[1] + both)
