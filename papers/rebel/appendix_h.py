"""ReBeL, appendix H, Figure 4: fictitious play, linear FP, FLOP and linear CFR on four games of Liar's Dice."""

from collections.abc import Mapping, Sequence

import treeplex as tp
from papers.common.curves import average_of, curve, log_points
from papers.common.drawing import dress, legend_outside, line_style, panels, save
from papers.common.results import Picture, Result, Table, published
from papers.common.study import study
from treeplex.solvers import FictitiousRule

AS_WRITTEN = FictitiousRule(
    name="flop, as written",
    summary="FLOP with the uniform start dropped from the average",
    reference="Brown, Bakhtin, Lerer and Gong 2020, ReBeL, appendix H",
    step=lambda t: 2.0 / (t + 1.0),
    optimism=lambda t: 2.0 / (t + 2.0),
)
"""Fictitious linear optimistic play exactly as appendix H writes it: ``avg_t = (t-1)/(t+1) avg_{t-1} + 2/(t+1) reply_t`` gives
the uniform start weight zero. The library's ``flop`` keeps the start with weight 1; the released solver keeps it with weight 2
beside replies of weight ``t + 1``."""

UPDATES_EACH = 2048
MARKS = (128, 512, 1024, 2048)
"""Updates per player at which the table samples the curves; ReBeL's 1,024 iterations are 512 of them."""
ALGORITHMS = {
    "fp": ("fp", average_of),
    "linear-fp": ("linear-fp", average_of),
    "flop": ("flop", average_of),
    "flop, as written": (AS_WRITTEN, average_of),
    "lcfr": ("lcfr", average_of),
}


def draw(points: Sequence[int], runs: Mapping[str, Mapping[str, Sequence[float]]]) -> Picture:
    """A panel per game."""
    figure, axes = panels(1, 4, size=(12.0, 3.9))
    styles = {name: line_style(number) for number, name in enumerate(ALGORITHMS)}
    for panel, (label, found) in zip(axes, runs.items(), strict=True):
        for name, style in styles.items():
            panel.plot([2 * point for point in points], found[name], **style)
        dress(panel, label)
        panel.set(xlim=(2, 2 * points[-1]), ylim=(3e-5, 1.5), xlabel="updates, both players")
        panel.axvline(2 * MARKS[1], color="#9A9A9A", linewidth=0.9, zorder=1)
        panel.text(2 * MARKS[1] * 0.88, 4e-5, "1,024", color="#5F5F5F", fontsize=8.5, ha="right")
    axes[0].set_ylabel("exploitability")
    legend_outside(figure, styles, columns=len(styles))
    return save(
        figure,
        "rebel-appendix-h.png",
        "Exploitability against updates on four games of Liar's Dice, both axes logarithmic: linear CFR is lowest, FLOP "
        "next, then linear FP and FP; FLOP as written starts late on the larger games",
    )


def which(runs: Mapping, points: Sequence[int], better: str, worse: str, at: int) -> list[str]:
    """Games in which one algorithm is less exploitable than another after ``at`` updates of each player."""
    place = points.index(at)
    return [label for label, found in runs.items() if found[better][place] < found[worse][place]]


def claim(runs: Mapping, points: Sequence[int], better: str, worse: str) -> str:
    """Number of games in which ``better`` is below ``worse``, at two points, as a sentence."""
    counts = [(2 * at, len(which(runs, points, better, worse, at))) for at in (MARKS[1], MARKS[-1])]
    return ", ".join(f"in {count} of {len(runs)} games after {updates:,} updates" for updates, count in counts)


@study(title="ReBeL, appendix H, Figure 4: FLOP compared with linear FP and linear CFR", place=5, minutes=0.2)
def reproduce() -> Result:
    numbers = published("rebel")
    points = log_points(UPDATES_EACH, a_decade=16, also=MARKS)
    runs = {}
    for label, spec in numbers["games"].items():
        game = tp.compile(spec)
        runs[label] = {key: curve(game, start, points, averaging=judged) for key, (start, judged) in ALGORITHMS.items()}
    rows = [
        [f"{label}, {name}", *(f"{1000 * found[name][points.index(at)]:.3g}" for at in MARKS)]
        for label, found in runs.items()
        for name in ALGORITHMS
    ]
    first, second = numbers["appendix_h"]["claims"]
    return Result(
        source=f"{numbers['source']}; {numbers['appendix_h']['source']}",
        findings=[
            f'Published: "{first}". `flop`, which keeps the uniform start, is below linear FP '
            f"{claim(runs, points, 'flop', 'linear-fp')}. As the appendix writes it, FLOP is below linear FP "
            f"{claim(runs, points, 'flop, as written', 'linear-fp')}.",
            f'Published: "{second}". Linear CFR is below `flop` ' + claim(runs, points, "lcfr", "flop") + ".",
            "In the appendix, the uniform initial strategy has weight zero. Infosets that no best response has reached then "
            "have zero weight, and best responses there are arbitrary until play reaches them. So on the larger games the "
            "curve stays near its start for a hundred updates. The released code keeps the start, and the caption's claim "
            "requires it. `flop` keeps it too.",
        ],
        tables=[Table("Exploitability, times 1,000", ["game, algorithm", *(f"{2 * at:,} updates" for at in MARKS)], rows)],
        pictures=[draw(points, runs)],
        notes=[
            "The figure's numbers are not published, so only its caption can be checked.",
            "One update changes one player's policy; players take turns, player 0 first.",
            ('"flop, as written" is six lines in `papers/rebel/appendix_h.py`, based on the library\'s `FictitiousRule`.'),
        ],
        numbers={"updates_of_each_player": points, "exploitability": runs},
    )
