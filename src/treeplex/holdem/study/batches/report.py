"""Report of a batch at one decision: table of boards, weighted averages and figure."""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treeplex.base.spec import nearest, shown
from treeplex.base.storage.files import write_atomically
from treeplex.errors import SpecError
from treeplex.holdem.betting.tree import betting_tree
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.policies.line import find_place
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.study.batches.batch import Batch, number_or_nan
from treeplex.holdem.study.batches.board import Row
from treeplex.holdem.study.batches.boards import Texture, texture_of
from treeplex.holdem.study.report.colours import aggressive_first, colours
from treeplex.holdem.study.report.page_data import PLAYERS

FIXED = ("board", "weight", "iterations", "seconds", "exploitability", "exploitability_percent")
MOST_NAMED = 60
"""Number of boards above which the figure omits their names."""
NUMBERS = ("ev_oop", "ev_ip", "equity_oop", "equity_ip", "reach")


@dataclass(frozen=True)
class BatchReport:
    """A batch at one decision of its first street.

    Attributes:
        batch: the results.
        line: canonical line to the decision.
        rows: the boards that have the decision.
    """

    batch: Batch
    line: str
    rows: tuple[Row, ...]

    @property
    def place(self) -> str:
        """The decision as text."""
        return f"after {self.line}" if self.line else "first decision"

    @property
    def player(self) -> int | None:
        """The player to act at the decision."""
        return next((int(row.lines[self.line]["player"]) for row in self.rows), None)

    @property
    def actions(self) -> list[str]:
        """Names of all actions that occur on any board."""
        return list(dict.fromkeys(name for row in self.rows for name in row.lines[self.line]["actions"]))

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [*FIXED, *NUMBERS, *self.actions, *Texture._fields]

    def cells(self, row: Row) -> dict[str, Any]:
        """A row's values by column."""
        here = row.lines[self.line]
        return {
            "board": row.board,
            "weight": row.weight,
            "iterations": row.iterations,
            "seconds": row.seconds,
            "exploitability": row.exploitability,
            "exploitability_percent": 100 * row.exploitability / row.pot if row.pot else math.nan,
            "ev_oop": row.ev[0] + row.pot / 2,
            "ev_ip": row.ev[1] + row.pot / 2,
            "equity_oop": row.equity[0],
            "equity_ip": row.equity[1],
            "reach": float(here["reach"]),
            **{name: number_or_nan(part) for name, part in here["actions"].items()},
            **texture_of(parse_cards(row.board))._asdict(),
        }

    def sorted_by(self, column: str, *, ascending: bool = False) -> "BatchReport":
        """A copy sorted by a column, highest first unless ``ascending``; boards without a value come last.

        Raises:
            SpecError: there is no such column.
        """
        if column not in self.columns:
            offers = nearest(column, self.columns) or f"; write one of {', '.join(self.columns)}"
            raise SpecError(f"the report has no column {shown(column)}{offers}")
        values = {row.board: self.cells(row).get(column, 0.0 if column in self.actions else math.nan) for row in self.rows}
        there = [row for row in self.rows if values[row.board] == values[row.board]]
        there.sort(key=lambda row: values[row.board], reverse=not ascending)
        return replace(self, rows=(*there, *(row for row in self.rows if values[row.board] != values[row.board])))

    def by_texture(self, part: str) -> "dict[str, BatchReport]":
        """Separate reports of the boards of each texture, the most common texture first.

        Args:
            part: a field of :class:`Texture`: ``suits``, ``pairing``, ``high`` or ``connected``.

        Raises:
            SpecError: there is no such field.
        """
        if part not in Texture._fields:
            raise SpecError(f"unknown texture {shown(part)}; write {', '.join(Texture._fields)}")
        groups: dict[str, list[Row]] = {}
        for row in self.rows:
            groups.setdefault(getattr(texture_of(parse_cards(row.board)), part), []).append(row)
        order = sorted(groups, key=lambda name: -sum(row.weight for row in groups[name]))
        return {name: replace(self, rows=tuple(groups[name])) for name in order}

    def averages(self) -> dict[str, float]:
        """Means over the boards, weighted by their probability given both ranges and, for actions, also by reach.

        Actions missing on a board have frequency 0 there.
        """
        table = [(self.cells(row), row.weight * row.deals) for row in self.rows]
        plain = [*FIXED[4:], *NUMBERS]
        averages = {name: mean([(entry[name], weight) for entry, weight in table]) for name in plain}
        for name in self.actions:
            averages[name] = mean([(entry.get(name, 0.0), weight * entry["reach"]) for entry, weight in table])
        return averages

    def write(self) -> None:
        """Write table, averages, figure and failures to the batch's folder."""
        folder = self.batch.folder
        errors = folder / "errors.txt"
        if self.batch.failures:
            write_atomically(errors, "".join(f"{board}: {message}\n" for board, message in self.batch.failures.items()))
        else:
            errors.unlink(missing_ok=True)
        if not self.rows:
            return
        write_atomically(folder / "report.csv", self.csv())
        write_atomically(folder / "report.md", self.markdown())
        from treeplex.run.plots import write_figure

        write_figure(batch_figure(self), folder / "report.png")

    def csv(self) -> str:
        """The table as CSV with full precision; the last line holds the averages."""
        text = io.StringIO()
        table = csv.DictWriter(text, self.columns, restval=0.0, lineterminator="\n")
        table.writeheader()
        for row in self.rows:
            table.writerow(self.cells(row))
        last = {"board": "average", "weight": sum(row.weight for row in self.rows), **self.averages()}
        table.writerow({**dict.fromkeys(self.columns, ""), **last})
        return text.getvalue()

    def markdown(self) -> str:
        """The table as Markdown, averages first."""
        head = ["board", "weight", "EV OOP", "EV IP", "equity OOP", "reach", *self.actions, "exploitability"]
        total = sum(row.weight for row in self.rows)
        lines = [
            f"{len(self.rows)} of {self.batch.boards} boards, {self.place}. EV (in {self.rows[0].unit} won from the "
            "pot) and equity are those of the whole spot. Reach is that of the decision. Exploitability is a share of the pot.",
            "",
            "| " + " | ".join(head) + " |",
            "|---" + "|--:" * (len(head) - 1) + "|",
            self.markdown_line("**average**", total, self.averages()),
            *(self.markdown_line(row.board, row.weight, self.cells(row)) for row in self.rows),
        ]
        if self.batch.failures:
            lines += ["", "Failed:", "", *(f"- {board}: {message}" for board, message in self.batch.failures.items())]
        return "\n".join(lines) + "\n"

    def markdown_line(self, board: str, weight: float, entry: Mapping[str, Any]) -> str:
        """One line of the Markdown table."""
        values = [f"{entry['ev_oop']:.2f}", f"{entry['ev_ip']:.2f}", f"{100 * entry['equity_oop']:.1f}%"]
        shares = [f"{100 * entry.get(name, 0.0):.1f}%" for name in ("reach", *self.actions)]
        return f"| {board} | {weight:g} | {' | '.join([*values, *shares])} | {entry['exploitability_percent']:.2f}% |"


