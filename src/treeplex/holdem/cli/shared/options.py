"""What hold'em adds to commands for any game: options that describe a spot, and options of solving, reading and playing."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from treeplex.errors import SpecError
from treeplex.holdem.spots.spot_table import FIELDS, HOW, Field
from treeplex.run.cli.shared.arguments import options_under
from treeplex.run.cli.shared.commands import WingOptions, with_options

Options = Mapping[str, object]
"""What the options of :func:`with_fields` are to a command."""
SIZES = tuple(option for name in ("bets", "raises", "donk") for option in (name, *(part.option for part in FIELDS[name].parts)))
"""The options of bet sizes."""
BETTING = (*SIZES, "thresholds", *(part.option for part in FIELDS["thresholds"].parts), "min-bet", "fixed-limit")
"""The options of all that decides what may be bet."""


def with_fields(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of some fields of a spot, in place of its parameter ``options``.

    The command gets a mapping from names of options, without the first dashes, to what was given; others are None.
    """

    return with_options([each for name in names for each in options_of(FIELDS[name])], lambda name: name.replace("_", "-"))


def options_of(field: Field, panel: str | None = None) -> list[inspect.Parameter]:
    """The options of a field and of its parts, as parameters of a command, under a heading of its help."""
    kind: Any = list[str] | None if field.repeats else str | None
    flags = [field.short] if field.short else []
    named = [(field.option, flags, kind, field.metavar, field.help)]
    named += [(part.option, [], str | None, part.metavar or field.metavar, part.help) for part in field.parts]
    return [
        inspect.Parameter(
            option.replace("-", "_"),
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[kind, typer.Option(*flags, f"--{option}", metavar=metavar, help=text, rich_help_panel=panel)],
        )
        for option, flags, kind, metavar, text in named
    ]


def path(metavar: str, text: str, *flags: str) -> Any:
    """An option for a file."""
    return Annotated[Path | None, typer.Option(*flags, metavar=metavar, help=text)]


def text(metavar: str, text: str, *flags: str) -> Any:
    """An option for a text."""
    return Annotated[str | None, typer.Option(*flags, metavar=metavar, help=text)]


def number(metavar: str, text: str) -> Any:
    """An option for a whole number."""
    return Annotated[int | None, typer.Option(metavar=metavar, help=text)]


def flag(name: str, text: str) -> Any:
    """An option without a value."""
    return Annotated[bool, typer.Option(name, help=text)]


SPOTS, SPOT_FIELDS, SOLVED = "Hold'em spots", "Fields of a hold'em spot", "Solved hold'em spots"
"""Headings of help."""
THREADS = options_under(
    SPOTS,
    threads=number("N", FIELDS["threads"].help),
    storage=text("KIND", FIELDS["storage"].help),
)
EARLY = [each for name in ("until", "net", "locks") for each in options_of(FIELDS[name], SPOTS)]
ELSEWHERE = options_under(
    SPOTS,
    judge=Annotated[
        bool, typer.Option("--judge", help="With --until: how exploitable the first street is, all that follows solved.")
    ],
    start=path("FILE", "The spot of this solution, with other ranges or bet sizes, from its regrets.", "--from"),
    workers=number("N", "Processes that solve the boards below the first street."),
    ray=text("ADDRESS", "Solve them on a Ray cluster: its address, auto, or local."),
)
SOURCES = options_under(
    SPOT_FIELDS,
    endgame=path("FILE", "A file of LibratusEndgames, instead of a spot."),
    decoding=text("true|ddcfr", "How its cards are read (ddcfr: as DDCFR does)."),
    phh=path("FILE", "A hand history of PokerKit; it gives board, pot and stack."),
    hand=number("N", "Which hand of a .phhs file. Default: 1."),
    street=text("STREET", "Which street of the hand. Default: the first heads-up one."),
)
DESCRIBED = [each for name in FIELDS if name not in HOW for each in options_of(FIELDS[name], SPOT_FIELDS)] + SOURCES
LINE = text("LINE", "Actions and cards so far: 'x,b50%,c,7s,b120' (x check, c call, f fold, b bet, r raise, a all-in).")
SHOWN = options_under(
    SOLVED,
    line=LINE,
    hand=text("HANDS", "Only these in the table: 'AsKs', 'AK,QQ', or all."),
    by=text("KIND", "Group hands: made, draw, suits or class."),
    only=text("NAMES", "Only these hands: 'top pair,flush draw', 'set', 'ss', 'AKs'."),
    runouts=flag("--runouts", "The decision on every turn or river card, in place of a node."),
    range_text=flag("--range", "Print the range that gets here as text, for other tools."),
    ev=text("pot|net", "pot: the pot included (fold: 0); net: relative to half of the starting pot. Default: pot."),
    html=path("FILE", "Write a page to click through."),
    png=path("FILE", "Draw the grid (.png, .svg, .pdf)."),
    depth=text("N|all", "How far --json and --html go, in actions and cards. Default: none; for --html the end of the street."),
)
BESIDE = options_under(
    SOLVED,
    line=LINE,
    other_line=text("LINE", "The decision of OTHER. Default: the same line.", "--with-line"),
    hands=number("N", "Hands to list. Default: 12."),
)
FEW_FIELDS = ("board", "oop", "ip", "pot", "stack", "bets", "raises", "donk", "min_bet")
"""Fields that are options where a spot is played or trained on; a spot file has them all."""
BRIEFLY = [each for name in FEW_FIELDS for each in options_of(replace(FIELDS[name], parts=()), SPOT_FIELDS)]
PLAYED = options_under(
    "Hands of hold'em",
    boards=flag("--boards", "Of spots: deal another board for each hand."),
    reveal=flag("--reveal", "Of whole hands: show the opponent's cards after every hand, not only at a showdown."),
    log=path("FILE", "Add each finished hand to this text file."),
    saved_hands=path(
        "PLACE", "Of whole hands: save each finished hand as PHH: a folder, or hands.phhs for all in one file.", "--phh"
    ),
    review=text("STREET", "Of whole hands: judge each by solving it, from the flop, turn or river on."),
)
READ = "treeplex.holdem.cli.shared.requests:described_spot"
SPOT_OPTIONS = (
    WingOptions("solve", [*THREADS, *EARLY, *ELSEWHERE, *DESCRIBED], READ),
    WingOptions("info", [*options_of(FIELDS["algorithm"], SPOTS), *THREADS[:1], *DESCRIBED], READ),
    WingOptions("compare", BESIDE),
    WingOptions("compare", THREADS, READ),
    WingOptions("show", SHOWN),
    WingOptions("play", PLAYED),
    *(WingOptions(name, BRIEFLY, READ) for name in ("play", "train", "search")),
)
"""What hold'em adds to commands for any game."""


def refuse_options(more: Mapping[str, object], names: Sequence[str], for_what: str) -> None:
    """Refuse options of :data:`PLAYED` that are for another game.

    Raises:
        SpecError: one was given.
    """
    flags = {"saved_hands": "phh"}
    for name in names:
        if more.get(name) is not None:
            raise SpecError(f"--{flags.get(name, name)} is for {for_what}; leave it out")
