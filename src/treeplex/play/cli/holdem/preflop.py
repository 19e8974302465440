"""``treeplex holdem preflop``: charts of a blueprint before the flop."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeplex.play.cli.shared.arguments import Json, ShowProgress
from treeplex.play.cli.shared.commands import command
from treeplex.play.cli.shared.console import print_json, say
from treeplex.play.cli.shared.live import Live

if TYPE_CHECKING:
    import numpy as np


@command("Preflop charts of a blueprint.", place=27)
def preflop(
    file: Annotated[str, typer.Argument(metavar="BLUEPRINT", help="A folder or file of treeplex train blueprint.")],
    line: Annotated[
        str, typer.Option("--line", metavar="LINE", help="Actions before: f, c, and r with the chips raised to, as r5r15.")
    ] = "",
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write a table.")] = None,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a page.")] = None,
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Show how a blueprint plays before the flop, as 13 x 13 grids: how often each of the 169 classes of hands does what.

    \b
    Examples:
      treeplex holdem preflop runs/deep
      treeplex holdem preflop runs/deep --line r5 --csv answers.csv
    """
    from treeplex.storage.files import write_atomically

    with Live(progress) as live:
        live.say(f"reading {file}")
        from treeplex.forms.policies.holdem_blueprint import HoldemBlueprint
        from treeplex.forms.policies.preflop import preflop_chart

        chart = preflop_chart(HoldemBlueprint.load(file), line)
    columns = dict(zip(chart.actions, chart.shares, strict=True))
    if csv is not None:
        rows = [",".join((name, *(f"{share[k]:.4f}" for share in chart.shares))) for k, name in enumerate(chart.classes)]
        write_atomically(csv, "\n".join([",".join(("hand", *chart.actions)), *rows]) + "\n")
    if as_json:
        hands = {name: {key: round(float(own[k]), 4) for key, own in columns.items()} for k, name in enumerate(chart.classes)}
        print_json({"player": chart.player, "line": line, "often": chart.often, "hands": hands})
    else:
        show(chart.title, chart.actions, chart.kinds, chart.shares, chart.often, None)
    if html is not None:
        show(chart.title, chart.actions, chart.kinds, chart.shares, chart.often, html)
    for path in (csv, html):
        if path is not None and not as_json:
            say(f"wrote {path}")


def show(
    title: str,
    actions: tuple[str, ...],
    kinds: tuple[str, ...],
    shares: "np.ndarray[Any, Any]",
    often: dict[str, float],
    html: Path | None,
) -> None:
    """The grid on the terminal, or on a page."""
    import io

    import numpy as np
    from rich.console import Console

    from treeplex.games.poker.cards.cards import CLASSES, HAND_CLASSES
    from treeplex.play.pages.grid import in_colour, legend, strategy_grid
    from treeplex.runs.holdem.report.page_data import Classes
    from treeplex.storage.files import write_atomically

    console = Console(soft_wrap=True)
    if html is not None:
        console = Console(
            soft_wrap=True, record=True, file=io.StringIO(), force_terminal=True, color_system="truecolor", width=140
        )
    coloured = html is not None or in_colour(console)
    members = np.bincount(HAND_CLASSES, minlength=len(CLASSES))
    nothing = np.full(len(CLASSES), np.nan)
    classes = Classes(members, np.ones(len(CLASSES)), members / members.sum(), shares, nothing, nothing)
    console.print(f"{title}: " + ", ".join(f"{name} {100 * share:.1f}%" for name, share in often.items()))
    console.print(strategy_grid(classes, kinds, coloured=coloured), soft_wrap=True)
    console.print(legend(actions, kinds, coloured=coloured))
    if html is not None:
        write_atomically(html, console.export_html())
