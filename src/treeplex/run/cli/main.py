"""The command line: ``treeplex COMMAND``; the commands are the functions marked in the files beside this one."""

import warnings
from importlib import import_module
from typing import Annotated

import typer

from treeplex.base.version import own_version
from treeplex.run.cli.shared.commands import examples_of, group_of
from treeplex.run.cli.shared.failures import EXIT_CODES

PACKAGES = ("treeplex.run.cli", "treeplex.search.cli", "treeplex.learn.cli", "treeplex.web.cli")
"""Where commands are looked for: in the files of these packages."""
GROUPS = {"treeplex.holdem.cli.main": "Solve heads-up hold'em spots."}
"""Modules with a group of commands, ``group``, and what the help says of each."""
HELP = f"""Solve imperfect-information games: the CFR family, Monte Carlo sampling, exact solvers, ReBeL, and hold'em.

\b
{examples_of(PACKAGES, "treeplex")}
  treeplex holdem solve spot.yaml --out turn.spot       solve a hold'em spot (treeplex holdem --help)

{EXIT_CODES}
"""

app = group_of(PACKAGES, "treeplex", HELP)
for _module, _help in GROUPS.items():
    app.add_typer(import_module(_module).group, short_help=_help)


def print_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        typer.echo(f"treeplex {own_version()}")
        raise typer.Exit


@app.callback()
def options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options that come before the command."""


def main() -> None:
    """Run the command line; warnings are lines on stderr, without the place in the code."""
    warnings.formatwarning = lambda message, *place, **more: f"note: {message}\n"
    app(prog_name="treeplex")


if __name__ == "__main__":
    main()
