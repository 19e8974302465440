"""Poker tables and numbers in human-readable form: EVs, shares, weights, combos."""

import typer

from treeplex.base.digits import short


def echo_table(head: list[str], rows: list[list[str]]) -> None:
    """Print a table with many columns, the first one left-aligned, without truncating long lines."""
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    for number, row in enumerate([head, *rows]):
        cells = [
            text.rjust(width) if column else text.ljust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        typer.secho("  ".join(cells).rstrip(), bold=number == 0)


def amount(value: float, signed: bool) -> str:
    """An EV as text."""
    value = round(float(value), 2) + 0.0  # no minus before zero
    return "-" if value != value else f"{value:+.2f}" if signed else f"{value:.2f}"


def per_cent(value: float) -> str:
    """A share as a percentage."""
    return "-" if value != value else f"{100 * value:.1f}%"


def weight_text(weight: float) -> str:
    """A weight as a percentage; small weights have three digits."""
    return f"{100 * weight:.0f}%" if weight == 0 or weight >= 0.0995 else f"{short(100 * weight)}%"


def counted(combos: float) -> str:
    """A number of combos as text; small numbers have two digits."""
    return f"{combos:.2g}" if 0 < combos < 0.95 else f"{combos:.1f}"
