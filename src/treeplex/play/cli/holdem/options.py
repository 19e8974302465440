"""Options of ``treeplex holdem`` that describe a spot, and how they become the fields of one."""

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeplex.errors import SpecError
from treeplex.spot_table import FIELDS, Field

if TYPE_CHECKING:
    from treeplex.games.poker.spots.files import SpotRequest
    from treeplex.games.poker.spots.spot import Spot

TURN_ENDGAME = "turn_endgame"
"""The name of turn endgame hold'em, in place of a spot file."""

SpotFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="SPOTFILE", help=f"A spot file (.yaml or .toml), or {TURN_ENDGAME}, the papers' game; options go over it."
    ),
]
TurnSpot = Annotated[
    str | None,
    typer.Argument(
        metavar="SPOT", help=f"A spot file of a turn, or {TURN_ENDGAME}; options go over it. Default: {TURN_ENDGAME}."
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
Resume = Annotated[Path | None, typer.Option("--resume", metavar="FILE", help="Go on with the solution in this file.")]
Estimate = Annotated[
    bool, typer.Option("--estimate", help="Only say how large the spot is, and what memory and time it takes.")
]
Overwrite = Annotated[bool, typer.Option("--force", help="Overwrite the file of --out.")]
Progress = Annotated[
    bool | None, typer.Option("--progress/--no-progress", " /-q", help="Show the live line; default: on a terminal only.")
]

Options = Mapping[str, object]
"""What the options of :func:`with_fields` are to a command."""
SIZES = tuple(option for name in ("bets", "raises", "donk") for option in (name, *(part.option for part in FIELDS[name].parts)))
"""The options of bet sizes."""
ABOUT_TURNS = ("board", "oop", "ip", "pot", "stack", "bets", "raises", "donk", "thresholds", "min_bet", "chip")
"""The fields of a turn that is searched, played or trained on."""


def with_fields(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of some fields of a spot, in place of its parameter ``options``.

    The command gets a mapping from names of options, without the first dashes, to what was given; others are None.
    """

    def changed(command: Callable[..., None]) -> Callable[..., None]:
        added = [each for name in names for each in options_of(FIELDS[name])]

        def call(**arguments: Any) -> None:
            options = {each.name.replace("_", "-"): arguments.pop(each.name) for each in added}
            command(**arguments, options=options)

        parameters: list[inspect.Parameter] = []
        for own in inspect.signature(command).parameters.values():
            parameters += added if own.name == "options" else [own.replace(kind=inspect.Parameter.KEYWORD_ONLY)]
        call.__name__, call.__doc__ = command.__name__, command.__doc__
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {each.name: each.annotation for each in parameters}
        return call

    return changed


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


def request_of(file: Path | None, options: Mapping[str, object]) -> "SpotRequest":
    """The fields of a spot from a file and options, by their names without dashes; None is not given.

    Raises:
        FileError: the file cannot be read, or an option's braces hold no table.
        SpecError: an unknown field.
    """
    from treeplex.games.poker.spots.files import read_spot_file, request_from_options
    from treeplex.located_text import LocatedText, option, table

    found = given(options)
    fields: dict[str, LocatedText] = {}
    parts: list[tuple[str, LocatedText]] = []
    for field in FIELDS.values():
        place = f"--{field.option}"
        value = found.pop(field.option, None)
        if field.repeats and value is not None:
            texts = value if isinstance(value, list) else [value]
            fields[field.name] = LocatedText(place, items=tuple(option(text, place, may_be_table=True) for text in texts))
        elif value is not None:
            fields[field.name] = option(value, place, may_be_table=field.table)
        for part in field.parts:
            if (value := found.pop(part.option, None)) is not None:
                entry = option(value, f"--{part.option}", may_be_table=part.table)
                parts.append((field.name, table(f"--{part.option}", {part.key: entry})))
    if found:
        raise SpecError(f"unknown option --{next(iter(found))}")
    request = request_from_options(fields, parts)
    return request if file is None else request.over(read_spot_file(file))


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

    from treeplex.located_text import option

    request = named_request(Path(name or TURN_ENDGAME), options)
    if locks := request.fields.get("locks"):
        raise SpecError(f"{locks.place}: locks are for holdem solve; leave them out")
    if not ranges:
        request = replace(request, fields={**request.fields, **{each: option("all", f"--{each}") for each in ("oop", "ip")}})
    return request.spot()


def named_request(file: Path, options: Mapping[str, object]) -> "SpotRequest":
    """:func:`request_of` of a spot file, or of the name of turn endgame hold'em."""
    if is_turn_endgame(str(file)):
        return request_of(None, options).over(endgame_request())
    return request_of(file, options)


def is_turn_endgame(name: str | None) -> bool:
    """Whether a name on the command line, or none, stands for turn endgame hold'em: there is no spot file called so."""
    return name in (None, TURN_ENDGAME) and not Path(TURN_ENDGAME).is_file()


def endgame_request() -> "SpotRequest":
    """Turn endgame hold'em as fields."""
    from treeplex.games.poker.betting.sizes import BetPlan
    from treeplex.games.poker.cards.cards import cards_to_string
    from treeplex.games.poker.spots.files import request_from_options
    from treeplex.games.poker.spots.known import turn_endgame_holdem
    from treeplex.located_text import option

    spot = turn_endgame_holdem()
    assert isinstance(spot.bets, BetPlan)
    own = spot.bets.streets[spot.street][0]
    fields = {"board": cards_to_string(spot.board), "oop": "all", "ip": "all"}
    fields |= {name: f"{chips:g}" for name, chips in (("pot", spot.pot), ("stack", spot.stack), ("min_bet", spot.min_bet))}
    sizes = [(name, option(",".join(map(str, getattr(own, name))), TURN_ENDGAME)) for name in ("bets", "raises")]
    return request_from_options({name: option(text, TURN_ENDGAME) for name, text in fields.items()}, sizes)
