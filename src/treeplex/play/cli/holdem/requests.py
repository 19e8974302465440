"""Between the commands of ``treeplex holdem`` and the solver: what is to be solved, and what came of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeplex.errors import FileError, SpecError
from treeplex.games.poker.cards.cards import cards_to_string
from treeplex.games.poker.spots.fields import SolveFields
from treeplex.games.poker.spots.files import spot_request
from treeplex.games.poker.spots.libratus import BIG_BLIND, read_endgame
from treeplex.games.poker.spots.spot import Spot
from treeplex.runs.holdem.report.hand_history import HandSpot, read_hand, with_bets_of
from treeplex.spot_table import FIELDS, HOW

if TYPE_CHECKING:
    from treeplex.runs.holdem.report.export import Solved
    from treeplex.runs.holdem.solve import HoldemSolution
    from treeplex.runs.job.interrupt import Interrupt
    from treeplex.runs.job.record import Progress

SETTINGS = tuple(FIELDS[name].option for name in HOW)
"""Options that are not about the spot itself."""
RESUMED = ("target", "iterations", "threads", "algorithm")
"""Options that a resumed run may have."""


@dataclass
class Task:
    """What is to be solved.

    Attributes:
        spot: the spot, None for a resumed run, whose file has it.
        settings: how.
        big_blind: in chips, of an end game of Libratus; else None.
        line: how a hand history went on from the spot.
    """

    spot: Spot | None
    settings: SolveFields = field(default_factory=SolveFields)
    big_blind: float | None = None
    line: str = ""


def read_task(file: Path | None, options: Mapping[str, object], sources: Mapping[str, Any], resume: Path | None) -> Task:
    """What the command line asks for.

    Args:
        file: a spot file, or the name of turn endgame hold'em.
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
        return Task(None, spot_request(None, given).settings())
    if sources["endgame"] is not None:
        spot = read_endgame(sources["endgame"], decoding=sources["decoding"] or "true")
        return Task(spot, spot_request(None, given).settings(), BIG_BLIND)
    request = spot_request(file, given)
    hand = None
    if sources["phh"] is not None:
        hand = read_hand(sources["phh"], hand=sources["hand"] or 1, street=sources["street"])
        request = request.over(spot_request(None, fields_of(hand)))
    if not request.fields and not any(request.layers.values()):
        raise SpecError("no spot given; name a spot file, or give --board, --oop, --ip, --pot and --stack (see --help)")
    spot = request.spot()
    if hand is not None:
        spot = with_bets_of(spot, hand)
    return Task(spot, request.settings(), line=hand.line if hand else "")


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


