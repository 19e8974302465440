"""Small multiples of curves, in the style of the library's plots."""

import io
import math
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogFormatterMathtext, LogLocator, NullFormatter

from papers.common.results import IMAGES, Picture
from treeplex.base.storage.files import write_atomically
from treeplex.run.plots import GREY, GRID, INK, PALETTE

DASHES = ("-", "--", "-.", ":")


def panels(rows: int, columns: int, *, size: tuple[float, float]) -> tuple[Figure, list[Axes]]:
    """A figure of ``rows`` times ``columns`` axes, in reading order."""
    figure = Figure(figsize=size, dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    figure.get_layout_engine().set(w_pad=0.06, h_pad=0.07, hspace=0.03, wspace=0.03)  # type: ignore[union-attr]
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def line_style(number: int) -> dict[str, object]:
    """Colour and dashes of curve ``number``: neighbours differ in both, for any colour vision and for print."""
    return {"color": PALETTE[number % len(PALETTE)], "linestyle": DASHES[number % len(DASHES)], "linewidth": 1.6}


def dress(axes: Axes, title: str, *, logarithmic: bool = True) -> None:
    """Title, light grid, and logarithmic scales with few plain labels."""
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold", color=INK)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    if logarithmic:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(numticks=7))
        low, high = axes.get_ylim()
        if math.log10(high / low) > 1.2:
            axes.yaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(which="both", colors=INK, labelsize=9)
    axes.grid(which="major", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)


def few_labels(axes: Axes) -> None:
    """Label a logarithmic y-axis at powers of ten, and at 2 and 5 if it spans little more than one decade."""
    low, high = axes.get_ylim()
    axes.yaxis.set_minor_formatter(NullFormatter())
    if high / low < 60.0:
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0e}".replace("e-0", "e-")))


def plain_labels(axes: Axes) -> None:
    """Label a logarithmic y-axis with plain numbers at powers of ten, and at 2 and 5 if there are few of them."""
    low, high = axes.get_ylim()
    if high / low < 300.0:
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def power_labels(axes: Axes) -> None:
    """Label a long logarithmic x-axis with powers of ten."""
    axes.xaxis.set_major_formatter(LogFormatterMathtext())


def legend_outside(
    figure: Figure,
    lines: Mapping[str, Mapping[str, object]],
    *,
    columns: int = 1,
    size: float = 10.0,
    length: float | None = 3.2,
    place: str = "outside lower center",
) -> None:
    """A legend of line styles by name outside the axes (default ``place``: below)."""
    figure.legend(handles=handles(lines), loc=place, ncols=columns, frameon=False, fontsize=size, handlelength=length)


def handles(lines: Mapping[str, Mapping[str, object]]) -> list[Line2D]:
    """Entries of a legend."""
    return [Line2D([], [], label=name, **style) for name, style in lines.items()]  # type: ignore[arg-type]


def legend_in(axes: Axes, lines: Mapping[str, Mapping[str, object]], *, title: str | None = None, columns: int = 1) -> None:
    """Use empty axes for a legend of line styles by name."""
    axes.set_axis_off()
    legend = axes.legend(
        handles=handles(lines), loc="center left", frameon=False, fontsize=10, title=title, ncols=columns, handlelength=3.2
    )
    legend.get_title().set_fontweight("bold")
    legend._legend_box.align = "left"


def save(figure: Figure, file: str, alt: str) -> Picture:
    """Write ``docs/images/FILE`` as a PNG with few colours, which keeps it small."""
    from PIL import Image

    raw, packed = io.BytesIO(), io.BytesIO()
    figure.savefig(raw, format="png")
    Image.open(raw).convert("RGB").quantize(colors=96, dither=Image.Dither.NONE).save(packed, "png", optimize=True)
    IMAGES.mkdir(parents=True, exist_ok=True)
    write_atomically(IMAGES / file, packed.getvalue())
    return Picture(file, alt)


def floored(heights: Sequence[float], floor: float) -> list[float]:
    """Values clipped at ``floor``, for a logarithmic axis."""
    return [max(height, floor) for height in heights]
