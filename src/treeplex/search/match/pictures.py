"""Plots of matches: running means with 95% bands, payoff matrix of a round robin, exact values."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from treeplex.base.arrays import Floats
from treeplex.run.plots import (
    GREY,
    GRID,
    INK,
    Curve,
    Panel,
    Picture,
    colour,
    curves_figure,
    set_title,
    title_lines,
)
from treeplex.search.evaluate.statistics import FEWEST_DEALS, half_widths
from treeplex.search.match.scores import Ledger

if TYPE_CHECKING:
    from treeplex.search.match.result import MatchResult

POINTS = 300
"""Number of points of a running mean."""
LONGEST = 28


def match_figure(result: "MatchResult") -> Figure:
    """Plot a match."""
    if result.about.settings.table:
        return matrix_figure(result)
    return exact_figure(result) if result.ledger is None else running_figure(result, result.ledger)


def running_figure(result: "MatchResult", ledger: Ledger) -> Figure:
    """Plot each agent's running mean with its 95% band; in zero-sum matches of two agents, only the first agent's."""
    about, curves = result.about, list[Curve]()
    samples = ledger.samples(0)
    zero_sum = samples.shape[1] == 2 and bool(np.allclose(samples.sum(axis=1), 0.0))
    deal_hands = len(ledger.plan.orders) if ledger.plan.duplicate else 1
    if ledger.without_luck:
        plain = ledger.samples(0, plain=True)
        curves.append(running(plain[:, 0], f"{short(about.agents[0])}, payoffs", deal_hands, 5))
    for agent in range(1 if zero_sum else samples.shape[1]):
        name = short(about.agents[agent]) + (", AIVAT" if ledger.without_luck else "")
        curves.append(running(samples[:, agent], name, deal_hands, agent))
    against = " against ".join(map(short, about.agents))
    panel = Panel("Mean payoff per hand, game units\n(bands: 95%)", curves, logarithmic=False)
    figure = curves_figure(f"{about.game}: {against}", "Hands", [panel], logarithmic=True, height=4.5)
    axes = figure.axes[0]
    axes.axhline(0.0, color=GREY, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    if curves[0].low is not None and len(curves[0].low):
        spread = [value for curve in curves for value in (*near_end(curve.low), *near_end(curve.high))]
        margin = 0.08 * (max(spread) - min(spread) or 1.0)
        axes.set_ylim(min(*spread, 0.0) - margin, max(*spread, 0.0) + margin)
    return figure


def near_end(band: Sequence[float] | None) -> list[float]:
    """Drop the first fifth of a band's points, where it is widest."""
    values = list(band or ())
    return values[len(values) // 5 :]


def running(samples: Floats, label: str, hands_per_sample: int, number: int) -> Curve:
    """Compute the running mean of samples, with ``hands_per_sample``, and its 95% band if there are enough samples."""
    count = np.arange(1, len(samples) + 1)
    mean = np.cumsum(samples) / count
    square = np.cumsum(samples**2) / count
    deviation = np.sqrt(np.maximum(square - mean**2, 0.0) * count / np.maximum(count - 1, 1))
    half = half_widths(deviation / np.sqrt(count), count)
    first = min(FEWEST_DEALS, len(samples))
    places = np.unique(np.rint(np.geomspace(max(first, 1), max(len(samples), 1), POINTS)).astype(np.int64)) - 1
    places = places[places < len(samples)]
    along, means = (hands_per_sample * count[places]).tolist(), mean[places].tolist()
    if len(samples) < FEWEST_DEALS:
        return Curve(along, means, label, number)
    return Curve(along, means, label, number, (mean - half)[places].tolist(), (mean + half)[places].tolist())


def matrix_figure(result: "MatchResult") -> Figure:
    """Plot a heat map of the row agent's winnings against the column agent; the last column is the mean."""
    names, milli = [short(name) for name in result.about.agents], result.about.big_blind is not None
    factor = 1000.0 / result.about.big_blind if result.about.big_blind is not None else 1.0
    values = factor * np.array([[np.nan if value is None else value for value in row] for row in result.matrix or []])
    errors = factor * np.array([[np.nan if value is None else value for value in row] for row in result.matrix_stderr or []])
    count = len(names)
    figure = Picture(figsize=(2.6 + 1.15 * (count + 1), 1.7 + 0.62 * count), dpi=160, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    whole = np.column_stack((values, factor * np.array(result.value)))
    most = float(np.nanmax(np.abs(whole))) or 1.0
    axes.imshow(whole, cmap="RdBu", vmin=-2 * most, vmax=2 * most, aspect="auto")
    for row in range(count):
        for column in range(count + 1):
            value = whole[row, column]
            if np.isfinite(value):
                error = errors[row, column] if column < count else factor * result.stderr[row]
                text = number_text(value, milli) + ("" if result.exact else f"\n± {number_text(error, milli).lstrip('+')}")
                bold = "bold" if column == count else "normal"
                axes.text(column, row, text, ha="center", va="center", fontsize=9.5, color=INK, fontweight=bold)
    axes.axvline(count - 0.5, color="white", linewidth=4)
    axes.set_xticks(range(count + 1), [*(textwrap.fill(name, 14) for name in names), "mean"], fontsize=9.5, parse_math=False)
    axes.set_yticks(range(count), names, fontsize=9.5, parse_math=False)
    axes.xaxis.tick_top()
    axes.tick_params(length=0, colors=INK)
    axes.spines[:].set_visible(False)
    unit = "mbb/hand" if milli else "payoff per hand"
    how = "exact" if result.exact else f"± standard error, {result.hands:,} hands"
    title = f"{title_lines(f'{result.about.game}: winnings of the row against the column')}\n({unit}; {how})"
    axes.set_title(title, loc="left", fontsize=11.5, fontweight="bold", color=INK, pad=12, parse_math=False)
    return figure


def number_text(value: float, milli: bool) -> str:
    """Format a number of the matrix as short text."""
    return f"{value:+,.0f}" if milli and abs(value) >= 10 else f"{value:+.3g}"


def exact_figure(result: "MatchResult") -> Figure:
    """Plot exact values: each agent's mean, and its value in each seat."""
    score, names = result.scores[0], [short(name) for name in result.about.agents]
    figure = Picture(figsize=(7.2, 1.6 + 0.5 * len(names)), dpi=160, layout="constrained")
    FigureCanvasAgg(figure)
    axes: Axes = figure.add_subplot()
    for agent in range(len(names)):
        for seat, value in enumerate(score.by_seat[agent]):
            if np.isfinite(value):
                axes.plot(value, agent, "o", color=colour(seat), markersize=6, label=f"in seat {seat}" if agent == 0 else None)
        axes.plot(result.value[agent], agent, "|", color=INK, markersize=22, markeredgewidth=2.2)
    axes.plot([], [], "|", color=INK, markersize=10, markeredgewidth=2.2, label="mean")
    axes.axvline(0.0, color=GREY, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    axes.set_yticks(range(len(names)), names, fontsize=10, parse_math=False)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel("Payoff per hand, game units (exact)", fontsize=11, color=INK)
    axes.legend(frameon=False, fontsize=9, labelcolor=INK, loc="center left", bbox_to_anchor=(1.0, 0.5))
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK, labelsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    set_title(axes, f"{result.about.game}")
    return figure


def short(name: str) -> str:
    """Shorten a name for a plot."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 3]}..."
