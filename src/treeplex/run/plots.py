"""Plots of jobs: convergence of algorithms, and stacked panels of measures.

This module imports Matplotlib and is therefore imported only when drawing."""

import io
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, StrMethodFormatter

from treeplex.base.storage.files import write_atomically
from treeplex.errors import FileError, SpecError
from treeplex.run.job.record import Record, check_effort, words_of

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#4B2E83", "#7F5539")
"""Colour-blind safe colours of Okabe and Ito (2008), and two more; after eight curves, line styles change."""
STYLES = ("-", "--", ":", "-.")
ROUNDING = 1e-15
"""Exploitability below this, in the game's units, is rounding; it is drawn at this value."""
NEVER_NEGATIVE = ("exploitability", "nash_conv")
MEANINGS: Mapping[str, str] = {"exploitability": "mean best-response gain, ", "nash_conv": "sum of best-response gains, "}
LABEL_HEIGHT = 0.052
"""Height of one label as a fraction of the axes."""
FAR = 0.9
"""Fraction of the horizontal axis that a curve must span to be labelled at its end."""
LONGEST_LABEL = 34
TITLE_WIDTH = 60
"""Characters per line of a title."""
INK, GREY, GRID = "#222222", "#5F5F5F", "#E3E3E3"


@final
class Picture(Figure):
    """A figure that notebooks display without ``%matplotlib inline``."""

    def _repr_png_(self) -> bytes:
        data = io.BytesIO()
        self.savefig(data, format="png")
        return data.getvalue()


Curves = Mapping[str, Sequence[Record]]


@dataclass(frozen=True)
class Axis:
    """The horizontal axis of a plot.

    Attributes:
        label: its name.
        of: returns the coordinate of a record.
        span: maximum ratio of the axis limits; earlier records are cut off.
    """

    label: str
    of: Callable[[Record], float]
    span: float = math.inf


AXES: Mapping[str, Axis] = {
    "iterations": Axis("Iterations", lambda record: record.done),
    "nodes": Axis("Nodes touched (histories walked)", lambda record: float(record.nodes), 1e4),
    "seconds": Axis("Seconds in the solver", lambda record: record.seconds, 1e4),
}
"""Horizontal axes, one for each of :data:`treeplex.run.job.record.EFFORTS`."""


@dataclass(frozen=True)
class View:
    """The axes of a convergence plot.

    Attributes:
        x: the horizontal axis.
        y: the measure on the vertical axis.
        floor: position of measures that a logarithmic axis cannot show.
    """

    x: Axis
    y: str
    floor: float

    def across(self, record: Record) -> float:
        """Return the horizontal coordinate, above 0."""
        return max(self.x.of(record), 1e-6)

    def height(self, record: Record) -> float:
        """Return the vertical coordinate: the measure, or the floor."""
        value = record.measure(self.y)
        return max(value, self.floor) if math.isfinite(value) else self.floor

    def point(self, record: Record) -> tuple[float, float]:
        """Return both coordinates."""
        return self.across(record), self.height(record)


def view_of(curves: "Curves", x: str, y: str) -> View:
    """Return the view of curves; signed measures have a floor slightly below their smallest positive value.

    Raises:
        SpecError: an axis that the records do not have.
    """
    rows = [{**record.numbers, **record.numbers.get("measures", {})} for records in curves.values() for record in records]
    known = [name for name in rows[0] if all(isinstance(row.get(name), int | float) for row in rows)]
    axis = AXES[check_effort(x, [name for name in AXES if name != "nodes" or name in known])]
    if y not in known:
        raise SpecError(f"records of this game have no measure {y!r}; choose {', '.join(known)}")
    if y in NEVER_NEGATIVE:
        return View(axis, y, ROUNDING)
    positive = [value for records in curves.values() for record in records if (value := record.measure(y)) > ROUNDING]
    return View(axis, y, min(positive, default=2 * ROUNDING) / 2)


