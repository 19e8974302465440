"""The command ``improve``."""

from pathlib import Path
from typing import Annotated

import typer

from treeplex.run.cli.shared.arguments import GameArgument, Json, ShowProgress
from treeplex.run.cli.shared.commands import command
from treeplex.run.cli.shared.console import print_json, print_table, say
from treeplex.run.cli.shared.live import Live


@command("Extend a blueprint with few bet sizes to more sizes.", place=77, example='improve no_limit_leduc --sizes "a"')
def improve(
    game: GameArgument,
    blueprint: Annotated[
        str | None,
        typer.Argument(
            metavar="BLUEPRINT",
            help="Blueprint: a run folder or policy file for the game with few bet sizes. Default: solve that game.",
        ),
    ] = None,
    sizes: Annotated[str, typer.Option("--sizes", metavar="SIZES", help="Bet sizes of the blueprint.")] = "100%,a",
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="POLICY", help="Add the bets of this policy. Default: the bets of best responses."),
    ] = None,
    times: Annotated[int, typer.Option("--times", metavar="N", min=0, help="Rounds of adding bets.")] = 5,
    bets: Annotated[int, typer.Option("--bets", metavar="K", min=1, help="Bets added per round.")] = 8,
    gadget: Annotated[
        str,
        typer.Option(
            "--gadget", metavar="NAME", help="Re-solving gadget: none, resolve, maxmargin, reach-resolve or reach-maxmargin."
        ),
    ] = "reach-maxmargin",
    iterations: Annotated[int, typer.Option("-n", "--iterations", metavar="N", min=1, help="Iterations per solve.")] = 1000,
    out: Annotated[Path | None, typer.Option("-o", "--out", metavar="FILE", help="Save the policy to this file.")] = None,
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Extend a blueprint with few bet sizes to a game with many, by adding and solving missing bets.

    Action translation maps a bet between two sizes to one of them. In each round, the most frequent missing bets are added
    to the blueprint, and the game after them is solved with a gadget, as in Libratus' self-improver. The result is a policy
    of GAME. --json prints the added bets, and the exploitability before and after each round.

    \b
    Examples:
      treeplex improve "no_limit_leduc(sizes=[50%;100%;200%;a])" --sizes 100%,a --out better.safetensors
      treeplex improve "no_limit_leduc(sizes=[50%;100%;a])" runs/few --times 2
    """
    with Live(progress) as live:
        live.say(f"compiling {game}")
        from treeplex.forms.policies.files import save_policy
        from treeplex.search.named_agents.improve import improve

        improvement = improve(
            game,
            sizes.split(","),
            blueprint,
            opponent=against,
            times=times,
            bets=bets,
            gadget=gadget,
            iterations=iterations,
            progress=live.say,
        )
        if out is not None:
            save_policy(improvement.policy, out)
    if as_json:
        print_json({"game": game, "exploitability": improvement.exploitability, "added": improvement.added})
        return
    rows = [["0", f"{improvement.exploitability[0]:.6g}", "translated"]]
    for number, (lost, added) in enumerate(zip(improvement.exploitability[1:], improvement.added, strict=True), start=1):
        rows.append([str(number), f"{lost:.6g}", "; ".join(added)])
    print_table(["time", "exploitability", "bets added"], rows, right=(0, 1))
    if len(improvement.added) < times:
        say("no more bets to add" if improvement.added else "no bets to add")
    if out is not None:
        say(f"saved {out}")
