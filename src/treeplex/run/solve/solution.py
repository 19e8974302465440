"""The result of solving any game: a policy, its quality, and its convergence."""

import html
import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

from treeplex.base.dataframes import dataframe
from treeplex.base.digits import three_digits
from treeplex.games.base import TREES
from treeplex.run.job.record import Record, words_of


class Solution(ABC):
    """A solution, such as :class:`treeplex.run.solve.tree_job.GameSolution`.

    Attributes:
        game: the compiled game.
        algorithm: canonical spec of the algorithm.
        policy: the average policy after the last iteration.
        records: evaluations, oldest first, at least one; the last is about this policy.
        status: why it stopped: ``"finished"``, ``"target reached"``, ``"time up"`` or ``"interrupted"``.
        folder: the run folder or the file where it was written, or None.
    """

    game: Any
    algorithm: str
    policy: Any
    records: tuple[Record, ...]
    status: str
    folder: Path | None
    solvable: ClassVar[str] = TREES
    """What resumes it, as of :attr:`treeplex.games.base.Game.solvable`."""
    suffix: ClassVar[str] = ""
    """How the name of what :meth:`save` writes ends: nothing for a folder."""

    @property
    def objective(self) -> str:
        """The algorithm's objective: ``exploitability`` or one of the measures."""
        return "exploitability"

    @property
    def exact(self) -> bool:
        """Whether one iteration is the exact solution."""
        return False

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the numbers for the reader."""
        return ()

    @property
    def last(self) -> Record:
        """The last evaluation."""
        return self.records[-1]

    @property
    def iterations(self) -> int:
        """Iterations done."""
        return self.last.done

    @property
    def seconds(self) -> float:
        """Seconds in the solver, evaluation excluded."""
        return self.last.seconds

    @property
    def exploitability(self) -> float:
        """Mean over players of what a best response gains, in the game's units."""
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
        """Sum over players of what a best response gains."""

    @property
    @abstractmethod
    def target(self) -> float | None:
        """The value of the objective at which solving was to stop."""

    @property
    def target_reached(self) -> bool:
        """Whether there was no target or it was met."""
        return self.target is None or self.last.measure(self.objective) <= self.target

    @property
    def nodes(self) -> int | None:
        """Histories walked; None where they are not counted."""
        return None

    @property
    def budget(self) -> int | None:
        """The limit of histories walked; None for no limit."""
        return None

    @property
    def longest(self) -> int | None:
        """The most iterations that the algorithm can do in all; None for any number."""
        return None

    @property
    def measures(self) -> dict[str, float]:
        """Additional measures of the algorithm, by name."""
        return dict(self.last.numbers.get("measures", {}))

    def facts(self) -> dict[str, str]:
        """What people read of it, by name; where it was written aside."""
        facts = {f"value of player {player}": f"{value:+.8f}" for player, value in enumerate(self.value)}
        if self.game.players > 2:
            for player, gain in enumerate(self.gains):
                facts[f"value of player {player}"] += f"   gain of a best response {gain:.4e}"
        facts["exploitability"] = f"{self.exploitability:.4e}   mean gain of a best response; NashConv {self.nash_conv:.4e}"
        facts |= {words_of(name): f"{value:.4e}" for name, value in self.measures.items()}
        if self.target is not None:
            facts["target"] = f"{self.target:g}   {'reached' if self.target_reached else 'not reached'}"
        for note in self.notes:
            facts["note"] = note
        return facts

    def to_json(self) -> dict[str, Any]:
        """What ``treeplex solve --json`` prints; numbers that are not known or that this kind of game lacks are None."""
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
        """Commands of ``treeplex`` that show it where it was written, each with what for."""
        return [(f"show {place}", "read the strategy")]

    def __len__(self) -> int:
        """Infosets of all players."""
        return len(self.policy)

    def __getitem__(self, key: Any) -> Any:
        """The probabilities of the actions at an infoset: of :attr:`policy`."""
        return self.policy[key]

    def to_dataframe(self) -> Any:
        """The convergence curve as a ``pandas.DataFrame``, one row per evaluation.

        Columns: ``iterations``, ``seconds``, ``cpu_seconds``, ``exploitability``, measures, and of each player ``gain_i`` and
        ``value_i``. The policy has a table of its own, ``solution.policy.to_dataframe()``.

        Raises:
            SpecError: pandas is not installed.
        """
        return dataframe(record.row("iterations") for record in self.records)

    @abstractmethod
    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it, such that solving can be resumed and the policy be read; the place written."""

    def plot(self, path: str | os.PathLike[str] | None = None, *, x: str = "iterations", y: str | None = None) -> object:
        """Exploitability (or what the solver aims at) as a Matplotlib figure, also written to ``path`` if given.

        Args:
            path: a file to write: PNG, SVG or PDF.
            x: what the horizontal axis shows: ``iterations``, ``nodes`` or ``seconds``.
            y: what the vertical one shows, such as a measure of your own; default: the objective.
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
    """A number, or numbers, None in place of those that are not known."""
    if isinstance(number, list):
        return [known(each) for each in number]
    return None if number is None or number != number else number
