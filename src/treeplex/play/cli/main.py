"""The command line: ``treeplex COMMAND``.

``games``, ``algorithms`` and ``info`` look around; ``solve``, ``compare``, ``sample`` and ``train`` make policies and networks;
``evaluate``, ``playouts``, ``device``, ``show``, ``export`` and ``play`` use them; ``holdem`` has commands of its own.
"""

import warnings
from typing import Annotated

import typer

from treeplex.play.cli import device as cli_device
from treeplex.play.cli import info as cli_look
from treeplex.play.cli import play as cli_play
from treeplex.play.cli import policy as cli_policy
from treeplex.play.cli import sample as cli_sample
from treeplex.play.cli import solve as cli_solve
from treeplex.play.cli import train as cli_train
from treeplex.play.cli.failures import EXIT_CODES, Commands
from treeplex.play.cli.holdem import main as cli_holdem

HELP = f"""Solve imperfect-information games: the CFR family, Monte Carlo sampling, exact solvers, ReBeL, and hold'em.

\b
  treeplex games                                      what can be solved
  treeplex info leduc_poker                           how large it is
  treeplex solve leduc_poker --target 1e-4 --out run  solve it
  treeplex show run                                   read the strategy
  treeplex evaluate leduc_poker run                   judge it
  treeplex compare kuhn_poker -a cfr -a dcfr          compare algorithms
  treeplex sample "liars_dice(numdice=2)" --out dice  sample a game too large to compile
  treeplex playouts "liars_dice(numdice=2)" dice      play it against uniform play
  treeplex export run policy.csv                      convert a policy
  treeplex device runs/kuhn3                          judge a correlation device
  treeplex train ddcfr --out learned                  learn how to discount
  treeplex train rebel liars_dice --out runs/dice     learn to search (ReBeL)
  treeplex play "liars_dice(faces=4)" --against rebel play against a trained network
  treeplex warm-up                                    compile all kernels now
  treeplex holdem solve spot.yaml --out turn.spot     solve a hold'em spot (treeplex holdem --help)

{EXIT_CODES}
"""

app = typer.Typer(
    name="treeplex",
    cls=Commands,
    help=HELP,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
for module in (cli_look, cli_solve, cli_policy, cli_sample, cli_device, cli_train, cli_play, cli_holdem):
    module.register(app)


def print_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        from importlib.metadata import version

        typer.echo(f"treeplex {version('treeplex')}")
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
