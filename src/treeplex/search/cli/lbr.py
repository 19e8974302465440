"""The command ``lbr``."""

from math import isfinite
from typing import TYPE_CHECKING, Annotated

import typer

from treeplex.base.digits import finite
from treeplex.run.cli.shared.arguments import GameArgument, Json, ShowProgress, Think
from treeplex.run.cli.shared.commands import command
from treeplex.run.cli.shared.console import counted, print_facts, print_json, print_table
from treeplex.run.cli.shared.live import Live

if TYPE_CHECKING:
    from treeplex.search.evaluate.winnings import Winnings

ROUNDING = 1e-12
"""Size in chips below which a value is printed as zero."""


@command("Lower-bound an agent's exploitability (local best response).", place=75, example="lbr leduc_poker uniform")
def lbr(
    game: GameArgument,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="Agent by name, see treeplex agents.")],
    hands: Annotated[
        int | None,
        typer.Option(
            "--hands", metavar="N", min=4, help="Hands to play. Default: exact values in small games, otherwise 2,000."
        ),
    ] = None,
    splits: Annotated[
        str,
        typer.Option("--splits", metavar="K,...", help="Continuations of each hand from its first, second, ... board cards."),
    ] = "",
    actions: Annotated[
        str,
        typer.Option(
            "--actions",
            metavar="LETTERS",
            help="Actions considered: all, or fc (fold, check and call) plus any of h, p, a (half pot, pot, all-in).",
        ),
    ] = "all",
    first_round: Annotated[
        int,
        typer.Option("--first-round", metavar="R", min=0, help="Only check and call before betting round R (2 is the turn)."),
    ] = 0,
    models: Annotated[
        int, typer.Option("--models", metavar="K", min=1, help="Copies used to model an agent that randomises its search.")
    ] = 1,
    think: Think = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Play a local best response against an agent: its winnings are a lower bound on a best response's winnings.

    The local best response knows the agent's policy, tracks its range, and takes the action that is best if both check and
    call from then on (Lisý and Bowling 2017). It needs two-player poker. --json prints lbr, interval, exact, hands and
    seats.

    \b
    Examples:
      treeplex lbr leduc_poker uniform
      treeplex lbr leduc_poker "blueprint(file=runs/leduc)" --json
      treeplex lbr turn.yaml "blueprint(file=turn.spot)" --hands 500 --actions fcpa
    """
    continued = numbers_of(splits)
    with Live(progress) as live:
        live.say(f"preparing {game}")
        from treeplex.forms.sources.load import load
        from treeplex.search.match.lbr_run import local_best_response

        table = load(game)
        winnings = local_best_response(
            table,
            agent,
            hands=hands,
            splits=continued,
            actions=actions,
            first_round=first_round,
            models=models,
            think=think,
            seed=seed,
            progress=live.say,
        )
    if as_json:
        print_json(
            {
                "game": str(table),
                "agent": agent,
                "lbr": winnings.value,
                "interval": finite(winnings.interval),
                "exact": winnings.exact,
                "hands": winnings.hands,
                "seats": [
                    {"value": value, "interval": finite(interval)}
                    for value, interval in zip(winnings.values, winnings.intervals, strict=True)
                ],
                "actions": actions,
                "first_round": first_round,
                "splits": continued,
            }
        )
        return
    print_winnings(winnings, title=f"local best response to {agent} on {table}")


def numbers_of(splits: str) -> list[int]:
    """Parse the option ``--splits``.

    Raises:
        SpecError: it is not a list of positive integers.
    """
    from treeplex.errors import SpecError

    try:
        numbers = [int(part) for part in splits.split(",")] if splits else []
    except ValueError:
        numbers = [0]
    if min(numbers, default=1) < 1:
        raise SpecError(f"--splits is {splits!r}; give positive integers separated by commas, such as 8,4")
    return numbers


def print_winnings(result: "Winnings", *, title: str) -> None:
    """Print the winnings, in total and by seat."""
    from treeplex.search.evaluate.statistics import FEWEST_DEALS

    few = f"no 95% interval for fewer than {FEWEST_DEALS} hands; {result.hands} were played"
    how = f"± {result.interval:.2g}   95% interval, {counted(result.hands, 'hand')}" if isfinite(result.interval) else few
    how = "exact, all public states" if result.exact else how
    facts = {"exploitability": f"at least {result.value:.6g}   {how}"}
    if result.value <= 0:
        facts = {
            "winnings": f"{result.value:.6g}   {how}",
            "exploitability": "no positive bound; other responses may still win",
        }
    print_facts(facts, title=title)
    columns, pairs = ["seat", "winnings"], zip(result.values, result.intervals, strict=True)
    shown = ((value if abs(value) > ROUNDING else 0.0, interval) for value, interval in pairs)
    rows = [[str(seat), f"{value:+.6g}", f"± {interval:.2g}"] for seat, (value, interval) in enumerate(shown)]
    if result.exact or not all(map(isfinite, result.intervals)):
        rows = [row[:2] for row in rows]
    else:
        columns.append("95% interval")
    print_table(columns, rows, right=(1, 2))
