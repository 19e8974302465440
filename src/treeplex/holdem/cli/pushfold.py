"""``treeplex holdem pushfold``: push-or-fold charts, heads-up or for a table with ICM."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeplex.run.cli.shared.arguments import Json
from treeplex.run.cli.shared.commands import command
from treeplex.run.cli.shared.console import print_json, say
from treeplex.run.cli.shared.live import Live

if TYPE_CHECKING:
    import numpy as np

    from treeplex.holdem.study.push_fold import PushFold


@command("Push-or-fold charts, with ICM for up to six players.", place=26, example="pushfold --stack 10")
def pushfold(
    *,
    stack: Annotated[
        float | None, typer.Option("--stack", metavar="BB", help="Effective stack in big blinds, blinds included.")
    ] = None,
    to: Annotated[
        float | None,
        typer.Option("--to", metavar="BB", help="Show the largest stack, up to BB, at which each hand is pushed or called."),
    ] = None,
    step: Annotated[
        float | None,
        typer.Option("--step", metavar="BB", help="With --to: step between stack sizes in big blinds. Default: 0.5."),
    ] = None,
    stacks: Annotated[
        str | None,
        typer.Option("--stacks", metavar="LIST", help="Stacks of 2 to 6 players in order of action: 10,12,8 (SB, BB last)."),
    ] = None,
    payouts: Annotated[
        str | None,
        typer.Option("--payouts", metavar="LIST", help="With --stacks: prizes by place, for ICM: 50,30,20."),
    ] = None,
    deals: Annotated[int | None, typer.Option("--deals", metavar="N", help="With --stacks: number of random deals.")] = None,
    ante: Annotated[float, typer.Option("--ante", metavar="BB", help="Ante of each player.")] = 0.0,
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write the chart as a CSV table.")] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="With --stack: write the chart as an HTML page.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Solve push or fold: each player goes all-in or folds.

    With --stack the heads-up solution is exact: a linear program with equities over all boards and card removal. --to prints
    the largest stack with which each hand is pushed and called; hands pushed in several intervals show the highest.

    --stacks solves a table by CFR on random deals, in chips or with --payouts in prize money by ICM (Malmuth-Harville). With
    more than two players no algorithm guarantees an equilibrium, so the measured NashConv is printed.

    \b
    Examples:
      treeplex holdem pushfold --stack 10
      treeplex holdem pushfold --stack 8 --ante 0.125 --csv push8.csv --html push8.html
      treeplex holdem pushfold --to 20
      treeplex holdem pushfold --stacks 10,12,8 --payouts 50,30,20
    """
    from treeplex.errors import SpecError
    from treeplex.holdem.cli.shared.requests import usable
    from treeplex.holdem.study.push_fold import largest_stacks, push_fold

    if stacks is not None:
        if (stack, to, step, html) != (None, None, None, None):
            raise SpecError("--stacks cannot be combined with --stack, --to, --step or --html; leave them out")
        solve_table(numbers(stacks, "--stacks"), numbers(payouts or "", "--payouts"), ante, deals, csv, as_json)
        return
    if payouts is not None or deals is not None:
        raise SpecError("--payouts and --deals need --stacks; add --stacks 10,12,8")
    if (stack is None) == (to is None):
        raise SpecError("give --stack BB for one stack, or --to BB for a chart of all stacks up to BB, or --stacks for a table")
    if html is not None and stack is None:
        raise SpecError("--html needs --stack; leave it out, or write the chart with --csv")
    if step is not None and to is None:
        raise SpecError("--step needs --to; leave it out, or add --to BB")
    for path in (csv, html):
        if path is not None:
            usable(path)
    if stack is None:
        assert to is not None
        step = 0.5 if step is None else step
        push, call = largest_stacks(to, step=step, ante=ante)
        columns = {"push": push, "call": call}
        facts: dict[str, Any] = {"to": to, "step": step, "ante": ante}
    else:
        equilibrium = push_fold(stack, ante=ante)
        columns = {name: getattr(equilibrium, name) for name in ("push", "call", "push_ev", "call_ev")}
        facts = {name: getattr(equilibrium, name) for name in ("stack", "ante", "value", "pushed", "called", "exploitability")}
    write_files(csv, html, columns, None if stack is None else equilibrium)
    if as_json:
        print_json({**facts, "hands": by_class(columns)})
    elif stack is None:
        print_chart(columns, to or 0.0)
    else:
        print_push_fold(equilibrium)
    if not as_json:
        for path in (csv, html):
            if path is not None:
                say(f"wrote {path}")


def numbers(text: str, option: str) -> list[float]:
    """Read a list of numbers.

    Raises:
        SpecError: one of them is not a number.
    """
    from treeplex.errors import SpecError

    try:
        return [float(word) for word in text.replace(",", " ").split()]
    except ValueError as error:
        raise SpecError(f"{option} {text!r}: {error}; write numbers such as 10,12,8") from None


