"""Runs of limit hold'em with bucketed cards: solve, judge, save, go on, and play matches.

A run folder holds ``limit.json`` (settings, status), ``metrics.jsonl`` (one record an evaluation) and ``state.safetensors``
(regrets and average, with a checksum). Buckets and joint tables are not stored: they follow from the settings, and the hash of
the buckets is checked.
"""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from treeplex.errors import FileError, SpecError
from treeplex.evaluate.buckets.judge import judge_limit
from treeplex.forms.buckets.abstract_game import LimitGame, limit_game
from treeplex.forms.buckets.buckets import BucketPlan, Buckets, make_buckets
from treeplex.forms.buckets.strategy import LimitStrategy
from treeplex.forms.buckets.strength_files import load_strengths
from treeplex.games.poker.cards.format import format_named
from treeplex.runs.job.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from treeplex.runs.job.interrupt import Interrupt
from treeplex.solvers.buckets import LimitCFR
from treeplex.storage.files import write_atomically
from treeplex.storage.reading import parse_json, read_json, read_text

FORMAT, VERSION = "treeplex limit run", 1
ALGORITHM = "chance-sampled cfr"
ABOUT, METRICS, STATE = "limit.json", "metrics.jsonl", "state.safetensors"
STEP = 100_000
"""Iterations between two looks at the clock and at Ctrl-C."""
SAVE_SECONDS = 600.0
OPTIONS = ("boards", "seed", "discount_every", "cards")

Say = Callable[[str], None]


@dataclass(frozen=True)
class LimitSettings:
    """What decides the numbers of a run.

    Attributes:
        plan: buckets of both players.
        boards: random boards on which the joint tables are counted.
        seed: of those boards and of the deals.
        discount_every: 0 for the paper's plain CFR, else linear CFR in steps of so many iterations.
        cards: the spec of the format: holdem, or a smaller deck with the same streets.
    """

    plan: BucketPlan
    boards: int = 20_000
    seed: int = 0
    discount_every: int = 0
    cards: str = "holdem"

    def __post_init__(self) -> None:
        if self.boards < 1:
            raise SpecError(f"limit hold'em: boards is {self.boards}; give at least 1")


@dataclass(frozen=True)
class LimitRecord:
    """One evaluation.

    Attributes:
        iteration: deals walked.
        seconds: time in the solver.
        exploitability: in the abstract game, thousandths of a big blind a hand.
        bounds: what the game is worth to the big blind's seat lies between these, in the same unit.
    """

    iteration: int
    seconds: float
    exploitability: float
    bounds: tuple[float, float]


@dataclass(frozen=True, eq=False)
class LimitRun:
    """A solved abstraction.

    Attributes:
        settings: of the run.
        game: the abstract game.
        strategy: to play with.
        records: all evaluations, in order.
        status: ``done`` or ``interrupted``.
        folder: where it was saved, if anywhere.
    """

    settings: LimitSettings
    game: LimitGame
    strategy: LimitStrategy
    records: tuple[LimitRecord, ...]
    status: str
    folder: Path | None


def solve_limit(
    settings: LimitSettings,
    *,
    iterations: int,
    evaluations: int = 20,
    out: Path | None = None,
    resume: bool = False,
    threads: int = 1,
    say: Say | None = None,
) -> LimitRun:
    """Solve limit hold'em with bucketed cards by chance-sampled CFR.

    Args:
        settings: buckets and tables.
        iterations: deals in total, those before a resume included.
        evaluations: how often the average is judged, evenly on a logarithmic scale from one in a hundred of ``iterations``.
        out: run folder; saved every ten minutes, when done, and on Ctrl-C.
        resume: go on with the run in ``out``; with one thread, bit for bit as if never stopped.
        threads: of the solver.
        say: told what goes on.

    Raises:
        GameError: too little memory.
        FileError: ``out`` holds a run and ``resume`` is not set, or one that does not fit the settings.
    """
    if iterations < 1 or evaluations < 1:
        raise SpecError("limit hold'em: iterations and evaluations must be at least 1")
    say = say or (lambda text: None)
    check_folder(out, resume)
    buckets = buckets_of(settings, say)
    game = limit_game(
        buckets, boards=settings.boards, seed=settings.seed, done=lambda n, of: say(f"counting hands on boards: {n:,}/{of:,}")
    )
    solver = LimitCFR(game, seed=settings.seed, discount_every=settings.discount_every, threads=threads)
    session = Session(settings, buckets, game, solver, out, say)
    if resume and out is not None:
        session.resume()
    session.run(iterations, points(iterations, evaluations))
    strategy = strategy_of(buckets, game, solver)
    return LimitRun(settings, game, strategy, tuple(session.records), session.status, out)


