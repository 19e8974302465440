"""Comparison of algorithms on one game: a plot and a table."""

import csv
import hashlib
import io
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

from treeplex.base import notebook
from treeplex.base.dataframes import dataframe
from treeplex.base.digits import three_digits
from treeplex.base.storage.files import write_atomically
from treeplex.base.storage.reading import read_json
from treeplex.errors import AlgorithmError, FileError, JobInterrupt, SpecError, TreeplexError
from treeplex.forms.compile.rule_errors import said_by
from treeplex.run.job.folder import STATE, JobFolder, folder_at, kind_of
from treeplex.run.job.progress_line import AnyProgress, line_for
from treeplex.run.job.record import check_effort, words_of
from treeplex.run.policy_source import solution_source
from treeplex.run.solve.measures import measures_of
from treeplex.run.solve.settings import PLOT, SOLVE
from treeplex.run.solve.solution import Solution
from treeplex.run.solve.solvable import AnyCompiled
from treeplex.run.solve.solve import AnyGame, solvable, solve
from treeplex.solvers.registry import AnyAlgorithm

NUMBERS = ("iterations", "nodes", "seconds", "exploitability", "nash_conv")
"""Columns of a row, in order."""
TABLES = ("comparison.md", "comparison.csv", "comparison.json")
LONGEST_NAME = 80
"""Maximum number of characters of the name of an algorithm's run."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Solutions of one game by several algorithms.

    Attributes:
        game: the compiled game.
        solutions: one per algorithm, in the given order.
        interrupted: whether Ctrl-C stopped the comparison; the last solution is then unfinished.
        x: horizontal axis of the plot: ``iterations``, ``nodes`` or ``seconds``.
        own: names of the custom measures.
    """

    game: AnyCompiled
    solutions: tuple[Solution, ...]
    interrupted: bool = False
    x: str = "iterations"
    own: tuple[str, ...] = ()

    @property
    def objective(self) -> str:
        """The measure to rank by: the common objective of all algorithms, else exploitability."""
        aims = {solution.objective for solution in self.solutions}
        return aims.pop() if len(aims) == 1 else "exploitability"

    @property
    def measures(self) -> list[str]:
        """Names of the solutions' additional measures, in order of first appearance."""
        return list(dict.fromkeys(name for solution in self.solutions for name in solution.measures))

    @property
    def ranked(self) -> list[Solution]:
        """Return the solutions sorted by :attr:`objective`, best first."""
        return sorted(self.solutions, key=lambda solution: solution.last.measure(self.objective))

    def rows(self) -> list[dict[str, object]]:
        """Return one row per algorithm for ``pandas.DataFrame``; gains and value are lists with one number per player.

        Measures that an algorithm does not report are None.
        """
        return [
            {
                "algorithm": solution.algorithm,
                **{name: getattr(solution, name) for name in NUMBERS},
                **{name: solution.measures.get(name) for name in self.measures},
                "gains": list(solution.gains),
                "value": list(solution.value),
            }
            for solution in self.solutions
        ]

    def __len__(self) -> int:
        return len(self.solutions)

    def __iter__(self) -> Iterator[Solution]:
        return iter(self.solutions)

    def to_dataframe(self) -> Any:
        """Return all curves as one ``pandas.DataFrame``, with one row per algorithm and evaluation.

        Columns: ``algorithm``, then those of :meth:`treeplex.run.solve.solution.Solution.to_dataframe`.

        Raises:
            SpecError: pandas is not installed.
        """
        return dataframe(
            {"algorithm": solution.algorithm} | record.row("iterations")
            for solution in self.solutions
            for record in solution.records
        )

    def to_json(self) -> str:
        """Return the game and the rows as JSON."""
        return json.dumps({"game": self.game.spec, "rows": self.rows()}, indent=2)

    def to_csv(self) -> str:
        """Return the rows as CSV, with columns ``gain_i`` and ``value_i`` per player; missing measures are empty."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        players = range(self.game.players)
        lists = [*(f"gain_{player}" for player in players), *(f"value_{player}" for player in players)]
        writer.writerow(["algorithm", *NUMBERS, *self.measures, *lists])
        for solution in self.solutions:
            cells: list[object] = ["" if (number := getattr(solution, name)) is None else number for name in NUMBERS]
            cells += [solution.measures.get(name, "") for name in self.measures]
            numbers = [*cells, *solution.gains, *solution.value]
            writer.writerow([solution.algorithm, *(cell if cell == "" else repr(cell) for cell in numbers)])
        return text.getvalue()

    def to_markdown(self) -> str:
        """Return the rows as a Markdown table, best first."""
        rule = ["---", *["--:"] * (len(self.columns) - 1)]
        return "".join(f"| {' | '.join(cells)} |\n" for cells in (self.columns, rule, *self.table()))

    @property
    def columns(self) -> list[str]:
        """Headers of :meth:`table`: algorithm, iterations, nodes, seconds, exploitability, other objectives, gains, value.

        Gains, one per player, are included for three or more players.
        """
        gains = ["gains"] if self.game.players > 2 else []
        numbers = [name for name in NUMBERS[:-1] if name != "nodes" or self.counts_nodes]
        return ["algorithm", *numbers, *map(words_of, self.aims), *gains, "value"]

    @property
    def counts_nodes(self) -> bool:
        """Whether visited histories are counted."""
        return any(solution.nodes is not None for solution in self.solutions)

    @property
    def aims(self) -> list[str]:
        """Objectives other than exploitability, and custom measures."""
        names = [*(solution.objective for solution in self.solutions), *self.own]
        return list(dict.fromkeys(name for name in names if name != "exploitability"))

    def table(self, separator: str = ", ") -> list[list[str]]:
        """Return formatted rows under :attr:`columns`, best first; ``separator`` joins the numbers of the players.

        The value of a two-player zero-sum game is that of player 0.
        """
        rows = []
        for solution in self.ranked:
            row = [solution.algorithm, f"{solution.iterations:,}"]
            row += [short(solution.nodes or 0)] if self.counts_nodes else []
            row += [three_digits(solution.seconds), f"{solution.exploitability:.3e}"]
            measured = [{**solution.measures, **solution.last.numbers}.get(name) for name in self.aims]
            row += ["" if number is None else f"{number:.3e}" for number in measured]
            if self.game.players > 2:
                row.append(separator.join(f"{gain:.2e}" for gain in solution.gains))
            values = solution.value[:1] if self.game.players == 2 and self.game.zero_sum else solution.value
            rows.append([*row, separator.join(f"{value:+.6f}" for value in values)])
        return rows

    def plot(self, path: str | os.PathLike[str] | None = None, *, x: str | None = None, y: str | None = None) -> object:
        """Plot all curves; return a Matplotlib figure.

        Args:
            path: also write this file: PNG, SVG or PDF.
            x: horizontal axis, ``iterations``, ``nodes`` or ``seconds``; default: the attribute ``x``.
            y: vertical axis, a measure of all solutions; default: :attr:`objective`.
        """
        from treeplex.run.plots import convergence_figure, write_figure

        figure = convergence_figure(
            str(self.game),
            {solution.algorithm: solution.records for solution in self.solutions},
            x=self.x if x is None else x,
            y=self.objective if y is None else y,
            exact=[solution.algorithm for solution in self.solutions if solution.exact],
        )
        if path is not None:
            write_figure(figure, Path(path))
        return figure

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the plot, and the table as Markdown, CSV and JSON, to a folder; return its path.

        Raises:
            FileError: the folder cannot be created or written.
        """
        folder = Path(path)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"cannot write the folder {folder}: {error.strerror or error}; choose another") from error
        for name, text in zip(TABLES, (self.to_markdown(), self.to_csv(), self.to_json() + "\n"), strict=True):
            write_atomically(folder / name, text)
        self.plot(folder / PLOT)
        return folder

    def __repr__(self) -> str:
        best = self.ranked[0]
        count, reached = len(self.solutions), best.last.measure(self.objective)
        return f"<comparison of {count} algorithms on {self.game}: best {best.algorithm}, {reached:.3g}>"

    def _repr_html_(self) -> str:
        return notebook.table(self.columns, self.table(), str(self.game))


