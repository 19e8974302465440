"""Monte Carlo CFR on games too large to compile."""

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from treeplex.base.spec import Spec, suggests_arguments
from treeplex.errors import AlgorithmError, JobInterrupt, SpecError
from treeplex.evaluate.playouts import PLAYOUTS
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.stepping import turn_by_turn
from treeplex.forms.policies.files import load_policy
from treeplex.forms.policies.neural import NeuralPolicy, is_neural_policy
from treeplex.forms.policies.sparse import TablePolicy, is_table_policy, load_table_policy
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import load
from treeplex.forms.sources.user_module import is_user_spec
from treeplex.games.base import Game
from treeplex.run.job.folder import RUN, JobFolder, folder_at
from treeplex.run.job.job import Session, go_on, start
from treeplex.run.job.progress_line import AnyProgress, watcher_for
from treeplex.run.job.record import UNCOUNTED_ITERATIONS, check_limits, check_total, different
from treeplex.run.policy_source import check_unchanged
from treeplex.run.sample.job import SampleJob, SamplingRun
from treeplex.run.sample.settings import DEFAULT_MEMORY, POLICY, SAMPLE, UNIFORM, SampleSettings
from treeplex.run.solve.settings import DEFAULT_ITERATIONS
from treeplex.solvers import algorithms
from treeplex.solvers.registry import algorithm_spec, known_algorithm, named_in, same_algorithm
from treeplex.solvers.sampling.rules_solver import RulesSampler
from treeplex.solvers.sampling.solver import SAMPLINGS, SamplingScheme
from treeplex.solvers.synonyms import unknown_algorithm

DEFAULT_ALGORITHM = "es-mccfr"
WORTH_COMPILING = 1000
"""Number of iterations from which compiling the rules' Numba functions, a few seconds, pays off."""
UNITS = {"": 1, "B": 1}
UNITS |= {f"{letter}B": 1000**power for power, letter in enumerate("KMGT", start=1)}
UNITS |= {f"{letter}IB": 1024**power for power, letter in enumerate("KMGT", start=1)}


