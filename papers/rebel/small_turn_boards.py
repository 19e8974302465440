"""ReBeL Figure 6, left, with a small deck: search on three turns with exact values, repeated with perturbations of the size of
rounding.

Stored searches are not repeated; delete ``results/small_turn_boards.jsonl`` to run all of them again.
"""

from collections.abc import Sequence

import numpy as np

from papers.common.comparison import LEVEL, p_value, verdict
from papers.common.drawing import dress, line_style, panels, plain_labels, save
from papers.common.kept import effort
from papers.common.results import Picture, Result, Table, published
from papers.common.study import study
from papers.rebel.small_turn_exact import (
    ALTERNATING,
    CFR_D,
    CLAIMED,
    EXACT,
    ITERATIONS,
    MARKS,
    MODIFIED,
    REPEATS,
    RIVER,
    SOUND,
    Curve,
    Runs,
    points,
    runs_on_boards,
    settings,
)
from papers.rebel.small_turn_search import DISTURBANCE

WHICH = {"played": "the played policy", "average": "the average policy"}


def at(curves: Sequence[Curve], which: str, mark: int) -> list[float]:
    """Exploitability after a number of iterations, by run."""
    return [curve[which][points().index(mark)] for curve in curves]


def finding(runs: Runs, claim: str, worse: str, better: str) -> str:
    """A claim of the paper, the number of boards whose means agree with it, and its significance over all boards."""
    said = []
    for which, words in WHICH.items():
        pairs = [(at(own[worse], which, MARKS[-1]), at(own[better], which, MARKS[-1])) for own in runs.values()]
        above = sum(np.mean(first) > np.mean(second) for first, second in pairs)
        said.append(f"for {words} on {above} of {len(pairs)} boards ({verdict(*pairs)}, p = {p_value(*pairs):.2g})")
    return (
        f'Published: "{claim}". Here, {EXACT[worse]} above {EXACT[better]} after {MARKS[-1]} iterations with exact values: '
        f"{'; '.join(said)}."
    )


def spread(curves: Sequence[Curve], which: str, mark: int) -> str:
    """The unperturbed run, and the range of all."""
    found = at(curves, which, mark)
    return f"{found[0]:.3f}" + (f" ({min(found):.3f} to {max(found):.3f})" if len(found) > 1 else "")


def table(runs: Runs, which: str) -> Table:
    """One kind of policy at the marks."""
    rows = [
        [f"{board}, {EXACT[method]}", *(spread(curves, which, mark) for mark in MARKS)]
        for board, own in runs.items()
        for method, curves in own.items()
    ]
    caption = f"{WHICH[which].capitalize()}: exploitability in chips by number of iterations, in brackets the range of all runs"
    return Table(caption, ["", *map(str, MARKS)], rows)


def draw(runs: Runs) -> Picture:
    """Unperturbed runs, a panel for each board, and bands of all runs."""
    figure, axes = panels(2, len(runs), size=(13.2, 8.0))
    places = [(which, board) for which in WHICH for board in runs]
    for panel, (which, board) in zip(axes, places, strict=True):
        for number, method in enumerate(ALTERNATING):
            found, style = np.array([curve[which] for curve in runs[board][method]]), line_style(number)
            panel.plot(points(), found[0], label=EXACT[method], **style)
            panel.fill_between(points(), found.min(axis=0), found.max(axis=0), color=style["color"], alpha=0.2, linewidth=0)
        dress(panel, f"{board}: {'played' if which == 'played' else 'average policy'}")
        plain_labels(panel)
        panel.set(xlim=(1, ITERATIONS), ylim=(0.005, 12.0), xlabel="iterations (each updates both players)")
        panel.set_xticks([1, 4, 16, 64, 128], ["1", "4", "16", "64", "128"])
        if board == next(iter(runs)):
            panel.set_ylabel("exploitability, chips")
    axes[0].legend(frameon=False, fontsize=9, handlelength=3.0, loc="lower left")
    return save(
        figure,
        "rebel-turn-boards.png",
        "Exploitability against iterations of search on three small turns with exact values, six panels with "
        "logarithmic axes: the played policy above and the average policy below, four methods, with bands over runs "
        "that differ by rounding",
    )


@study(title="ReBeL, Figure 6, left, with a small deck: three boards", place=13, minutes=45)
def reproduce() -> Result:
    runs, paper = runs_on_boards(), published("rebel")
    claims = paper["turn_search"]["claims"]
    return Result(
        source=f"{paper['source']}; {paper['turn_search']['source']}",
        findings=[finding(runs, claims[0], SOUND, CFR_D), finding(runs, claims[1], CFR_D, MODIFIED)],
        tables=[table(runs, which) for which in WHICH],
        pictures=[draw(runs)],
        notes=[
            f"The game, the rivers of {RIVER} iterations and the evaluated policies are those of the figures with a "
            "small deck, here on three turns. Updates alternate unless a row says otherwise.",
            f"Runs of {', '.join(EXACT[method] for method in CLAIMED)}: one, and {REPEATS} that begin with ranges changed by "
            f"{DISTURBANCE:g} of themselves. Near an equilibrium leaf values jump where best responses tie, so rounding can "
            f"change the result of a search. In brackets whether exploitability is higher or lower over all boards "
            f"together, by an exact permutation test of ranks (p up to {LEVEL:g}); three runs on one board cannot tell.",
            effort(),
        ],
        numbers={"points": points(), "settings": settings(), "runs": runs},
    )
