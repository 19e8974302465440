"""Learning curves of ReBeL. Imports Matplotlib, so it is itself imported only when something is drawn."""

from collections.abc import Sequence

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from treeplex.runs.plots import INK, colour
from treeplex.runs.rebel_folder import RebelRecord
from treeplex.runs.train_plot import quiet


def rebel_figure(title: str, records: Sequence[RebelRecord]) -> Figure:
    """The loss above and, where it was judged, exploitability below, both logarithmic, against subgames solved."""
    judged = [record for record in records if record.exploitability is not None]
    learnt = [record for record in records if record.loss is not None]
    figure = Figure(figsize=(7.6, 6.0 if judged else 3.6), dpi=160, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(2 if judged else 1, 1, sharex=True, squeeze=False)[:, 0]
    marker = "o" if len(records) < 4 else None
    above = axes[0]
    above.plot([r.solved for r in learnt], [r.loss or 0.0 for r in learnt], color=colour(0), linewidth=1.3, marker=marker)
    above.set_ylabel("Huber loss", fontsize=11, color=INK)
    if judged:
        heights = [max(record.exploitability or 0.0, 1e-12) for record in judged]
        axes[1].plot(
            [record.solved for record in judged],
            heights,
            color=colour(1),
            linewidth=1.3,
            marker="o",
            markersize=4,
            clip_on=False,
        )
        last = judged[-1]
        axes[1].set_ylabel(
            f"Exploitability of {last.playthroughs} playthroughs\n(T = {last.iterations}, game units)", fontsize=11, color=INK
        )
    for each in axes:
        if (judged and each is axes[-1]) or learnt:
            each.set_yscale("log")
        quiet(each)
    axes[-1].set_xlabel("Subgames solved", fontsize=11, color=INK)
    axes[-1].set_xlim(0, max([record.solved for record in records], default=1) or 1)
    above.set_title(title, loc="left", fontsize=12, fontweight="bold", color=INK, pad=10, parse_math=False)
    return figure