@suggests_arguments
def sample(
    game: str | Game | None = None,
    algorithm: str | SamplingScheme | None = None,
    *,
    iterations: int | None = None,
    seconds: float | None = None,
    nodes: int | None = None,
    memory: int | str | None = None,
    every: int | None = None,
    seed: int | None = None,
    playouts: int | None = None,
    against: str | os.PathLike[str] | None = None,
    judge: bool | None = None,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    resume: str | os.PathLike[str] | None = None,
    progress: AnyProgress = None,
) -> SamplingRun:
    """Run Monte Carlo CFR on rules without compiling the game; tables grow with visited infosets.

    Args:
        game: a spec or rules; optional when resuming.
        algorithm: a sampling scheme such as ``"es-mccfr"`` or ``"os-mccfr(variant=lcfr)"``, or a custom scheme,
            ``"my.py:NAME"`` or the object, which must be given again when resuming; default ``"es-mccfr"``.
        iterations: total iterations over all resumes; default 1000, or unlimited with another limit. One iteration is one walk
            per player.
        seconds: approximate time limit of this call; iterations are completed.
        nodes: limit of visited histories over all resumes.
        memory: memory limit of the tables, in bytes or as text such as ``"1GiB"``; default 1 GiB. Once it is reached, no more
            infosets are added (:class:`treeplex.solvers.sampling.rules_solver.RulesSampler`).
        every: iterations between evaluations; default: after 1, 2, 5, 10, 20, 50, ...
        seed: random seed; default 0.
        playouts: playouts per evaluation, in self-play and again against ``against``; default 1000.
        against: the opponent: ``"uniform"``, or the file or folder of another run.
        judge: compile the game and compute exploitability, if possible.
        out: the run's folder; see :mod:`treeplex.run.sample.settings`.
        force: overwrite the run in ``out``.
        resume: the folder of a run to resume. Only ``iterations``, ``nodes``, ``seconds`` and ``memory`` may change;
            ``seconds`` alone lifts the limits of iterations and nodes.
        progress: False hides progress; default: one updating line on a terminal or in a notebook, or ``logging`` at level INFO;
            see :func:`treeplex.solve`. A function is called about ten times per second.

    Returns:
        A :class:`treeplex.run.sample.job.SamplingRun` with the average policy and all evaluations.

    Raises:
        SpecError: an unknown name or a value outside its range.
        GameError: the rules cannot be walked.
        AlgorithmError: the algorithm does not sample, or an option needs the compiled game.
        FileError: the folder cannot be written, or the run cannot be resumed.
        JobInterrupt: Ctrl-C or SIGTERM; its ``result`` is the partial result.
    """
    check_limits(None, seconds)
    most = None if memory is None else parsed_memory(memory)
    other = None if against is None else str(against)
    with watcher_for(progress, "preparing") as watch, folder_at(SAMPLE, out if resume is None else resume) as folder:
        if resume is None:
            if game is None:
                raise SpecError("no game given; name one (see treeplex games) or a folder to resume")
            usual = DEFAULT_ITERATIONS if seconds is None and nodes is None else UNCOUNTED_ITERATIONS
            settings = SampleSettings(
                iterations=usual if iterations is None else iterations,
                nodes=nodes,
                every=every,
                seed=0 if seed is None else seed,
                memory=DEFAULT_MEMORY if most is None else most,
                playouts=PLAYOUTS if playouts is None else playouts,
                against=UNIFORM if other is None else other,
                judge=bool(judge),
            )
            session = start(job_of(game, algorithm or DEFAULT_ALGORITHM, settings), folder, force=force)
        else:
            if out is not None and Path(out) != Path(resume):
                raise SpecError("a resumed run stays in its own folder; give only one of 'out' and 'resume'")
            assert folder is not None
            fixed = {"every": every, "seed": seed, "playouts": playouts, "against": other, "judge": judge}
            count = UNCOUNTED_ITERATIONS if iterations is None and nodes is None and seconds is not None else iterations
            limits = {"iterations": count, "nodes": nodes, "memory": most}
            session = reopen(folder, game, algorithm, fixed, limits)
        outcome = session.run(seconds=seconds, progress=watch)
    assert isinstance(session.job, SampleJob)
    sampled = SamplingRun(session.job, outcome)
    if sampled.status == "interrupted":
        raise JobInterrupt(sampled)
    return sampled


def parsed_memory(memory: int | str) -> int:
    """Parse a number of bytes such as ``500MB``, ``1GiB``, ``2 GB`` or ``1e9``.

    Raises:
        SpecError: the text is not a size.
    """
    match = re.fullmatch(r"([0-9.]+(?:e[0-9]+)?)\s*([a-z]*)", str(memory).strip().lower())
    try:
        size = float(match[1]) * UNITS[match[2].upper()] if match else None
    except (KeyError, ValueError):
        size = None
    if size is None or size < 1 or size > 2**62:
        raise SpecError(f"cannot read {str(memory)!r} as memory; write 500MB, 1GiB or a number of bytes")
    return int(size)


def sampler_of(
    game: str | Game, algorithm: str | SamplingScheme, *, seed: int, memory: int | None, functions: bool = True
) -> RulesSampler:
    """Create a sampler; for ``functions`` see :class:`treeplex.solvers.sampling.rules_solver.RulesSampler`.

    Raises:
        SpecError: an unknown algorithm or parameter.
        AlgorithmError: the algorithm does not sample.
    """
    name = "" if not isinstance(algorithm, str) or is_user_spec(algorithm) else algorithm_spec(algorithm).name
    if name and name not in algorithms():
        raise unknown_algorithm(name, SAMPLINGS, "unknown sampling scheme")
    known, parameters = known_algorithm(algorithm, DEFAULT_ALGORITHM)
    if (scheme := known.scheme) is None:
        raise AlgorithmError(f"{known.name} needs a compiled game; sample with {', '.join(SAMPLINGS)}")
    text = str(Spec(known.name, dict(parameters)))
    options = scheme.options(parameters)
    return RulesSampler(game, scheme, options, seed=seed, most_bytes=memory, algorithm=text, functions=functions)


