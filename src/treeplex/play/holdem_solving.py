"""Between the commands of ``treeplex holdem`` and the solver: what is to be solved, and what came of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeplex.errors import FileError, SpecError
from treeplex.games.poker.libratus import BIG_BLIND, read_endgame
from treeplex.games.poker.spot import Spot
from treeplex.games.poker.spot_file import Settings, SpotRequest
from treeplex.play.holdem_options import request_of
from treeplex.runs.holdem_hand import HandSpot, read_hand, with_bets_of

if TYPE_CHECKING:
    from treeplex.runs.holdem_export import Solved
    from treeplex.runs.record import Progress

SETTINGS = ("target", "iterations", "algorithm", "threads", "storage", "lock")
"""Options that are not about the spot itself."""
RESUMED = ("target", "iterations", "threads")
"""Options that a resumed run may have."""
DEFAULT_ITERATIONS, DEFAULT_SHARE = 1000, 0.005


@dataclass
class Task:
    """What is to be solved.

    Attributes:
        spot: the spot, None for a resumed run, whose file has it.
        settings: how.
        big_blind: in chips, where it is known.
        line: how a hand history went on from the spot.
    """

    spot: Spot | None
    settings: Settings = field(default_factory=Settings)
    big_blind: float | None = None
    line: str = ""


def read_task(file: Path | None, options: Mapping[str, object], sources: Mapping[str, Any], resume: Path | None) -> Task:
    """What the command line asks for.

    Args:
        file: a spot file.
        options: options of the spot and of solving by name, None where not given.
        sources: ``endgame``, ``decoding``, ``phh``, ``hand`` and ``street``, None where not given.
        resume: a file to go on with.

    Raises:
        SpecError: options that exclude each other, a field that is missing or wrong.
        FileError: a file that cannot be read.
    """
    given = {name: value for name, value in options.items() if value is not None and value != []}
    check_sources(file, given, sources, resume)
    if resume is not None:
        return Task(None, request_of(None, given).settings())
    if sources["endgame"] is not None:
        spot = read_endgame(sources["endgame"], decoding=sources["decoding"] or "true")
        return Task(spot, request_of(None, given).settings(), BIG_BLIND)
    request = request_of(file, given)
    hand = None
    if sources["phh"] is not None:
        hand = read_hand(sources["phh"], hand=sources["hand"] or 1, street=sources["street"])
        request = request.over(request_of(None, fields_of(hand)))
    if not request.fields and not any(request.layers.values()):
        raise SpecError("no spot given; name a spot file, or give --board, --oop, --ip, --pot and --stack (see --help)")
    spot = request.spot()
    if hand is not None:
        spot = with_bets_of(spot, hand)
    return Task(spot, request.settings(), spot.blinds[1] if spot.blinds else None, hand.line if hand else "")


def fields_of(hand: HandSpot) -> dict[str, object]:
    """The fields of a spot that a hand history gives."""
    return {"board": hand.board, "pot": f"{hand.pot:.12g}", "stack": f"{hand.stack:.12g}", "chip": f"{hand.chip:g}"}


def check_sources(file: Path | None, given: Mapping[str, object], sources: Mapping[str, Any], resume: Path | None) -> None:
    """Refuse sources that exclude each other, and options that mean nothing beside them."""
    named = {"a spot file": file, "--endgame": sources["endgame"], "--phh": sources["phh"], "--resume": resume}
    chosen = [name for name, value in named.items() if value is not None and not (name == "a spot file" and sources["phh"])]
    if len(chosen) > 1:
        raise SpecError(f"{' and '.join(chosen)} exclude each other; give one")
    for name, needs in (("decoding", "endgame"), ("hand", "phh"), ("street", "phh")):
        if sources[name] is not None and sources[needs] is None:
            raise SpecError(f"--{name} is for --{needs}; give --{needs} FILE as well")
    for source, allowed in (("--resume", RESUMED), ("--endgame", SETTINGS)):
        if source in chosen:
            for name in given:
                if name not in allowed:
                    raise SpecError(f"--{name} does not go with {source}; leave it out")
