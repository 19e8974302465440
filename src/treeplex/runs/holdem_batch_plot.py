"""The picture of a batch. Imports Matplotlib, so it is itself imported only when something is drawn."""

from collections.abc import Sequence

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from treeplex.runs.holdem_batch import Row, actions_of, averages
from treeplex.runs.holdem_colours import aggressive_first, colours
from treeplex.runs.holdem_report import PLAYERS
from treeplex.runs.plots import GREY, INK

MOST_NAMED = 60
"""With more boards their names are left out."""


def batch_figure(rows: Sequence[Row]) -> Figure:
    """Stacked bars, one a board, sorted by how often the first player bets."""
    actions = actions_of(rows)
    kinds = [name.split()[0] for name in actions]
    order, paint = aggressive_first(kinds), colours(kinds)
    passive = [name for name in actions if name in ("check", "fold", "call")]
    ranked = sorted(rows, key=lambda row: sum(row.actions.get(name, 0.0) for name in passive))
    wide = len(rows) <= MOST_NAMED
    figure = Figure(figsize=(min(max(7.2, 0.26 * len(rows)), 14) if wide else 10, 4.8), dpi=160, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    places, bottom = np.arange(len(ranked)), np.zeros(len(ranked))
    means = averages(rows)
    for number in order:
        heights = np.array([100 * row.actions.get(actions[number], 0.0) for row in ranked])
        label = f"{actions[number]} {100 * means[actions[number]]:.1f}%"
        axes.bar(places, heights, 0.86 if wide else 1.0, bottom=bottom, color=paint[number], label=label, linewidth=0)
        bottom += heights
    who = PLAYERS[ranked[0].player] if ranked[0].player is not None else "First player"
    axes.set_ylabel(f"{who}: how often, %", color=INK)
    axes.set(xlim=(-0.6, len(ranked) - 0.4), ylim=(0, 100))
    if wide:
        axes.set_xticks(places, [row.board for row in ranked], rotation=90, fontsize=8.5)
    else:
        axes.set_xlabel(f"{len(ranked):,} boards, from most to least betting", color=INK)
        axes.set_xticks([])
    axes.tick_params(colors=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    evs = f"EV {means['ev_oop']:+.2f} OOP, {means['ev_ip']:+.2f} IP"
    axes.set_title(
        f"{len(rows):,} boards: {evs}; equity OOP {100 * means['equity_oop']:.1f}%",
        loc="left",
        fontsize=11,
        color=INK,
    )
    axes.legend(loc="upper left", bbox_to_anchor=(0, -0.02) if not wide else (1.0, 1.0), frameon=False, fontsize=9)
    return figure
