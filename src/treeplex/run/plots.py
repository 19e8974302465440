"""Plots of jobs: convergence of algorithms, and curves of measures one below the other.

Imports Matplotlib, so it is itself imported only when something is drawn."""

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
from treeplex.errors import FileError
from treeplex.run.job.record import Record, check_effort, words_of

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#4B2E83", "#7F5539")
"""Colours of Okabe and Ito (2008), told apart with any colour vision, and two more; after eight, line styles differ."""
STYLES = ("-", "--", ":", "-.")
ROUNDING = 1e-15
"""Exploitability below this many game units is rounding; the plot draws it here."""
NEVER_NEGATIVE = ("exploitability", "nash_conv")
MEANINGS: Mapping[str, str] = {"exploitability": "mean best-response gain, ", "nash_conv": "sum of best-response gains, "}
LABEL_HEIGHT = 0.052
"""Height of one label as a fraction of the axes."""
FAR = 0.9
"""How much of the horizontal axis a curve goes along whose name is near its end."""
LONGEST_LABEL = 34
TITLE_WIDTH = 60
"""Letters of a title that a line holds."""
INK, GREY, GRID = "#222222", "#5F5F5F", "#E3E3E3"


@final
class Picture(Figure):
    """A figure that a notebook shows by itself, without ``%matplotlib inline``."""

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
        of: the number of a record.
        span: how much larger its end may be than its start; what comes earlier, before anything has been learned, is cut off.
    """

    label: str
    of: Callable[[Record], float]
    span: float = math.inf


AXES: Mapping[str, Axis] = {
    "iterations": Axis("Iterations", lambda record: record.done),
    "nodes": Axis("Nodes touched (histories walked)", lambda record: float(record.nodes), 1e4),
    "seconds": Axis("Seconds in the solver", lambda record: record.seconds, 1e4),
}
"""The horizontal axes, one for each of :data:`treeplex.run.job.record.EFFORTS`."""


@dataclass(frozen=True)
class View:
    """Where records are drawn.

    Attributes:
        x: the horizontal axis.
        y: the measure on the vertical one.
        floor: where measures that a logarithmic axis cannot show are drawn.
    """

    x: Axis
    y: str
    floor: float

    def across(self, record: Record) -> float:
        """The place on the horizontal axis, above 0."""
        return max(self.x.of(record), 1e-6)

    def height(self, record: Record) -> float:
        """The place on the vertical axis: the measure, or the floor."""
        value = record.measure(self.y)
        return max(value, self.floor) if math.isfinite(value) else self.floor

    def point(self, record: Record) -> tuple[float, float]:
        """Both."""
        return self.across(record), self.height(record)


def view_of(curves: "Curves", x: str, y: str) -> View:
    """The view of some curves; measures that can be negative have their floor a little below the least positive one."""
    axis = AXES[check_effort(x)]
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
    """Exploitability against iterations, both axes logarithmic, one line an algorithm.

    Args:
        title: the game's spec.
        curves: records of each algorithm, by its name; at least one algorithm with at least one record.
        x: ``iterations``, ``nodes`` or ``seconds``.
        y: ``exploitability``, ``nash_conv`` or a measure that every record has.
        target: drawn as a dashed line.
        exact: algorithms that solve in one step; among others they are named in a note and not drawn.

    Raises:
        SpecError: no such axis.
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
        place = axes.get_yaxis_transform()
        axes.text(0.012, target, f"target {target:.3g}", transform=place, color=GREY, va="bottom", fontsize=9)
    set_title(axes, f"{title}, {next(iter(drawn))}" if len(drawn) == 1 else title)
    if len(drawn) == 1:
        label_end(axes, view, next(iter(drawn.values())))
    else:
        label_curves(axes, view, drawn)
    add_note(axes, view, drawn, [name for name in curves if name not in drawn])
    return figure


def scale_axes(axes: Axes, view: View, curves: Curves, target: float | None) -> None:
    """Logarithmic axes with limits that hold all curves and the target, units named, quiet grid."""
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
    """Put a title over the left end of a figure as wide as those here."""
    axes.set_title(title_lines(title), loc="left", fontsize=12, fontweight="bold", color=INK, pad=10, parse_math=False)


def title_lines(title: str) -> str:
    """A title on two lines at most, broken at spaces and, as specs have none, after commas; cut where it is longer still."""
    lines = [""]
    for piece in re.findall(rf"[^ ,]{{0,{TITLE_WIDTH - 1}}}[ ,]?", title):
        if len((lines[-1] + piece).rstrip()) > TITLE_WIDTH:
            lines.append("")
        lines[-1] += piece
    first, *rest = (line.rstrip() for line in lines)
    return "\n".join([first, *rest[:1]]) + ("" if len(rest) < 2 else "...")


def across_text(place: float) -> str:
    """A mark of the horizontal axis: 0.01, 1,000, a power of ten from a million on."""
    return f"$10^{{{math.log10(place):.0f}}}$" if place >= 1e6 else f"{place:,.0f}" if place >= 1 else f"{place:g}"


def colour(number: int) -> str:
    """The colour of curve ``number``."""
    return PALETTE[number % len(PALETTE)]


