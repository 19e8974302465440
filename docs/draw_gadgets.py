"""Draw the gadgets of the re-solving page: ``python docs/draw_gadgets.py`` writes ``docs/images/gadgets.png``."""

from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Polygon

IMAGE = Path(__file__).parent / "images" / "gadgets.png"
OPPONENT, CHANCE, SUBGAME = "#c8501e", "#777777", "#1f6fb2"
HANDS = ((0.22, "heads"), (0.78, "tails"))
BOTTOM, DOOR, CHOICE, TOP = 0.08, 0.34, 0.6, 0.86

Point = tuple[float, float]


def line(axes: Axes, begin: Point, end: Point, text: str = "", side: str = "left") -> None:
    """An action with its label."""
    axes.plot(*zip(begin, end, strict=True), color=CHANCE, linewidth=1.2, zorder=1)
    if text:
        x, y = (begin[0] + end[0]) / 2, (begin[1] + end[1]) / 2
        shift = -0.02 if side == "left" else 0.02
        axes.text(x + shift, y, text, ha="right" if side == "left" else "left", va="center", fontsize=9, color=CHANCE)


def node(axes: Axes, at: Point, colour: str, text: str, side: str = "right") -> None:
    """A decision or chance node."""
    axes.plot(*at, "o", color=colour, markersize=9, zorder=2)
    shift = 0.035 if side == "right" else -0.035
    axes.text(at[0] + shift, at[1], text, ha="left" if side == "right" else "right", va="center", fontsize=9, color=colour)


def subgame(axes: Axes) -> None:
    """The solved subgame, with an entry for each hand."""
    axes.add_patch(Polygon([(0.1, DOOR), (0.9, DOOR), (0.98, BOTTOM), (0.02, BOTTOM)], color=SUBGAME, alpha=0.25))
    axes.text(0.5, (BOTTOM + DOOR) / 2, "the subgame", ha="center", va="center", fontsize=10, color=SUBGAME)


def unsafe(axes: Axes) -> None:
    """Chance deals hands by their ranges."""
    axes.set_title("none: hands are dealt by\nthe blueprint's ranges", fontsize=10, color=CHANCE)
    node(axes, (0.5, TOP), CHANCE, "chance")
    for x, hand in HANDS:
        line(axes, (0.5, TOP), (x, DOOR), hand, "left" if x < 0.5 else "right")


def resolve(axes: Axes) -> None:
    """Each hand may leave for its alternative value."""
    axes.set_title("resolve: each hand takes its\nalternative value, or enters", fontsize=10, color=CHANCE)
    node(axes, (0.5, TOP), CHANCE, "chance")
    for x, hand in HANDS:
        side = "left" if x < 0.5 else "right"
        line(axes, (0.5, TOP), (x, CHOICE), hand, side)
        node(axes, (x, CHOICE), OPPONENT, "", side)
        line(axes, (x, CHOICE), (x, DOOR), "enter", side)
        out = x + (0.16 if x < 0.5 else -0.16)
        line(axes, (x, CHOICE), (out, 0.46))
        axes.text(out, 0.45, "value", ha="center", va="top", fontsize=9, color=OPPONENT)


def maxmargin(axes: Axes) -> None:
    """The opponent chooses its hand."""
    axes.set_title("maxmargin: the opponent chooses a hand\nand pays its alternative value", fontsize=10, color=CHANCE)
    node(axes, (0.5, TOP), OPPONENT, "opponent")
    for x, hand in HANDS:
        side = "left" if x < 0.5 else "right"
        line(axes, (0.5, TOP), (x, CHOICE), hand, side)
        line(axes, (x, CHOICE), (x, DOOR))
        shift, align = (-0.02, "right") if side == "left" else (0.02, "left")
        axes.text(x + shift, (CHOICE + DOOR) / 2, "− value", ha=align, va="center", fontsize=9, color=OPPONENT)


def main() -> None:
    """Write the picture."""
    figure, panels = plt.subplots(1, 3, figsize=(10, 3.6), facecolor="white")
    for axes, draw in zip(panels, (unsafe, resolve, maxmargin), strict=True):
        axes.set(xlim=(0, 1), ylim=(0, 1))
        axes.axis("off")
        subgame(axes)
        draw(axes)
    figure.tight_layout()
    figure.savefig(IMAGE, dpi=110)


if __name__ == "__main__":
    main()
