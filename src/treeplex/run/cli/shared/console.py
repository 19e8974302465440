"""Console output: tables and text on stdout; also finds a free path for a stopped run."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from treeplex.errors import printable

LEAST_WIDTH = 14
"""Minimum width of a text column."""
WIDEST = 10_000
"""Maximum width of a table."""


def say(text: str = "", *, bold: bool = False, nl: bool = True) -> None:
    """Print a line with control characters escaped; see :func:`treeplex.errors.printable`."""
    typer.secho(printable(text), bold=bold or None, nl=nl)


def cell_of(text: str | Text) -> Text:
    """Convert a string to a table cell; unprintable text loses its style."""
    if isinstance(text, Text):
        return text if printable(text.plain) == text.plain else Text(printable(text.plain))
    return Text(printable(text))


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str | Text]],
    *,
    title: str = "",
    right: Iterable[int] = (),
    lines: bool = False,
) -> None:
    """Print a table; ``right`` lists right-aligned columns. Brackets are literal, and control characters are escaped.

    If the terminal is too narrow, lines overflow rather than drop columns.
    """
    right, cells = set(right), [[cell_of(cell) for cell in row] for row in rows]
    if title:
        say(title, bold=True)
    table = Table(show_lines=lines, header_style="bold", box=SIMPLE_HEAD, show_edge=False)
    for number, name in enumerate(columns):
        flush = number in right
        widest = max(
            (cell_len(line) for row in cells for cell in row[number : number + 1] for line in cell.plain.split("\n")), default=0
        )
        least = widest if flush else min(LEAST_WIDTH, max(widest, len(name)))
        table.add_column(name, justify="right" if flush else "left", overflow="fold", no_wrap=flush, min_width=least)
    for row in cells:
        table.add_row(*row)
    console = Console()
    width = max(console.width, console.measure(table, options=console.options.update(max_width=WIDEST)).minimum)
    Console(width=width).print(table)


def print_entries(entries: Iterable[tuple[str, Sequence[str]]]) -> None:
    """Print names in bold with their lines of text: the first line plain, the others in grey."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, lines in entries:
        text = cell_of(lines[0])
        for line in lines[1:]:
            if line:
                text.append(f"\n{printable(line)}", style="dim")
        table.add_row(Text(printable(name), "bold"), text)
    Console().print(table)


def print_facts(facts: Mapping[str, str], *, title: str) -> None:
    """Print aligned names and values."""
    say(title, bold=True)
    width = max(map(len, facts))
    for name, text in facts.items():
        say(f"  {name:<{width}}  {text}")


def print_next(steps: Iterable[tuple[str, str]]) -> None:
    """Print suggested commands with their purpose, if any."""
    for number, (words, purpose) in enumerate(steps):
        if not number:
            say("next", bold=True)
        say(f"  {words}   {purpose}")


def counted(number: int, noun: str = "iteration") -> str:
    """Format a count with its noun: 1 iteration, 1,000 iterations, 1 hand."""
    return f"{number:,} {noun}{'s' if number != 1 else ''}"


def print_json(value: Any) -> None:
    """Print JSON with numbers in full precision."""
    typer.echo(json.dumps(value))


def free_place(text: str, suffix: str = "") -> Path:
    """Return an unused path under ``runs``, named after the run; creates ``runs``."""
    name, number, parent = re.sub(r"[^\w.+=-]+", "-", text).strip("-.")[:80], 1, Path("runs")
    parent.mkdir(exist_ok=True)
    while (path := parent / f"{name if number == 1 else f'{name}-{number}'}{suffix}").exists():
        number += 1
    return path
