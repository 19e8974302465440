"""The 13 x 13 grid of hand classes in the terminal.

With colours, a cell is the class's name (five characters) on a background divided among the actions in proportion to their
frequencies; classes outside the range have no background. Without colours (no terminal, ``NO_COLOR``, or only 16 colours) a
cell shows the most frequent action as one character, and its frequency in percent.
"""

from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.style import Style
from rich.text import Text

from treeplex.base.arrays import Floats
from treeplex.holdem.cards.cards import CLASSES
from treeplex.holdem.study.report.colours import INK, aggressive_first, colours, letters, ramp_colour
from treeplex.holdem.study.report.page_data import Classes

CELL = 5


def in_colour(console: Console) -> bool:
    """Whether a console supports enough colours for a readable grid."""
    return not console.no_color and console.color_system in ("256", "truecolor")


def strategy_grid(classes: Classes, kinds: Sequence[str], *, coloured: bool) -> Text:
    """The strategy grid of the player to act."""
    if coloured:
        order = aggressive_first(kinds)
        paint = [Style(color=INK, bgcolor=colour, bold=True) for colour in colours(kinds)]
        styles = [paint[number] for number in order]
        return join([strategy_cell(classes, number, order, styles) for number in range(len(CLASSES))])
    marks = letters(kinds)
    return join_two([letter_cell(classes, number, marks) for number in range(len(CLASSES))])


def strategy_cell(classes: Classes, number: int, order: Sequence[int], styles: Sequence[Style]) -> Text:
    """One cell in colour: the class's name over its action frequencies."""
    name = CLASSES[number].center(CELL)
    height = float(classes.heights[number])
    if not height:
        return Text(name, "dim")
    taken = classes.frequency[list(order), number]
    shares = np.append(np.nan_to_num(taken) * height, 1.0 - height)
    cell, start = Text(), 0
    for style, width in zip([*styles, Style(bold=True)], shared_out(shares, CELL), strict=True):
        cell.append(name[start : start + width], style)
        start += width
    return cell


def letter_cell(classes: Classes, number: int, marks: Sequence[str]) -> tuple[Text, Text]:
    """One cell without colour, as two lines: the name, and the most frequent action with its frequency."""
    name = CLASSES[number].ljust(CELL)
    if not classes.heights[number]:
        return Text(name, "dim"), Text("-".ljust(CELL), "dim")
    taken = np.nan_to_num(classes.frequency[:, number])
    most = int(taken.argmax())
    return Text(name, "bold"), Text(f"{marks[most]}{100 * taken[most]:>{CELL - 1}.0f}")


def value_grid(classes: Classes, values: Floats, *, low: float, high: float, coloured: bool, digits: int = 0) -> Text:
    """A grid with one number per class, such as equity in percent, coloured from ``low`` to ``high``."""

    def cells(number: int) -> tuple[Text, Text]:
        there = classes.heights[number] > 0 and np.isfinite(values[number])
        part = (values[number] - low) / (high - low) if there and high > low else 0.5
        style = Style(color=INK, bgcolor=ramp_colour(part)) if coloured and there else Style(dim=not there)
        text = f"{values[number]:.{digits}f}" if there else "-"
        return Text(CLASSES[number].ljust(CELL), style + Style(bold=there)), Text(text[:CELL].rjust(CELL), style)

    return join_two([cells(number) for number in range(len(CLASSES))])


def shared_out(shares: Floats, places: int) -> list[int]:
    """Integers that sum to ``places`` in proportion to ``shares`` (largest remainder method, ties to the first)."""
    total = float(shares.sum())
    exact = shares / total * places if total > 0 else np.zeros(len(shares))
    whole = np.floor(exact + 1e-9).astype(int)
    left = places - int(whole.sum())
    for number in np.argsort(-(exact - whole), kind="stable")[:left]:
        whole[number] += 1
    return [int(count) for count in whole]


def join(cells: Sequence[Text]) -> Text:
    """Join one-line cells into 13 lines."""
    rows = [Text(" ").join(cells[row : row + 13]) for row in range(0, len(cells), 13)]
    return Text("\n").join(rows)


def join_two(cells: Sequence[tuple[Text, Text]]) -> Text:
    """Join two-line cells into 26 lines."""
    rows = []
    for row in range(0, len(cells), 13):
        rows += [Text(" ").join([cell[line] for cell in cells[row : row + 13]]) for line in (0, 1)]
    return Text("\n").join(rows)


def legend(names: Sequence[str], kinds: Sequence[str], *, coloured: bool) -> Text:
    """Legend of the actions' colours or letters, in the order of a cell."""
    paint, marks = colours(kinds), letters(kinds)
    parts = []
    for number in aggressive_first(kinds):
        if coloured:
            parts.append(Text.assemble(("   ", Style(bgcolor=paint[number])), f" {names[number]}"))
        else:
            parts.append(Text.assemble((marks[number], "bold"), f" {names[number]}"))
    parts.append(Text("bare: not in the range" if coloured else "numbers: %   -: not in the range", "dim"))
    return Text("   ").join(parts)