def convergence_figure(
    title: str,
    curves: Curves,
    *,
    x: str = "iterations",
    y: str = "exploitability",
    target: float | None = None,
    exact: Collection[str] = (),
) -> Figure:
    """Plot exploitability against iterations on logarithmic axes, one line per algorithm.

    Args:
        title: the game's spec.
        curves: records by algorithm; at least one algorithm with one record.
        x: ``iterations``, ``nodes`` or ``seconds``.
        y: ``exploitability``, ``nash_conv`` or a measure that every record has.
        target: drawn as a dashed line.
        exact: one-step exact algorithms; in comparisons they are mentioned in a note instead of drawn.

    Raises:
        SpecError: an axis that the records do not have.
    """
    drawn = {name: records for name, records in curves.items() if name not in exact} or dict(curves)
    view = view_of(drawn, x, y)
    label_length = min(LONGEST_LABEL, max(map(len, drawn))) if len(drawn) > 1 else 0
    figure = Picture(figsize=(7.2 + 0.09 * max(0, label_length - 8), 4.5), dpi=160, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    scale_axes(axes, view, drawn, target)
    for number, (name, records) in enumerate(drawn.items()):
        axes.plot(
            [view.across(record) for record in records],
            [view.height(record) for record in records],
            color=colour(number),
            linestyle=style(number),
            linewidth=1.9,
            marker="o" if len(records) < 4 else None,
            markersize=5,
            label=name,
        )
    if target:
        axes.axhline(target, color=GREY, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
        transform = axes.get_yaxis_transform()
        axes.text(0.012, target, f"target {target:.3g}", transform=transform, color=GREY, va="bottom", fontsize=9)
    set_title(axes, f"{title}, {next(iter(drawn))}" if len(drawn) == 1 else title)
    if len(drawn) == 1:
        label_end(axes, view, next(iter(drawn.values())))
    else:
        label_curves(axes, view, drawn)
    add_note(axes, view, drawn, [name for name in curves if name not in drawn])
    return figure


def scale_axes(axes: Axes, view: View, curves: Curves, target: float | None) -> None:
    """Set logarithmic axes with limits for all curves and the target, units, and a light grid."""
    points = [view.point(record) for records in curves.values() for record in records]
    heights = [height for _, height in points] + ([target] if target else [])
    low, high = math.log10(min(heights)), math.log10(max(heights))
    margin = max(0.06 * (high - low), (2.0 - (high - low)) / 2)
    first, last = min(across for across, _ in points), max(across for across, _ in points)
    first = max(first, last / view.x.span)
    axes.set(
        xscale="log",
        yscale="log",
        xlim=(0.9 * min(first, last / 10), max(last, 10 * first) * 1.12),
        ylim=(10 ** (low - margin), 10 ** (high + margin)),
    )
    axes.set_xlabel(view.x.label, fontsize=11, color=INK)
    words = words_of(view.y)
    axes.set_ylabel(
        f"{words[0].upper()}{words[1:]}\n({MEANINGS.get(view.y, '')}game units)", fontsize=11, color=INK, parse_math=False
    )
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: across_text(x)))
    if high - low + 2 * margin > 1.5:
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.yaxis.set_major_locator(LogLocator(numticks=9))
    axes.tick_params(which="both", colors=INK, labelsize=10)
    axes.grid(which="major", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)


def set_title(axes: Axes, title: str) -> None:
    """Set a left-aligned title."""
    axes.set_title(title_lines(title), loc="left", fontsize=12, fontweight="bold", color=INK, pad=10, parse_math=False)


def title_lines(title: str) -> str:
    """Break a title into at most two lines, at spaces or after commas, and cut the rest."""
    lines = [""]
    for piece in re.findall(rf"[^ ,]{{0,{TITLE_WIDTH - 1}}}[ ,]?", title):
        if len((lines[-1] + piece).rstrip()) > TITLE_WIDTH:
            lines.append("")
        lines[-1] += piece
    first, *rest = (line.rstrip() for line in lines)
    return "\n".join([first, *rest[:1]]) + ("" if len(rest) < 2 else "...")


def across_text(x: float) -> str:
    """Format a tick of the horizontal axis: 0.01, 1,000, multiples of powers of ten from a million upwards."""
    if x < 1e6:
        return f"{x:,g}"
    digits, power = f"{x:.1e}".split("e+")
    factor = "" if digits == "1.0" else rf"{float(digits):g} \times "
    return f"${factor}10^{{{int(power)}}}$"


def label_across(axes: Axes) -> None:
    """Label a logarithmic horizontal axis at powers of ten, and at as many ticks between them as fit."""
    start, end = axes.get_xlim()
    digits = next((some for span, some in ((3, "123456789"), (30, "2357"), (1000, "25")) if end < span * start), "")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: across_text(x)))
    axes.xaxis.set_minor_formatter(FuncFormatter(lambda x, _: across_text(x) if f"{x:e}"[0] in digits else ""))


def colour(number: int) -> str:
    """Return the colour of curve ``number``."""
    return PALETTE[number % len(PALETTE)]


