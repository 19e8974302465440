"""Learning curves of ReBeL. Imports Matplotlib, so it is itself imported only when something is drawn."""

from collections.abc import Sequence

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from treeplex.runs.discount.plot import quiet
from treeplex.runs.plots import INK, colour
from treeplex.runs.rebel.folder import RebelRecord


def rebel_figure(title: str, records: Sequence[RebelRecord]) -> Figure:
    """The loss, that of a policy network, exploitability where it was judged: one below the other, against subgames solved.

    All heights are logarithmic.
    """
    judged = [record for record in records if record.exploitability is not None]
    learnt = [record for record in records if record.loss is not None]
    guided = [record for record in records if record.policy_loss is not None]
    panels = 1 + bool(guided) + bool(judged)
    figure = Figure(figsize=(7.6, 1.2 + 2.4 * panels), dpi=160, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(panels, 1, sharex=True, squeeze=False)[:, 0]
    marker = "o" if len(records) < 4 else None
    line = {"linewidth": 1.3, "marker": marker}
    axes[0].plot([r.solved for r in learnt], [r.loss or 0.0 for r in learnt], color=colour(0), **line)
    axes[0].set_ylabel("Huber loss", fontsize=11, color=INK)
    if guided:
        axes[1].plot([r.solved for r in guided], [r.policy_loss or 0.0 for r in guided], color=colour(2), **line)
        axes[1].set_ylabel("Squared error\nof the policy network", fontsize=11, color=INK)
    if judged:
        heights = [max(record.exploitability or 0.0, 1e-12) for record in judged]
        axes[-1].plot(
            [record.solved for record in judged],
            heights,
            color=colour(1),
            linewidth=1.3,
            marker="o",
            markersize=4,
            clip_on=False,
        )
        last = judged[-1]
        axes[-1].set_ylabel(
            f"Exploitability of {last.playthroughs} playthroughs\n(T = {last.iterations}, game units)", fontsize=11, color=INK
        )
    for each in axes:
        if (judged and each is axes[-1]) or learnt:
            each.set_yscale("log")
        quiet(each)
    axes[-1].set_xlabel("Subgames solved", fontsize=11, color=INK)
    axes[-1].set_xlim(0, max([record.solved for record in records], default=1) or 1)
    axes[0].set_title(title, loc="left", fontsize=12, fontweight="bold", color=INK, pad=10, parse_math=False)
    return figure
