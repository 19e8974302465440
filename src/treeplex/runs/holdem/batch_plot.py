"""The picture of a batch. Imports Matplotlib, so it is itself imported only when something is drawn."""

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from treeplex.runs.holdem.batch_report import BatchReport
from treeplex.runs.holdem.report.colours import aggressive_first, colours
from treeplex.runs.holdem.report.page_data import PLAYERS
from treeplex.runs.plots import GREY, INK

MOST_NAMED = 60
"""With more boards their names are left out."""


def batch_figure(report: BatchReport) -> Figure:
    """Stacked bars, one a board, sorted by how often the player bets."""
    actions, means = report.actions, report.averages()
    kinds = [name.split()[0] for name in actions]
    order, paint = aggressive_first(kinds), colours(kinds)
    table = [(row.board, report.cells(row)) for row in report.rows]
    passive = [name for name in actions if name in ("check", "fold", "call")]
    table.sort(key=lambda each: sum(each[1].get(name, 0.0) for name in passive))
    named = len(table) <= MOST_NAMED
    figure = Figure(figsize=(min(max(7.2, 0.26 * len(table) + 2), 16) if named else 10, 4.8), dpi=160, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    places, bottom = np.arange(len(table)), np.zeros(len(table))
    for number in order:
        heights = np.nan_to_num([100 * each.get(actions[number], 0.0) for _, each in table])
        label = f"{actions[number]} {100 * means[actions[number]]:.1f}%"
        axes.bar(places, heights, 0.86 if named else 1.0, bottom=bottom, color=paint[number], label=label, linewidth=0)
        bottom += heights
    who = "First player" if report.player is None else PLAYERS[report.player]
    axes.set_ylabel(f"{who}: how often, %", color=INK)
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
    title = f"{len(table):,} boards, {report.place}; the spot: {evs}"
    axes.set_title(title, loc="left", fontsize=11, color=INK, parse_math=False)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=9)
    return figure
