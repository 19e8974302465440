"""Train ReBeL: start a training or reopen one, and let it run."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from treeplex.errors import FileError, SpecError
from treeplex.forms.sources.load import load, named_file
from treeplex.forms.subgames.identity import public_identity
from treeplex.forms.subgames.public_rules import public_rules
from treeplex.games.base import Game
from treeplex.games.public import PublicTree
from treeplex.learn.common.workers import Workers
from treeplex.learn.rebel.parallel_self_play import SelfPlayer, SelfPlayJob, SelfPlayRows, parallel_trainer
from treeplex.learn.rebel.trainer import RebelTrainer
from treeplex.runs.discount.workers import Work, crew_for
from treeplex.runs.job.folder import STATE
from treeplex.runs.job.interrupt import Interrupt
from treeplex.runs.job.session import Trained, iterate, one_thread, restored
from treeplex.runs.rebel.events import no_events, tensorboard
from treeplex.runs.rebel.folder import EVENTS, NET, RebelFolder, RebelRecord
from treeplex.runs.rebel.live_evaluation import RunJudge
from treeplex.runs.rebel.session import Sitting, Watcher, telling
from treeplex.runs.rebel.settings import FIXED, RebelRun, changed_under_way

STREAMS_PER_WORKER = 2
"""So that a worker has something to do while this process consumes the rows of the other stream."""
RebelTraining = Trained[RebelRun, RebelRecord]


class RebelInterrupted(KeyboardInterrupt):
    """Ctrl-C during :func:`train_rebel`: everything was saved, and ``training`` holds what there is."""

    def __init__(self, training: RebelTraining) -> None:
        super().__init__("interrupted")
        self.training = training


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
        out: the folder of a new training; see :mod:`treeplex.runs.rebel.folder`.
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
        RebelInterrupted: Ctrl-C; it carries the training so far.
    """
    if (out is None) == (resume is None) or (out is not None and run is None):
        raise SpecError("give a folder: out (--out) for a new training, resume (--resume) to go on with one")
    if judge_every is not None and not judge_every >= 0:
        raise SpecError(f"seconds between judgements must be at least 0, not {judge_every!r}")
    work = Work(workers, ray)
    with one_thread():
        if run is not None and out is not None:
            sitting = start(run, RebelFolder(out), force, work, judge_every, events)
        else:
            folder = RebelFolder(str(resume))
            sitting = reopen(folder, game, changes or {}, seconds, work, judge_every, events)
        over = resume is not None and not changes and sitting.finished and sitting.folder.about()["status"] == "finished"
        over = over and (sitting.folder.path / NET).is_file()
        try:
            with Interrupt() as interrupt:
                sitting.judge.stop = lambda: interrupt.requested
                status = iterate(sitting, interrupt, telling(sitting, progress))
                if sitting.records[-1].solved < sitting.trainer.play.solved:
                    sitting.record()
                if not over:  # else the network would only get a new date, and lose what it was judged to be
                    sitting.save(status)
        finally:
            sitting.events.close()
            if sitting.workers is not None:
                sitting.workers.close()
    sitting.folder.plot(sitting.run, sitting.records)
    training = RebelTraining(sitting.run, tuple(sitting.records), status, sitting.folder.path)
    if status == "interrupted":
        raise RebelInterrupted(training)
    return training


def start(run: RebelRun, folder: RebelFolder, force: bool, work: Work, judge_every: float | None, events: bool) -> Sitting:
    """A new training, its folder claimed once all else is ready, so that a mistake costs no earlier training."""
    rules, spec = typed(run.game)
    run, tree = replace(run, game=spec), public_rules(rules)
    identity = public_identity(tree)
    RebelTrainer(tree, run.settings)
    if events:
        tensorboard()
    if not force:
        folder.claim()  # which is quicker to refuse than a cluster
    sitting = seated(run, tree, folder, identity, work, judge_every)
    with closed_on_error(sitting):
        folder.claim(force=force)
        folder.describe(run, identity, status="running", last=None)
        if events:
            sitting.events = tensorboard()(str(folder.path / EVENTS), None)
    return sitting


