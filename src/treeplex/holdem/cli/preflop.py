"""``treeplex holdem preflop``: preflop charts of a blueprint or a solved spot."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treeplex.run.cli.shared.arguments import Json, ShowProgress
from treeplex.run.cli.shared.commands import command
from treeplex.run.cli.shared.console import print_json, say
from treeplex.run.cli.shared.live import Live

if TYPE_CHECKING:
    from treeplex.holdem.blueprint.preflop import PreflopChart


@command("Preflop charts of a blueprint or a solved spot.", place=27, example="preflop 20bb")
def preflop(
    file: Annotated[
        str,
        typer.Argument(
            metavar="CHART",
            help="A blueprint's file or folder, a solved spot, or a shipped chart such as 20bb.",
        ),
    ],
    line: Annotated[
        str,
        typer.Option(
            "--line",
            metavar="LINE",
            help="Actions so far: f, c and r with the chips raised to, such as r5r15. In solved spots: r5,a, with any size.",
        ),
    ] = "",
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write the chart as a CSV table.")] = None,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write the chart as an HTML page.")] = None,
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Show the preflop strategy of a blueprint or a solved spot, as 13 x 13 grids of action frequencies.

    Shipped charts are solved on a representative subset of boards. The number of boards and the exploitability are printed
    below the grid. examples/spots/preflop.yaml is an example spot file.

    \b
    Examples:
      treeplex holdem preflop 20bb
      treeplex holdem preflop 20bb --line r2 --html answers.html
      treeplex holdem preflop runs/deep
      treeplex holdem preflop runs/deep --line r5 --csv answers.csv
    """
    from treeplex.base.storage.files import write_atomically

    with Live(progress) as live:
        live.say(f"reading {file}")
        from treeplex.holdem.blueprint.policy import HoldemBlueprint
        from treeplex.holdem.blueprint.preflop import preflop_chart
        from treeplex.holdem.study.preflop_charts import (
            beside_network,
            check_source,
            how_made,
            read_solved,
            solution_chart,
            translated_line,
        )

        solved = read_solved(file)
        if solved is None:
            check_source(file)
            chart, made = preflop_chart(HoldemBlueprint.load(file), line), ""
        else:
            line, notes = translated_line(solved, line)
            chart, made = (
                solution_chart(solved, line),
                "\n".join(filter(None, (*notes, how_made(solved), beside_network(file)))),
            )
    columns = dict(zip(chart.actions, chart.shares, strict=True))
    if csv is not None:
        rows = [",".join((name, *(f"{share[k]:.4f}" for share in chart.shares))) for k, name in enumerate(chart.classes)]
        write_atomically(csv, "\n".join([",".join(("hand", *chart.actions)), *rows]) + "\n")
    if as_json:
        hands = {
            name: {key: round(float(column[k]), 4) for key, column in columns.items()} for k, name in enumerate(chart.classes)
        }
        about = {"made": made} if made else {}
        print_json({"player": chart.player, "line": line, "often": chart.often, "hands": hands} | about)
    else:
        show(chart, made, None)
    if html is not None:
        show(chart, made, html)
    for path in (csv, html):
        if path is not None and not as_json:
            say(f"wrote {path}")


def show(chart: "PreflopChart", made: str, html: Path | None) -> None:
    """Show the grid on the terminal, or write it as an HTML page."""
    import io

    import numpy as np
    from rich.console import Console

    from treeplex.base.storage.files import write_atomically
    from treeplex.holdem.cards.cards import CLASSES, HAND_CLASSES
    from treeplex.holdem.study.pages.grid import in_colour, legend, strategy_grid
    from treeplex.holdem.study.report.page_data import Classes

    console = Console(soft_wrap=True)
    if html is not None:
        console = Console(
            soft_wrap=True, record=True, file=io.StringIO(), force_terminal=True, color_system="truecolor", width=140
        )
    coloured = html is not None or in_colour(console)
    members = np.bincount(HAND_CLASSES, minlength=len(CLASSES))
    held = members * chart.reach
    nothing = np.full(len(CLASSES), np.nan)
    names = tuple(name.replace("allin", "all-in") for name in chart.actions)
    classes = Classes(members, chart.reach, held / held.sum(), chart.shares, nothing, nothing)
    often = zip(names, chart.often.values(), strict=True)
    console.print(f"{chart.title}: " + ", ".join(f"{name} {100 * share:.1f}%" for name, share in often))
    console.print(strategy_grid(classes, chart.kinds, coloured=coloured), soft_wrap=True)
    console.print(legend(names, chart.kinds, coloured=coloured))
    if made:
        console.print(made)
    if html is not None:
        write_atomically(html, console.export_html())