class Session:
    """One sitting of a run."""

    def __init__(
        self, settings: LimitSettings, buckets: Buckets, game: LimitGame, solver: LimitCFR, out: Path | None, say: Say
    ) -> None:
        self.settings = settings
        self.identity = buckets.identity
        self.game = game
        self.solver = solver
        self.out = out
        self.say = say
        self.seconds = 0.0
        self.records: list[LimitRecord] = []
        self.status = "running"
        self.saved = time.monotonic()

    def resume(self) -> None:
        """Take over the state in the folder."""
        assert self.out is not None
        checkpoint = read_checkpoint(self.out / STATE)
        if checkpoint.identity != self.identity:
            raise FileError(f"{self.out}: its buckets are not those of these settings; start the run again in another folder")
        about = read_about(self.out)
        if about.get("game", self.game.identity) != self.game.identity:
            raise FileError(f"{self.out}: its joint tables cannot be made again by this version; start the run again elsewhere")
        self.solver.restore(checkpoint.arrays)
        self.seconds = checkpoint.seconds
        self.records = [record for record in read_records(self.out) if record.iteration <= self.solver.iteration]

    def run(self, iterations: int, marks: list[int]) -> None:
        """Iterate, judge at the marks, save."""
        with Interrupt() as interrupt:
            for mark in [mark for mark in marks if mark > self.solver.iteration]:
                while self.solver.iteration < mark and not interrupt.requested:
                    self.iterate(min(STEP, mark - self.solver.iteration), iterations)
                if interrupt.requested:
                    break
                self.judge()
        self.status = "done" if self.solver.iteration >= iterations else "interrupted"
        self.save()

    def iterate(self, count: int, iterations: int) -> None:
        """A few iterations."""
        begun = time.perf_counter()
        self.solver.run(count)
        self.seconds += time.perf_counter() - begun
        rate = self.solver.iteration / max(self.seconds, 1e-9)
        self.say(f"iteration {self.solver.iteration:,}/{iterations:,}  {rate:,.0f} it/s")
        if time.monotonic() - self.saved > SAVE_SECONDS:
            self.save()

    def judge(self) -> None:
        """One evaluation."""
        self.say(f"iteration {self.solver.iteration:,}: judging")
        judged = judge_limit(self.game, self.solver.average)
        self.records.append(LimitRecord(self.solver.iteration, self.seconds, judged.exploitability, judged.bounds))
        self.say(f"iteration {self.solver.iteration:,}: exploitability {judged.exploitability:.2f} mbb/hand")

    def save(self) -> None:
        """Write the run folder."""
        self.saved = time.monotonic()
        if self.out is None:
            return
        about = {
            "format": FORMAT,
            "version": VERSION,
            "settings": asdict(self.settings),
            "identity": self.identity,
            "game": self.game.identity,
            "iteration": self.solver.iteration,
            "status": self.status,
        }
        lines = "".join(json.dumps(asdict(record)) + "\n" for record in self.records)
        state = Checkpoint(self.identity, ALGORITHM, self.solver.iteration, self.seconds, self.solver.state())
        write_checkpoint(self.out / STATE, state)
        write_atomically(self.out / METRICS, lines)
        write_atomically(self.out / ABOUT, json.dumps(about, indent=2) + "\n")


