"""Runs of limit hold'em with bucketed cards: solve, judge, save, go on, and play matches.

A run folder holds ``run.json`` (settings, status), ``metrics.jsonl`` (one record per evaluation) and ``state.safetensors``
(regrets and average, with a checksum). Buckets and joint tables are not stored: they follow from the settings, and the hash of
the buckets is checked.
"""

from collections.abc import Callable, Iterator, Mapping
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
from treeplex.runs.job.checkpoint import Arrays, State, position_of
from treeplex.runs.job.folder import RUN, JobFolder, Kind, folder_at
from treeplex.runs.job.interrupt import Interrupted
from treeplex.runs.job.job import Job, go_on, start
from treeplex.runs.job.record import Progress, Record, Watcher, real, reals
from treeplex.solvers.buckets import LimitCFR

ALGORITHM = "chance-sampled cfr"
OPTIONS = ("boards", "seed", "discount_every", "cards")
LIMIT = Kind(
    name="limit",
    unit="iterations",
    maker="treeplex holdem limit solve",
    numbers={"exploitability": real, "bounds": reals},
    needs={"settings": dict, "identity": str, "game": str, "iterations": int, "evaluations": int},
)
"""Runs of limit hold'em. An iteration is a deal walked. ``exploitability``: in the abstract game, thousandths of a big blind a
hand; ``bounds``: what the game is worth to the big blind's seat lies between these, in the same unit."""

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


@dataclass(frozen=True, eq=False)
class LimitRun:
    """A solved abstraction.

    Attributes:
        settings: of the run.
        game: the abstract game.
        strategy: to play with.
        records: all evaluations, in order (:data:`LIMIT`).
        status: ``finished`` or ``interrupted``.
        folder: where it was saved, if anywhere.
    """

    settings: LimitSettings
    game: LimitGame
    strategy: LimitStrategy
    records: tuple[Record, ...]
    status: str
    folder: Path | None


def solve_limit(
    settings: LimitSettings,
    *,
    iterations: int,
    evaluations: int = 20,
    out: Path | None = None,
    resume: bool = False,
    force: bool = False,
    threads: int = 1,
    say: Say | None = None,
    progress: Watcher | None = None,
) -> LimitRun:
    """Solve limit hold'em with bucketed cards by chance-sampled CFR.

    Args:
        settings: buckets and tables.
        iterations: deals in total, those before a resume included.
        evaluations: how often the average is judged, evenly on a logarithmic scale from one in a hundred of ``iterations``.
        out: run folder; saved now and then, when done, and on Ctrl-C.
        resume: go on with the run in ``out``; with one thread, bit for bit as if never stopped.
        force: overwrite the run in ``out``.
        threads: of the solver.
        say: told what goes on.
        progress: told where the run stands after each step; default: ``say`` is.

    Raises:
        GameError: too little memory.
        FileError: ``out`` holds a run and ``resume`` is not set, or one that does not fit the settings.
        Interrupted: Ctrl-C or SIGTERM; its ``result`` is the run so far.
    """
    if iterations < 1 or evaluations < 1:
        raise SpecError("limit hold'em: iterations and evaluations must be at least 1")
    say = say or (lambda text: None)
    if resume and out is None:
        raise SpecError("no folder given; name the one of the run to resume")
    with folder_at(LIMIT, out) as folder:
        about: Mapping[str, Any] = {}
        if folder and resume:
            about = folder.reopen()
        elif folder:
            folder.check_free(force=force)
        job = job_of(settings, iterations, evaluations, threads, say)
        if about and about["identity"] != job.identity:
            raise FileError(f"{out}: its buckets are not those of these settings; start the run again in another folder")
        if about and about["game"] != job.game.identity:
            raise FileError(f"{out}: its joint tables cannot be made again by this version; start the run again elsewhere")
        if about:
            job.marks |= set(points(about["iterations"], about["evaluations"]))
        session = go_on(job, folder) if folder and resume else start(job, folder, force=force)
        outcome = session.run(progress=progress or job.tell)
    run = LimitRun(settings, job.game, job.strategy(), outcome.records, outcome.status, out)
    if run.status == "interrupted":
        raise Interrupted(run)
    return run


def job_of(settings: LimitSettings, iterations: int, evaluations: int, threads: int, say: Say) -> "LimitJob":
    """A run at iteration 0."""
    buckets = buckets_of(settings, say)
    game = limit_game(
        buckets, boards=settings.boards, seed=settings.seed, done=lambda n, of: say(f"counting hands on boards: {n:,}/{of:,}")
    )
    solver = LimitCFR(game, seed=settings.seed, discount_every=settings.discount_every, threads=threads)
    return LimitJob(settings, buckets, game, solver, iterations=iterations, evaluations=evaluations, say=say)