def job_of(game: str | Game, algorithm: str | SamplingScheme, settings: SampleSettings) -> SampleJob:
    """Create a new run.

    Raises:
        SpecError: the game has no decisions.
    """
    short = settings.iterations < WORTH_COMPILING
    sampler = sampler_of(game, algorithm, seed=settings.seed, memory=settings.memory, functions=not short)
    sampler.game.check_decisions()
    compiled = compile_game(sampler.game) if settings.judge else None
    return SampleJob(sampler, settings, policy_of(settings.against, sampler.game), compiled)


def reopen(
    folder: JobFolder,
    game: str | Game | None,
    algorithm: str | SamplingScheme | None,
    fixed: Mapping[str, object],
    limits: Mapping[str, int | None],
) -> Session:
    """Reopen a run; ``fixed`` settings must not change, ``limits`` may."""
    about = folder.reopen()
    settings = SampleSettings.from_json(about["settings"], folder.path / RUN)
    for name, value in fixed.items():
        if value is not None and value != getattr(settings, name):
            raise different(folder.path, name, getattr(settings, name), value)
    if limits["iterations"] is not None or limits["nodes"] is not None:
        count = UNCOUNTED_ITERATIONS if limits["iterations"] is None else limits["iterations"]
        settings = replace(settings, iterations=count, nodes=limits["nodes"])
    if limits["memory"] is not None:
        settings = replace(settings, memory=limits["memory"])
    rules = load(about["game"], named_in=folder.path).enumerable_rules() if game is None else load(game).enumerable_rules()
    named = named_in(folder.path, about["algorithm"], "sample") if algorithm is None else algorithm
    job = job_of(rules, named, settings)
    sampler = job.sampler
    if not same_algorithm(sampler.algorithm, about["algorithm"]) or sampler.game.spec != about["game"]:
        raise SpecError(
            f"{folder.path} was run with {about['algorithm']} on {about['game']}, not {sampler.algorithm} on "
            f"{sampler.game}; leave out both or start a new run"
        )
    sampler.algorithm = about["algorithm"]
    check_unchanged(folder.path, about, job.checksums)
    session = go_on(job, folder)
    check_total(folder.path, (sampler.iteration, settings.iterations), (sampler.nodes, limits["nodes"]))
    return session


def policy_of(named: str, rules: Game) -> TablePolicy | NeuralPolicy | Policy:
    """Load a policy by name: ``uniform``, a run folder or a file. The game is compiled for the policy of a compiled game.

    Raises:
        FileError: the file is missing or not a policy.
        SpecError, PolicyError: the policy belongs to another game.
    """
    if named == UNIFORM:
        return TablePolicy.uniform(rules.spec, rules.num_players)
    file = Path(named) / POLICY if os.path.isdir(named) else Path(named)
    if is_neural_policy(file):
        policy: TablePolicy | NeuralPolicy = NeuralPolicy.load(file)
    elif is_table_policy(file) or not os.path.exists(file):
        policy = load_table_policy(file)
    else:
        return load_policy(file, rules)
    if policy.spec != rules.spec or policy.players != rules.num_players:
        raise SpecError(f"{named} is a policy for {policy.spec}, not for {rules}; give that game or a policy for this one")
    return policy


def rules_and_policy(game: str | Game, named: str) -> tuple[Game, TablePolicy | NeuralPolicy | Policy]:
    """Return turn-based rules and a policy for them by name.

    Raises:
        SpecError: unknown game, or the policy belongs to another game.
        GameError: the rules cannot be played.
        FileError: the file is missing or not a policy.
    """
    rules = turn_by_turn(load(game).walkable_rules())
    return rules, policy_of(named, rules)
