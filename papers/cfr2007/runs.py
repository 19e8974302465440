"""Runs of CFR on limit hold'em in buckets, with sampled chance or by full sweeps.

A run folder holds ``run.json`` (settings, status), ``metrics.jsonl`` (one record per evaluation) and ``state.safetensors``
(regrets and average, with a checksum). Buckets and joint tables are not stored: they follow from the game's spec, and their
hashes are checked.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from papers.cfr2007.game import LimitGame, tables_of
from papers.cfr2007.solver import LimitCFR, LimitSweeps, predicted_bytes
from papers.cfr2007.strategy import LimitStrategy, strategy_of
from papers.cfr2007.walks import judge_limit
from treeplex.base.notices import tell, telling
from treeplex.base.storage.memory import available_memory, megabytes
from treeplex.errors import FileError, GameError, JobInterrupt, SpecError
from treeplex.forms.policies.files import load_policy
from treeplex.learn import Settings, setting
from treeplex.results import JobFolder, Progress, Record
from treeplex.run.job.checkpoint import Arrays, State, position_of
from treeplex.run.job.folder import RUN, JobKind, folder_at, kind_of
from treeplex.run.job.job import Job, go_on, start
from treeplex.run.job.record import Watcher, real, reals
from treeplex.run.solve.settings import SOLVE
from treeplex.run.solve.tree_game import policy_file

SAMPLED = "sampled"
"""The paper's algorithm, CFR with sampled chance; all others use full sweeps."""
LIMIT = JobKind(
    name="limit",
    unit="iterations",
    maker="papers.cfr2007.limit solve",
    numbers={"exploitability": real, "bounds": reals},
    needs={"settings": dict, "identity": str, "game": str, "iterations": int, "evaluations": int},
)
"""Runs of limit hold'em. An iteration is a deal walked, or a sweep of all of them. ``exploitability``: in the abstract game,
thousandths of a big blind per hand; ``bounds``: bounds of the game's value for the big blind.
"""


@dataclass(frozen=True)
class LimitSettings(Settings):
    """Settings that determine a run's results."""

    game: str = setting("bucketed_holdem", "spec of the game, bucketed_holdem with fixed limit", fixed=True)
    seed: int = setting(0, "seed of the deals", low=0, fixed=True)
    algorithm: str = setting(
        SAMPLED, "sampled: one deal an iteration, as in the paper; or a rule that sweeps all of them, such as dcfr", fixed=True
    )
    discount_every: int = setting(0, "0 for the paper's plain CFR; N discounts linearly every N iterations", low=0, fixed=True)


@dataclass(frozen=True, eq=False)
class LimitRun:
    """A solved abstraction.

    Attributes:
        settings: of the run.
        strategy: to play with; ``strategy.game`` is the game.
        records: all evaluations, in order (:data:`LIMIT`).
        status: ``finished`` or ``interrupted``.
        folder: where it was saved, if anywhere.
    """

    settings: LimitSettings
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
    progress: Watcher | None = None,
) -> LimitRun:
    """Solve limit hold'em in buckets, by CFR with sampled chance or by full sweeps.

    Args:
        settings: game, algorithm and seed.
        iterations: total deals or sweeps, including those before a resume.
        evaluations: number of evaluations of the average, evenly spaced on a logarithmic scale from ``iterations / 100``.
        out: run folder; saved periodically, at the end, and on Ctrl-C.
        resume: resume the run in ``out``; with one thread, bit for bit as without the interruption.
        force: overwrite the run in ``out``.
        threads: of the solver.
        progress: told where the run stands after each step; default: :func:`treeplex.base.notices.tell`.

    Raises:
        GameError: too little memory.
        FileError: ``out`` holds a run and ``resume`` is not set, or one that does not fit the settings.
        JobInterrupt: Ctrl-C or SIGTERM; its ``result`` is the run so far.
    """
    if iterations < 1 or evaluations < 1:
        raise SpecError("limit hold'em: iterations and evaluations must be at least 1")
    if resume and out is None:
        raise SpecError("no folder given; name the one of the run to resume")
    with folder_at(LIMIT, out) as folder:
        about: Mapping[str, Any] = {}
        if folder and resume:
            about = folder.reopen()
        elif folder:
            folder.check_free(force=force)
        job = LimitJob(settings, iterations=iterations, evaluations=evaluations, threads=threads)
        if about and about["identity"] != job.identity:
            raise FileError(f"{out}: its buckets are not those of these settings; start the run again in another folder")
        if about and about["game"] != job.game.identity:
            raise FileError(f"{out}: its joint tables cannot be made again by this version; start the run again elsewhere")
        if about:
            job.marks |= set(points(about["iterations"], about["evaluations"]))
        session = go_on(job, folder) if folder and resume else start(job, folder, force=force)
        outcome = session.run(progress=progress or job.tell)
    run = LimitRun(settings, job.strategy(), outcome.records, outcome.status, out)
    if run.status == "interrupted":
        raise JobInterrupt(run)
    return run