def mean(values: Sequence[tuple[float, float]]) -> float:
    """The weighted mean of (value, weight) pairs; NaN values with weight 0 are ignored."""
    total = sum(weight for _, weight in values)
    return sum(value * weight for value, weight in values if weight) / total if total else math.nan


def batch_report(batch: Batch, line: str) -> BatchReport:
    """The report of a batch at one decision of its first street.

    Args:
        batch: the results.
        line: canonical line, see :func:`decision_line`.
    """
    return BatchReport(batch, line, tuple(row for row in batch.rows if line in row.lines))


def decision_line(spot: Spot, line: str) -> str:
    """The canonical line to a decision on the first street.

    Raises:
        SpecError: the spot has no such line, or it does not end at a decision of the first street.
    """
    tree = betting_tree(spot)
    line_end = find_place(spot, tree, line)
    if len(line_end.roots) > 1 or not hasattr(tree.nodes[line_end.node], "player"):
        raise SpecError(f"line {line!r} does not end at a decision on the first street; end the line where a player acts")
    return line_end.line


def batch_figure(report: BatchReport) -> Any:
    """Stacked bars of action frequencies, one bar per board, sorted by betting frequency; imports Matplotlib."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from treeplex.run.plots import GREY, INK

    actions, means = report.actions, report.averages()
    kinds = [name.split()[0] for name in actions]
    order, paint = aggressive_first(kinds), colours(kinds)
    table = [(row.board, report.cells(row)) for row in report.rows]
    passive = [name for name in actions if name in ("check", "fold", "call")]
    table.sort(key=lambda entry: sum(entry[1].get(name, 0.0) for name in passive))
    named = len(table) <= MOST_NAMED
    figure = Figure(figsize=(min(max(7.2, 0.26 * len(table) + 2), 16) if named else 10, 4.8), dpi=160, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    places, bottom = np.arange(len(table)), np.zeros(len(table))
    for number in order:
        heights = np.nan_to_num([100 * entry.get(actions[number], 0.0) for _, entry in table])
        label = f"{actions[number]} {100 * means[actions[number]]:.1f}%"
        axes.bar(places, heights, 0.86 if named else 1.0, bottom=bottom, color=paint[number], label=label, linewidth=0)
        bottom += heights
    who = "First player" if report.player is None else PLAYERS[report.player]
    axes.set_ylabel(f"{who}: frequency, %", color=INK)
    axes.set(xlim=(-0.6, len(table) - 0.4), ylim=(0, 100))
    if named:
        axes.set_xticks(places, [board for board, _ in table], rotation=90, fontsize=8.5)
    else:
        axes.set_xlabel(f"{len(table):,} boards, from most to least betting", color=INK)
        axes.set_xticks([])
    axes.tick_params(colors=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    evs = f"EV {means['ev_oop']:.2f} OOP, {means['ev_ip']:.2f} IP; equity OOP {100 * means['equity_oop']:.1f}%"
    title = f"{len(table):,} boards, {report.place}; whole spot: {evs}"
    axes.set_title(title, loc="left", fontsize=11, color=INK, parse_math=False)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=9)
    return figure