def style(number: int) -> str:
    """Return the line style of curve ``number``."""
    return STYLES[number // len(PALETTE) % len(STYLES)]


def label_end(axes: Axes, view: View, records: Sequence[Record]) -> None:
    """Label the end of a single curve with its last value."""
    end, value = view.point(records[-1]), records[-1].measure(view.y)
    axes.plot([end[0]], [end[1]], "o", color=colour(0), markersize=6)
    rounding = view.y in NEVER_NEGATIVE and value < ROUNDING
    axes.annotate(
        "0 within\nrounding" if rounding else f"{value:.2e}",
        end,
        xytext=(9, 0),
        textcoords="offset points",
        va="center",
        annotation_clip=False,
        color=colour(0),
        fontsize=10,
        fontweight="bold",
    )


def label_curves(axes: Axes, view: View, curves: Curves) -> None:
    """Label each curve at its end, right of the axes; close labels are moved apart.

    A curve that ends early has a dot at its end and a dotted grey line to its label.
    """
    low, high = (math.log10(limit) for limit in axes.get_ylim())
    start, end = (math.log10(limit) for limit in axes.get_xlim())
    ends = [(math.log10(view.height(records[-1])) - low) / (high - low) for records in curves.values()]
    places = keep_apart(ends, LABEL_HEIGHT)
    for number, (name, records) in enumerate(curves.items()):
        end_point = view.point(records[-1])
        early = (math.log10(end_point[0]) - start) / (end - start) < FAR
        if early:
            axes.plot(*end_point, "o", color=colour(number), markersize=5)
        axes.annotate(
            name if len(name) <= LONGEST_LABEL else f"{name[: LONGEST_LABEL - 3]}...",
            end_point,
            xytext=(1.045, places[number]),
            textcoords="axes fraction",
            va="center",
            fontsize=10,
            color=colour(number),
            fontweight="bold",
            parse_math=False,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": GREY if early else colour(number),
                "linewidth": 0.9,
                "linestyle": ":" if early else style(number),
                "shrinkA": 1,
                "shrinkB": 1,
                "alpha": 0.7,
                "relpos": (0, 0.5),
            },
        )


def keep_apart(wanted: Sequence[float], gap: float) -> list[float]:
    """Return positions close to ``wanted``, in the same order and at least ``gap`` apart.

    Clusters of overlapping labels are centred on the mean of their wanted positions, and merged as they grow.
    """
    order = sorted(range(len(wanted)), key=lambda number: wanted[number])
    clusters: list[list[int]] = []
    for number in order:
        clusters.append([number])
        while len(clusters) > 1 and bottom(clusters[-1], wanted, gap) < top(clusters[-2], wanted, gap) + gap:
            clusters[-2:] = [clusters[-2] + clusters[-1]]
    places = [0.0] * len(wanted)
    for cluster in clusters:
        for rank, number in enumerate(cluster):
            places[number] = bottom(cluster, wanted, gap) + rank * gap
    return places


def bottom(cluster: Sequence[int], wanted: Sequence[float], gap: float) -> float:
    """Return the lowest position in a cluster of labels, clipped to the axes."""
    centre = sum(wanted[number] for number in cluster) / len(cluster)
    extent = (len(cluster) - 1) * gap
    return max(0.0, min(centre - extent / 2, 1.0 - extent))


def top(cluster: Sequence[int], wanted: Sequence[float], gap: float) -> float:
    """Return the highest position in a cluster of labels."""
    return bottom(cluster, wanted, gap) + (len(cluster) - 1) * gap


def add_note(axes: Axes, view: View, drawn: Curves, undrawn: Sequence[str]) -> None:
    """Add a note about omitted curves and clipped values."""
    notes = [f"{name}: exact, not drawn" for name in undrawn]
    if any(record.measure(view.y) < view.floor for records in drawn.values() for record in records):
        limit = f"{ROUNDING:.0e}" if view.y in NEVER_NEGATIVE else f"{view.floor:.1e}"
        notes.append(f"values below {limit} are drawn there")
    if notes:
        axes.text(0.012, 0.02, "; ".join(notes), transform=axes.transAxes, fontsize=8.5, color=GREY, parse_math=False)


@dataclass(frozen=True)
class Curve:
    """A measure against effort.

    Attributes:
        across, heights: coordinates of its points; heights that a logarithmic axis cannot show are drawn at the panel's floor.
        label: label in the legend or at its end; empty for none.
        number: colour index.
        low, high: optional band around the curve.
        line: whether the line is drawn, not only the band.
        dots: whether every point has a dot.
    """

    across: Sequence[float]
    heights: Sequence[float]
    label: str = ""
    number: int = 0
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    line: bool = True
    dots: bool = False


@dataclass(frozen=True)
class Panel:
    """Curves over the same axes.

    Attributes:
        label: label of the vertical axis.
        curves: the curves.
        logarithmic: whether the vertical axis is logarithmic.
        floor: position of smaller values on a logarithmic axis.
        named_ends: whether labels are at the curves' ends instead of in a legend.
        share: relative height of the panel.
        mark: a position on the horizontal axis and its annotation.
        from_zero: whether the vertical axis starts at 0.
    """

    label: str
    curves: Sequence[Curve]
    logarithmic: bool = True
    floor: float = 1e-15
    named_ends: bool = False
    share: float = 1.0
    mark: tuple[float, str] | None = None
    from_zero: bool = False


