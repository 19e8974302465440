"""Between the commands of ``treeplex holdem`` and the solver: what is to be solved, and what came of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeplex.errors import FileError, SpecError
from treeplex.holdem.cards.cards import cards_to_string
from treeplex.holdem.cli.shared.options import BETTING
from treeplex.holdem.spots.as_fields import spot_fields
from treeplex.holdem.spots.fields import read_range
from treeplex.holdem.spots.files import SpotRequest, read_bets, request_from_options, spot_request, usual_chip
from treeplex.holdem.spots.libratus import BIG_BLIND, read_endgame
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.spots.spot_table import FIELDS, HOW
from treeplex.holdem.study.report.hand_history import HandSpot, read_hand, with_bets_of
from treeplex.run.cli.shared.console import free_place

if TYPE_CHECKING:
    from treeplex.holdem.solve.solution import HoldemSolution
    from treeplex.run.job.record import Progress

SETTINGS = tuple(FIELDS[name].option for name in HOW)
"""Options that are not about the spot itself."""
RESUMED = ("target", "iterations", "threads", "algorithm")
"""Options that a resumed run may have."""
BET_FIELDS = ("bets", "raises", "donk", "thresholds", "min_bet", "limps", "limit")
"""The fields of a spot that decide what may be bet."""


@dataclass
class Task:
    """What is to be solved.

    Attributes:
        spot: the spot; its ``settings`` say how.
        resume: the solution to go on with, if any.
        start: the solution from whose regrets to begin, if any.
        out: where the solution goes, if anywhere.
        big_blind: in chips, of an end game of Libratus; else None.
        line: how a hand history went on from the spot.
        workers, ray: who solves parts of it, see :class:`treeplex.holdem.solve.spot_game.SpotOptions`.
    """

    spot: Spot
    resume: "HoldemSolution | None" = None
    start: "HoldemSolution | None" = None
    out: Path | None = None
    big_blind: float | None = None
    line: str = ""
    workers: int | None = None
    ray: str | None = None

    @property
    def until(self) -> str:
        """The street at which solving stops; empty where all streets are solved."""
        return self.spot.settings.until or (self.resume.settings.until if self.resume else "")

    def solve(self, watch: "Callable[[Progress], None]") -> "tuple[HoldemSolution, Path | None]":
        """The solution, and its file if it has a place to go or was interrupted."""
        from treeplex.errors import Interrupted
        from treeplex.holdem.solve.solve import solve_spot

        try:
            solution = solve_spot(
                self.spot,
                self.spot.settings.algorithm,
                progress=watch,
                resume=self.resume,
                start=self.start,
                workers=self.workers,
                ray=self.ray,
                out=self.out,
            )
        except Interrupted as stopped:
            solution = stopped.result
            if self.out is None:
                return solution, solution.save(free_place(f"holdem-{cards_to_string(self.spot.board) or 'preflop'}", ".spot"))
        return solution, solution.folder


def read_task(
    file: Path | None,
    options: Mapping[str, object],
    sources: Mapping[str, Any],
    *,
    out: Path | None = None,
    resume: Path | None = None,
    force: bool = False,
) -> Task:
    """What the command line asks for, and whether its result can be written, before anything takes time.

    Args:
        file: a spot file, or the name of turn endgame hold'em.
        options: options of the spot and of solving by name, None where not given.
        sources: ``endgame``, ``decoding``, ``phh``, ``hand``, ``street`` and ``from``, None where not given.
        out: where the solution goes.
        resume: a file to go on with.
        force: overwrite ``out``.

    Raises:
        SpecError: options that exclude each other, a field that is missing or wrong.
        FileError: a file that cannot be read, or that is there already.
    """
    from treeplex.holdem.solve.solution import load_solution

    given = {name: value for name, value in options.items() if value is not None and value != []}
    check_sources(file, given, sources, resume)
    request = spot_request(file, given)
    if resume is not None:
        solution = load_solution(resume)
        task = Task(replace(solution.spot, settings=request.settings()), solution)
    elif sources.get("from") is not None:
        solution = load_solution(sources["from"])
        task = Task(replace(changed_spot(solution.spot, request), settings=request.settings()), start=solution)
    elif sources["endgame"] is not None:
        spot = read_endgame(sources["endgame"], decoding=sources["decoding"] or "true")
        task = Task(replace(spot, settings=request.settings()), big_blind=BIG_BLIND)
    elif sources["phh"] is not None:
        hand = read_hand(sources["phh"], hand=sources["hand"] or 1, street=sources["street"])
        task = Task(with_bets_of(request.over(spot_request(None, fields_of(hand))).spot(), hand), line=hand.line)
    elif request.fields or any(request.layers.values()):
        task = Task(request.spot())
    else:
        raise SpecError("no spot given; name a spot file, or give --board, --oop, --ip, --pot and --stack (see --help)")
    if out is not None and usable(out) and not force and out != resume:
        raise FileError(f"{out} is there already; choose another name, resume it (--resume {out}), or overwrite it (--force)")
    task.out = out or resume
    return task


def changed_spot(spot: Spot, request: SpotRequest) -> Spot:
    """A spot with the ranges and bet sizes that are asked for in place of its own."""
    given = [
        read_range(request.fields[name], name, spot.format) if name in request.fields else own
        for name, own in zip(("oop", "ip"), spot.ranges, strict=True)
    ]
    spot = replace(spot, ranges=(given[0], given[1]))
    if not any(request.layers.values()) and not {"min_bet", "limit"} & request.fields.keys():
        return spot
    own = spot_fields(spot)
    kept = {name: own[name] for name in ("pot", "stack", "blinds", *BET_FIELDS) if name in own}
    bets = read_bets(request.over(request_from_options(kept, "the solution's ")), spot.format, spot.street)
    return replace(spot, bets=bets, chip=min(spot.chip, usual_chip(spot.pot, spot.stack, spot.blinds or (), bets)))


def fields_of(hand: HandSpot) -> dict[str, object]:
    """The fields of a spot that a hand history gives."""
    return {"board": hand.board, "pot": f"{hand.pot:.12g}", "stack": f"{hand.stack:.12g}", "chip": f"{hand.chip:g}"}


def check_sources(file: Path | None, given: Mapping[str, object], sources: Mapping[str, Any], resume: Path | None) -> None:
    """Refuse sources that exclude each other, and options that mean nothing beside them."""
    named = {"a spot file": file, "--endgame": sources["endgame"], "--phh": sources["phh"], "--resume": resume}
    named["--from"] = sources.get("from")
    chosen = [name for name, value in named.items() if value is not None and not (name == "a spot file" and sources["phh"])]
    if len(chosen) > 1:
        raise SpecError(f"{' and '.join(chosen)} exclude each other; give one")
    for name, needs in (("decoding", "endgame"), ("hand", "phh"), ("street", "phh")):
        if sources[name] is not None and sources[needs] is None:
            raise SpecError(f"--{name} is for --{needs}; give --{needs} FILE as well")
    for source, allowed in (("--resume", RESUMED), ("--endgame", SETTINGS), ("--from", ("oop", "ip", *BETTING, *RESUMED))):
        if source in chosen:
            for name in given:
                if name not in allowed:
                    raise SpecError(f"--{name} does not go with {source}; leave it out")


def usable(path: Path) -> bool:
    """Whether there is a file at a path; FileError where none can be, or where its folder is not there."""
    check_parent(path)
    if path.is_dir():
        raise FileError(f"{path} is a folder; give the name of a file")
    return path.exists()


def check_parent(path: Path) -> None:
    """Refuse a path in a folder that is not there: a mistyped one is not made in silence."""
    try:
        path.exists()
        above = next((each for each in path.parents if each.exists()), path.parent)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(f"cannot write {str(path)[:80]!r}: {reason.lower()}; choose another name") from error
    if not above.is_dir():
        raise FileError(f"cannot write {path}: {above} is a file; choose another name")
    if above != path.parent:
        raise FileError(f"cannot write {path}: there is no folder {path.parent}; make the folder, or choose another name")
