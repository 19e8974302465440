"""Solve a game: start a run or reopen one, and let it run."""

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from treeplex.errors import FileError, SpecError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.histories import histories_of
from treeplex.games.size_estimate import MOST_HISTORIES
from treeplex.notices import compilation_announced
from treeplex.runs.job.folder import RUN, STATE, JobFolder, folder_at
from treeplex.runs.job.interrupt import Interrupted
from treeplex.runs.job.job import Session, go_on, start
from treeplex.runs.job.progress_line import KERNELS, ProgressLine, line_for
from treeplex.runs.job.record import UNCOUNTED_ITERATIONS, Watcher, is_amount
from treeplex.runs.judge import AnyGame
from treeplex.runs.solve.job import SolveJob
from treeplex.runs.solve.settings import SOLVE, SolveSettings
from treeplex.runs.solve.solution import Solution
from treeplex.solvers import Solver, make_solver
from treeplex.solvers.registry import AnyAlgorithm, named_in, pace_of, same_algorithm, samples

DEFAULT_ALGORITHM = "dcfr"
DEFAULT_ITERATIONS = 1000
MOST_ITERATIONS = 1_000_000

AnyProgress = Watcher | ProgressLine | bool | None
"""How to show progress; see :func:`solve`."""
WalkWatcher = Callable[[int], None]


def solve(
    game: AnyGame | None = None,
    algorithm: AnyAlgorithm | None = None,
    *,
    iterations: int | None = None,
    target: float | None = None,
    seconds: float | None = None,
    nodes: int | None = None,
    every: int | None = None,
    updates: str | None = None,
    seed: int | None = None,
    refine: bool | None = None,
    limit: int | None = None,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    resume: str | os.PathLike[str] | None = None,
    progress: AnyProgress = None,
    walked: WalkWatcher | None = None,
) -> Solution:
    """Solve a game.

    Args:
        game: a spec (``"leduc_poker"``, ``"mygame.py:MyGame"``, ``"game.efg"``), rules, or a compiled game. May be left out
            when resuming.
        algorithm: a spec such as ``"dcfr"`` or ``"dcfr(alpha=2)"`` (see :func:`treeplex.algorithms`), or an algorithm of
            your own, ``"my.py:NAME"`` or the value itself, which resuming then needs again; default ``"dcfr"``.
        iterations: iterations in total, those before a resume included; default 1000, or 1,000,000 when
            there is a target or a time limit, any number when histories are counted; a learned algorithm does as many as it
            paces itself for. An algorithm that samples (its name ends in ``-mccfr``) walks, without any of these limits, as
            many histories as 1000 full iterations do. ``lp`` needs one.
        target: stop at the first evaluation with at most this exploitability.
        seconds: stop after about this much time in this call (solving and judging, not compiling).
        nodes: stop once so many histories were walked, those before a resume included; the same effort for algorithms that
            sample and algorithms that sweep the whole tree (:attr:`treeplex.solvers.Solver.nodes`).
        every: evaluate every so many iterations; default: ten evaluations a decade, more when there is a target.
        updates: ``"alternating"`` or ``"simultaneous"``; default: what the algorithm's paper does.
        seed: seed of everything random; default 0.
        refine: split infostates of imperfect recall instead of refusing the game.
        limit: the most histories that may be walked to compile the game; default 50 million. A game that is clearly larger is
            refused in a second or two.
        out: a run folder to write; see :mod:`treeplex.runs.solve.settings`.
        force: overwrite the run in ``out``.
        resume: a run folder to continue. Algorithm, seed, updates, every and the horizon stay what they were; target,
            iterations, nodes and seconds may be new; new iterations end an old limit of histories, and the other way round.
            Records off the evaluation points of the whole run (the last one before a stop) are dropped, so that the folder
            ends up as if the run had never stopped, seconds excepted.
        progress: True for a progress line on stderr or in the notebook, False for none; default: where a person looks, on a
            terminal or in a notebook. A function is called about ten times per second with a
            :class:`treeplex.runs.job.record.Progress` instead.
        walked: called now and then, while rules are walked before the first iteration, with the number of histories so far.

    Raises:
        SpecError: an unknown name or a value outside its range.
        GameError: rules that do not describe a game of perfect recall, or too large a game.
        AlgorithmError: an algorithm that is not defined for this game.
        FileError: a folder that cannot be written, or a run that cannot be resumed.
        Interrupted: Ctrl-C or SIGTERM; its ``result`` is the solution so far.
    """
    check_limits(target, seconds)
    with (
        compilation_announced(bool(progress)),
        line_for(progress) as line,
        folder_at(SOLVE, out if resume is None else resume) as folder,
    ):
        walked = line.walked if walked is None else walked
        if resume is None:
            if game is None:
                raise SpecError("no game given; name one (see treeplex games) or a run folder to resume")
            algorithm = DEFAULT_ALGORITHM if algorithm is None else algorithm
            line.say("compiling the game")
            game = compile_game(game, refine=bool(refine), limit=limit, watch=walked)
            count = pace_of(algorithm) if iterations is None else iterations
            if samples(algorithm) and count is None and nodes is None:
                if target is None and seconds is None:
                    nodes = usual_nodes(game)
                else:
                    count = UNCOUNTED_ITERATIONS
            settings = settings_of_new_run(
                count,
                target=target,
                seconds=seconds,
                nodes=nodes,
                every=every,
                updates=updates,
                seed=seed,
                refine=refine,
            )
            walk_ahead(game, algorithm, limit, walked)
            compiled = compile_game(game, refine=settings.refine)
            line.say(f"starting {name_of(algorithm)} ({KERNELS})")
            session = start(SolveJob(*planned(compiled, algorithm, settings)), folder, force=force)
        else:
            if out is not None and Path(out) != Path(resume):
                raise SpecError("a resumed run goes on in its own folder; give out or resume, not both")
            fixed = {"every": every, "updates": updates, "seed": seed, "refine": refine or None}
            assert folder is not None
            session = reopen(
                folder, game, algorithm, fixed, walked, iterations=iterations, nodes=nodes, target=target, limit=limit
            )
            line.say(f"resuming {session.job.name} ({KERNELS})")
        assert isinstance(session.job, SolveJob)
        if announcement := session.job.solver.announcement():
            line.say(announcement)
            if not line.visible:
                warnings.warn(announcement, stacklevel=2)
        solution = run(session, seconds, progress if callable(progress) else line.watch)
    if solution.status == "interrupted":
        raise Interrupted(solution)
    return solution


