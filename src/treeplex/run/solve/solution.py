"""The result of solving any game: policy, quality and convergence."""

import html
import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

from treeplex.base.digits import signed, three_digits
from treeplex.games.base import TREES
from treeplex.run.job.record import Record, words_of


class Solution(ABC):
    """A solution, such as :class:`treeplex.run.solve.tree_job.GameSolution`.

    Attributes:
        game: the compiled game.
        algorithm: canonical spec of the algorithm.
        policy: the average policy after the last iteration.
        records: evaluations, oldest first, at least one; the last describes this policy.
        status: reason for stopping: ``"finished"``, ``"target reached"``, ``"time up"`` or ``"interrupted"``.
        folder: the run folder or file, or None.
    """

    game: Any
    algorithm: str
    policy: Any
    records: tuple[Record, ...]
    status: str
    folder: Path | None
    solvable: ClassVar[str] = TREES
    """Class that resumes it, see :attr:`treeplex.games.base.Game.solvable`."""
    suffix: ClassVar[str] = ""
    """Suffix of the file written by :meth:`save`; empty for a folder."""

    @property
    def objective(self) -> str:
        """The algorithm's objective: ``exploitability`` or one of the measures."""
        return "exploitability"

    @property
    def exact(self) -> bool:
        """Whether one iteration gives the exact solution."""
        return False

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes about the results."""
        return ()

    @property
    def last(self) -> Record:
        """The last evaluation."""
        return self.records[-1]

    @property
    def iterations(self) -> int:
        """Number of iterations done."""
        return self.last.done

    @property
    def seconds(self) -> float:
        """Seconds in the solver, without evaluation."""
        return self.last.seconds

    @property
    def exploitability(self) -> float:
        """Mean best-response gain over players, in the game's units."""
        return float(self.last.exploitability)

    @property
    @abstractmethod
    def value(self) -> tuple[float, ...]:
        """Expected payoff of each player under the policy."""

    @property
    @abstractmethod
    def gains(self) -> tuple[float, ...]:
        """Each player's best-response gain; NashConv is their sum."""

    @property
    @abstractmethod
    def nash_conv(self) -> float:
        """Sum of best-response gains over players."""

    @property
    @abstractmethod
    def target(self) -> float | None:
        """Target value of the objective; None without a target."""

    @property
    def target_reached(self) -> bool:
        """Whether the target was reached, or there was none."""
        return self.target is None or self.last.measure(self.objective) <= self.target

    @property
    def nodes(self) -> int | None:
        """Number of visited histories; None if not counted."""
        return None

    @property
    def budget(self) -> int | None:
        """Limit of visited histories; None for no limit."""
        return None

    @property
    def longest(self) -> int | None:
        """Maximum number of iterations of the algorithm; None for no limit."""
        return None

    @property
    def measures(self) -> dict[str, float]:
        """Additional measures of the algorithm, by name."""
        return dict(self.last.numbers.get("measures", {}))

    def facts(self) -> dict[str, str]:
        """Return display texts by name, without the location of the files."""
        facts = {f"value of player {player}": signed(value) for player, value in enumerate(self.value)}
        if self.game.players > 2:
            for player, gain in enumerate(self.gains):
                facts[f"value of player {player}"] += f"   gain of a best response {gain:.4e}"
        facts["exploitability"] = f"{self.exploitability:.4e}   mean gain of a best response; NashConv {self.nash_conv:.4e}"
        facts |= {words_of(name): f"{value:.4e}" for name, value in self.measures.items()}
        if self.target is not None:
            facts["target"] = f"{self.target:g}   {'reached' if self.target_reached else 'not reached'}"
        if self.notes:
            facts["note"] = "; ".join(self.notes)
        return facts

    def to_json(self) -> dict[str, Any]:
        """Return the output of ``treeplex solve --json``; unknown numbers are None."""
        numbers = {
            "exploitability": self.exploitability,
            "nash_conv": self.nash_conv,
            "value": list(self.value),
            "gains": list(self.gains),
            "nodes": self.nodes,
            **self.measures,
        }
        about = {"game": self.game.spec, "algorithm": self.algorithm, "iterations": self.iterations, "seconds": self.seconds}
        return about | {name: known(number) for name, number in numbers.items()}

    def looks(self, place: str) -> list[tuple[str, str]]:
        """Return ``treeplex`` commands that display the saved solution, with their purpose."""
        return [(f"show {place}", "print the strategy")]

    def __len__(self) -> int:
        """Return the number of infosets of all players."""
        return len(self.policy)

    def __getitem__(self, key: Any) -> Any:
        """Return the action probabilities of :attr:`policy` at an infoset."""
        return self.policy[key]

    def to_dataframe(self) -> Any:
        """Return the convergence curve as a ``pandas.DataFrame``, one row per evaluation.

        Columns: ``iterations``, ``seconds``, ``cpu_seconds``, ``exploitability``, measures, and ``gain_i`` and ``value_i`` of
        each player. For the policy use ``solution.policy.to_dataframe()``.

        Raises:
            SpecError: pandas is not installed.
        """
        from treeplex.base.dataframes import dataframe  # imported here, since few runs need it

        return dataframe(record.row("iterations") for record in self.records)

    @abstractmethod
    def save(self, path: str | os.PathLike[str]) -> Path:
        """Save the solution so that it can be loaded and resumed; return the path."""

    def plot(self, path: str | os.PathLike[str] | None = None, *, x: str = "iterations", y: str | None = None) -> object:
        """Plot exploitability (or the solver's objective); return a Matplotlib figure.

        Args:
            path: also write this file: PNG, SVG or PDF.
            x: horizontal axis: ``iterations``, ``nodes`` (not for spots) or ``seconds``.
            y: vertical axis, such as a custom measure; default: the objective.

        Raises:
            SpecError: an axis that the records do not have.
            FileError: the file cannot be written.
        """
        from treeplex.run.plots import convergence_figure, write_figure

        curves = {self.algorithm: self.records}
        y, target = (self.objective, self.target) if y is None else (y, None)
        figure = convergence_figure(self.game.spec, curves, x=x, y=y, target=target)
        if path is not None:
            write_figure(figure, Path(path))
        return figure

    def __repr__(self) -> str:
        values = ", ".join(f"{value:+.6g}" for value in self.value)
        return (
            f"<solution of {self.game} by {self.algorithm}: {self.iterations:,} iterations in {three_digits(self.seconds)} s, "
            f"exploitability {self.exploitability:.3g}, value ({values}), {self.status}>"
        )

    def _repr_html_(self) -> str:
        rows = {
            "game": str(self.game),
            "algorithm": self.algorithm,
            "iterations": f"{self.iterations:,}",
            "seconds": three_digits(self.seconds),
            "exploitability": f"{self.exploitability:.4g}",
            "NashConv": f"{self.nash_conv:.4g}",
            **{f"value of player {player}": f"{value:+.8g}" for player, value in enumerate(self.value)},
            "status": self.status,
        }
        cells = "".join(
            f"<tr><th style='text-align:left'>{key}</th><td>{html.escape(text)}</td></tr>" for key, text in rows.items()
        )
        return f"<table>{cells}</table>"


def known(number: Any) -> Any:
    """Return a number or numbers, with None in place of unknown ones."""
    if isinstance(number, list):
        return [known(item) for item in number]
    return None if number is None or number != number else number
