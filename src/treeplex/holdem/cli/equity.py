"""``treeplex holdem equity``: equities of ranges, as shares of the pot won at showdown."""

from typing import TYPE_CHECKING, Annotated

import typer

from treeplex.holdem.cli.shared.texts import echo_table, per_cent
from treeplex.run.cli.shared.arguments import Json, ShowProgress
from treeplex.run.cli.shared.commands import command
from treeplex.run.cli.shared.console import print_json
from treeplex.run.cli.shared.live import Live

if TYPE_CHECKING:
    from treeplex.holdem.study.equity import Equity, RangeEquity

TENTHS = 10
MOST_TEXT = 32


@command("Equities of two to six ranges.", place=25, example="equity AKs QQ+ --board Td9d6h")
def equity(
    *,
    ranges: Annotated[list[str], typer.Argument(metavar="RANGE...", help="Two to six ranges: AKs, 'QQ+,AJs', AsKs, random.")],
    board: Annotated[
        str, typer.Option("--board", metavar="CARDS", help="Board of three, four or five cards. Default: preflop.")
    ] = "",
    dead: Annotated[str, typer.Option("--dead", metavar="CARDS", help="Dead cards, removed from the deck.")] = "",
    hands: Annotated[
        str | None, typer.Option("--hands", metavar="N|all", help="List the N best hands of each range, or all.")
    ] = None,
    samples: Annotated[
        int | None, typer.Option("--samples", metavar="N", min=2, help="Number of random deals. Default: exact where possible.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Random seed for sampled deals.", min=0)] = 0,
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Compute the share of the pot that each range wins at showdown if there is no further betting.

    Equities of two ranges are always exact, over all 2,598,960 boards up to suit isomorphism. Equities of three to six
    ranges are exact if all deals can be enumerated, as with single hands and classes. Otherwise two million deals are
    sampled, and ± is the standard error. The last table shows the distribution of each range over ten equity intervals.

    \b
    Examples:
      treeplex holdem equity AKs QQ+
      treeplex holdem equity AsKs QQ,JJ "top 10%" --board Td9d6h
      treeplex holdem equity "22+,A2s+" random --hands 20
    """
    with Live(progress) as live:
        live.say("dealing")
        from treeplex.errors import SpecError
        from treeplex.holdem.study.equity import equity

        if hands is not None and hands != "all" and not (hands.isdigit() and 0 < len(hands) < 5):
            raise SpecError(f"--hands is {hands!r}; give a number of hands, or all")
        equities = equity(
            ranges,
            board,
            dead=dead,
            samples=samples,
            seed=seed,
            progress=lambda done, parts: live.say(
                f"boards {100 * done // parts}%" if samples is None else f"deals {done}/{parts}"
            ),
        )
    if as_json:
        print_json(equity_json(equities, ranges))
        return
    print_equity(equities, ranges)
    if hands is not None:
        for player, part in enumerate(equities.players):
            print_hands(part, ranges[player], None if hands == "all" else int(hands))


def equity_json(equities: "Equity", ranges: list[str]) -> dict[str, object]:
    """All players' equities, hand by hand, as JSON data."""
    from treeplex.holdem.cards.cards import hand_to_string
    from treeplex.holdem.study.report.export import rounded

    players = []
    for text, part in zip(ranges, equities.players, strict=True):
        columns = [rounded(column) for column in (part.weight, part.hand_equity, part.hand_error)]
        rows = zip(map(hand_to_string, map(int, part.hands)), *columns, strict=True)
        players.append(
            {
                "range": text,
                "equity": part.equity,
                "win": part.win,
                "tie": part.tie,
                "error": part.error,
                "hands": {name: {"weight": weight, "equity": share, "error": error} for name, weight, share, error in rows},
            }
        )
    return {"method": equities.method, "count": equities.count, "players": players}


def print_equity(equities: "Equity", ranges: list[str]) -> None:
    """Print the table of players, and the distribution of equity over each range."""
    import numpy as np

    exact = equities.method == "exact"
    what = f"exact, {equities.count:,} boards" if exact else f"{equities.count:,} deals sampled"
    typer.secho(what, bold=True)
    names = [text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 3] + "..." for text in ranges]
    rows = []
    for name, part in zip(names, equities.players, strict=True):
        cells = [name, f"{100 * part.equity:.3f}%", f"{100 * part.win:.3f}%", f"{100 * part.tie:.3f}%"]
        rows.append(cells if exact else [*cells, f"{100 * part.error:.3f}%"])
    echo_table(["range", "equity", "win", "tie", *([] if exact else ["±"])], rows)
    typer.echo("")
    typer.secho("share of each range by equity, in percent", bold=True)
    heads = [f"{10 * tenth}-{10 * tenth + 10}" for tenth in range(TENTHS)]
    rows = []
    for name, part in zip(names, equities.players, strict=True):
        known = np.isfinite(part.hand_equity)
        tenths = np.minimum((part.hand_equity[known] * TENTHS).astype(int), TENTHS - 1)
        shares = np.bincount(tenths, weights=part.weight[known], minlength=TENTHS)
        rows.append([name, *(per_cent(share) if share else "" for share in shares)])
    echo_table(["range", *heads], rows)


def print_hands(part: "RangeEquity", name: str, most: int | None) -> None:
    """Print the hands of one range by class, best first."""
    import numpy as np

    from treeplex.holdem.cards.cards import CLASSES, HAND_CLASSES, hand_to_string

    classes = HAND_CLASSES[part.hands]
    rows: list[tuple[float, list[str]]] = []
    for number in np.unique(classes):
        here = np.flatnonzero((classes == number) & np.isfinite(part.hand_equity))
        if not len(here):
            continue
        equities, weight = part.hand_equity[here], part.weight[here]
        if np.ptp(equities) < 5e-5 or (len(here) > 1 and part.hand_error[here].any()):
            total = weight.sum()
            mean = float(equities @ weight / total) if total else float(equities.mean())
            rows.append((mean, [CLASSES[number], per_cent(float(total)), f"{100 * mean:.2f}%"]))
        else:
            for index in here:
                mean, text = float(part.hand_equity[index]), hand_to_string(int(part.hands[index]))
                rows.append((mean, [text, per_cent(float(part.weight[index])), f"{100 * mean:.2f}%"]))
    rows.sort(key=lambda row: -row[0])
    typer.echo("")
    echo_table([name[:MOST_TEXT], "of range", "equity"], [cells for _, cells in rows[:most]])
    if most is not None and len(rows) > most:
        typer.secho(f"{len(rows) - most} more: --hands all", dim=True)