class LimitJob(Job):
    """A solve in progress.

    Attributes:
        marks: iterations at which to evaluate, including those of earlier runs with other limits.
    """

    kind = LIMIT

    def __init__(self, settings: LimitSettings, *, iterations: int, evaluations: int, threads: int) -> None:
        """A run at iteration 0.

        Raises:
            GameError: too little memory.
        """
        super().__init__()
        self.settings, self.iterations, self.evaluations = settings, iterations, evaluations
        self.game = LimitGame.named(settings.game)
        needed, free = predicted_bytes(self.game), available_memory()
        if free is not None and needed > free:
            raise GameError(
                f"{self.game} needs {megabytes(needed)}, and {megabytes(free)} of memory are free; use fewer buckets on the "
                "later streets, or free memory"
            )
        self.solver: LimitCFR | LimitSweeps
        if settings.algorithm == SAMPLED:
            self.solver = LimitCFR(self.game, seed=settings.seed, discount_every=settings.discount_every, threads=threads)
        else:
            if settings.discount_every:
                raise SpecError(f"discount_every is about sampled chance; {settings.algorithm} has discounts of its own")
            self.solver = LimitSweeps(self.game, settings.algorithm)
        self.marks = set(points(iterations, evaluations))

    @property
    def name(self) -> str:
        """Name of the algorithm."""
        return "chance-sampled cfr" if isinstance(self.solver, LimitCFR) else self.solver.algorithm

    @property
    def identity(self) -> str:
        """Hash of the buckets."""
        return self.game.buckets.identity

    @property
    def done(self) -> int:
        """Iterations done."""
        return self.solver.iteration

    @property
    def total(self) -> int:
        """Requested iterations."""
        return self.iterations

    def step(self, count: int) -> None:
        """Run some iterations."""
        self.solver.run(count)

    def measure(self) -> Mapping[str, Any]:
        """Evaluate the average in the abstract game."""
        tell(f"iteration {self.done:,}: judging")
        judged = judge_limit(self.game, self.solver.average)
        tell(f"iteration {self.done:,}: exploitability {judged.exploitability:.2f} mbb/hand")
        return {"exploitability": judged.exploitability, "bounds": judged.bounds}

    def tell(self, progress: Progress) -> None:
        """Report progress."""
        tell(f"iteration {progress.done:,}/{progress.total:,}  {progress.rate:,.0f} it/s")

    def points(self) -> Iterator[int]:
        """Iterations at which to evaluate."""
        return (mark for mark in sorted(self.marks) if mark <= max(self.iterations, self.done))

    def about(self) -> Mapping[str, Any]:
        """Settings, limits and derived values."""
        return {
            "settings": self.settings.to_json(),
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
        return LimitStrategy(str(self.game), self.game, self.solver.average)


def points(iterations: int, evaluations: int) -> list[int]:
    """Iterations at which to evaluate, ascending, including the last one."""
    first = max(1.0, iterations / 100)
    ratio = (iterations / first) ** (1 / max(1, evaluations - 1))
    return sorted({round(first * ratio**k) for k in range(evaluations - 1)} | {iterations})


def read_settings(folder: Path) -> LimitSettings:
    """The settings of the run in a folder.

    Raises:
        FileError: no run there, or one that cannot be read.
    """
    about = JobFolder(LIMIT, folder).about()
    return LimitSettings.from_json(about["settings"], str(folder / RUN))


def read_records(folder: Path) -> list[Record]:
    """The evaluations of the run in a folder."""
    return JobFolder(LIMIT, folder).records()


def load_limit(folder: Path) -> LimitStrategy:
    """The strategy of a run of ``papers.cfr2007.limit solve`` or ``treeplex solve``; joint tables are not counted for it.

    Raises:
        FileError: no run there, one that cannot be read, or one whose buckets came out differently.
        PolicyError, GameError: a run on another game.
    """
    if kind_of(folder) == SOLVE.name:
        return strategy_of(load_policy(policy_file(folder)), folder.name)
    game = LimitGame.named(read_settings(folder).game)
    with JobFolder(LIMIT, folder).state() as state:
        if position_of(state).identity != game.buckets.identity:
            raise FileError(f"{folder}: its buckets cannot be made again by this version; solve it again")
        return LimitStrategy(folder.name, game, tables_of(game, state["early_average"], state["late_average"]))


def solved(settings: LimitSettings, folder: Path, iterations: int, evaluations: int) -> tuple[LimitStrategy, list[Record]]:
    """The strategy and evaluations of the run in a folder, which is started or resumed if it is shorter."""
    records = read_records(folder) if kind_of(folder) == LIMIT.name else []
    if not records or records[-1].done < iterations:
        with telling(lambda text: print(text, flush=True) if "exploitability" in text else None):
            solve_limit(settings, iterations=iterations, evaluations=evaluations, out=folder, resume=bool(records))
    return load_limit(folder), read_records(folder)