def reopen(
    folder: RebelFolder,
    game: str | None,
    changes: Mapping[str, Any],
    seconds: float | None,
    work: Work,
    judge_every: float | None,
    events: bool,
) -> Sitting:
    """A training from its folder, as it stood at its last checkpoint."""
    about, run = folder.about(), folder.run()
    rules, spec = (load(run.game, named_in=folder.path), run.game) if game is None else typed(game)
    tree = public_rules(rules)
    identity = public_identity(tree)
    if identity != about.get("identity"):
        why = f"not {game}" if game else "whose rules changed since"
        raise FileError(
            f"{folder.path} trains on {run.game}, {why}; give the game it was started with, or start a new training"
        )
    settings = changed_under_way(run.settings, changes, FIXED, folder.path)
    run = replace(run, game=spec, settings=settings, seconds=seconds or run.seconds)
    sitting = seated(run, tree, folder, identity, work, judge_every)
    with closed_on_error(sitting):
        restore(sitting, about)
        if events:  # what came after the checkpoint is done again
            gone = sitting.records[-1].solved + 1 if sitting.records else 0
            sitting.events = tensorboard()(str(folder.path / EVENTS), gone)
    return sitting


def typed(spec: str) -> tuple[Game, str]:
    """The rules that a person asks for, and the spec by which workers load them: the canonical one, unless it names a file."""
    rules = load(spec)
    return rules, rules.spec if named_file(spec) is None else spec


@contextmanager
def closed_on_error(sitting: Sitting) -> Iterator[None]:
    """Whatever goes wrong here ends the workers."""
    try:
        yield
    except BaseException:
        if sitting.workers is not None:
            sitting.workers.close()
        raise


def restore(sitting: Sitting, about: Mapping[str, Any]) -> None:
    """Put a new sitting where the checkpoint in its folder stands; at the start if the training never came to one."""
    folder, path = sitting.folder, sitting.folder.path / STATE
    if not path.exists() and about.get("last") is None:
        folder.rewrite([])
        return
    checkpoint = folder.state()
    if checkpoint.identity != sitting.identity:
        raise FileError(f"{path}: the state of a training on another game; put back the right file")
    if checkpoint.algorithm != f"rebel of {sitting.run.streams} streams":
        raise FileError(f"{path}: the state of {checkpoint.algorithm}, not {sitting.run.streams}; put back the right file")
    sitting.records, sitting.cpu_seconds = restored(folder, checkpoint, sitting.trainer.restore, lambda record: record.solved)
    sitting.seconds = checkpoint.seconds


def seated(
    run: RebelRun,
    rules: PublicTree,
    folder: RebelFolder,
    identity: str,
    work: Work,
    judge_every: float | None,
) -> Sitting:
    """A sitting at the beginning: a trainer with its workers; records go nowhere but into ``metrics.jsonl``."""
    crew: Workers[SelfPlayJob, SelfPlayRows] | None = None
    if run.streams == 1:
        if work.ray is not None:
            raise SpecError("a training begun with one worker plays in its own process; leave --ray out, or start another")
        trainer = RebelTrainer(rules, run.settings)
    else:
        crew = crew_for(SelfPlayer(run.game, run.settings), work, run.streams)
        trainer, _ = parallel_trainer(rules, run.settings, crew, run.streams)
    judge = RunJudge(run.game, rules, run.settings, judge_every)
    return Sitting(run, rules, folder, trainer, crew, judge, no_events(), identity=identity)


def streams_for(workers: int | None, ray: str | None = None) -> int:
    """Streams of a new training with so many workers (None: all cores, or CPUs of the cluster): one here is this process.

    Raises:
        SpecError: fewer than one worker; Ray is not installed, or there is no such cluster.
    """
    size = Work(workers, ray).size
    return 1 if size == 1 and ray is None else STREAMS_PER_WORKER * size
