"""Learning curves. Imports Matplotlib, so it is itself imported only when something is drawn."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from treeplex.engine.tree.learned import LOWEST
from treeplex.errors import SpecError
from treeplex.runs.discount.folder import TrainRecord
from treeplex.runs.plots import GREY, GRID, INK, LONGEST_LABEL, colour, spread, style
from treeplex.spec import Spec, parse_spec


def learning_figure(title: str, games: Sequence[str], records: Sequence[TrainRecord]) -> Figure:
    """Fitness above, exploitability on each game below (logarithmic), against epochs.

    Args:
        title: of the figure.
        games: specs, in the records' order.
        records: at least one.
    """
    figure = Figure(figsize=(7.6, 6.4), dpi=160, layout="constrained")
    FigureCanvasAgg(figure)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 3))
    epochs = [record.epoch for record in records]
    searched = [record for record in records if record.mean is not None and record.best is not None]
    if searched:
        spans = [record.epoch for record in searched]
        means, bests = [record.mean or 0.0 for record in searched], [record.best or 0.0 for record in searched]
        above.fill_between(spans, means, bests, color=colour(5), alpha=0.45, linewidth=0, label="candidates, mean to best")
    marker = "o" if len(records) < 4 else None
    above.plot(epochs, [record.fitness for record in records], color=colour(0), linewidth=1.3, marker=marker, label="policy")
    above.set_ylabel("Fitness", fontsize=11, color=INK)
    above.legend(frameon=False, fontsize=9, labelcolor=INK, loc="lower right")
    for number, _ in enumerate(games):
        heights = [max(record.exploitability[number], LOWEST) for record in records]
        below.plot(epochs, heights, color=colour(number), linestyle=style(number), linewidth=1.3, marker=marker)
    below.set(yscale="log", xlabel="Epochs", xlim=(0, max(epochs[-1], 1)))
    below.set_ylabel("Exploitability at the end\n(mean best-response gain, game units)", fontsize=11, color=INK)
    below.xaxis.label.set(fontsize=11, color=INK)
    if any(value < LOWEST for record in records for value in record.exploitability):
        below.set_xlabel(f"Epochs\n(exploitability below {LOWEST:.0e} is drawn there)")
    for axes in (above, below):
        quiet(axes)
    figure.canvas.draw()
    name_curves(below, games, [max(value, LOWEST) for value in records[-1].exploitability])
    above.set_title(title, loc="left", fontsize=12, fontweight="bold", color=INK, pad=10, parse_math=False)
    return figure


def quiet(axes: Axes) -> None:
    """Grid and spines that stay behind the curves."""
    axes.tick_params(which="both", colors=INK, labelsize=10)
    axes.grid(which="major", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)


def name_curves(axes: Axes, games: Sequence[str], ends: Sequence[float]) -> None:
    """Name each game right of its curve; names are pushed apart where curves end close to each other."""
    heights = [axes.transAxes.inverted().transform(axes.transData.transform((0, end)))[1] for end in ends]
    for number, (game, place) in enumerate(zip(short_names(games), spread([float(h) for h in heights], 0.075), strict=True)):
        name = game if len(game) <= LONGEST_LABEL else f"{game[: LONGEST_LABEL - 3]}..."
        axes.annotate(
            name,
            (1.015, place),
            xycoords="axes fraction",
            va="center",
            fontsize=9.5,
            fontweight="bold",
            color=colour(number),
            parse_math=False,
            annotation_clip=False,
        )


def short_names(games: Sequence[str]) -> list[str]:
    """Each spec with only those parameters in which it differs from others of the same name; paths as they are."""
    try:
        specs = [parse_spec(game) for game in games]
    except SpecError:
        return list(games)
    names = []
    for spec in specs:
        others = [other for other in specs if other.name == spec.name]
        own = {
            key: value for key, value in spec.parameters.items() if any(other.parameters.get(key) != value for other in others)
        }
        names.append(str(Spec(spec.name, own)))
    return names
