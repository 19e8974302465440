"""Convergence plots. Imports Matplotlib, so it is itself imported only when something is drawn."""

import io
import math
import textwrap
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from treeplex.errors import FileError
from treeplex.forms.files import write_atomically
from treeplex.runs.record import Record

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#4B2E83", "#7F5539")
"""Colours of Okabe and Ito (2008), told apart with any colour vision, and two more; after eight, line styles differ."""
STYLES = ("-", "--", ":", "-.")
ROUNDING = 1e-15
"""Exploitability below this many game units is rounding; the plot draws it here."""
LABEL_HEIGHT = 0.052
"""Height of one label as a fraction of the axes."""
LONGEST_LABEL = 34
INK, GREY, GRID = "#222222", "#5F5F5F", "#E3E3E3"

Curves = Mapping[str, Sequence[Record]]


def convergence_figure(title: str, curves: Curves, *, target: float | None = None, exact: Collection[str] = ()) -> Figure:
    """Exploitability against iterations, both axes logarithmic, one line an algorithm.

    Args:
        title: the game's spec.
        curves: records of each algorithm, by its name; at least one algorithm with at least one record.
        target: drawn as a dashed line.
        exact: algorithms that solve in one step; among others they are named in a note and not drawn.
    """
    drawn = {name: records for name, records in curves.items() if name not in exact} or dict(curves)
    label_length = min(LONGEST_LABEL, max(map(len, drawn))) if len(drawn) > 1 else 0
    figure = Figure(figsize=(7.2 + 0.09 * max(0, label_length - 8), 4.5), dpi=160, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    scale_axes(axes, drawn, target)
    for number, (name, records) in enumerate(drawn.items()):
        iterations, heights = [record.iteration for record in records], [height(record) for record in records]
        marker = "o" if len(records) < 4 else None
        axes.plot(
            iterations,
            heights,
            color=colour(number),
            linestyle=style(number),
            linewidth=1.9,
            marker=marker,
            markersize=5,
            label=name,
        )
    if target:
        axes.axhline(target, color=GREY, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
        place = axes.get_yaxis_transform()
        axes.text(0.012, target, f"target {target:.3g}", transform=place, color=GREY, va="bottom", fontsize=9)
    lines = textwrap.wrap(
        f"{title}, {next(iter(drawn))}" if len(drawn) == 1 else title, 68, max_lines=2, break_on_hyphens=False
    )
    axes.set_title("\n".join(lines), loc="left", fontsize=12, fontweight="bold", color=INK, pad=10, parse_math=False)
    if len(drawn) == 1:
        label_end(axes, next(iter(drawn.values())))
    else:
        label_curves(axes, drawn)
    add_note(axes, drawn, [name for name in curves if name not in drawn])
    return figure


def scale_axes(axes: Axes, curves: Curves, target: float | None) -> None:
    """Logarithmic axes with limits that hold all curves and the target, units named, quiet grid."""
    heights = [height(record) for records in curves.values() for record in records] + ([target] if target else [])
    low, high = math.log10(min(heights)), math.log10(max(heights))
    margin = max(0.06 * (high - low), (2.0 - (high - low)) / 2)
    last = max(record.iteration for records in curves.values() for record in records)
    axes.set(xscale="log", yscale="log", xlim=(0.9, max(last, 10) * 1.12), ylim=(10 ** (low - margin), 10 ** (high + margin)))
    axes.set_xlabel("Iterations", fontsize=11, color=INK)
    axes.set_ylabel("Exploitability\n(mean best-response gain, game units)", fontsize=11, color=INK)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}" if x < 1e6 else f"$10^{{{math.log10(x):.0f}}}$"))
    if high - low + 2 * margin > 1.5:
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.yaxis.set_major_locator(LogLocator(numticks=9))
    axes.tick_params(which="both", colors=INK, labelsize=10)
    axes.grid(which="major", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)


def height(record: Record) -> float:
    """Where a record is drawn: its exploitability, or :data:`ROUNDING` where that is rounding."""
    return max(record.exploitability, ROUNDING) if math.isfinite(record.exploitability) else ROUNDING


def colour(number: int) -> str:
    """The colour of curve ``number``."""
    return PALETTE[number % len(PALETTE)]


def style(number: int) -> str:
    """The line style of curve ``number``."""
    return STYLES[number // len(PALETTE) % len(STYLES)]


def label_end(axes: Axes, records: Sequence[Record]) -> None:
    """Write the last exploitability at the end of the only curve."""
    last = records[-1]
    axes.plot([last.iteration], [height(last)], "o", color=colour(0), markersize=6)
    text = f"{last.exploitability:.2e}" if last.exploitability >= ROUNDING else "0 within\nrounding"
    axes.annotate(
        text,
        (last.iteration, height(last)),
        xytext=(9, 0),
        textcoords="offset points",
        va="center",
        annotation_clip=False,
        color=colour(0),
        fontsize=10,
        fontweight="bold",
    )


def label_curves(axes: Axes, curves: Curves) -> None:
    """Name each curve at its end, right of the axes; names are pushed apart where ends are close."""
    low, high = (math.log10(limit) for limit in axes.get_ylim())
    ends = [(math.log10(height(records[-1])) - low) / (high - low) for records in curves.values()]
    places = spread(ends, LABEL_HEIGHT)
    for number, (name, records) in enumerate(curves.items()):
        axes.annotate(
            name if len(name) <= LONGEST_LABEL else f"{name[: LONGEST_LABEL - 3]}...",
            (records[-1].iteration, height(records[-1])),
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
                "color": colour(number),
                "linewidth": 0.9,
                "linestyle": style(number),
                "shrinkA": 1,
                "shrinkB": 1,
                "alpha": 0.7,
                "relpos": (0, 0.5),
            },
        )


def spread(wanted: Sequence[float], gap: float) -> list[float]:
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


def add_note(axes: Axes, drawn: Curves, undrawn: Sequence[str]) -> None:
    """A small note about what the picture cannot show."""
    notes = [f"{name}: exact, not drawn" for name in undrawn]
    if any(record.exploitability < ROUNDING for records in drawn.values() for record in records):
        notes.append(f"values below {ROUNDING:.0e} are drawn there")
    if notes:
        axes.text(0.012, 0.02, "; ".join(notes), transform=axes.transAxes, fontsize=8.5, color=GREY, parse_math=False)


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
