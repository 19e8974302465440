"""Conversion of spot fields, files and hand histories on the command line into spots."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from treeplex.base.notices import tell
from treeplex.base.spec import quoted
from treeplex.engine.threads import checked_threads
from treeplex.errors import FileError, SpecError
from treeplex.holdem.cli.shared.options import BETTING
from treeplex.holdem.solve.budget import Budget, fit_spot, machine_pace, wished
from treeplex.holdem.solve.solution import load_solution
from treeplex.holdem.spots.as_fields import spot_fields
from treeplex.holdem.spots.fields import read_range
from treeplex.holdem.spots.files import SpotRequest, read_bets, request_from_options, spot_request, usual_chip
from treeplex.holdem.spots.libratus_endgames import read_libratus_endgame
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.spots.spot_table import FIELDS, HOW, names_spot
from treeplex.holdem.study.report.hand_history import HandSpot, read_hand, with_bets_of
from treeplex.run.cli.shared.commands import GameDescription

SETTINGS = tuple(FIELDS[name].option for name in HOW)
"""Options that do not describe the spot."""
PASSED = ("workers", "ray", "judge")
"""Options passed to :func:`treeplex.solve` unchanged."""
ALSO_FIELDS = ("threads", "storage")
"""Further options of this kind, which estimates read from the spot."""
BET_FIELDS = ("bets", "raises", "donk", "thresholds", "min_bet", "limps", "limit")
"""Spot fields that determine the betting tree."""


def described_spot(game: str | None, options: Mapping[str, Any]) -> GameDescription:
    """The spot that a command line describes: a file or a name, with options that override its fields, or another source.

    Args:
        game: a spot file or the name of a spot, if any.
        options: the given options of :data:`treeplex.holdem.cli.shared.options.SPOT_OPTIONS`, and ``resume``.

    Raises:
        SpecError: options exclude each other, a field is missing or wrong, or the game is not a spot.
        FileError: a file that cannot be read.
    """
    given = {name.replace("_", "-"): value for name, value in options.items() if value is not None}
    passed = {name: given.pop(name) for name in PASSED if name in given}
    passed |= {name: given[name] for name in ALSO_FIELDS if name in given}
    budget = given.get("budget")
    sources = {name: given.pop(name, None) for name in ("endgame", "decoding", "phh", "hand", "street", "start", "resume")}
    check_sources(game, given, sources)
    given.pop("budget", None)
    if budget is not None and (game is None or names_spot(game)):
        return budgeted(game, given, Budget.read(budget, "--budget"), passed)
    if sources["resume"] is not None or (
        budget is None and not given and not any(sources[name] for name in ("endgame", "phh", "start"))
    ):
        return GameDescription(game, passed)
    if game is not None and not names_spot(game):
        first = next((f"--{name}" for name in given), "--phh" if budget is None else "--budget")
        raise SpecError(f"{first} applies to hold'em spots, not to {game}; leave it out, or name a spot file")
    request = spot_request(game, given)
    if sources["start"] is not None:
        start = load_solution(sources["start"])
        changed = replace(changed_spot(start.spot, request), settings=request.settings())
        return GameDescription(changed, {**passed, "start": start})
    if sources["endgame"] is not None:
        spot = read_libratus_endgame(sources["endgame"], decoding=sources["decoding"] or "true")
        return GameDescription(replace(spot, settings=request.settings()), passed)
    if sources["phh"] is not None:
        hand = read_hand(sources["phh"], hand=sources["hand"] or 1, street=sources["street"])
        spot = with_bets_of(request.over(spot_request(None, fields_of(hand))).spot(), hand)
        decision = hand.line.rpartition(",")[0]
        steps = [(f"show {{}} --line {quoted(decision)}", "the last decision of the hand")] if decision else []
        return GameDescription(spot, passed, steps)
    return GameDescription(request.spot(), passed)


def budgeted(game: str | None, given: Mapping[str, Any], budget: Budget, passed: Mapping[str, Any]) -> GameDescription:
    """The spot with betting, storage and threads chosen for a budget, based on this machine's measured speed."""
    spot = wished(spot_request(game, given)).spot()
    threads = checked_threads(spot.settings.threads)
    tell("measuring the speed of this machine")
    fitted = fit_spot(spot, budget, threads=threads, pace=machine_pace(threads))
    limits: dict[str, float | None] = {} if budget.memory is None else {"most_memory": budget.memory}
    limits |= {} if budget.seconds is None else {"seconds": budget.solver_seconds}
    chosen = {name: value for name, value in passed.items() if name not in ALSO_FIELDS}
    return GameDescription(fitted.spot, {**chosen, **limits}, facts=fitted.facts(), data={"budget": fitted.to_json()})