def compare(
    game: AnyGame,
    algorithms: Sequence[AnyAlgorithm],
    *,
    iterations: int | None = None,
    every: int | None = None,
    seconds: float | None = None,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    x: str | None = None,
    progress: AnyProgress = None,
    **options: Any,
) -> Comparison:
    """Solve a game with each of several algorithms.

    Args:
        game: as for :func:`treeplex.solve`; compiled once.
        algorithms: at least one algorithm or spec.
        iterations: iterations of each algorithm; default 1000, 1,000,000 with ``seconds``, or unlimited with ``nodes`` (learned
            algorithms run their planned number). If an algorithm samples, the default is as many visited histories as 1000 full
            iterations, or unlimited with ``seconds``.
        every: iterations between evaluations; default: ten evaluations per decade; spots: 10.
        seconds: a time limit for each algorithm.
        out: a folder for plot, tables and the runs of all algorithms.
        force: overwrite the contents of ``out``.
        x: horizontal axis of the plot, ``"iterations"``, ``"nodes"`` (not for spots) or ``"seconds"``; default: nodes with a
            limit of nodes or if an algorithm samples (``*-mccfr``), else iterations.
        progress: as for :func:`treeplex.solve`.
        options: options of the game's kind, as for :func:`treeplex.solve`, applied to all algorithms.

    Returns:
        A :class:`Comparison` with one solution per algorithm, in the given order.

    Raises:
        SpecError, GameError, AlgorithmError, FileError: as :func:`treeplex.solve` does; algorithms are checked before any runs.
            If one fails later, the others run and are saved, and the AlgorithmError has their comparison as ``result``.
    """
    algorithms = [algorithms] if isinstance(algorithms, str) else algorithms
    if not algorithms:
        raise SpecError("no algorithm given; name at least one, for example dcfr")
    if x is not None:
        check_effort(x)
    given = {name: value for name, value in options.items() if value is not None}
    with line_for(progress) as line, folder_at(SOLVE, out) as folder:
        line.say("reading the game")
        target = solvable(game)
        if x is not None:
            check_effort(x, target.efforts)
        target.check_options(given, signature(compare).parameters.keys() - {"options"})
        measures = measures_of(options.get("measures"))
        plan = target.plan(algorithms, iterations, seconds, given, line)
        solutions: list[Solution] = []
        errors: dict[str, Exception] = {}
        interrupted = False
        old = runs_in(Path(out)) if out is not None and force else []
        if folder:
            folder.claim(force=force)
            remove_runs(old)
        for name, algorithm in plan.algorithms.items():
            place = None if out is None else target.place(Path(out), slug(name))
            try:
                solution = solve(
                    target,
                    algorithm,
                    iterations=plan.iterations,
                    every=every,
                    seconds=seconds,
                    out=place,
                    force=force,
                    progress=progress if callable(progress) else line,
                    **plan.options,
                )
            except JobInterrupt as stopped:
                solution, interrupted = stopped.result, True
            except (FileError, OSError, MemoryError):
                raise
            except Exception as error:  # also of custom algorithms
                errors[name] = error
                if place is not None and not (place / STATE).exists():
                    remove_runs([place])
                continue
            solutions.append(solution)
            if interrupted:
                break
        if not solutions:
            raise next(iter(errors.values()))
        comparison = Comparison(target.compiled, tuple(solutions), interrupted, plan.axis if x is None else x, tuple(measures))
        if out is not None:
            comparison.save(out)
    if errors:
        said = {name: str(error) if isinstance(error, TreeplexError) else said_by(error) for name, error in errors.items()}
        failure = AlgorithmError("; ".join(f"{name} failed: {text}" for name, text in said.items()))
        failure.result = comparison
        raise failure from next(iter(errors.values()))
    return comparison


