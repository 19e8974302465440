"""Draw what an agent keeps between solves: ``python docs/draw_carried.py`` writes ``docs/images/carried.png``."""

from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch, Polygon

IMAGE = Path(__file__).parent / "images" / "carried.png"
OWN, OPPONENT, GREY = "#1f6fb2", "#c8501e", "#777777"
STEPS = (
    (1.0, "own decision", OWN),
    (3.1, "opponent's decision", OPPONENT),
    (5.2, "deal", GREY),
    (7.3, "own decision", OWN),
)
EVENTS = ("own action", "opponent's action", "card")
RANGES = (
    "own range:\nthe deal",
    "× probability\nof the action",
    "unchanged",
    "without hands\nthat hold the card",
)
ALTERNATIVES = (
    "alternative values: none,\nno gadget",
    "from the solve,\nafter the action",
    "unchanged",
    "from the solve,\nafter the card",
)
TOP, OWN_ROW, ALTERNATIVE_ROW = 2.55, 1.05, 0.3


def solve(axes: Axes, x: float, text: str) -> None:
    """A subgame solved at a decision."""
    corners = [(x - 0.12, TOP - 0.1), (x + 0.12, TOP - 0.1), (x + 0.85, 1.5), (x - 0.85, 1.5)]
    axes.add_patch(Polygon(corners, color=OWN, alpha=0.18))
    axes.text(x, 1.66, text, ha="center", va="center", fontsize=9, color=OWN)


def main() -> None:
    """Write the picture."""
    figure, axes = plt.subplots(figsize=(10, 3.7), facecolor="white")
    axes.set(xlim=(-0.1, 8.5), ylim=(-0.1, 3.05))
    axes.axis("off")
    solve(axes, STEPS[0][0], "first solve")
    solve(axes, STEPS[3][0], "re-solved\nbehind a gadget")
    for (x, name, colour), own, alternative in zip(STEPS, RANGES, ALTERNATIVES, strict=True):
        axes.plot(x, TOP, "o", color=colour, markersize=10, zorder=3)
        axes.text(x, TOP + 0.2, name, ha="center", fontsize=10, color=colour)
        for y, text, shade in ((OWN_ROW, own, OWN), (ALTERNATIVE_ROW, alternative, OPPONENT)):
            corner = x - 0.82, y - 0.26
            axes.add_patch(FancyBboxPatch(corner, 1.64, 0.52, boxstyle="round,pad=0.04", facecolor="white", edgecolor=shade))
            axes.text(x, y, text, ha="center", va="center", fontsize=9, color=shade)
    for (begin, _, _), (end, _, _), event in zip(STEPS[:-1], STEPS[1:], EVENTS, strict=True):
        axes.annotate("", (end - 0.1, TOP), (begin + 0.1, TOP), arrowprops={"arrowstyle": "->", "color": GREY}, zorder=1)
        axes.text((begin + end) / 2, TOP - 0.2, event, ha="center", fontsize=9, color=GREY)
        for y in (OWN_ROW, ALTERNATIVE_ROW):
            axes.annotate("", (end - 0.87, y), (begin + 0.87, y), arrowprops={"arrowstyle": "->", "color": GREY})
    figure.tight_layout()
    figure.savefig(IMAGE, dpi=110)


if __name__ == "__main__":
    main()
