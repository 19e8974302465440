"""Drawing of a game tree with players, action names and infosets."""

import os
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from treeplex.engine.histories.form import ACTOR, CHANCE, CHILD, CHILDREN, KEY, TERMINAL
from treeplex.errors import GameError, GameSizeError
from treeplex.forms.compile.views.histories import HistoryTree, grow
from treeplex.forms.sources.load import load
from treeplex.games.base import Game
from treeplex.run.plots import GREY, INK, Picture, colour, write_figure

MOST_HISTORIES = 300
"""Largest number of histories in a readable tree."""
LONGEST_NAME = 12
"""Longest action name, in characters, that is shown."""
WIDTH, HEIGHT = 0.42, 1.1
"""Inches per terminal history and per move."""
SAG = 0.13
"""Sag of the line of a second infoset below its level; the third bends above it, and so on."""

Places = NDArray[np.float64]


def draw(game: str | Game | Any, path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw the tree of a game with at most 300 histories; notebooks display the figure.

    Decisions are dots in the colour of the player, chance nodes grey squares. Dashed lines join the histories of an infoset.
    Edges are labelled with actions and chance probabilities, terminals with payoffs.

    Args:
        game: a game for :func:`treeplex.load`; simultaneous moves are made sequential, and imperfect recall is allowed.
        path: also write this file: PNG, SVG or PDF.

    Returns:
        A Matplotlib figure.

    Raises:
        GameError: the tree is larger, or the rules are invalid.
        FileError: the file cannot be written.
    """
    rules = load(game).enumerable_rules()
    try:
        tree = grow(rules, limit=MOST_HISTORIES)
    except GameSizeError as error:
        raise GameError(
            f"{rules} has more than {MOST_HISTORIES} histories, too many to draw; choose smaller parameters, such as kuhn_poker"
        ) from error
    places = places_of(tree)
    wide, deep = places[:, 0].max() + 1, 1 - places[:, 1].min()
    figure = Picture(figsize=(max(6.0, WIDTH * wide), HEIGHT * deep + 0.6), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    draw_edges(axes, tree, places)
    draw_nodes(axes, tree, places)
    axes.set_title(str(rules), fontsize=12, fontweight="bold", color=INK, loc="left", parse_math=False)
    axes.legend(loc="upper right", frameon=False, fontsize=9, bbox_to_anchor=(1.0, 1.0))
    axes.set_xlim(-0.8, wide - 0.2)
    axes.set_ylim(-deep + 0.4, 0.4)
    axes.axis("off")
    if path is not None:
        write_figure(figure, Path(path))
    return figure


def places_of(tree: HistoryTree) -> Places:
    """Return the position of each history, float64 [H, 2]: terminals in a row, others centred above their children."""
    nodes = tree.histories.nodes
    places = np.zeros((len(nodes), 2))
    order: list[int] = []
    stack = [0]
    while stack:  # depth first, in the order of actions
        history = stack.pop()
        order.append(history)
        first, count = int(nodes[history, CHILD]), int(nodes[history, CHILDREN])
        places[first : first + count, 1] = places[history, 1] - 1
        stack.extend(reversed(range(first, first + count)))
    terminals = [history for history in order if not nodes[history, CHILDREN]]
    places[terminals, 0] = np.arange(len(terminals))
    for history in reversed(order):
        first, count = int(nodes[history, CHILD]), int(nodes[history, CHILDREN])
        if count:
            places[history, 0] = (places[first, 0] + places[first + count - 1, 0]) / 2
    return places


def draw_edges(axes: Axes, tree: HistoryTree, places: Places) -> None:
    """Draw labelled edges from each history to its children."""
    nodes, chance = tree.histories.nodes, tree.histories.chance
    for history in map(int, np.flatnonzero(nodes[:, CHILDREN])):
        actor, key = int(nodes[history, ACTOR]), int(nodes[history, KEY])
        for number in range(int(nodes[history, CHILDREN])):
            child = int(nodes[history, CHILD]) + number
            ends = places[[history, child]]
            axes.plot(ends[:, 0], ends[:, 1], color="#BBBBBB", linewidth=1, zorder=1)
            action = int(tree.actions[child])
            if actor == CHANCE:
                text = f"{action}\n{chance[key + number]:.3g}"
            else:
                text = tree.action_names[actor].get(action, str(action))
            text = text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 3]}..."
            x, y = 0.4 * ends[0] + 0.6 * ends[1]
            box = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
            axes.text(x, y, text, fontsize=6.5, color=INK, ha="center", va="center", zorder=2, bbox=box, parse_math=False)


def draw_nodes(axes: Axes, tree: HistoryTree, places: Places) -> None:
    """Draw histories in the players' colours, lines of infosets, and payoffs below terminals."""
    nodes = tree.histories.nodes
    infosets: dict[int, list[int]] = defaultdict(list)
    for history in np.flatnonzero(nodes[:, ACTOR] >= 0):
        infosets[int(nodes[history, KEY])].append(int(history))
    taken: dict[tuple[float, int], float] = {}
    for histories in infosets.values():
        points = places[np.array(sorted(histories, key=lambda history: float(places[history, 0])))]
        level, left, right = float(points[0, 1]), float(points[0, 0]), float(points[-1, 0])
        between = (places[:, 1] == level) & (places[:, 0] > left) & (places[:, 0] < right)
        lane = 0
        if between.sum() > len(points) - 2:  # a straight line would cross other histories
            lane = next(lane for lane in range(1, len(infosets) + 1) if taken.get((level, lane), -1.0) < left)
            taken[level, lane] = right
        across, down = sagging_line(points, SAG * ((lane + 1) // 2) * (1 if lane % 2 else -1))
        player = int(nodes[histories[0], ACTOR])
        axes.plot(across, down, linestyle=(0, (4, 3)), color=colour(player), linewidth=1.2, zorder=2, gid="infoset")
    for player in range(tree.players):
        x, y = places[nodes[:, ACTOR] == player].T
        axes.scatter(x, y, s=34, color=colour(player), zorder=3, label=f"player {player}")
    if (drawn := nodes[:, ACTOR] == CHANCE).any():
        x, y = places[drawn].T
        axes.scatter(x, y, s=30, color=GREY, marker="s", zorder=3, label="chance")
    for history in np.flatnonzero(nodes[:, ACTOR] == TERMINAL):
        payoffs = "\n".join(f"{payoff:.4g}" for payoff in tree.histories.payoffs[nodes[history, KEY]])
        x, y = places[history]
        axes.text(x, y - 0.08, payoffs, fontsize=6.5, color=INK, ha="center", va="top")


def sagging_line(points: Places, sag: float) -> tuple[Places, Places]:
    """Return a line through points, float64 [P, 2], that sags between them to separate infosets of one level."""
    if len(points) == 1 or not sag:
        return points[:, 0], points[:, 1]
    share = np.linspace(0.0, 1.0, 25)
    bends = [first + np.outer(share, second - first) for first, second in pairwise(points)]
    curve = np.concatenate(bends)
    return curve[:, 0], curve[:, 1] - np.tile(4 * sag * share * (1 - share), len(bends))