def name_of(algorithm: AnyAlgorithm) -> str:
    """What to call an algorithm before its solver is built."""
    return algorithm if isinstance(algorithm, str) else str(getattr(algorithm, "name", type(algorithm).__name__))


def run(session: Session, seconds: float | None, progress: Watcher | None) -> Solution:
    """Run a session to its end, and hand out the solution."""
    job = session.job
    assert isinstance(job, SolveJob)
    outcome = session.run(seconds=seconds, progress=progress)
    return Solution(
        game=job.solver.game,
        algorithm=job.solver.algorithm,
        policy=job.solver.average_policy(),
        records=outcome.records,
        settings=job.settings,
        status=outcome.status,
        solver=job.solver,
        folder=outcome.folder,
    )


def check_limits(target: object, seconds: object) -> None:
    """Raise :class:`SpecError` for a target or a time limit that is not a finite number >= 0."""
    for name, value in (("target", target), ("seconds", seconds)):
        if value is not None and not is_amount(value):
            raise SpecError(f"{name} must be a number >= 0, not {value!r}")


def walk_ahead(game: CompiledGame, algorithm: AnyAlgorithm, limit: int | None, walked: WalkWatcher | None) -> None:
    """Walk the histories that an algorithm samples, with progress; what builds its solver finds them ready."""
    if samples(algorithm):
        histories_of(game, limit=MOST_HISTORIES if limit is None else limit, watch=walked)


def usual_nodes(game: CompiledGame) -> int:
    """How many histories algorithms that sample walk where nothing else is asked for: what the usual sweeps do."""
    return DEFAULT_ITERATIONS * game.players * game.size.histories


def settings_of_new_run(
    iterations: int | None,
    *,
    target: float | None = None,
    seconds: float | None = None,
    nodes: int | None = None,
    every: int | None = None,
    updates: str | None = None,
    seed: int | None = None,
    refine: bool | None = None,
) -> SolveSettings:
    """SolveSettings with the defaults filled in."""
    usual = DEFAULT_ITERATIONS if target is None and seconds is None else MOST_ITERATIONS
    usual = usual if nodes is None else UNCOUNTED_ITERATIONS
    count = usual if iterations is None else iterations
    aim = None if target is None else float(target)
    return SolveSettings(count, count, aim, every, updates, 0 if seed is None else seed, bool(refine), nodes)