def changed_spot(spot: Spot, request: SpotRequest) -> Spot:
    """The spot with its ranges and bet sizes replaced by the requested ones."""
    given = [
        read_range(request.fields[name], name, spot.format) if name in request.fields else weights
        for name, weights in zip(("oop", "ip"), spot.ranges, strict=True)
    ]
    spot = replace(spot, ranges=(given[0], given[1]))
    if not any(request.layers.values()) and not {"min_bet", "limit"} & request.fields.keys():
        return spot
    fields = spot_fields(spot)
    spot_options = {name: fields[name] for name in ("pot", "stack", "blinds", *BET_FIELDS) if name in fields}
    bets = read_bets(request.over(request_from_options(spot_options, "the solution's ")), spot.format, spot.street)
    return replace(spot, bets=bets, chip=min(spot.chip, usual_chip(spot.pot, spot.stack, spot.blinds or (), bets)))


def fields_of(hand: HandSpot) -> dict[str, object]:
    """The spot fields given by a hand history."""
    return {"board": hand.board, "pot": f"{hand.pot:.12g}", "stack": f"{hand.stack:.12g}", "chip": f"{hand.chip:g}"}


def check_sources(game: str | None, given: Mapping[str, object], sources: Mapping[str, Any]) -> None:
    """Reject mutually exclusive sources, and options whose source is missing."""
    named = {"a game": game, "--endgame": sources["endgame"], "--phh": sources["phh"], "--resume": sources["resume"]}
    named["--from"] = sources["start"]
    chosen = [name for name, value in named.items() if value is not None]
    if len(chosen) > 1 and chosen not in (["a game", "--phh"], ["a game", "--resume"]):
        raise SpecError(f"{' and '.join(chosen)} cannot be combined; give only one")
    for name, needs in (("decoding", "endgame"), ("hand", "phh"), ("street", "phh")):
        if sources[name] is not None and sources[needs] is None:
            raise SpecError(f"--{name} needs --{needs}; add --{needs} FILE")
    for source, allowed in (
        ("--resume", ("threads",)),
        ("--endgame", SETTINGS),
        ("--from", ("oop", "ip", *BETTING, "threads")),
        ("--phh", tuple(name for name in given if name != "budget")),
    ):
        if source in chosen:
            for name in given:
                if name not in allowed:
                    raise SpecError(f"--{name} cannot be combined with {source}; leave it out")


def usable(path: Path) -> bool:
    """Whether a file exists; raises FileError if the path cannot be a file or its folder does not exist."""
    check_parent(path)
    if path.is_dir():
        raise FileError(f"{path} is a folder; give the name of a file")
    return path.exists()


def check_parent(path: Path) -> None:
    """Reject a path whose folder does not exist, so that a mistyped folder is not created."""
    try:
        path.exists()
        above = next((folder for folder in path.parents if folder.exists()), path.parent)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(f"cannot write {str(path)[:80]!r}: {reason.lower()}; choose another name") from error
    if not above.is_dir():
        raise FileError(f"cannot write {path}: {above} is a file; choose another name")
    if above != path.parent:
        raise FileError(f"cannot write {path}: there is no folder {path.parent}; create it, or choose another name")