def curves_figure(
    title: str, across: str, panels: Sequence[Panel], *, logarithmic: bool = False, last: float | None = None, height: float
) -> Figure:
    """Draw stacked panels over the same horizontal axis; return the figure.

    Args:
        title: title of the figure.
        across: label of the horizontal axis.
        panels: at least one panel, from top to bottom.
        logarithmic: whether the horizontal axis is logarithmic.
        last: end of a linear horizontal axis.
        height: height of the figure in inches.
    """
    figure = Figure(figsize=(7.6, height), dpi=160, layout="constrained")
    FigureCanvasAgg(figure)
    shares = [panel.share for panel in panels]
    axes_column = figure.subplots(len(panels), 1, sharex=True, squeeze=False, height_ratios=shares)[:, 0]
    for axes, panel in zip(axes_column, panels, strict=True):
        draw_panel(axes, panel)
    bottom_axes = axes_column[-1]
    bottom_axes.set_xlabel(across, fontsize=11, color=INK)
    if logarithmic:
        bottom_axes.set_xscale("log")
        label_across(bottom_axes)
    elif last is not None:
        bottom_axes.set_xlim(0, last or 1)
        if last >= 10_000:
            bottom_axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    figure.canvas.draw()
    for axes, panel in zip(axes_column, panels, strict=True):
        if panel.named_ends:
            name_ends(axes, panel)
    set_title(axes_column[0], title)
    return figure


def draw_panel(axes: Axes, panel: Panel) -> None:
    """Draw the curves of a panel over a light grid."""

    def shown(heights: Sequence[float]) -> list[float]:
        return [max(height, panel.floor) for height in heights] if panel.logarithmic else list(heights)

    for curve in panel.curves:
        paint, label = colour(curve.number), None if panel.named_ends else curve.label or None
        if curve.low is not None and curve.high is not None:
            band: dict[str, Any] = {"color": paint, "alpha": 0.2 if curve.line else 0.45, "linewidth": 0}
            low, high = shown(curve.low), shown(curve.high)
            axes.fill_between(curve.across, low, high, label=None if curve.line else label, **band)
        if curve.line:
            marker = "o" if curve.dots or len(curve.across) < 4 else None
            look: dict[str, Any] = {"color": paint, "linestyle": style(curve.number), "linewidth": 1.5}
            look |= {"marker": marker, "markersize": 4}
            axes.plot(curve.across, shown(curve.heights), label=label, **look)
    if panel.logarithmic and any(len(curve.across) for curve in panel.curves):
        axes.set_yscale("log")
    if panel.from_zero:
        axes.set_ylim(0, None)
    axes.set_ylabel(panel.label, fontsize=11, color=INK, parse_math=False)
    if not panel.named_ends and any(curve.label for curve in panel.curves):
        axes.legend(frameon=False, fontsize=9, labelcolor=INK)
    if panel.mark is not None:
        x, text = panel.mark
        axes.axvline(x, color=GREY, linewidth=1, linestyle=(0, (4, 3)))
        axes.text(x, 0.04, f" {text}", transform=axes.get_xaxis_transform(), color=GREY, fontsize=9)
    axes.tick_params(which="both", colors=INK, labelsize=10)
    axes.grid(which="major", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)


def name_ends(axes: Axes, panel: Panel) -> None:
    """Label each curve right of its end; close labels are moved apart."""
    ends = [max(curve.heights[-1], panel.floor) for curve in panel.curves]
    places = [axes.transAxes.inverted().transform(axes.transData.transform((0, end)))[1] for end in ends]
    for curve, y in zip(panel.curves, keep_apart([float(end_height) for end_height in places], 0.075), strict=True):
        name = curve.label if len(curve.label) <= LONGEST_LABEL else f"{curve.label[: LONGEST_LABEL - 3]}..."
        axes.annotate(
            name,
            (1.015, y),
            xycoords="axes fraction",
            va="center",
            fontsize=9.5,
            fontweight="bold",
            color=colour(curve.number),
            parse_math=False,
            annotation_clip=False,
        )


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure atomically in the format of the file's suffix.

    Raises:
        FileError: Matplotlib does not support the format, or the file cannot be written.
    """
    kind = path.suffix.lstrip(".").lower()
    known = figure.canvas.get_supported_filetypes()
    if kind not in known:
        raise FileError(f"{path}: unsupported image type {kind or 'without a suffix'}; end the name in .png, .svg or .pdf")
    data = io.BytesIO()
    figure.savefig(data, format=kind)
    write_atomically(path, data.getvalue())
