"""Solving of compiled games: new and resumed runs in folders, and evaluation of policies."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

from treeplex import evaluate
from treeplex.base.wings import provided
from treeplex.engine.threads import available_cores, checked_threads
from treeplex.errors import AlgorithmError, FileError, PolicyError, SpecError
from treeplex.evaluate import Judgement
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.views.histories import histories_of
from treeplex.forms.policies.files import load_policy
from treeplex.forms.policies.openspiel import transferred
from treeplex.forms.policies.plain import probabilities_of
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.openspiel import same_rules
from treeplex.games.base import Game
from treeplex.games.size_estimate import MOST_HISTORIES
from treeplex.run.job.folder import RUN, STATE, JobFolder, folder_at
from treeplex.run.job.job import Session, go_on, start
from treeplex.run.job.progress_line import KERNELS, ProgressLine
from treeplex.run.job.record import UNCOUNTED_ITERATIONS, check_total, different
from treeplex.run.policy_source import UNIFORM, holds_policy, shipped_file, source_of
from treeplex.run.solve.measures import Measure, measures_of
from treeplex.run.solve.settings import DEFAULT_ITERATIONS, MOST_ITERATIONS, POLICY, SOLVE, SolveSettings
from treeplex.run.solve.solvable import ComparisonPlan, GameOptions, Solvable, SolveRequest, WalkWatcher, canonical
from treeplex.run.solve.tree_job import GameSolution, SolveJob
from treeplex.solvers import Solver, make_solver
from treeplex.solvers.registry import DEFAULT_ALGORITHM, AnyAlgorithm, named_in, pace_of, same_algorithm, samples
from treeplex.solvers.rules.warm_start import warm_start
from treeplex.solvers.solver import FormSolver, GameSolver


class TreeGame(Solvable):
    """A game that is compiled to sequence form.

    Args:
        game: the rules or the compiled game; None for the game of the run to resume.
    """

    noun = "compiled games"
    options = frozenset({*GameOptions.__annotations__, "start"})

    def __init__(self, game: Game | CompiledGame | None) -> None:
        self.game = game

    @property
    def compiled(self) -> CompiledGame:
        """The compiled game, always the same object."""
        assert self.game is not None
        self.game = compile_game(self.game)
        return self.game

    @classmethod
    def resuming(cls, resume: Any, game: Any) -> "TreeGame":
        """Return the game of a solution in memory, or ``game`` compiled."""
        return cls(resume.game if game is None else compile_game(game, refine=resume.settings.refine))

    def tree(self) -> CompiledGame:
        """The compiled game."""
        return self.compiled

    @contextmanager
    def session(self, request: SolveRequest, line: ProgressLine) -> Iterator[Session]:
        """Start a new run, or resume one from its folder or from a solution in memory."""
        options = dict(request.options)
        threads = usual_threads() if (given := options.pop("threads", None)) is None else checked_threads(given)
        with self.opened(replace(request, options=options), line) as session:
            assert isinstance(session.job, SolveJob)
            share_work(session.job.solver, threads)
            yield session

    @contextmanager
    def opened(self, request: SolveRequest, line: ProgressLine) -> Iterator[Session]:
        """Start or resume a run, without its number of threads."""
        if isinstance(request.resume, GameSolution):
            if request.resume.folder is None or request.out is not None:
                with folder_at(SOLVE, request.out) as folder:
                    yield self.continued(request.resume, request, folder, line)
                return
            solution = request.resume
            request = replace(request, resume=solution.folder, algorithm=request.algorithm or solution.solver.made_from)
        with folder_at(SOLVE, request.out if request.resume is None else request.resume) as folder:
            yield self.started(request, folder, line) if request.resume is None else self.reopened(request, folder, line)

    def started(self, request: SolveRequest, folder: JobFolder | None, line: ProgressLine) -> Session:
        """Start a new run."""
        algorithm = DEFAULT_ALGORITHM if request.algorithm is None else request.algorithm
        options = dict(request.options)
        beginning = options.pop("start", None)
        limit, walked = options.pop("limit", None), options.pop("walked", line.walked)
        measures = measures_of(options.pop("measures", None))
        self.compile(options.get("refine"), limit, walked, line)
        count = pace_of(algorithm) if request.iterations is None else request.iterations
        if samples(algorithm) and count is None and options.get("nodes") is None:
            if request.target is None and request.seconds is None:
                options["nodes"] = usual_nodes(self.compiled)
            else:
                count = UNCOUNTED_ITERATIONS
        settings = settings_of_new_run(count, target=request.target, seconds=request.seconds, every=request.every, **options)
        walk_ahead(self.compiled, algorithm, limit, walked)
        line.say(f"starting {name_of(algorithm)} ({KERNELS})")
        solver, settings = planned(self.compiled, algorithm, settings)
        if beginning is not None:
            settings = replace(settings, warm=warm_start(solver, self.policy(beginning)))
        return start(SolveJob(solver, settings, measures), folder, force=request.force)

    def reopened(self, request: SolveRequest, folder: JobFolder | None, line: ProgressLine) -> Session:
        """Resume a run from its folder."""
        options = dict(request.options)
        check_not_started_again(options)
        if request.out is not None and request.out != Path(request.resume):
            raise SpecError("a resumed run stays in its own folder; give only one of 'out' and 'resume'")
        fixed = {"every": request.every, "updates": options.get("updates"), "seed": options.get("seed")}
        assert folder is not None
        session = reopen(
            folder,
            self.game,
            request.algorithm,
            fixed | fixed_options(options),
            options.get("walked", line.walked),
            iterations=request.iterations,
            nodes=options.get("nodes"),
            target=request.target,
            seconds=request.seconds,
            limit=options.get("limit"),
            measures=measures_of(options.get("measures")),
        )
        line.say(f"resuming {session.job.name} ({KERNELS})")
        return session

    def continued(self, solution: GameSolution, request: SolveRequest, folder: JobFolder | None, line: ProgressLine) -> Session:
        """Resume from a solution in memory without modifying it, optionally into a new folder."""
        options = dict(request.options)
        check_not_started_again(options)
        if self.compiled.identity != solution.game.identity:
            raise SpecError(f"the solution to resume is for {solution.game}, not for {self.compiled}; leave the game out")
        fixed = {"every": request.every, "updates": options.get("updates"), "seed": options.get("seed")}
        fixed |= fixed_options(options)
        check_fixed("the solution to resume", solution.solver, solution.settings, fixed)
        settings = with_new_limits(solution.settings, request.iterations, options.get("nodes"), request.target, request.seconds)
        if solution.solver.iteration != solution.iterations:
            raise SpecError(
                f"the solver of this solution is already at iteration {solution.solver.iteration:,}; resume the newest solution"
            )
        algorithm = solution.solver.made_from if request.algorithm is None else request.algorithm
        solver, settings = rebuilt(
            "the solution to resume", solution.game, algorithm, solution.algorithm, settings, request.iterations
        )
        solver.restore(solution.solver.state())
        job = SolveJob(solver, settings, measures_of(options.get("measures")))
        job.clock.seconds, job.clock.cpu_seconds = solution.seconds, solution.last.cpu_seconds
        check_done("the solution to resume", job, solution.settings)
        line.say(f"resuming {job.name} ({KERNELS})")
        session = start(job, folder, force=request.force)
        session.records = list(solution.records)
        if folder:
            folder.rewrite(solution.records)
        return session

    @property
    def played(self) -> CompiledGame:
        """The compiled game."""
        return self.compiled

    def estimate(self) -> None:
        """Return None, since the cost depends on compiling."""

    def prepare(self, options: Mapping[str, Any], line: ProgressLine) -> None:
        """Compile the game."""
        self.check_options(options)
        self.compile(options.get("refine"), options.get("limit"), line.walked, line)

    def compile(self, refine: bool | None, limit: int | None, walked: WalkWatcher | None, line: ProgressLine) -> None:
        """Compile the game if needed."""
        line.say("compiling the game")
        assert self.game is not None
        self.game = compile_game(self.game, refine=bool(refine), limit=limit, watch=walked)

    def plan(
        self,
        algorithms: Sequence[AnyAlgorithm],
        iterations: int | None,
        seconds: float | None,
        options: Mapping[str, Any],
        line: ProgressLine,
    ) -> ComparisonPlan:
        """Compile the game and build a solver for each algorithm."""
        limit, walked = options.get("limit"), options.get("walked", line.walked)
        self.compile(options.get("refine"), limit, walked, line)
        nodes = options.get("nodes")
        if iterations is None and nodes is None and seconds is None:
            if any(map(samples, algorithms)):
                nodes = usual_nodes(self.compiled)
            else:
                iterations = DEFAULT_ITERATIONS
        for algorithm in algorithms:
            walk_ahead(self.compiled, algorithm, limit, walked)
        line.say(f"starting ({KERNELS})")
        names = []
        for algorithm in algorithms:
            count = pace_of(algorithm) if iterations is None else iterations
            fixed = {name: options.get(name) for name in ("updates", "device", "precision")}
            settings = settings_of_new_run(count, nodes=nodes, seconds=seconds, **fixed)
            names.append((planned(self.compiled, algorithm, settings)[0].algorithm, algorithm))
        chosen = canonical(names)
        given = {**options, "nodes": nodes} if nodes is not None else dict(options)
        return ComparisonPlan(chosen, iterations, given, usual_axis(chosen.values(), nodes))

    def place(self, folder: Path, name: str) -> Path:
        """Return a separate run folder."""
        return folder / name

    def policy(self, policy: Any, *, complete: bool = False) -> Policy:
        """Convert any kind of policy to a policy of this game; see :func:`policy_of`."""
        return policy_of(self.compiled, policy, complete=complete)

    def judge(self, policy: Any) -> Judgement:
        """Evaluate a policy."""
        return evaluate.judge(self.compiled, self.policy(policy))

    def best_response(self, policy: Any, player: int) -> tuple[float, Policy]:
        """Return a best response."""
        return evaluate.best_response(self.compiled, self.policy(policy), player)


def usual_threads() -> int:
    """Return the default number of threads: one per idle core, or one in a worker process.

    Threads that wait for each other lose time if other processes use their cores.
    """
    if parent_process() is not None:
        return 1
    busy = round(os.getloadavg()[0]) if hasattr(os, "getloadavg") else 0
    return max(1, available_cores() - busy)


def share_work(solver: Solver, threads: int) -> None:
    """Let a solver use several threads, if they pay."""
    if isinstance(solver, GameSolver):
        solver.form.use_threads(threads)


def name_of(algorithm: AnyAlgorithm) -> str:
    """Return the name of an algorithm before its solver is built."""
    return algorithm if isinstance(algorithm, str) else str(getattr(algorithm, "name", type(algorithm).__name__))


def usual_axis(algorithms: Collection[AnyAlgorithm], nodes: int | None) -> str:
    """Return ``nodes`` if there is a node limit or the algorithm samples, else ``iterations``."""
    return "nodes" if nodes is not None or any(map(samples, algorithms)) else "iterations"


def policy_file(path: str | os.PathLike[str]) -> Path:
    """Return the policy file at ``path``, in a run folder, or shipped as ``network:NAME``.

    Raises:
        SpecError: no network of that name ships with the library.
        FileError: the folder has no policy yet.
    """
    if shipped := shipped_file(os.fspath(path)):
        return Path(shipped)
    if not holds_policy(path):
        return Path(path)
    file = Path(path) / POLICY
    if not file.exists():
        raise FileError(f"{path} has no stored policy yet; resume it (--resume {path}) or restart it (--force)")
    return file


def policy_of(game: CompiledGame, policy: Any, *, complete: bool = False) -> Policy:
    """Convert any kind of policy to a policy of a compiled game; see :func:`treeplex.policies.as_policy`.

    Raises:
        PolicyError: the policy belongs to another game, lacks an infostate, or is not a distribution somewhere.
        FileError: the file cannot be read.
    """
    inner = getattr(policy, "policy", policy)
    if isinstance(inner, Policy):
        if inner.game is game:
            return inner
        if inner.game.identity != game.identity:
            if same_rules(inner.game.spec, game.spec):
                return transferred(inner, game)
            raise PolicyError(f"this is a policy for {inner.game}, not for {game}; solve or load one for this game")
        return Policy(game, inner.probabilities)
    if isinstance(policy, Mapping):
        return Policy(game, probabilities_of(game, policy, complete=complete))
    if isinstance(policy, str) and policy == UNIFORM:
        return Policy.uniform(game)
    if (source := source_of(policy)) is not None:
        converted: Policy = source.policy(policy, game)
        return converted
    if isinstance(policy, str | os.PathLike):
        return load_policy(policy_file(policy), game, complete=complete)
    if hasattr(policy, "action_probabilities") or hasattr(policy, "policy_table"):
        from treeplex.forms.policies.openspiel import from_tabular_policy

        return from_tabular_policy(game, policy)
    raise PolicyError(f"cannot read a policy from {type(policy).__name__}; give a Policy, a Solution, a mapping or a file")


def walk_ahead(game: CompiledGame, algorithm: AnyAlgorithm, limit: int | None, walked: WalkWatcher | None) -> None:
    """Walk the histories needed by a sampling algorithm, with progress, before its solver is built."""
    if samples(algorithm):
        histories_of(game, limit=MOST_HISTORIES if limit is None else limit, watch=walked)


def usual_nodes(game: CompiledGame) -> int:
    """Return the default history limit of sampling algorithms: what the default number of full iterations would visit."""
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
    device: str | None = None,
    precision: str | None = None,
) -> SolveSettings:
    """Return settings with defaults filled in."""
    usual = DEFAULT_ITERATIONS if target is None and seconds is None else MOST_ITERATIONS
    usual = usual if nodes is None else UNCOUNTED_ITERATIONS
    count = usual if iterations is None else iterations
    aim = None if target is None else float(target)
    fixed = 0 if seed is None else seed, bool(refine), nodes, device or "cpu", precision or "double"
    return SolveSettings(count, count, aim, every, updates, *fixed)


def planned(game: CompiledGame, algorithm: AnyAlgorithm, settings: SolveSettings) -> tuple[Solver, SolveSettings]:
    """Return a new solver, and its settings, with the horizon reduced to what the history limit allows."""
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
    """Return the planned number of full iterations: all requested, or those within the limit of histories."""
    if settings.nodes is None:
        return settings.horizon
    sweep = game.size.histories * (game.players if updates == "alternating" else 1)
    return min(settings.iterations, -(-settings.nodes // sweep))


def reopen(
    folder: JobFolder,
    game: Game | CompiledGame | None,
    algorithm: AnyAlgorithm | None,
    fixed: Mapping[str, object],
    walked: WalkWatcher | None = None,
    *,
    iterations: int | None,
    nodes: int | None,
    target: float | None,
    seconds: float | None,
    limit: int | None,
    measures: Mapping[str, Measure],
) -> Session:
    """Reopen a run at its last checkpoint; ``fixed`` settings must not change."""
    about = folder.reopen()
    old = SolveSettings.from_json(about["settings"], folder.path / RUN)
    compiled = folder.compiled(game, refine=old.refine, limit=limit, watch=walked)
    if about["identity"] != compiled.identity:
        raise FileError(
            f"{folder.path} is a run on {about['game']}, not on {compiled}, or the rules have changed; give the same "
            "game or start a new run"
        )
    settings = with_new_limits(old, iterations, nodes, target, seconds)
    requested = named_in(folder.path, about["algorithm"], "solve") if algorithm is None else algorithm
    walk_ahead(compiled, requested, limit, walked)
    new = about.get("last") is None and not (folder.path / STATE).exists()
    if new and old.warm:
        raise FileError(f"{folder.path} was stopped before its first checkpoint; restart it (with --force)")
    solver, settings = rebuilt(folder.path, compiled, requested, about["algorithm"], settings, iterations, new=new)
    check_fixed(folder.path, solver, old, fixed)
    job = SolveJob(solver, settings, measures)
    session = go_on(job, folder)
    check_done(folder.path, job, old)
    return session


def rebuilt(
    run: object,
    game: CompiledGame,
    algorithm: AnyAlgorithm,
    before: str,
    settings: SolveSettings,
    iterations: int | None,
    *,
    new: bool = False,
) -> tuple[Solver, SolveSettings]:
    """Rebuild the solver of a resumed run at iteration 0, with settings within its limits.

    Args:
        run: the run's name in messages.
        game: the compiled game.
        algorithm, before: the requested algorithm, and the canonical spec of the original one.
        settings: settings with new limits.
        iterations: requested iterations.
        new: whether the run starts from scratch, so that the horizon may change.

    Returns:
        The solver and the settings.
    """
    if new:
        solver, settings = planned(game, algorithm, replace(settings, horizon=settings.iterations))
    else:
        solver = solver_for(game, algorithm, settings)
    if not same_algorithm(solver.algorithm, before):
        raise different(run, "algorithm", before, solver.algorithm)
    solver.algorithm = before
    if solver.longest is not None and iterations is None:
        settings = replace(settings, iterations=min(settings.iterations, solver.longest))
    if solver.longest is not None and settings.iterations > solver.longest:
        raise SpecError(
            f"{run} was run with {solver.algorithm}, which plans for {solver.longest:,} iterations; give at most that many, "
            f"or start a new run with its parameter horizon={settings.iterations}"
        )
    return solver, replace(settings, iterations=1) if solver.exact else settings


def fixed_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options that a resumed run cannot change; None if not given."""
    return {"refine": options.get("refine") or None, "device": options.get("device"), "precision": options.get("precision")}