@dataclass
class Solving:
    """A spot on its way to its solution.

    Attributes:
        task: what is asked for.
        out: where the solution goes, if anywhere.
        resume: the solution to go on with, if any.
        done: the solution, once there is one.
        saved: where it was written.
    """

    task: Task
    out: Path | None
    resume: "HoldemSolution | None" = None
    done: "HoldemSolution | None" = None
    saved: Path | None = None

    @property
    def spot(self) -> Spot:
        """The spot."""
        if self.resume is not None:
            return self.resume.spot
        assert self.task.spot is not None
        return self.task.spot

    @property
    def solution(self) -> "HoldemSolution":
        """The solution, after :meth:`run`."""
        assert self.done is not None
        return self.done

    @property
    def title(self) -> str:
        """The spot in a few words."""
        return str(self.spot)

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it."""
        return self.solution.status == "interrupted"

    @property
    def missed(self) -> bool:
        """Whether there was a target, and it was not reached."""
        return not self.solution.target_reached

    def run(self, watch: "Callable[[Progress], None]") -> None:
        """Solve, and write the solution if it has a place to go or was interrupted."""
        from treeplex.runs.holdem.solution import spot_file
        from treeplex.runs.holdem.solve import solve_spot
        from treeplex.runs.job.interrupt import Interrupted

        settings, pot = self.task.settings, self.spot.opening_pot
        try:
            self.done = solve_spot(
                self.task.spot,
                settings.algorithm,
                iterations=settings.iterations,
                target=None if settings.target is None else settings.target.chips(pot),
                threads=settings.threads,
                storage=settings.storage,
                locks=settings.locks,
                progress=watch,
                resume=self.resume,
                out=self.out,
            )
        except Interrupted as stopped:
            self.done = stopped.result
        if self.out is not None:
            self.saved = spot_file(self.out)
        elif self.interrupted:
            where = free_file(self.spot)
            where.parent.mkdir(parents=True, exist_ok=True)
            self.saved = self.solution.save(where)

    def first_actions(self) -> dict[str, str]:
        """What the first player does, over the whole range."""
        from treeplex.runs.holdem.report.export import node_report
        from treeplex.runs.holdem.report.page_data import PLAYERS

        node = node_report(self.solution, "")
        if node.player is None:
            return {}
        often = zip(node.actions, node.sides[node.player].totals, strict=True)
        return {f"{PLAYERS[node.player]} first": ", ".join(f"{name} {100 * part:.1f}%" for name, part in often)}


def prepare(
    file: Path | None,
    options: Mapping[str, object],
    sources: Mapping[str, Any],
    *,
    out: Path | None,
    resume: Path | None,
    force: bool,
) -> Solving:
    """Read what is asked for and check where it goes, before anything takes time.

    Raises:
        SpecError: options that exclude each other, a field that is missing or wrong.
        FileError: a file that cannot be read, or that is there already.
    """
    task = read_task(file, options, sources, resume)
    if out is not None and usable(out) and not force and out != resume:
        raise FileError(f"{out} is there already; choose another name, resume it (--resume {out}), or overwrite it (--force)")
    return Solving(task, out or resume, None if resume is None else open_solution(resume))


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


def free_file(spot: Spot) -> Path:
    """A file under ``runs`` that does not exist yet; the folder is made."""
    Path("runs").mkdir(exist_ok=True)
    name, number = f"holdem-{cards_to_string(spot.board) or 'preflop'}", 1
    while (path := Path("runs") / f"{name}{'' if number == 1 else f'-{number}'}.spot").exists():
        number += 1
    return path


def open_solution(path: Path) -> "HoldemSolution":
    """A solution from its file."""
    from treeplex.runs.holdem.solution import load_solution

    return load_solution(path)


def solver_of_batch(settings: SolveFields, watch: "Callable[[Progress], None]") -> "Callable[[Spot, Interrupt, Path], Solved]":
    """What solves one board of a batch, or goes on with the file of one that was stopped."""
    from treeplex.runs.holdem.batch import StoppedError
    from treeplex.runs.holdem.solve import solve_spot

    def solve(spot: Spot, interrupt: "Interrupt", file: Path) -> "Solved":
        given = partial(
            solve_spot,
            spot,
            settings.algorithm,
            iterations=settings.iterations,
            target=None if settings.target is None else settings.target.chips(spot.opening_pot),
            threads=settings.threads,
            storage=settings.storage,
            locks=settings.locks,
            progress=watch,
            interrupt=interrupt,
            out=file,
        )
        try:
            begun = open_solution(file) if file.exists() else None
            if begun is not None and begun.locks:
                raise SpecError("locks may be others now")
            solution = given(resume=begun)
        except (FileError, SpecError):
            if not file.exists():
                raise
            file.unlink()  # of other settings, or damaged
            solution = given()
        if solution.status == "interrupted":
            raise StoppedError
        return solution

    return solve


def batch_settings(settings: SolveFields, pot: float) -> dict[str, Any]:
    """What decides the results of a batch besides the spot."""
    from treeplex.runs.holdem.solve import DEFAULT_SHARE, DEFAULT_STORAGE
    from treeplex.runs.solve.settings import DEFAULT_ITERATIONS
    from treeplex.solvers.registry import DEFAULT_ALGORITHM

    usual = settings.target is None and settings.iterations is None
    target = DEFAULT_SHARE * pot if usual else None if settings.target is None else settings.target.chips(pot)
    iterations = settings.iterations if settings.iterations is not None else DEFAULT_ITERATIONS
    locks = [
        f"{lock.line}: {', '.join(f'{action} {100 * share:g}%' for action, share in lock.strategy)}" for lock in settings.locks
    ]
    return {
        "algorithm": settings.algorithm or DEFAULT_ALGORITHM,
        "target": target,
        "iterations": iterations,
        "storage": settings.storage or DEFAULT_STORAGE,
        **({"locks": "; ".join(locks)} if locks else {}),
    }