def style(number: int) -> str:
    """The line style of curve ``number``."""
    return STYLES[number // len(PALETTE) % len(STYLES)]


def label_end(axes: Axes, view: View, records: Sequence[Record]) -> None:
    """Write the last value at the end of the only curve."""
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
    """Name each curve at its end, right of the axes; names are pushed apart where ends are close.

    A curve that ends well before the axis does has a dot there and a dotted grey line to its name, which no one takes for
    more of the curve.
    """
    low, high = (math.log10(limit) for limit in axes.get_ylim())
    start, end = (math.log10(limit) for limit in axes.get_xlim())
    ends = [(math.log10(view.height(records[-1])) - low) / (high - low) for records in curves.values()]
    places = keep_apart(ends, LABEL_HEIGHT)
    for number, (name, records) in enumerate(curves.items()):
        place = view.point(records[-1])
        early = (math.log10(place[0]) - start) / (end - start) < FAR
        if early:
            axes.plot(*place, "o", color=colour(number), markersize=5)
        axes.annotate(
            name if len(name) <= LONGEST_LABEL else f"{name[: LONGEST_LABEL - 3]}...",
            place,
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
    """Positions close to ``wanted``, in the same order, at least ``gap`` apart.

    Clusters of labels that would touch are centred on the mean of what they want and merged as they grow.
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
    """The lowest position in a cluster of labels, kept on the axes."""
    centre = sum(wanted[number] for number in cluster) / len(cluster)
    extent = (len(cluster) - 1) * gap
    return max(0.0, min(centre - extent / 2, 1.0 - extent))


def top(cluster: Sequence[int], wanted: Sequence[float], gap: float) -> float:
    """The highest position in a cluster of labels."""
    return bottom(cluster, wanted, gap) + (len(cluster) - 1) * gap


def add_note(axes: Axes, view: View, drawn: Curves, undrawn: Sequence[str]) -> None:
    """A small note about what the picture cannot show."""
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
        across, heights: its points; a height that a logarithmic axis cannot show is drawn at the panel's floor.
        label: its name in the legend or at its end; empty for none.
        number: of its colour.
        low, high: a band around it, if given.
        line: whether there is more of it than the band.
        dots: whether each point has a dot, however many there are.
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
        label: of the vertical axis.
        curves: what is drawn.
        logarithmic: whether the vertical axis is.
        floor: where a logarithmic axis shows what is below it.
        named_ends: whether labels stand right of the curves' ends instead of in a legend.
        share: its part of the figure's height, relative to other panels.
        mark: a place on the horizontal axis, and what is said there.
        from_zero: whether the vertical axis begins at 0.
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
    """Panels one below the other, over the same effort.

    Args:
        title: of the figure.
        across: what the horizontal axis shows.
        panels: at least one, from top to bottom.
        logarithmic: whether the horizontal axis is.
        last: where a linear horizontal axis ends.
        height: of the figure, in inches.
    """
    figure = Figure(figsize=(7.6, height), dpi=160, layout="constrained")
    FigureCanvasAgg(figure)
    shares = [panel.share for panel in panels]
    found = figure.subplots(len(panels), 1, sharex=True, squeeze=False, height_ratios=shares)[:, 0]
    for axes, panel in zip(found, panels, strict=True):
        draw_panel(axes, panel)
    bottom_axes = found[-1]
    bottom_axes.set_xlabel(across, fontsize=11, color=INK)
    if logarithmic:
        bottom_axes.set_xscale("log")
    elif last is not None:
        bottom_axes.set_xlim(0, last or 1)
        if last >= 10_000:
            bottom_axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    figure.canvas.draw()
    for axes, panel in zip(found, panels, strict=True):
        if panel.named_ends:
            name_ends(axes, panel)
    set_title(found[0], title)
    return figure


def draw_panel(axes: Axes, panel: Panel) -> None:
    """Draw the curves of a panel, quiet grid and spines behind them."""

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
        place, text = panel.mark
        axes.axvline(place, color=GREY, linewidth=1, linestyle=(0, (4, 3)))
        axes.text(place, 0.04, f" {text}", transform=axes.get_xaxis_transform(), color=GREY, fontsize=9)
    axes.tick_params(which="both", colors=INK, labelsize=10)
    axes.grid(which="major", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)


def name_ends(axes: Axes, panel: Panel) -> None:
    """Name each curve right of its end; names are pushed apart where curves end close to each other."""
    ends = [max(curve.heights[-1], panel.floor) for curve in panel.curves]
    places = [axes.transAxes.inverted().transform(axes.transData.transform((0, end)))[1] for end in ends]
    for curve, place in zip(panel.curves, keep_apart([float(each) for each in places], 0.075), strict=True):
        name = curve.label if len(curve.label) <= LONGEST_LABEL else f"{curve.label[: LONGEST_LABEL - 3]}..."
        axes.annotate(
            name,
            (1.015, place),
            xycoords="axes fraction",
            va="center",
            fontsize=9.5,
            fontweight="bold",
            color=colour(curve.number),
            parse_math=False,
            annotation_clip=False,
        )


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure in the format that the file name ends in, atomically.

    Raises:
        FileError: a format Matplotlib does not write, or a file that cannot be written.
    """
    kind = path.suffix.lstrip(".").lower()
    known = figure.canvas.get_supported_filetypes()
    if kind not in known:
        raise FileError(f"{path}: cannot draw a {kind or 'nameless'} file; end the name in .png, .svg or .pdf")
    data = io.BytesIO()
    figure.savefig(data, format=kind)
    write_atomically(path, data.getvalue())
