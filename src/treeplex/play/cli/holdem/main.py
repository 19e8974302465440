"""``treeplex holdem``: solve spots and read them, one or on many flops; train, search and play on turns; limit hold'em."""

import typer

from treeplex.play.cli.failures import Commands
from treeplex.play.cli.holdem import flops as cli_holdem_flops
from treeplex.play.cli.holdem import limit as cli_limit
from treeplex.play.cli.holdem import play as cli_holdem_play
from treeplex.play.cli.holdem import search as cli_holdem_search
from treeplex.play.cli.holdem import show as cli_holdem_show
from treeplex.play.cli.holdem import solve as cli_holdem_solve
from treeplex.play.cli.holdem import train as cli_holdem_train

HELP = """Solve heads-up hold'em spots.

\b
  treeplex holdem solve --board "Td 9d 6h Qc 2s" --oop "66+,AJs+" --ip "QQ-22,ATs+" --pot 200 --stack 900 --out river.spot
  treeplex holdem solve examples/spots/turn.yaml --out turn.spot
  treeplex holdem show turn.spot --line x,b60%
  treeplex holdem flops examples/spots/flop.yaml --boards subset:25 --line x --out flops
  treeplex holdem train --out runs/turn
  treeplex holdem search turn_endgame runs/turn
  treeplex holdem play
"""

holdem = typer.Typer(
    name="holdem",
    cls=Commands,
    help=HELP,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
holdem.command(short_help="Solve a spot.")(cli_holdem_solve.solve)
holdem.command(short_help="Read a solved spot.")(cli_holdem_show.show)
holdem.command(short_help="Solve one spot on many boards.")(cli_holdem_flops.flops)
holdem.command(short_help="Train a network for rivers by self-play on turns.")(cli_holdem_train.train)
holdem.command(short_help="Search a turn with a network, or exactly.")(cli_holdem_search.search)
holdem.command(short_help="Play turns against an agent that searches.")(cli_holdem_play.play)
cli_limit.register(holdem)


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(holdem, short_help="Solve heads-up hold'em spots.")
