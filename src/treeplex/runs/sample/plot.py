"""How a run that samples rules went. Imports Matplotlib, so it is itself imported only when something is drawn."""

import textwrap
from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from treeplex.runs.plots import GREY, GRID, INK, colour
from treeplex.runs.sample.folder import SampleRecord

ERRORS = 2.0
"""Half the height of the bands, in standard errors."""


def progress_figure(title: str, against: str, records: Sequence[SampleRecord]) -> Figure:
    """Exploitability (if it was computed) or payoffs by playouts above, infosets in the tables below.

    Args:
        title: of the figure.
        against: whom the policy was played against.
        records: at least one.
    """
    figure = Figure(figsize=(7.4, 5.8), dpi=160, layout="constrained")
    FigureCanvasAgg(figure)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    nodes, marker = [record.nodes for record in records], "o" if len(records) < 4 else None
    exact = [record.exploitability for record in records if record.exploitability is not None]
    if len(exact) == len(records):
        above.plot(nodes, [max(value, 1e-15) for value in exact], color=colour(0), linewidth=1.9, marker=marker)
        above.set(yscale="log")
        above.set_ylabel("Exploitability\n(mean best-response gain, game units)", fontsize=11, color=INK)
    else:
        plot_payoffs(above, against, nodes, records, marker)
    below.plot(nodes, [record.infosets for record in records], color=colour(2), linewidth=1.9, marker=marker)
    below.set_ylabel("Infosets in the tables", fontsize=11, color=INK)
    below.set_xlabel("Nodes touched (histories walked)", fontsize=11, color=INK)
    below.set(xscale="log", ylim=(0, None))
    full = next((record for record in records if record.unstored), None)
    if full is not None:
        below.axvline(full.nodes, color=GREY, linewidth=1, linestyle=(0, (4, 3)))
        below.text(full.nodes, 0.04, " memory limit reached", transform=below.get_xaxis_transform(), color=GREY, fontsize=9)
    for axes in (above, below):
        axes.tick_params(which="both", colors=INK, labelsize=10)
        axes.grid(which="major", color=GRID, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(GREY)
    lines = textwrap.wrap(title, 68, max_lines=2, break_on_hyphens=False)
    above.set_title("\n".join(lines), loc="left", fontsize=12, fontweight="bold", color=INK, pad=10, parse_math=False)
    return figure


def plot_payoffs(axes: Axes, against: str, nodes: Sequence[int], records: Sequence[SampleRecord], marker: str | None) -> None:
    """Mean payoffs by playouts with bands of two standard errors."""
    name = "uniform play" if against == "uniform" else Path(against).parent.name or against
    curves = [(f"against {name}, all seats", [r.match for r in records], [r.match_error for r in records])]
    for player in range(min(2, len(records[0].value))):
        label = f"player {player} when all follow it"
        curves.append((label, [r.value[player] for r in records], [r.error[player] for r in records]))
    for number, (label, means, errors) in enumerate(curves):
        axes.plot(nodes, means, color=colour(number), linewidth=1.6, marker=marker, label=label)
        low = [mean - ERRORS * error for mean, error in zip(means, errors, strict=True)]
        high = [mean + ERRORS * error for mean, error in zip(means, errors, strict=True)]
        axes.fill_between(nodes, low, high, color=colour(number), alpha=0.2, linewidth=0)
    axes.set_ylabel("Mean payoff by playouts\n(bands: two standard errors)", fontsize=11, color=INK)
    axes.legend(frameon=False, fontsize=9, labelcolor=INK)
