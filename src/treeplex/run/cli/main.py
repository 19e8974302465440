"""The command line: ``treeplex COMMAND``; commands are decorated functions in the files of every ``cli`` folder."""

import warnings
from importlib import import_module
from typing import Annotated

import typer

from treeplex.base.version import own_version
from treeplex.base.wings import wings
from treeplex.run.cli import cache, kernels
from treeplex.run.cli.shared.commands import examples_of, group_of
from treeplex.run.cli.shared.failures import EXIT_CODES

PACKAGES = ("treeplex.run.cli", *(package for wing in wings() for package in wing.commands))
"""Packages whose files define commands: the core's and those of wings."""
HELP = f"""Solve imperfect-information games, such as poker, and measure how exploitable a strategy is.

GAME is a built-in game (treeplex games), a file, your own rules (my.py:MyGame), or a hold'em spot (turn.yaml).

\b
First steps:
{examples_of(PACKAGES, "treeplex")}
  treeplex solve turn.yaml --out turn.spot              solve a hold'em turn

treeplex COMMAND --help describes a command. {EXIT_CODES}
"""

app = group_of(PACKAGES, "treeplex", HELP)
app.add_typer(group_of((kernels.__name__,), "kernels", kernels.HELP), short_help="List, compile or remove compiled kernels.")
app.add_typer(group_of((cache.__name__,), "cache", cache.HELP), short_help="List or remove compiled games.")
for _wing in wings():
    for _module, _help in _wing.groups.items():
        app.add_typer(import_module(_module).group, short_help=_help)


def print_version(wanted: bool) -> None:
    """Print the version and exit."""
    if wanted:
        typer.echo(f"treeplex {own_version()}")
        raise typer.Exit


@app.callback()
def options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Handle options before the command."""


def main() -> None:
    """Run the command line; warnings are printed to stderr without their source location."""
    warnings.formatwarning = lambda message, *location, **more: f"note: {message}\n"
    app(prog_name="treeplex")


if __name__ == "__main__":
    main()