def planned(game: CompiledGame, algorithm: AnyAlgorithm, settings: SolveSettings) -> tuple[Solver, SolveSettings]:
    """A solver at iteration 0, and the settings with the horizon that a limit of histories leaves to full sweeps."""
    order = settings.updates or "alternating"
    settings = replace(settings, horizon=horizon_within(game, settings, order))
    solver = solver_for(game, algorithm, settings)
    if solver.exact:
        return solver, replace(settings, iterations=1, every=None)
    if settings.nodes is not None and solver.updates not in ("", order):
        settings = replace(settings, horizon=horizon_within(game, settings, solver.updates))
        solver = solver_for(game, algorithm, settings)
    return solver, settings


def horizon_within(game: CompiledGame, settings: SolveSettings, updates: str) -> int:
    """How many iterations of full sweeps are planned: all asked for, or those within the limit of histories."""
    if settings.nodes is None:
        return settings.horizon
    sweep = game.size.histories * (game.players if updates == "alternating" else 1)
    return min(settings.iterations, -(-settings.nodes // sweep))


def reopen(
    folder: JobFolder,
    game: AnyGame | None,
    algorithm: AnyAlgorithm | None,
    fixed: Mapping[str, object],
    walked: WalkWatcher | None = None,
    *,
    iterations: int | None,
    nodes: int | None,
    target: float | None,
    limit: int | None,
) -> Session:
    """A run from its folder, as it stood at its last checkpoint; ``fixed`` are settings that may only repeat what is there."""
    about = folder.reopen()
    old = SolveSettings.from_json(about["settings"], folder.path / RUN)
    for name, value in fixed.items():
        if value is not None and value != getattr(old, name):
            raise different(folder, name, getattr(old, name), value)
    compiled = folder.compiled(game, refine=old.refine, limit=limit, watch=walked)
    if compiled.identity != about["identity"]:
        raise FileError(
            f"{folder.path} is a run on another game ({about['game']}) than {compiled}, or its rules changed since; "
            "give the same game or start a new run"
        )
    settings = with_new_limits(old, iterations, nodes, target)
    asked = named_in(folder.path, about["algorithm"], "solve") if algorithm is None else algorithm
    walk_ahead(compiled, asked, limit, walked)
    if about.get("last") is None and not (folder.path / STATE).exists():
        solver, settings = planned(compiled, asked, replace(settings, horizon=settings.iterations))
    else:
        solver = solver_for(compiled, asked, settings)
    if not same_algorithm(solver.algorithm, about["algorithm"]):
        raise different(folder, "algorithm", about["algorithm"], solver.algorithm)
    solver.algorithm = about["algorithm"]
    if solver.longest is not None and iterations is None:
        settings = replace(settings, iterations=min(settings.iterations, solver.longest))
    if solver.longest is not None and settings.iterations > solver.longest:
        raise SpecError(
            f"{folder.path} was run with {solver.algorithm}, which paces itself for {solver.longest:,} iterations; ask for at "
            f"most so many, or start a new run with its parameter horizon={settings.iterations}"
        )
    job = SolveJob(solver, replace(settings, iterations=1) if solver.exact else settings)
    session = go_on(job, folder)
    if job.done > job.settings.iterations:
        raise SpecError(
            f"{folder.path} has run {job.done} iterations already; "
            f"iterations counts all of them, so ask for more than {job.done}"
        )
    if job.settings.nodes not in (None, old.nodes) and solver.nodes > (job.settings.nodes or 0):
        raise SpecError(
            f"{folder.path} has walked {solver.nodes:,} histories already; nodes counts all of them, so ask for more than that"
        )
    return session


def with_new_limits(settings: SolveSettings, iterations: int | None, nodes: int | None, target: float | None) -> SolveSettings:
    """The settings of a resumed run: a new number of iterations ends an old limit of histories, and the other way round."""
    counts = settings.iterations, settings.nodes
    if iterations is not None or nodes is not None:
        counts = UNCOUNTED_ITERATIONS if iterations is None else iterations, nodes
    return replace(settings, iterations=counts[0], nodes=counts[1], target=settings.target if target is None else target)


def different(folder: JobFolder, name: str, old: object, new: object) -> SpecError:
    """The error of a resume that asks for another setting."""
    return SpecError(f"{folder.path} was run with {name} {old}, not {new}; leave it out or start a new run")


def solver_for(game: CompiledGame, algorithm: AnyAlgorithm, settings: SolveSettings) -> Solver:
    """A solver at iteration 0."""
    return make_solver(game, algorithm, horizon=settings.horizon, updates=settings.updates, seed=settings.seed)
