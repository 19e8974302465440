"""``treeplex holdem buckets``: strength buckets of hands."""

from typing import TYPE_CHECKING, Annotated

import typer

from treeplex.errors import SpecError
from treeplex.run.cli.shared.arguments import Json, ShowProgress
from treeplex.run.cli.shared.commands import command
from treeplex.run.cli.shared.console import print_json, print_table
from treeplex.run.cli.shared.live import Live

if TYPE_CHECKING:
    from treeplex.holdem.buckets.buckets import Buckets


@command("Show the strength buckets of hands.", place=70, example="buckets --buckets 5")
def buckets(
    counts: Annotated[
        str,
        typer.Option("--buckets", metavar="N", help="Buckets per street: one number, or four separated by commas."),
    ] = "10",
    hand: Annotated[str | None, typer.Option(metavar="CARDS", help="Show the buckets of this hand, such as AsKs.")] = None,
    board: Annotated[
        str, typer.Option(metavar="CARDS", help="With --hand: a flop, turn or river board, such as Td9d6hQc.")
    ] = "",
    method: Annotated[str, typer.Option(metavar="NAME", help="Clustering: percentile, kmeans or kmeans-pair.")] = "percentile",
    nested: Annotated[
        bool,
        typer.Option(
            "--nested/--flat", help="Cluster hands separately for each sequence of earlier buckets, or once per street."
        ),
    ] = True,
    cards: Annotated[
        str,
        typer.Option(metavar="FORMAT", help="holdem, or a smaller deck with the same streets, such as royal."),
    ] = "holdem",
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Show the strength buckets that hands belong to.

    Strength is E[HS2], the expected squared probability of beating a random hand. The first call computes it for every
    board, which takes half a minute, and stores the table (87 MB) in the cache folder ($TREEPLEX_CACHE, or that of the
    operating system).

    \b
    Examples:
      treeplex holdem buckets --buckets 5
      treeplex holdem buckets --hand AsKs --board Td9d6h
    """
    if board and not hand:
        raise SpecError("--board needs a hand; add --hand, such as --hand AsKs")
    with Live(progress):
        from treeplex.holdem.buckets.look import look_up, preflop_buckets

        abstraction = buckets_from(counts, method, nested, cards)
        lines = look_up(abstraction, hand, board) if hand else None
        groups = preflop_buckets(abstraction)
    if lines is not None:
        if as_json:
            print_json([vars(line) for line in lines])
        else:
            rows = [[line.street, f"{line.mean:.4f}", f"{line.square:.4f}", str(line.bucket + 1)] for line in lines]
            print_table(["street", "E[HS]", "E[HS2]", "bucket"], rows, title=f"{hand} {board}".strip(), right=(1, 2, 3))
    elif as_json:
        print_json([list(group) for group in groups])
    else:
        print_table(
            ["bucket", "hands"],
            [[str(number + 1), " ".join(group)] for number, group in enumerate(groups)],
            title="before the flop, weakest first",
            right=(0,),
        )


def buckets_from(counts: str, method: str, nested: bool, cards: str) -> "Buckets":
    """The buckets specified by the options.

    Raises:
        SpecError: a count is not a number.
    """
    from treeplex.holdem.buckets.named import bucketed_holdem

    try:
        numbers = [int(part) for part in counts.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 4):
        raise SpecError(f"--buckets is {counts!r}; give one number, or four separated by commas, such as 10 or 12,8,6,5")
    return bucketed_holdem(
        buckets=numbers[0] if len(numbers) == 1 else numbers, method=method, nested=nested, cards=cards
    ).buckets
