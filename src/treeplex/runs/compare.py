"""Several algorithms on one game: one plot, one table."""

import csv
import html
import io
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from treeplex.errors import FileError, SpecError
from treeplex.forms.compile import compile_game
from treeplex.forms.compiled import CompiledGame
from treeplex.forms.files import write_atomically
from treeplex.runs.api import AnyGame
from treeplex.runs.folder import PLOT, RunFolder
from treeplex.runs.record import Settings
from treeplex.runs.run import Watcher
from treeplex.runs.solution import Solution
from treeplex.runs.solve import DEFAULT_ITERATIONS, AnyAlgorithm, SolveInterrupted, solve, solver_for

COLUMNS = ("algorithm", "iterations", "seconds", "exploitability", "nash_conv", "value")
TABLES = ("comparison.md", "comparison.csv", "comparison.json")


@dataclass(frozen=True, eq=False)
class Comparison:
    """Solutions of one game by several algorithms.

    Attributes:
        game: the compiled game.
        solutions: in the order asked for.
        interrupted: Ctrl-C came: the last solution is unfinished, algorithms after it were not run.
    """

    game: CompiledGame
    solutions: tuple[Solution, ...]
    interrupted: bool = False

    def rows(self) -> list[dict[str, object]]:
        """One row an algorithm, ready for ``pandas.DataFrame``; value is a list, one number a player."""
        return [
            {
                "algorithm": solution.algorithm,
                **{name: getattr(solution, name) for name in COLUMNS[1:-1]},
                "value": list(solution.value),
            }
            for solution in self.solutions
        ]

    def to_json(self) -> str:
        """The game and the rows."""
        return json.dumps({"game": self.game.spec, "rows": self.rows()}, indent=2)

    def to_csv(self) -> str:
        """The rows, one column ``value_i`` for each player i."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*COLUMNS[:-1], *(f"value_{player}" for player in range(self.game.players))])
        for solution in self.solutions:
            writer.writerow(
                [solution.algorithm, *(repr(getattr(solution, name)) for name in COLUMNS[1:-1]), *map(repr, solution.value)]
            )
        return text.getvalue()

    def to_markdown(self) -> str:
        """The rows as a Markdown table, best exploitability first."""
        head = "| algorithm | iterations | seconds | exploitability | value |\n|---|--:|--:|--:|--:|\n"
        return head + "".join(f"| {' | '.join(row)} |\n" for row in self.table())

    def table(self) -> list[list[str]]:
        """Readable rows, best exploitability first: algorithm, iterations, seconds, exploitability, value."""
        return [
            [
                solution.algorithm,
                f"{solution.iterations:,}",
                f"{solution.seconds:.3g}",
                f"{solution.exploitability:.3e}",
                ", ".join(f"{value:+.6f}" for value in solution.value),
            ]
            for solution in sorted(self.solutions, key=lambda solution: solution.exploitability)
        ]

    def plot(self, path: str | os.PathLike[str] | None = None) -> object:
        """All curves as one Matplotlib figure, also written to ``path`` (PNG, SVG, PDF) if given."""
        from treeplex.runs.plots import convergence_figure, write_figure

        figure = convergence_figure(
            self.game.spec,
            {solution.algorithm: solution.records for solution in self.solutions},
            exact=[solution.algorithm for solution in self.solutions if solution.solver.exact],
        )
        if path is not None:
            write_figure(figure, Path(path))
        return figure

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the plot, and the table as Markdown, CSV and JSON, into a folder, which is made if need be.

        Raises:
            FileError: the folder cannot be made or written.
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
        best = min(self.solutions, key=lambda solution: solution.exploitability)
        count = len(self.solutions)
        return f"<comparison of {count} algorithms on {self.game.spec}: best {best.algorithm}, {best.exploitability:.3g}>"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("algorithm", "iterations", "seconds", "exploitability", "value"))
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in self.table())
        return f"<table><caption>{html.escape(self.game.spec)}</caption><tr>{head}</tr>{body}</table>"


def compare(
    game: AnyGame,
    algorithms: Sequence[AnyAlgorithm],
    *,
    iterations: int = DEFAULT_ITERATIONS,
    every: int | None = None,
    seconds: float | None = None,
    updates: str | None = None,
    seed: int = 0,
    refine: bool = False,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    progress: Watcher | None = None,
    compiled: Callable[[CompiledGame], None] | None = None,
) -> Comparison:
    """Solve a game with each of several algorithms.

    Args:
        game: as for :func:`treeplex.solve`; compiled once.
        algorithms: specs, at least one.
        iterations: for each algorithm.
        every: evaluate every so many iterations; default: ten evaluations a decade.
        seconds: a time limit for each algorithm.
        updates: ``"alternating"`` or ``"simultaneous"`` for all; default: each algorithm's own.
        seed: seed of everything random.
        refine: split infostates of imperfect recall instead of refusing the game.
        out: a folder for plot, tables and one run folder an algorithm.
        force: overwrite what is in ``out``.
        progress: called as by :func:`treeplex.solve`.
        compiled: called once with the compiled game.

    Raises:
        SpecError, GameError, AlgorithmError, FileError: as :func:`treeplex.solve` does; algorithms are checked before any runs.
    """
    if not algorithms:
        raise SpecError("no algorithm given; name at least one, for example dcfr")
    target = compile_game(game, refine=refine)
    if compiled:
        compiled(target)
    settings = Settings(iterations, iterations, every=every, updates=updates, seed=seed, refine=refine)
    chosen = named(algorithms, target, settings)
    if out is not None:
        RunFolder(out).claim(force=force)
    solutions: list[Solution] = []
    interrupted = False
    for name, algorithm in chosen.items():
        try:
            solution = solve(
                target,
                algorithm,
                iterations=iterations,
                every=every,
                seconds=seconds,
                updates=updates,
                seed=seed,
                refine=refine,
                out=None if out is None else Path(out) / slug(name),
                force=force,
                progress=progress,
            )
        except SolveInterrupted as stopped:
            solution, interrupted = stopped.solution, True
        solutions.append(solution)
        if interrupted:
            break
    comparison = Comparison(target, tuple(solutions), interrupted)
    if out is not None:
        comparison.save(out)
    return comparison


def named(algorithms: Sequence[AnyAlgorithm], game: CompiledGame, settings: Settings) -> dict[str, AnyAlgorithm]:
    """Algorithms by their canonical names, each once; building a solver of each shows early what does not fit the game.

    Raises:
        SpecError: an algorithm that does not exist, or two different ones with one name.
    """
    chosen: dict[str, AnyAlgorithm] = {}
    for algorithm in algorithms:
        name = solver_for(game, algorithm, settings).algorithm
        same = chosen.setdefault(name, algorithm)
        if same != algorithm and not (isinstance(same, str) and isinstance(algorithm, str)):
            raise SpecError(f"two different algorithms are called {name!r}; give each a name of its own")
    return chosen


def slug(spec: str) -> str:
    """A spec as a file name: ``dcfr(alpha=2.0)`` becomes ``dcfr-alpha=2.0``."""
    return re.sub(r"[^\w.+=-]+", "-", spec.replace("(", "-").replace(")", "")).strip("-.")[:80] or "run"
