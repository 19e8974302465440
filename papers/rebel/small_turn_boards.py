"""ReBeL Figure 6, left, with a small deck: search on three turns with exact values, rivers solved four times as long.

Runs are kept in ``runs/papers`` one by one.
"""

import numpy as np

from papers.common.drawing import dress, line_style, panels, plain_labels, save
from papers.common.kept import effort
from papers.common.results import Picture, Result, Table, published, verdict
from papers.common.study import study
from papers.rebel.small_turn import (
    ALTERNATING,
    EXACT,
    ITERATIONS,
    MARKS,
    RIVER,
    Boards,
    exceeds,
    on_boards,
    points,
)


def finding(boards: Boards, claim: str, worse: str, better: str) -> str:
    """A claim of the paper, on how many boards it holds, and how it is on the first."""
    held = [exceeds(left, worse, better) for left in boards.values()]
    played, average = (sum(each) for each in zip(*held, strict=True))
    left = next(iter(boards.values()))
    found = [f"{EXACT[name]} {left[name]['played'][-1]:.3f} ({left[name]['average'][-1]:.3f})" for name in (worse, better)]
    return (
        f'Published: "{claim}". Here, after {MARKS[-1]} iterations with exact values on {next(iter(boards))}: {found[0]}, '
        f"{found[1]} chips; in brackets the average policy. {verdict(*held[0])} Of {len(boards)} boards it is so on {played} "
        f"of what is played, on {average} of the average policy."
    )


def table(boards: Boards, which: str, caption: str) -> Table:
    """One kind of policy at the marks."""
    rows = [
        [f"{board}, {EXACT[method]}", *(f"{own[which][points().index(mark)]:.3f}" for mark in MARKS)]
        for board, left in boards.items()
        for method, own in left.items()
    ]
    return Table(f"{caption}: exploitability in chips after so many iterations", ["", *map(str, MARKS)], rows)


def draw(boards: Boards) -> Picture:
    """Means over boards, and bands from the lowest to the highest."""
    figure, axes = panels(1, 2, size=(10.4, 4.4))
    for panel, which, title in zip(axes, ("played", "average"), ("What is played", "Average policy"), strict=True):
        for number, method in enumerate(ALTERNATING):
            found, style = np.array([left[method][which] for left in boards.values()]), line_style(number)
            panel.plot(points(), found.mean(axis=0), label=EXACT[method], **style)
            panel.fill_between(points(), found.min(axis=0), found.max(axis=0), color=style["color"], alpha=0.15, linewidth=0)
        dress(panel, title)
        plain_labels(panel)
        panel.set(xlim=(1, ITERATIONS), xlabel="iterations (each updates both players)")
        panel.set_xticks([1, 4, 16, 64, 128], ["1", "4", "16", "64", "128"])
    axes[0].set_ylabel("exploitability, chips")
    axes[0].legend(frameon=False, fontsize=9, handlelength=3.0, loc="lower left")
    return save(
        figure,
        "rebel-turn-boards.png",
        "Exploitability against iterations of search on small turns with exact values, two panels with logarithmic axes: what "
        "is played and the average policy, four methods, with bands over three boards",
    )


def result(boards: Boards) -> Result:
    """What the searches say."""
    paper = published("rebel")
    claims = paper["turn_search"]["claims"]
    return Result(
        source=f"{paper['source']}; {paper['turn_search']['source']}",
        findings=[
            finding(boards, claims[0], "lcfr-avg", "lcfr"),
            finding(boards, claims[1], "lcfr", "lcfr-avg-modified"),
        ],
        tables=[table(boards, "played", "What is played"), table(boards, "average", "Average policy")],
        pictures=[draw(boards)],
        notes=[
            f"As in the figures with a small deck, but rivers are solved by {RIVER} iterations of DCFR, so that their own "
            "error lies far below that of the methods, on three turns. Updates alternate unless a row says otherwise.",
            effort(),
        ],
        numbers={"points": points(), "boards": boards},
    )


@study(title="ReBeL, Figure 6, left, with a small deck: three boards", place=13, minutes=8)
def reproduce() -> Result:
    return result(on_boards())