def runs_in(folder: Path) -> list[Path]:
    """Return the runs of the comparison in a folder."""
    try:
        names = {slug(str(row["algorithm"])) for row in read_json(folder / TABLES[-1])["rows"]}
    except (FileError, OSError, ValueError, KeyError, TypeError):
        return []
    return [
        path
        for path in folder.iterdir()
        if (path.name in names and kind_of(path) == SOLVE.name) or (path.stem in names and solution_source(path))
    ]


def remove_runs(paths: Iterable[Path]) -> None:
    """Remove runs; other files in their folders stay."""
    for path in paths:
        if path.is_dir():
            with JobFolder(SOLVE, path) as stale:
                stale.claim(force=True)
            with suppress(OSError):  # it has other files
                path.rmdir()
        else:
            path.unlink(missing_ok=True)


def short(count: int) -> str:
    """Format a count in few characters: 12,345, then 123k, 1.23M, 12.3G."""
    if count < 100_000:
        return f"{count:,}"
    number = f"{count:.2e}"
    thousands = min(int(number.partition("e")[2]) // 3, 4)
    return f"{float(number) / 1000**thousands:.3g}{'kMGT'[thousands - 1]}"


def slug(spec: str) -> str:
    """Convert a spec to a file name: ``dcfr(alpha=2.0)`` becomes ``dcfr-alpha=2.0``; a digest ends the names of long ones."""
    name = re.sub(r"[^\w.+=-]+", "-", spec.replace("(", "-").replace(")", "")).strip("-.") or "run"
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 9]}-{hashlib.sha256(spec.encode()).hexdigest()[:8]}"