class LimitJob(Job):
    """A solver under way.

    Attributes:
        marks: where to judge; those of earlier sessions with other limits count as well.
    """

    kind = LIMIT

    def __init__(
        self,
        settings: LimitSettings,
        buckets: Buckets,
        game: LimitGame,
        solver: LimitCFR,
        *,
        iterations: int,
        evaluations: int,
        say: Say,
    ) -> None:
        super().__init__()
        self.settings, self.buckets, self.game, self.solver = settings, buckets, game, solver
        self.iterations, self.evaluations, self.say = iterations, evaluations, say
        self.marks = set(points(iterations, evaluations))

    @property
    def name(self) -> str:
        """The algorithm."""
        return ALGORITHM

    @property
    def identity(self) -> str:
        """Of the buckets."""
        return self.buckets.identity

    @property
    def done(self) -> int:
        """Deals walked."""
        return self.solver.iteration

    @property
    def total(self) -> int:
        """Deals asked for."""
        return self.iterations

    def step(self, count: int) -> None:
        """Walk some deals."""
        self.solver.run(count)

    def measure(self) -> Mapping[str, Any]:
        """Judge the average in the abstract game."""
        self.say(f"iteration {self.done:,}: judging")
        judged = judge_limit(self.game, self.solver.average)
        self.say(f"iteration {self.done:,}: exploitability {judged.exploitability:.2f} mbb/hand")
        return {"exploitability": judged.exploitability, "bounds": judged.bounds}

    def tell(self, progress: Progress) -> None:
        """Say where the run stands."""
        self.say(f"iteration {progress.done:,}/{progress.total:,}  {progress.rate:,.0f} it/s")

    def points(self) -> Iterator[int]:
        """Where to judge."""
        return (mark for mark in sorted(self.marks) if mark <= max(self.iterations, self.done))

    def about(self) -> Mapping[str, Any]:
        """Settings, limits and what they were worked out to."""
        return {
            "settings": asdict(self.settings),
            "identity": self.identity,
            "game": self.game.identity,
            "iterations": self.iterations,
            "evaluations": self.evaluations,
        }

    def state(self) -> State:
        """Regrets and average."""
        return self.solver.state()

    def restore(self, arrays: Arrays) -> None:
        """Restore the solver's arrays."""
        self.solver.restore(dict(arrays))

    def strategy(self) -> LimitStrategy:
        """The average strategy."""
        return LimitStrategy(self.game.name, self.buckets, self.game.betting, self.solver.average, self.game.big_blind)


def points(iterations: int, evaluations: int) -> list[int]:
    """Iterations at which to judge, ascending, the last one included."""
    first = max(1.0, iterations / 100)
    ratio = (iterations / first) ** (1 / max(1, evaluations - 1))
    return sorted({round(first * ratio**k) for k in range(evaluations - 1)} | {iterations})


def buckets_of(settings: LimitSettings, say: Say) -> Buckets:
    """The buckets of these settings."""
    strengths = load_strengths(
        format_named(settings.cards), done=lambda n, of: say(f"rolling out hand strength: part {n} of {of}")
    )
    say("dividing hands into buckets")
    return make_buckets(strengths, settings.plan)


def read_settings(folder: Path) -> LimitSettings:
    """The settings of the run in a folder.

    Raises:
        FileError: no run there, or one that cannot be read.
    """
    about = JobFolder(LIMIT, folder).about()
    try:
        given = about["settings"]
        plan = BucketPlan(**{**given["plan"], "counts": tuple(given["plan"]["counts"])})
        return replace(LimitSettings(plan), **{name: given[name] for name in OPTIONS if name in given})
    except (KeyError, TypeError) as error:
        raise FileError(f"{folder / RUN}: truncated or edited ({error!r}); start the run again in another folder") from error


def read_records(folder: Path) -> list[Record]:
    """The evaluations of the run in a folder."""
    return JobFolder(LIMIT, folder).records()


def load_limit(folder: Path, *, say: Say | None = None) -> LimitStrategy:
    """The strategy of a run folder, without its joint tables.

    Raises:
        FileError: no run there, one that cannot be read, or one whose buckets came out differently.
    """
    from treeplex.forms.buckets.betting import BIG_BLIND, limit_betting
    from treeplex.solvers.buckets import tables_of

    settings = read_settings(folder)
    buckets = buckets_of(settings, say or (lambda text: None))
    with JobFolder(LIMIT, folder).state() as state:
        if position_of(state).identity != buckets.identity:
            raise FileError(f"{folder}: its buckets cannot be made again by this version; solve it again")
        betting = limit_betting()
        tables = tables_of(settings.plan.counts, betting, state["early_average"], state["late_average"])
    return LimitStrategy(folder.name, buckets, betting, tables, BIG_BLIND)
