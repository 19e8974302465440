"""Options of ``treeplex holdem`` that describe a spot, and how they become the fields of one."""

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeplex.errors import SpecError
from treeplex.holdem.spots.spot_table import FIELDS, NAMED, TURN_ENDGAME, Field
from treeplex.run.cli.shared.commands import with_options

if TYPE_CHECKING:
    from treeplex.holdem.spots.spot import Spot

SpotFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="SPOTFILE", help=f"A spot file (.yaml or .toml), or one of {', '.join(NAMED)}; options override it."
    ),
]
SearchSpot = Annotated[
    str | None,
    typer.Argument(metavar="SPOT", help=f"A spot file, or {TURN_ENDGAME}; options go over it. Default: {TURN_ENDGAME}."),
]
TurnSpot = Annotated[
    str | None,
    typer.Argument(
        metavar="SPOT", help=f"A spot file of a turn, or {TURN_ENDGAME}; options override it. Default: {TURN_ENDGAME}."
    ),
]
Endgame = Annotated[
    Path | None,
    typer.Option("--endgame", metavar="FILE", help="A file of LibratusEndgames, instead of a spot."),
]
Decoding = Annotated[
    str | None,
    typer.Option("--decoding", metavar="true|ddcfr", help="How its cards are read (ddcfr: as DDCFR does)."),
]
Phh = Annotated[
    Path | None, typer.Option("--phh", metavar="FILE", help="A hand history of PokerKit; it gives board, pot and stack.")
]
HandNumber = Annotated[int | None, typer.Option("--hand", metavar="N", help="Which hand of a .phhs file. Default: 1.")]
HandStreet = Annotated[
    str | None, typer.Option("--street", metavar="STREET", help="Which street of the hand. Default: the first heads-up one.")
]
Out = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the solution.")]
Resume = Annotated[Path | None, typer.Option("--resume", metavar="FILE", help="Resume the solution in this file.")]
Start = Annotated[
    Path | None,
    typer.Option("--from", metavar="FILE", help="The spot of this solution, with other ranges or bet sizes, from its regrets."),
]
Estimate = Annotated[
    bool, typer.Option("--estimate", help="Only print the size of the spot, and the memory and time it takes.")
]
SearchIterations = Annotated[
    int | None, typer.Option("-n", "--iterations", metavar="N", help="Iterations of a search. Default: 128.")
]
SearchMethod = Annotated[
    str | None, typer.Option(metavar="NAME", help="lcfr, dcfr, lcfr-avg-modified, flop, ... Default: lcfr.")
]
Number = Annotated[
    int | None, typer.Option("-n", metavar="N", min=0, help="Of turns like --iterations; of whole hands like --games.")
]
Reveal = Annotated[bool, typer.Option("--reveal", help="Show the opponent's cards after every hand, not only at a showdown.")]
Log = Annotated[Path | None, typer.Option("--log", metavar="FILE", help="Add each finished hand to this text file.")]
SavedHands = Annotated[
    Path | None,
    typer.Option("--phh", metavar="PLACE", help="Save each finished hand as PHH: a folder, or hands.phhs for all in one file."),
]
Overwrite = Annotated[bool, typer.Option("--force", help="Overwrite the file of --out.")]
Progress = Annotated[
    bool | None, typer.Option("--progress/--no-progress", " /-q", help="Show a progress line; default: on a terminal only.")
]

Options = Mapping[str, object]
"""What the options of :func:`with_fields` are to a command."""
SIZES = tuple(option for name in ("bets", "raises", "donk") for option in (name, *(part.option for part in FIELDS[name].parts)))
"""The options of bet sizes."""
BETTING = (*SIZES, FIELDS["thresholds"].option, *(part.option for part in FIELDS["thresholds"].parts), "min-bet", "limit")
"""The options of all that decides what may be bet."""
ABOUT_TURNS = ("board", "oop", "ip", "pot", "stack", "bets", "raises", "donk", "thresholds", "min_bet", "chip")
"""The fields of a turn that is searched, played or trained on."""


def with_fields(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of some fields of a spot, in place of its parameter ``options``.

    The command gets a mapping from names of options, without the first dashes, to what was given; others are None.
    """

    return with_options([each for name in names for each in options_of(FIELDS[name])], lambda name: name.replace("_", "-"))


def options_of(field: Field) -> list[inspect.Parameter]:
    """The options of a field and of its parts, as parameters of a command."""
    kind: Any = list[str] | None if field.repeats else str | None
    flags = [field.short] if field.short else []
    named = [(field.option, flags, kind, field.metavar, field.help)]
    named += [(part.option, [], str | None, part.metavar or field.metavar, part.help) for part in field.parts]
    return [
        inspect.Parameter(
            option.replace("-", "_"),
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[kind, typer.Option(*flags, f"--{option}", metavar=metavar, help=text)],
        )
        for option, flags, kind, metavar, text in named
    ]


def given(options: Mapping[str, object]) -> dict[str, object]:
    """The options that were given."""
    return {name: value for name, value in options.items() if value is not None and value != []}


def turn_spot(name: str | None, options: Mapping[str, object], *, ranges: bool) -> "Spot":
    """A turn from a spot file or the name of turn endgame hold'em (None: the same), and options over it.

    Args:
        name: what stands on the command line.
        options: by their names without dashes; None is not given.
        ranges: whether ranges matter; else all hands are in them.

    Raises:
        FileError: the file cannot be read.
        SpecError: a field is missing or wrong, or there are locks.
    """
    from dataclasses import replace

    from treeplex.base.located_text import option
    from treeplex.holdem.spots.files import spot_request

    request = spot_request(name or TURN_ENDGAME, options)
    if locks := request.fields.get("locks"):
        raise SpecError(f"{locks.place}: locks are for holdem solve; leave them out")
    if not ranges:
        request = replace(request, fields={**request.fields, **{each: option("all", f"--{each}") for each in ("oop", "ip")}})
    return request.spot()
