"""Draw the trees of the theory page: ``python docs/draw_trees.py`` writes ``docs/images/classes.png``.

Every tree is a game, captioned with the result of :func:`treeplex.forms.structure.classes.classify`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from treeplex.forms.compile.views.histories import grow
from treeplex.forms.structure.classes import classify
from treeplex.games import TERMINAL, Game, State

IMAGE = Path(__file__).parent / "images" / "classes.png"
COLOURS = ("#1f6fb2", "#c8501e", "#3a8a3a")
"""Colours of players 0, 1 and 2, with enough contrast on white and on dark grey."""

Moves = tuple[int, ...]
Sight = Callable[[Moves], object]


@dataclass(frozen=True)
class Form(Game):
    """A tree with two actions at every node: the player at each depth, and their observation of earlier moves."""

    title: str
    order: Sequence[int]
    sights: Sequence[Sight]

    @property
    def num_players(self) -> int:  # type: ignore[override]
        return max(self.order) + 1

    def new_initial_state(self) -> "Node":
        return Node(self, ())


class Node(State):
    """A node, given by the moves so far."""

    def __init__(self, form: Form, moves: Moves) -> None:
        self.form, self.moves = form, moves

    def current_player(self) -> int:
        return self.form.order[len(self.moves)] if len(self.moves) < len(self.form.order) else TERMINAL

    def legal_actions(self, player: int | None = None) -> range:
        return range(2)

    def child(self, action: int) -> "Node":
        return Node(self.form, (*self.moves, action))

    def returns(self) -> list[float]:
        return [0.0] * self.form.num_players

    def information_state_string(self, player: int | None = None) -> str:
        return f"{len(self.moves)}:{self.form.sights[len(self.moves)](self.moves)}"


def nothing(moves: Moves) -> object:
    """See nothing."""
    return ()


def everything(moves: Moves) -> object:
    """See all moves."""
    return moves


def first(moves: Moves) -> object:
    """See the first move."""
    return moves[0]


def round_before(moves: Moves) -> object:
    """See the first two moves."""
    return moves[:2]


FORMS = (
    Form("nobody sees anything", (0, 1), (nothing, nothing)),
    Form("everybody sees everything", (0, 1), (nothing, everything)),
    Form("1 and 2 see what 0 did", (0, 1, 2), (nothing, first, first)),
    Form("only 2 sees what 0 did", (0, 1, 2), (nothing, nothing, first)),
    Form("only 1 sees what 0 did", (0, 1, 2), (nothing, first, nothing)),
    Form("the same game, 2 before 1", (0, 2, 1), (nothing, nothing, first)),
    Form("two rounds; the first one is seen", (0, 1, 0, 1), (nothing, nothing, round_before, round_before)),
    Form("two rounds; nothing is seen or remembered", (0, 1, 0, 1), (nothing, nothing, nothing, nothing)),
)
WORTH_SAYING = {
    "perfect_information": "perfect information",
    "ladder_nested": "ladder-nested",
    "nested": "nested",
    "open_loop": "open-loop",
    "ladder_nested_feedback": "feedback game",
    "perfect_recall": "perfect recall",
}


def verdict(form: Form) -> str:
    """Caption of a form: its relevant classes."""
    found = {name for name, holds in classify(grow(form)).verdicts().items() if holds}
    said = [text for name, text in WORTH_SAYING.items() if name in found]
    if "ladder-nested" in said:
        said.remove("nested")
    if "single_act" in found and "feedback game" in said:
        said.remove("feedback game")
    if "perfect_recall" in found:
        said.remove("perfect recall")
    else:
        said.append("imperfect recall")
    if "single_act" in found and "nested" not in found:
        said.append("not nested")
    return ", ".join(said)


def place(form: Form, moves: Moves) -> tuple[float, float]:
    """Position of a history in the drawing."""
    width = 1.0
    across = 0.0
    for move in moves:
        width /= 2
        across += width * (1 if move else -1)
    return across, -float(len(moves))


def draw(axes: Axes, form: Form) -> None:
    """Draw one tree: dots in the colour of the player to move, dashed lines through the histories of an infoset."""
    for depth, player in enumerate(form.order):
        infosets: dict[object, list[tuple[float, float]]] = {}
        for moves in product((0, 1), repeat=depth):
            across, down = place(form, moves)
            for action in (0, 1):
                axes.plot(*zip((across, down), place(form, (*moves, action)), strict=True), color="#888888", lw=1, zorder=1)
            infosets.setdefault(form.sights[depth](moves), []).append((across, down))
        for histories in infosets.values():
            axes.plot(*zip(*histories, strict=True), "--", color=COLOURS[player], lw=1.6)
            axes.scatter(*zip(*histories, strict=True), color=COLOURS[player], s=36, zorder=2)
        axes.text(-1.0, -float(depth), f"player {player}", color=COLOURS[player], ha="right", va="center", fontsize=10)
    axes.text(0.0, 0.35, form.title, ha="center", va="bottom", fontsize=11)
    axes.text(0.0, -len(form.order) - 0.35, verdict(form), ha="center", va="top", fontsize=11, weight="bold")
    axes.set_xlim(-1.45, 1.0)
    axes.set_ylim(-len(form.order) - 0.8, 0.7)
    axes.axis("off")


def main() -> None:
    """Draw all forms."""
    figure, grid = plt.subplots(2, 4, figsize=(15, 6.8), facecolor="white")
    for axes, form in zip(grid.flat, FORMS, strict=True):
        draw(axes, form)
    figure.tight_layout()
    figure.savefig(IMAGE, dpi=110)


if __name__ == "__main__":
    main()
