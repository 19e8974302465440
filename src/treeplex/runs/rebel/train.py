"""Train ReBeL: start a training or reopen one, and let it run."""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from treeplex.errors import FileError, SpecError
from treeplex.forms.sources.load import load_rules, named_file
from treeplex.forms.subgames.identity import public_identity
from treeplex.forms.subgames.public_rules import public_rules
from treeplex.games.base import Game
from treeplex.games.public import PublicTree
from treeplex.learn.common.workers import Workers
from treeplex.learn.rebel.parallel_self_play import SelfPlayer, SelfPlayJob, SelfPlayRows, parallel_trainer
from treeplex.learn.rebel.trainer import RebelTrainer
from treeplex.learn.rebel.value_net import torch_module
from treeplex.runs.discount.workers import Work, crew_for
from treeplex.runs.job.folder import RUN, JobFolder
from treeplex.runs.job.interrupt import Interrupted
from treeplex.runs.job.job import go_on, start
from treeplex.runs.job.record import Record, Watcher
from treeplex.runs.rebel.events import tensorboard
from treeplex.runs.rebel.job import EVENTS, REBEL, RebelJob
from treeplex.runs.rebel.live_evaluation import RunJudge
from treeplex.runs.rebel.settings import FIXED, RebelRun, changed_under_way, run_from

STREAMS_PER_WORKER = 2
"""So that a worker has something to do while this process consumes the rows of the other stream."""


@dataclass(frozen=True)
class RebelTraining:
    """A training as it ended.

    Attributes:
        run: what was asked for.
        records: the records (:data:`treeplex.runs.rebel.job.REBEL`).
        status: ``finished`` or ``interrupted``.
        folder: where it is.
    """

    run: RebelRun
    records: tuple[Record, ...]
    status: str
    folder: Path


def train_rebel(
    run: RebelRun | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    game: str | None = None,
    changes: Mapping[str, Any] | None = None,
    seconds: float | None = None,
    force: bool = False,
    workers: int | None = None,
    ray: str | None = None,
    judge_every: float | None = None,
    events: bool = False,
    progress: Watcher | None = None,
) -> RebelTraining:
    """Train a value network by self-play with search.

    Args:
        run: of a new training; its ``streams`` decide, with everything else in it, the numbers.
        out: the folder of a new training; see :mod:`treeplex.runs.rebel.job`.
        resume: a folder to go on with. With one worker (or the same streams) it ends up as if it had never stopped.
        game: with ``resume``, needed where the game is Python code of one's own, which reading a folder does not run.
        changes: with ``resume``, settings to change; not those of :data:`treeplex.runs.rebel.settings.FIXED`.
        seconds: with ``resume``, another budget of time, over all sittings.
        force: overwrite what is in ``out``.
        workers: processes that play, if there are several streams; None for all cores (Ray: all of the cluster's, but no more
            than streams). It changes no number.
        ray: play on a Ray cluster: its address, ``auto`` for the one this machine belongs to, ``local`` for a new one on it.
        judge_every: seconds between judgements of the network under way; None as often as costs a twentieth of the time, in
            small games; 0 never.
        events: write TensorBoard events as well.
        progress: called after each round.

    Raises:
        SpecError: an unknown name or a value outside its range; PyTorch (or TensorBoard, or Ray) is missing; no such cluster.
        GameError: a game that cannot be searched, or whose rules lack features.
        AlgorithmError: the loss is no number, or workers die of a job.
        FileError: a folder that cannot be written, or a training that cannot be resumed.
        Interrupted: Ctrl-C or SIGTERM; its ``result`` is the training so far.
    """
    if (out is None) == (resume is None) or (out is not None and run is None):
        raise SpecError("give a folder: out (--out) for a new training, resume (--resume) to go on with one")
    if judge_every is not None and not judge_every >= 0:
        raise SpecError(f"seconds between judgements must be at least 0, not {judge_every!r}")
    work = Work(workers, ray)
    with one_thread(), JobFolder(REBEL, str(resume) if out is None else out) as folder, ExitStack() as stack:
        if run is not None and out is not None:
            job = new_job(run, folder, force, work, judge_every, events)
            stack.callback(job.close)
            session = start(job, folder, force=force)
        else:
            job = reopened(folder, game, changes or {}, seconds, work, judge_every)
            stack.callback(job.close)
            session = go_on(job, folder)
            job.last = session.records[-1] if session.records else None
            job.lost = job.last.lost if job.last else 0
        if events:  # what came after the checkpoint is done again
            gone = None if out is not None else session.records[-1].done + 1 if session.records else 0
            job.events = tensorboard()(str(folder.path / EVENTS), gone)
        outcome = session.run(progress=progress)
    training = RebelTraining(job.asked, outcome.records, outcome.status, folder.path)
    if training.status == "interrupted":
        raise Interrupted(training)
    return training