def solve_table(
    stacks: list[float], payouts: list[float], ante: float, deals: int | None, csv: Path | None, as_json: bool
) -> None:
    """Solve and print push or fold at a table."""
    from rich.console import Console

    from treeplex.base.storage.files import write_atomically
    from treeplex.holdem.cards.cards import CLASSES
    from treeplex.holdem.cli.shared.requests import usable
    from treeplex.holdem.study.pages.grid import in_colour, legend, strategy_grid
    from treeplex.holdem.study.push_fold_table import DEALS, table_push_fold

    if csv is not None:
        usable(csv)
    with Live(None) as live:
        found = table_push_fold(
            stacks,
            ante=ante,
            payouts=payouts,
            deals=DEALS if deals is None else deals,
            progress=lambda done, total: live.say(f"{done:,} of {total:,} deals"),
        )
    titles = [found.title(node) for node in found.nodes]
    if csv is not None:
        lines = [",".join(("hand", *(f'"{title}"' for title in titles)))]
        lines += [",".join((name, *(f"{node.often[k]:.4f}" for node in found.nodes))) for k, name in enumerate(CLASSES)]
        write_atomically(csv, "\n".join(lines) + "\n")
    if as_json:
        print_json(found.to_json())
        return
    console = Console(soft_wrap=True)
    coloured = in_colour(console)
    for node, title in zip(found.nodes, titles, strict=True):
        kind = "call" if node.all_in else "allin"
        action = "call" if node.all_in else "all-in"
        say(f"{title}: {action} with {100 * node.share:.1f}% of hands (reached {100 * node.reached:.1f}%)", bold=True)
        console.print(strategy_grid(range_of(node.often), (kind, "fold"), coloured=coloured), soft_wrap=True)
        console.print(legend((action, "fold"), (kind, "fold"), coloured=coloured))
        console.print()
    say(found.summary())
    if csv is not None:
        say(f"wrote {csv}")


def by_class(columns: "dict[str, np.ndarray[Any, Any]]") -> dict[str, dict[str, float]]:
    """Convert columns over hand classes to one dictionary per class."""
    from treeplex.holdem.cards.cards import CLASSES

    return {name: {key: float(values[index]) for key, values in columns.items()} for index, name in enumerate(CLASSES)}


def write_files(
    csv: Path | None, html: Path | None, columns: "dict[str, np.ndarray[Any, Any]]", equilibrium: "PushFold | None"
) -> None:
    """Write the CSV table and the HTML page, if requested."""
    from treeplex.base.storage.files import write_atomically

    if csv is not None:
        lines = [",".join(("hand", *columns))]
        lines += [",".join((name, *(f"{value:.6g}" for value in row.values()))) for name, row in by_class(columns).items()]
        write_atomically(csv, "\n".join(lines) + "\n")
    if html is not None and equilibrium is not None:
        from treeplex.holdem.study.pages.push_fold import push_fold_page

        write_atomically(html, push_fold_page(equilibrium))


def print_push_fold(equilibrium: "PushFold") -> None:
    """Print both players' charts."""
    from rich.console import Console

    from treeplex.holdem.study.pages.grid import in_colour, legend, strategy_grid

    console = Console(soft_wrap=True)
    coloured = in_colour(console)
    for who, action, kind, often, share in (
        ("small blind", "all-in", "allin", equilibrium.push, equilibrium.pushed),
        ("big blind", "call", "call", equilibrium.call, equilibrium.called),
    ):
        kinds = (kind, "fold")
        say(f"{who}, {equilibrium.stack:g} bb: {action} with {100 * share:.1f}% of hands", bold=True)
        console.print(strategy_grid(range_of(often), kinds, coloured=coloured), soft_wrap=True)
        console.print(legend((action, "fold"), kinds, coloured=coloured))
        console.print()
    say(f"the small blind wins {equilibrium.value:+.4f} bb/hand; exact over all boards")


def print_chart(columns: "dict[str, np.ndarray[Any, Any]]", most: float) -> None:
    """Print for each hand the largest stack with which it pushes, and with which it calls, as two grids."""
    from rich.console import Console

    from treeplex.holdem.study.pages.grid import in_colour, value_grid

    console: Console = Console(soft_wrap=True)
    for who, does, values in (("small blind", "pushes", columns["push"]), ("big blind", "calls", columns["call"])):
        say(f"largest stack in big blinds with which the {who} {does} ({most:g} at most)", bold=True)
        grid = value_grid(range_of(values / most), values, low=0, high=most, coloured=in_colour(console), digits=1)
        console.print(grid, soft_wrap=True)
        console.print()


def range_of(often: "np.ndarray[Any, Any]") -> Any:
    """A report range of all hands, with the frequency of the first of two actions for each class."""
    import numpy as np

    from treeplex.holdem.cards.cards import CLASSES, HAND_CLASSES
    from treeplex.holdem.study.report.page_data import Classes

    size = len(CLASSES)
    members = np.bincount(HAND_CLASSES, minlength=size)
    nothing = np.full(size, np.nan)
    return Classes(members, np.ones(size), members / members.sum(), np.array([often, 1 - often]), nothing, nothing)
