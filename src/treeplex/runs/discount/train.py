"""Train a discount policy: start a training or reopen one, and let it run."""

import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from treeplex.errors import FileError, SpecError
from treeplex.learn.discount.fitness import fitness_on, training_games
from treeplex.runs.discount.job import DISCOUNT, DiscountJob, best_of
from treeplex.runs.discount.settings import TrainSettings, settings_from
from treeplex.runs.discount.workers import Work, trainer_for
from treeplex.runs.job.folder import RUN, JobFolder
from treeplex.runs.job.interrupt import Interrupted
from treeplex.runs.job.job import go_on, start
from treeplex.runs.job.record import Record, Watcher
from treeplex.solvers.rules.discount_policy import DiscountPolicy


@dataclass(frozen=True)
class Training:
    """A training as it ended.

    Attributes:
        settings: what was asked for.
        policy, best: the policy after the last epoch and the one with the best fitness, each with a card.
        records: one an epoch, from epoch 0 on (:data:`treeplex.runs.discount.job.DISCOUNT`).
        status: ``finished`` or ``interrupted``.
        folder: where it is.
    """

    settings: TrainSettings
    policy: DiscountPolicy
    best: DiscountPolicy
    records: tuple[Record, ...]
    status: str
    folder: Path

    @property
    def best_record(self) -> Record:
        """The record of ``best``."""
        return best_of(self.records)


def train(
    settings: TrainSettings | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    changes: Mapping[str, Any] | None = None,
    force: bool = False,
    workers: int | None = None,
    ray: str | None = None,
    progress: Watcher | None = None,
) -> Training:
    """Train a discount policy.

    Args:
        settings: of a new training; None for the usual ones.
        out: the training folder of a new training; see :mod:`treeplex.runs.discount.job`.
        resume: a training folder to go on with. It ends up as if it had never stopped, seconds, dates and dead workers
            excepted.
        changes: with ``resume``, settings that may only repeat what the training has, but for ``epochs``.
        force: overwrite the training in ``out``.
        workers: how many play episodes at a time; None for all cores (Ray: all of the cluster's). It changes no number.
        ray: play on a Ray cluster: its address, ``auto`` for the one this machine belongs to, ``local`` for a new one on it.
        progress: called after each epoch.

    Raises:
        SpecError: an unknown name or a value outside its range.
        AlgorithmError: a game that cannot be trained on, or one that workers die of.
        FileError: a folder that cannot be written, or a training that cannot be resumed.
        Interrupted: Ctrl-C or SIGTERM; its ``result`` is the training so far.
    """
    if (out is None) == (resume is None):
        raise SpecError("give a folder: out (--out) for a new training, resume (--resume) to go on with one")
    work = Work(workers, ray)
    with JobFolder(DISCOUNT, str(resume) if out is None else out) as folder:
        if out is not None:
            folder.check_free(force=force)
            job = job_of(settings or TrainSettings(), work)
        else:
            job = reopened(folder, changes or {}, work)
        with closing(job.trainer):
            session = start(job, folder, force=force) if out is not None else go_on(job, folder)
            if job.done > job.total:
                raise SpecError(
                    f"{folder.path} has trained {job.done} epochs already; epochs counts all of them, so ask for at least "
                    f"{job.done}"
                )
            outcome = session.run(progress=progress)
    records = outcome.records
    policies = job.last_policy(records), job.best_policy(records)
    training = Training(job.settings, *policies, records, outcome.status, folder.path)
    if training.status == "interrupted":
        raise Interrupted(training)
    return training


def job_of(settings: TrainSettings, work: Work, *, named_in: Path | None = None) -> DiscountJob:
    """A training at epoch 0; ``named_in`` is the folder that names its games, None if a person does."""
    games = training_games(settings.games, named_in=named_in)
    fitness = fitness_on(games, settings.horizon, kind=settings.fitness, weights=settings.weights)
    return DiscountJob(settings, games, trainer_for(settings, games, fitness, work), fitness)


def reopened(folder: JobFolder, changes: Mapping[str, Any], work: Work) -> DiscountJob:
    """The training of a folder, locked, at epoch 0."""
    about = folder.reopen()
    settings = settings_from(about["settings"], str(folder.path / RUN))
    for name, value in changes.items():
        old = getattr(settings, name)
        if name != "epochs" and value != old:
            raise SpecError(f"{folder.path} trains with {name} {old}, not {value}; leave it out or start a new training")
    named_in = None if "games" in changes else folder.path
    job = job_of(replace(settings, epochs=changes.get("epochs", settings.epochs)), work, named_in=named_in)
    if job.about()["identities"] != about["identities"]:
        job.trainer.close()
        raise FileError(f"{folder.path}: the rules of its games changed since; start a new training")
    return job
