"""``treeplex holdem drill``: decisions of solved spots and preflop charts."""

from typing import Annotated

import typer

from treeplex.run.cli.shared.commands import command


@command("Drill decisions of solved spots.", place=45, example="drill 100bb --seat btn")
def drill(
    *,
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="Solved spot (.spot), folder of solved spots, or chart: 10bb to 300bb.")
    ],
    line: Annotated[
        str, typer.Option("--line", metavar="LINE", help="Line to the node where hands start. Default: root.")
    ] = "",
    only: Annotated[
        str,
        typer.Option(
            "--only", metavar="TEXT", help="Only these hands, ranges, streets, textures: 'set, 77+, river, on paired'."
        ),
    ] = "",
    seat: Annotated[
        str | None, typer.Option("--seat", metavar="SEAT", help="oop or ip, preflop bb or btn. Default: both.")
    ] = None,
    count: Annotated[int | None, typer.Option("-n", metavar="N", min=1, help="Stop after N decisions.")] = None,
    time: Annotated[
        str | None, typer.Option("--time", metavar="T", help="Time per decision, such as 10s. Default: no limit.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", metavar="S", min=0, help="Random seed of the deals.")] = None,
) -> None:
    """Answer decisions of dealt hands, and compare each answer with the solution.

    Both hands are dealt from their ranges, and played by the solution up to the decision. You then see each action's frequency,
    EV and EV loss. Mistakes come back until you answer them correctly twice. The score is your mean EV loss in % of the pot and
    how often the solution takes your actions. If --time runs out, the first action counts as your answer.

    \b
    Examples:
      treeplex holdem drill turn.spot --line x,b75% --seat oop
      treeplex holdem drill runs/flops --only "top pair, flop, on two-tone" --time 15s
      treeplex holdem drill 100bb --seat btn --only "22+, A2s+" -n 50
    """
    from treeplex.holdem.cli.shared.drill import player_of, policies_of, run_drill
    from treeplex.holdem.study.drill import DrillFilter
    from treeplex.run.cli.shared.live import Live

    wanted = DrillFilter.of(only, player_of(seat))
    with Live(None) as live:
        live.say(f"loading {source}")
        policies = policies_of(source, wanted)
    run_drill(policies, wanted, start=line, games=count, seed=seed, limit=time)