def new_job(run: RebelRun, folder: JobFolder, force: bool, work: Work, judge_every: float | None, events: bool) -> RebelJob:
    """A new training; whether it can be written is checked before workers are started."""
    rules, spec = typed(run.game)
    run, tree = replace(run, game=spec), public_rules(rules)
    identity = public_identity(tree)
    RebelTrainer(tree, run.settings)
    if events:
        tensorboard()
    folder.check_free(force=force)
    return job_of(run, tree, identity, folder.path, work, judge_every)


def reopened(
    folder: JobFolder,
    game: str | None,
    changes: Mapping[str, Any],
    seconds: float | None,
    work: Work,
    judge_every: float | None,
) -> RebelJob:
    """The training of a folder, locked, at its beginning."""
    about = folder.reopen()
    run = run_from(about, str(folder.path / RUN))
    rules, spec = (load_rules(run.game, named_in=folder.path), run.game) if game is None else typed(game)
    tree = public_rules(rules)
    identity = public_identity(tree)
    if identity != about["identity"]:
        why = f"not {game}" if game else "whose rules changed since"
        raise FileError(
            f"{folder.path} trains on {run.game}, {why}; give the game it was started with, or start a new training"
        )
    settings = changed_under_way(run.settings, changes, FIXED, folder.path)
    run = replace(run, game=spec, settings=settings, seconds=seconds or run.seconds)
    return job_of(run, tree, identity, folder.path, work, judge_every)


def typed(spec: str) -> tuple[Game, str]:
    """The rules that a person asks for, and the spec by which workers load them: the canonical one, unless it names a file."""
    rules = load_rules(spec)
    return rules, rules.spec if named_file(spec) is None else spec


def job_of(run: RebelRun, rules: PublicTree, identity: str, folder: Path, work: Work, judge_every: float | None) -> RebelJob:
    """A training at its beginning, with its workers."""
    crew: Workers[SelfPlayJob, SelfPlayRows] | None = None
    if run.streams == 1:
        if work.ray is not None:
            raise SpecError("a training begun with one worker plays in its own process; leave --ray out, or start another")
        trainer = RebelTrainer(rules, run.settings)
    else:
        crew = crew_for(SelfPlayer(run.game, run.settings), work, run.streams)
        trainer, _ = parallel_trainer(rules, run.settings, crew, run.streams)
    judge = RunJudge(run.game, rules, run.settings, judge_every)
    return RebelJob(run, identity, trainer, crew, judge, folder)


def streams_for(workers: int | None, ray: str | None = None) -> int:
    """Streams of a new training with so many workers (None: all cores, or CPUs of the cluster): one here is this process.

    Raises:
        SpecError: fewer than one worker; Ray is not installed, or there is no such cluster.
    """
    size = Work(workers, ray).size
    return 1 if size == 1 and ray is None else STREAMS_PER_WORKER * size


@contextmanager
def one_thread() -> Iterator[None]:
    """PyTorch with one thread: these networks are small, and the cores are for self-play."""
    torch = torch_module()
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
