"""``treeplex holdem``: solve spots and read them, one or on many flops; train, search and play on turns; limit hold'em."""

import typer

from treeplex.play.cli.commands import add_commands, examples_of
from treeplex.play.cli.failures import Commands
from treeplex.play.cli.holdem import limit

PACKAGE = "treeplex.play.cli.holdem"
HELP = f"""Solve heads-up hold'em spots.

\b
  treeplex holdem solve --board "Td 9d 6h Qc 2s" --oop "66+,AJs+" --ip "QQ-22,ATs+" --pot 200 --stack 900 --out river.spot
{examples_of(PACKAGE, "treeplex holdem")}
"""

holdem = typer.Typer(
    name="holdem",
    cls=Commands,
    help=HELP,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
add_commands(holdem, PACKAGE)
limit.register(holdem)