def check_fixed(run: object, solver: Solver, old: SolveSettings, fixed: Mapping[str, object]) -> None:
    """Check that fixed settings are unchanged; the default order of updates is the solver's."""
    old = replace(old, updates=old.updates or solver.updates or None)
    for name, value in fixed.items():
        if value is not None and value != getattr(old, name):
            raise different(run, name, getattr(old, name), value)


def check_done(run: object, job: SolveJob, old: SolveSettings) -> None:
    """Check that limits exceed the progress of the run."""
    nodes = None if job.settings.nodes == old.nodes else job.settings.nodes
    check_total(run, (job.done, job.settings.iterations), (job.solver.nodes, nodes))


def check_not_started_again(options: Mapping[str, Any]) -> None:
    """Check that a resumed run has no starting policy."""
    if options.get("start") is not None:
        raise SpecError("'start' does not apply to a resumed run, which already has a policy; leave it out")


def with_new_limits(
    settings: SolveSettings, iterations: int | None, nodes: int | None, target: float | None, seconds: float | None
) -> SolveSettings:
    """Return the settings of a resumed run; new iterations replace an old limit of histories, and vice versa.

    A target or a time limit alone raises the limit to the default of new runs with one.
    """
    counts = settings.iterations, settings.nodes
    if iterations is not None or nodes is not None:
        counts = UNCOUNTED_ITERATIONS if iterations is None else iterations, nodes
    elif target is not None or seconds is not None:
        counts = max(settings.iterations, MOST_ITERATIONS), None
    return replace(settings, iterations=counts[0], nodes=counts[1], target=settings.target if target is None else target)


def solver_for(game: CompiledGame, algorithm: AnyAlgorithm, settings: SolveSettings) -> Solver:
    """Create a solver on the settings' device."""
    solver = new_solver(game, algorithm, settings)
    solver.made_from = algorithm
    if settings.precision == "single":
        if not isinstance(solver, GameSolver):
            raise AlgorithmError(f"{solver.algorithm} does not support single precision; leave precision (--precision) out")
        solver.use_single_precision()
    if settings.warm and isinstance(solver, FormSolver):
        solver.before = settings.warm
    return solver


def new_solver(game: CompiledGame, algorithm: AnyAlgorithm, settings: SolveSettings) -> Solver:
    """Create a solver that starts from the uniform policy."""
    horizon, updates = settings.horizon, settings.updates
    if settings.device != "cpu":
        for solver_on in provided("devices"):
            solver: Solver | None = solver_on(game, algorithm, settings.device, horizon=horizon, updates=updates)
            if solver is not None:
                return solver
    return make_solver(game, algorithm, horizon=horizon, updates=updates, seed=settings.seed)