def points(iterations: int, evaluations: int) -> list[int]:
    """Iterations at which to judge, ascending, the last one included."""
    first = max(1.0, iterations / 100)
    ratio = (iterations / first) ** (1 / max(1, evaluations - 1))
    return sorted({round(first * ratio**k) for k in range(evaluations - 1)} | {iterations})


def check_folder(out: Path | None, resume: bool) -> None:
    """Make the folder, or refuse it.

    Raises:
        FileError: it holds a run, or none to resume.
    """
    if resume and (out is None or not (out / ABOUT).exists()):
        raise FileError(f"{out}: no run of limit hold'em to resume; leave --resume out to start one")
    if out is not None and not resume:
        if (out / ABOUT).exists():
            raise FileError(f"{out} holds a run; resume it (--resume) or choose another folder")
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"cannot make the folder {out}: {error.strerror}; choose another") from error


def buckets_of(settings: LimitSettings, say: Say) -> Buckets:
    """The buckets of these settings."""
    strengths = load_strengths(
        format_named(settings.cards), done=lambda n, of: say(f"rolling out hand strength: part {n} of {of}")
    )
    say("dividing hands into buckets")
    return make_buckets(strengths, settings.plan)


def strategy_of(buckets: Buckets, game: LimitGame, solver: LimitCFR) -> LimitStrategy:
    """The average strategy of a solver."""
    return LimitStrategy(game.name, buckets, game.betting, solver.average, game.big_blind)


def read_about(folder: Path) -> dict[str, Any]:
    """``limit.json`` of the run in a folder.

    Raises:
        FileError: no run there, or one that cannot be read.
    """
    path = folder / ABOUT
    try:
        about: dict[str, Any] = read_json(path)
        known = about["format"] == FORMAT and about["version"] == VERSION
    except (ValueError, KeyError, TypeError) as error:
        raise FileError(f"{path}: truncated or edited ({error!r}); start the run again in another folder") from error
    if not known:
        raise FileError(f"{path}: not written by this version of Treeplex; start the run again in another folder")
    return about


def read_settings(folder: Path) -> LimitSettings:
    """The settings of the run in a folder.

    Raises:
        FileError: no run there, or one that cannot be read.
    """
    about = read_about(folder)
    try:
        given = about["settings"]
        plan = BucketPlan(**{**given["plan"], "counts": tuple(given["plan"]["counts"])})
        return replace(LimitSettings(plan), **{name: given[name] for name in OPTIONS if name in given})
    except (KeyError, TypeError) as error:
        raise FileError(f"{folder / ABOUT}: truncated or edited ({error!r}); start the run again in another folder") from error


def read_records(folder: Path) -> list[LimitRecord]:
    """The evaluations of the run in a folder."""
    path = folder / METRICS
    try:
        found = [LimitRecord(**parse_json(line)) for line in read_text(path).splitlines()]
        return [replace(record, bounds=(record.bounds[0], record.bounds[1])) for record in found]
    except (ValueError, TypeError) as error:
        raise FileError(f"{path}: truncated or edited ({error!r}); start the run again in another folder") from error


def load_limit(folder: Path, *, say: Say | None = None) -> LimitStrategy:
    """The strategy of a run folder, without its joint tables.

    Raises:
        FileError: no run there, one that cannot be read, or one whose buckets came out differently.
    """
    from treeplex.forms.buckets.betting import BIG_BLIND, limit_betting
    from treeplex.solvers.buckets import tables_of

    settings = read_settings(folder)
    buckets = buckets_of(settings, say or (lambda text: None))
    checkpoint = read_checkpoint(folder / STATE)
    if checkpoint.identity != buckets.identity:
        raise FileError(f"{folder}: its buckets cannot be made again by this version; solve it again")
    betting = limit_betting()
    tables = tables_of(settings.plan.counts, betting, checkpoint.arrays["early_average"], checkpoint.arrays["late_average"])
    return LimitStrategy(folder.name, buckets, betting, tables, BIG_BLIND)
