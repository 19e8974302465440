"""Match results: means with intervals in game units and mbb/hand, as JSON, tables and plots."""

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeplex.base import notebook
from treeplex.base.digits import visible
from treeplex.search.evaluate.statistics import FEWEST_DEALS, half_width
from treeplex.search.match.scores import Ledger, Score
from treeplex.search.match.settings import DEFAULT_HANDS, FIXED, MOST_HANDS, MatchSettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MILLI = 1000.0


@dataclass(frozen=True)
class MatchInfo:
    """The description of a match.

    Attributes:
        game: the game's spec.
        agents: the names of the agents.
        big_blind: the big blind, or the ante, in poker; None for other games.
        settings: settings of the match.
        values: description of the value function for luck adjustment; None without luck adjustment.
    """

    game: str
    agents: tuple[str, ...]
    big_blind: float | None
    settings: MatchSettings
    values: str | None


@dataclass(frozen=True, eq=False)
class MatchResult:
    """The result of a match, finished or not. Sequences have one entry per agent, in the order of the agents' names.

    Attributes:
        about: game, agents and settings.
        scores: score of each table.
        ledger: all hands; None for exact values.
        status: ``finished``, ``time up`` or ``interrupted``.
        folder: the match's folder, if it was written to one.
        remarks: remarks of the agents, such as on replaced illegal actions in this session.
    """

    about: MatchInfo
    scores: tuple[Score, ...]
    ledger: Ledger | None
    status: str
    folder: Path | None
    remarks: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether values were computed exactly, without playing hands."""
        return self.ledger is None

    @property
    def hands(self) -> int:
        """Number of finished hands; 0 for exact values."""
        return sum(score.hands for score in self.scores)

    @property
    def value(self) -> tuple[float, ...]:
        """Mean payoff of each agent per hand; in a round robin, averaged over its opponents."""
        return tuple(self._over_tables(agent)[0] for agent in range(len(self.about.agents)))

    @property
    def stderr(self) -> tuple[float, ...]:
        """Standard error of each mean; 0 for exact values."""
        return tuple(self._over_tables(agent)[1] for agent in range(len(self.about.agents)))

    @property
    def interval(self) -> tuple[tuple[float, float], ...]:
        """The 95% interval of each mean, by Student's t; NaN with fewer than 30 deals, the mean itself for exact values."""
        pairs = zip(self.value, self.stderr, self.deals, strict=True)
        halves = [(value, 0.0 if self.exact else half_width(error, deals)) for value, error, deals in pairs]
        return tuple((value - half, value + half) for value, half in halves)

    @property
    def deals(self) -> tuple[int, ...]:
        """Number of independent deals of each agent (hands with the same deal count once); in a round robin, the smallest over
        its tables.
        """
        return tuple(
            min(score.result.samples for score in self.scores if agent in score.agents)
            for agent in range(len(self.about.agents))
        )

    @property
    def mbb_per_hand(self) -> tuple[float, ...] | None:
        """Means in mbb/hand, or in thousandths of an ante if there are no blinds; None for games other than poker."""
        return None if self.about.big_blind is None else tuple(MILLI / self.about.big_blind * value for value in self.value)

    @property
    def p_value(self) -> tuple[float, ...] | None:
        """p-value of the difference between each agent and the others; None for exact values, round robins and fixed seats."""
        settings = self.about.settings
        return None if self.exact or settings.table or settings.seats == FIXED else self.scores[0].chance

    @property
    def matrix(self) -> list[list[float | None]] | None:
        """Payoff matrix of a round robin, of the row agent against the column agent; None on the diagonal."""
        return self._matrix(0)

    @property
    def matrix_stderr(self) -> list[list[float | None]] | None:
        """The standard errors of :attr:`matrix`."""
        return self._matrix(1)

    @property
    def failures(self) -> list[tuple[int, str, str]]:
        """Failed hands, which are excluded from the results: number of the hand, agent, exception."""
        hands = [] if self.ledger is None else self.ledger.failures
        return [(hand.number, self.about.agents[hand.failure[0]], hand.failure[1]) for hand in hands if hand.failure]

    @property
    def slow(self) -> list[tuple[int, str, float]]:
        """Decisions that exceeded the time limit: number of the hand, agent, seconds. Their hands are included in the
        results.
        """
        hands = [] if self.ledger is None else self.ledger.slow
        return [(hand.number, self.about.agents[agent], seconds) for hand in hands for agent, seconds in hand.slow]

    def _over_tables(self, agent: int) -> tuple[float, float]:
        """The mean over an agent's tables and its standard error."""
        if not self.about.settings.table:
            return self.scores[0].result.mean[agent], self.scores[0].result.error[agent]
        results = [pair for score in self.scores for pair in self._against(score) if pair[0] == agent]
        mean = sum(pair_result[2] for pair_result in results) / len(results)
        return mean, math.sqrt(sum(pair_result[3] ** 2 for pair_result in results)) / len(results)

    def _against(self, score: Score) -> list[tuple[int, int, float, float]]:
        """Winnings of each agent against each other agent at a round-robin table, with standard errors."""
        first, second = score.agents[:2]
        mean, error = score.result.mean, score.result.error
        results = [(first, second, mean[0], error[0])]
        return [*results, (second, first, mean[1], error[1])] if len(score.agents) == 2 else results

    def _matrix(self, column: int) -> list[list[float | None]] | None:
        if not self.about.settings.table:
            return None
        count = len(self.about.agents)
        matrix: list[list[float | None]] = [[None] * count for _ in range(count)]
        for score in self.scores:
            for row, other, *numbers in self._against(score):
                matrix[row][other] = float(numbers[column])
        return matrix

    def plain(self) -> dict[str, Any]:
        """The result as JSON data, with None for unknown numbers."""
        about, settings = self.about, self.about.settings
        data: dict[str, Any] = {
            "game": about.game,
            "agents": list(about.agents),
            "status": self.status,
            "exact": self.exact,
            "hands": self.hands,
            "value": list(self.value),
            "stderr": list(self.stderr),
            "interval": [list(pair) for pair in self.interval],
            "mbb_per_hand": None if self.mbb_per_hand is None else list(self.mbb_per_hand),
            "p_value": None if self.p_value is None else list(self.p_value),
            "seats": settings.seats,
            "duplicate": settings.duplicate,
            "seed": settings.seed,
            "failures": [dict(zip(("hand", "agent", "error"), entry, strict=True)) for entry in self.failures],
            "slow": [dict(zip(("hand", "agent", "seconds"), entry, strict=True)) for entry in self.slow],
        }
        if self.remarks:
            data["remarks"] = list(self.remarks)
        if settings.table:
            data |= {"matrix": self.matrix, "matrix_stderr": self.matrix_stderr}
        else:
            data["by_seat"] = self.scores[0].by_seat.tolist()
        if about.values is not None:
            data["aivat"] = {
                "values": about.values,
                "deviation": [list(score.result.deviation) for score in self.scores],
                "plain_deviation": [list(score.plain.deviation) for score in self.scores],
                "plain_value": [list(score.plain.mean) for score in self.scores],
            }
        known: dict[str, Any] = without_nan(data)
        return known

    def to_json(self) -> str:
        """:meth:`plain` as JSON."""
        return json.dumps(self.plain())

    @property
    def columns(self) -> list[str]:
        """Column heads of :meth:`table`."""
        mbb = ["mbb/hand"] if self.about.big_blind is not None else []
        if self.about.settings.table:
            return ["agent", *self.about.agents, "mean", *mbb]
        if self.exact:
            return ["agent", "mean", *mbb, *(f"in seat {seat}" for seat in range(len(self.scores[0].agents)))]
        return ["agent", "mean", "std. error", "95% interval", "p", *mbb]

    def table(self) -> list[list[str]]:
        """Rows of text under :attr:`columns`, one per agent."""
        rows = []
        for agent, name in enumerate(self.about.agents):
            mbb = [] if self.mbb_per_hand is None else [cell(self.mbb_per_hand[agent], "+z,.0f")]
            mean, error = self.value[agent], self.stderr[agent]
            if self.about.settings.table:
                pairs = [*zip(self.matrix[agent], self.matrix_stderr[agent], strict=True), (mean, error)]  # type: ignore[index]
                rows.append([name, *(with_error(*pair, self.exact) for pair in pairs), *mbb])
                continue
            if self.exact:
                seats = [cell(value, "+z.4f", "") for value in self.scores[0].by_seat[agent]]
                rows.append([name, f"{mean:+z.6f}", *mbb, *seats])
                continue
            low, high = self.interval[agent]
            interval = f"{low:+z.3f} to {high:+z.3f}" if math.isfinite(low) else "-"
            luck = [cell(error, ".4f"), interval, cell(self.scores[0].chance[agent], ".3g")]
            rows.append([name, cell(mean, "+z.4f"), *luck, *mbb])
        return rows

    @property
    def hands_text(self) -> str:
        """The number of hands played, as text."""
        return f"{self.hands:,} hand{'s' if self.hands != 1 else ''}"

    def notes(self) -> list[str]:
        """Notes on the result, one line each."""
        notes, settings = [], self.about.settings
        if self.exact:
            usual = MatchSettings()
            ignored = [name for name in ("duplicate", "aivat", "seed") if getattr(settings, name) != getattr(usual, name)]
            ignored[:0] = [] if settings.hands in (DEFAULT_HANDS, MOST_HANDS) else ["hands"]
            without = f", so {', '.join(ignored)} had no effect (--sampled plays hands)" if ignored else ""
            notes.append(f"exact over all cards and actions, without playing hands{without}")
        else:
            kind = ", each deal in all seatings of the agents" if settings.duplicate else ""
            errors = "; ± is the standard error" if settings.table else ""
            notes.append(f"{self.hands_text}{kind}, seed {settings.seed}{errors}")
            if not settings.table and self.deals[0] < FEWEST_DEALS:
                notes.append(f"no 95% interval for fewer than {FEWEST_DEALS} deals; {self.deals[0]} so far")
        if self.about.values is not None:
            plain, less = self.scores[0].plain.deviation[0], self.scores[0].result.deviation[0]
            notes.append(f"AIVAT, values {self.about.values}: standard deviation {less:.4g} in place of {plain:.4g}")
        for number, agent, text in self.failures[:1]:
            notes.append(f"{len(self.failures):,} failed and were excluded; the first: {agent} in hand {number}: {text}")
        for number, agent, seconds in self.slow[:1]:
            notes.append(f"{len(self.slow):,} decisions took too long; the first: {agent} in hand {number}, {seconds:.2g} s")
        return [*notes, *self.remarks]

    def plot(self, path: str | os.PathLike[str] | None = None) -> "Figure":
        """Plot running means with 95% bands, the matrix of a round robin, or exact values by seat.

        Args:
            path: a file to write: PNG, SVG or PDF.

        Returns:
            A Matplotlib figure.
        """
        from treeplex.run.plots import write_figure
        from treeplex.search.match.pictures import match_figure

        figure = match_figure(self)
        if path is not None:
            write_figure(figure, Path(path))
        return figure

    def __repr__(self) -> str:
        names = " against ".join(self.about.agents)
        how = "exact" if self.exact else self.hands_text
        return f"<match of {self.about.game}: {names}, {how}, {', '.join(cell(value, '+z.4f') for value in self.value)}>"

    def _repr_html_(self) -> str:
        return notebook.table(self.columns, self.table(), self.about.game, "; ".join(self.notes()))


def with_error(value: float | None, error: float | None, exact: bool) -> str:
    """Format a cell of the matrix."""
    if value is None:
        return ""
    return cell(value, "+z.4f") if exact or error is None else f"{cell(value, '+z.3f')} ± {cell(error, '.3f')}"


def cell(value: float, form: str, missing: str = "-") -> str:
    """Format a number for a table; ``missing`` if it is not finite."""
    return visible(value, form) if math.isfinite(value) else missing


def without_nan(value: Any) -> Any:
    """Copy nested data, replacing numbers that are not finite by None."""
    if isinstance(value, dict):
        return {name: without_nan(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
