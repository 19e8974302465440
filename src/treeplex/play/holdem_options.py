"""Options of ``treeplex holdem`` that describe a spot, and how they become the fields of one."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from treeplex.games.poker.spot import Spot
    from treeplex.games.poker.spot_file import SpotRequest

TURN_ENDGAME = "turn_endgame"
"""The name of turn endgame hold'em, in place of a spot file."""

SpotFile = Annotated[Path | None, typer.Argument(metavar="SPOTFILE", help="A spot file (.yaml or .toml); options go over it.")]
TurnSpot = Annotated[
    str | None,
    typer.Argument(
        metavar="SPOT", help=f"A spot file of a turn, or {TURN_ENDGAME}; options go over it. Default: {TURN_ENDGAME}."
    ),
]
BoardText = Annotated[str | None, typer.Option("--board", metavar="CARDS", help="Cards on the board: 'Td 9d 6h Qc'.")]
Oop = Annotated[str | None, typer.Option("--oop", metavar="RANGE", help="Range out of position: '66+,A8s+,AJo+:0.5'.")]
Ip = Annotated[str | None, typer.Option("--ip", metavar="RANGE", help="Range in position.")]
Pot = Annotated[str | None, typer.Option("--pot", metavar="CHIPS", help="Chips in the pot.")]
Stack = Annotated[str | None, typer.Option("--stack", metavar="CHIPS", help="Chips behind, of the smaller stack.")]
Bets = Annotated[
    str | None,
    typer.Option("--bets", metavar="SIZES", help="First bets: '50%,120c,e,a' (of the pot, chips, geometric, all-in)."),
]
Raises = Annotated[str | None, typer.Option("--raises", metavar="SIZES", help="Raises: '60%,2.5x,a'.")]
FlopBets = Annotated[str | None, typer.Option("--flop-bets", metavar="SIZES", help="First bets on the flop.")]
TurnBets = Annotated[str | None, typer.Option("--turn-bets", metavar="SIZES", help="First bets on the turn.")]
RiverBets = Annotated[str | None, typer.Option("--river-bets", metavar="SIZES", help="First bets on the river.")]
OopBets = Annotated[str | None, typer.Option("--oop-bets", metavar="SIZES", help="First bets out of position.")]
IpBets = Annotated[str | None, typer.Option("--ip-bets", metavar="SIZES", help="First bets in position.")]
OopRaises = Annotated[str | None, typer.Option("--oop-raises", metavar="SIZES", help="Raises out of position.")]
IpRaises = Annotated[str | None, typer.Option("--ip-raises", metavar="SIZES", help="Raises in position.")]
Donk = Annotated[
    str | None,
    typer.Option("--donk", metavar="SIZES", help="Leads into the last aggressor; none: no leads, default: as --bets."),
]
RakeShare = Annotated[str | None, typer.Option("--rake", metavar="SHARE", help="Rake: 5%.")]
RakeCap = Annotated[str | None, typer.Option("--rake-cap", metavar="CHIPS", help="The most rake.")]
TargetText = Annotated[
    str | None, typer.Option("--target", metavar="T", help="Stop at this exploitability: 0.5% of the pot, or 1.5c chips.")
]
Iterations = Annotated[str | None, typer.Option("-n", "--iterations", metavar="N", help="The most iterations.")]
Threads = Annotated[str | None, typer.Option("--threads", metavar="N", help="Threads. Default: one per core allowed.")]
Algorithm = Annotated[str | None, typer.Option("-a", "--algorithm", metavar="NAME", help="Default: dcfr.")]
Storage = Annotated[
    str | None, typer.Option("--storage", metavar="KIND", help="float32, float64 or int16 (half the memory). Default: float32.")
]
Locks = Annotated[
    list[str] | None,
    typer.Option("--lock", metavar="LOCK", help="Keep a strategy: 'x, b50% [AA,KK]: c 80%, f 20%'; may be repeated."),
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

SIZES = {
    "flop-bets": ("bets", "flop"),
    "turn-bets": ("bets", "turn"),
    "river-bets": ("bets", "river"),
    "oop-bets": ("bets", "oop"),
    "ip-bets": ("bets", "ip"),
    "oop-raises": ("raises", "oop"),
    "ip-raises": ("raises", "ip"),
}
"""Options of sizes that are about a street or a player, which go over those about all."""


def named(**options: object) -> dict[str, object]:
    """Options by their names on the command line without the first dashes, as :func:`request_of` takes them."""
    return {name.replace("_", "-"): value for name, value in options.items()}


def request_of(file: Path | None, options: Mapping[str, object]) -> "SpotRequest":
    """The fields of a spot from a file and options, by their names without dashes; None is not given.

    Raises:
        FileError: the file cannot be read.
        SpecError: an unknown field.
    """
    from treeplex.games.poker.marked import Marked, option, table
    from treeplex.games.poker.spot_file import read_spot_file, request_from_options

    given = {name: value for name, value in options.items() if value is not None and value != []}
    fields: dict[str, Marked] = {}
    sizes: list[tuple[str, Marked]] = []
    for name, value in given.items():
        if name in ("bets", "raises", "donk"):
            sizes.insert(0, (name, option(value, f"--{name}")))
        elif name in SIZES:
            field, key = SIZES[name]
            sizes.append((field, table(f"--{name}", {key: option(value, f"--{name}")})))
        elif name == "lock":
            texts = value if isinstance(value, list) else [value]
            fields["locks"] = Marked("--lock", items=tuple(option(text, "--lock") for text in texts))
        elif name not in ("rake", "rake-cap"):
            fields[name] = option(value, f"--{name}")
    rakes = {"rate": "rake", "cap": "rake-cap"}
    if rake := {key: option(given[name], f"--{name}") for key, name in rakes.items() if name in given}:
        fields["rake"] = table("--rake-cap" if "rate" not in rake else "--rake", rake)
    request = request_from_options(fields, sizes)
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

    from treeplex.games.poker.marked import option

    if is_turn_endgame(name):
        request = request_of(None, options).over(endgame_request())
    else:
        request = request_of(Path(name or TURN_ENDGAME), options)
    if locks := request.fields.get("locks"):
        from treeplex.errors import SpecError

        raise SpecError(f"{locks.place}: locks are for holdem solve; leave them out")
    if not ranges:
        request = replace(request, fields={**request.fields, **{each: option("all", f"--{each}") for each in ("oop", "ip")}})
    return request.spot()


def is_turn_endgame(name: str | None) -> bool:
    """Whether a name on the command line, or none, stands for turn endgame hold'em: there is no spot file called so."""
    return name in (None, TURN_ENDGAME) and not Path(TURN_ENDGAME).is_file()


def endgame_request() -> "SpotRequest":
    """Turn endgame hold'em as fields."""
    from treeplex.games.poker.bets import BetPlan
    from treeplex.games.poker.cards import cards_to_string
    from treeplex.games.poker.marked import option
    from treeplex.games.poker.spot_file import request_from_options
    from treeplex.games.poker.spots import turn_endgame_holdem

    spot = turn_endgame_holdem()
    assert isinstance(spot.bets, BetPlan)
    own = spot.bets.streets[spot.street][0]
    fields = {"board": cards_to_string(spot.board), "oop": "all", "ip": "all"}
    fields |= {name: f"{chips:g}" for name, chips in (("pot", spot.pot), ("stack", spot.stack), ("min_bet", spot.min_bet))}
    sizes = [(name, option(",".join(map(str, getattr(own, name))), TURN_ENDGAME)) for name in ("bets", "raises")]
    return request_from_options({name: option(text, TURN_ENDGAME) for name, text in fields.items()}, sizes)
