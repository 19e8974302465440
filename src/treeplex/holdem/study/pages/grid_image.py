"""The grid of hand classes as a picture. This module imports Matplotlib, so import it only when drawing."""

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from treeplex.holdem.cards.cards import CLASSES
from treeplex.holdem.study.report.colours import INK, aggressive_first, colours, ramp_colour
from treeplex.holdem.study.report.page_data import PLAYERS, Classes, NodeReport

EMPTY, EMPTY_INK = "#E9ECF0", "#656E79"
ALMOST_ALL = 0.995
FULL = 0.42
"""Minimum filled share of a cell for its class name to be drawn on the colours; otherwise the name is drawn above them."""


def grid_figure(node: NodeReport, player: int, classes: Classes) -> Figure:
    """The grid of one player: strategies of the player to act, or equities of the other player.

    Args:
        node: the node, for title and actions.
        player: 0 or 1.
        classes: the player's hand classes at the node.
    """
    figure = Figure(figsize=(7.2, 8.4), dpi=160, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.set(xlim=(0, 13), ylim=(13, 0), aspect="equal")
    axes.axis("off")
    acts = node.player == player
    for number, name in enumerate(CLASSES):
        x, y = number % 13, number // 13
        axes.add_patch(Rectangle((x + 0.02, y + 0.02), 0.96, 0.96, facecolor=EMPTY, linewidth=0))
        filled = draw_strategy(axes, node, classes, number) if acts else draw_equity(axes, classes, number)
        ink = INK if filled else EMPTY_INK
        above = not acts or 0 < filled < FULL
        text_y = y + (0.2 if above else 0.82)
        axes.text(x + 0.08, text_y, name, fontsize=9, fontweight="bold", color=ink, va="center", ha="left")
    axes.set_title(
        heading(node, player, float(classes.weight.max())),
        loc="left",
        fontsize=11,
        color=INK,
        parse_math=False,
        linespacing=1.4,
    )
    if acts:
        add_legend(axes, node, player)
    return figure


def heading(node: NodeReport, player: int, largest: float) -> str:
    """Title: board, player, line, the range's EV and equity, and the largest class weight where it is not 1."""
    side = node.sides[player]
    board = " ".join(node.board[i : i + 2] for i in range(0, len(node.board), 2)) or node.street
    who = f"{PLAYERS[player]} acts" if node.player == player else f"{PLAYERS[player]}, equities in percent"
    facts = f"EV {side.mean(side.ev):.2f} chips, equity {100 * side.mean(side.equity):.1f}%, {side.combos:.1f} combos"
    if largest < ALMOST_ALL:
        facts += f", full cells: weight {100 * largest:.2g}%"
    return f"{board}   {who}\n{node.line or 'first decision'}   pot {node.pot:g}\n{facts}"


def draw_strategy(axes: Axes, node: NodeReport, classes: Classes, number: int) -> float:
    """Draw one cell's actions, as high as the class's relative weight; returns the height, 0 for an absent class."""
    height = 0.96 * float(classes.heights[number])
    if not height:
        return 0.0
    x, y = number % 13 + 0.02, number // 13
    paint = colours(node.kinds)
    for action in aggressive_first(node.kinds):
        width = 0.96 * float(classes.frequency[action, number])
        if width > 0:
            axes.add_patch(Rectangle((x, y + 0.98 - height), width, height, facecolor=paint[action], linewidth=0))
            x += width
    return height


def draw_equity(axes: Axes, classes: Classes, number: int) -> float:
    """Draw one cell's equity as colour and number; returns the height, 0 for an absent class."""
    equity = float(classes.equity[number])
    if not classes.heights[number] or equity != equity:
        return 0.0
    x, y = number % 13, number // 13
    axes.add_patch(Rectangle((x + 0.02, y + 0.02), 0.96, 0.96, facecolor=ramp_colour(equity), linewidth=0))
    axes.text(x + 0.92, y + 0.78, f"{100 * equity:.0f}", fontsize=8.5, color=INK, va="center", ha="right")
    return 1.0


def add_legend(axes: Axes, node: NodeReport, player: int) -> None:
    """Add a legend of the actions' colours and the range's action frequencies."""
    paint, totals, order = colours(node.kinds), node.sides[player].totals, aggressive_first(node.kinds)
    axes.legend(
        [Rectangle((0, 0), 1, 1, facecolor=paint[action], linewidth=0) for action in order],
        [f"{node.actions[action]} {100 * totals[action]:.1f}%" for action in order],
        loc="upper left",
        bbox_to_anchor=(0, 0),
        ncols=min(4, len(order)),
        frameon=False,
        fontsize=10,
        borderpad=0.2,
        handlelength=1,
        handleheight=1,
    )
