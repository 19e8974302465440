"""Train a discount policy: start a training or reopen one, and let it run."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from treeplex.errors import FileError, SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.learn.discount.fitness import Fitness, exploitability_of, fitness_on, training_games
from treeplex.learn.discount.trainer import EpochReport, Trainer
from treeplex.runs.discount.folder import BEST, POLICY, TRAIN, TrainFolder, TrainRecord
from treeplex.runs.discount.settings import TrainSettings
from treeplex.runs.discount.workers import Work, trainer_for
from treeplex.runs.job.checkpoint import Checkpoint
from treeplex.runs.job.folder import METRICS, STATE, own_version
from treeplex.runs.job.interrupt import Interrupt
from treeplex.solvers.rules.discount_policy import DiscountPolicy

CHECKPOINT_SECONDS = 10.0


@dataclass(frozen=True)
class TrainProgress:
    """Where a training stands, for a live display.

    Attributes:
        algorithm: what is trained.
        epochs: epochs asked for.
        last, best: the last record, and the one with the best fitness; None before the first.
        seconds_left: an estimate from the epochs of this sitting; None before the first.
        lost: workers that died so far.
    """

    algorithm: str
    epochs: int
    last: TrainRecord | None
    best: TrainRecord | None
    seconds_left: float | None
    lost: int


Watcher = Callable[[TrainProgress], None]


@dataclass(frozen=True)
class Training:
    """A training as it ended.

    Attributes:
        settings: what was asked for.
        policy, best: the policy after the last epoch and the one with the best fitness, each with a card.
        records: one an epoch, from epoch 0 on.
        status: ``finished`` or ``interrupted``.
        folder: where it is.
    """

    settings: TrainSettings
    policy: DiscountPolicy
    best: DiscountPolicy
    records: tuple[TrainRecord, ...]
    status: str
    folder: Path

    @property
    def best_record(self) -> TrainRecord:
        """The record of ``best``."""
        return best_of(self.records)


class TrainInterrupted(KeyboardInterrupt):
    """Ctrl-C during :func:`train`: everything was saved, and ``training`` holds what there is."""

    def __init__(self, training: Training) -> None:
        super().__init__("interrupted")
        self.training = training


class _Stopped(Exception):  # noqa: N818 (no error)
    """Ctrl-C was pressed while an epoch's episodes ran; the trainer is as it was before the epoch."""


@dataclass
class _Run:
    """A training under way: the only thing here that changes."""

    settings: TrainSettings
    games: Sequence[CompiledGame]
    trainer: Trainer
    folder: TrainFolder
    records: list[TrainRecord] = field(default_factory=list)
    best_parameters: Any = None
    seconds: float = 0.0
    saved_at: float = field(default_factory=perf_counter)

    @property
    def identities(self) -> list[str]:
        """The games' identities."""
        return [game.identity for game in self.games]

    def record(self, found: TrainRecord) -> None:
        """Keep a record, and the network if it is the best so far."""
        if not self.records or found.fitness > best_of(self.records).fitness:
            self.best_parameters = self.trainer.policy.parameters.copy()
        self.records.append(found)
        self.folder.append(found)

    def policy(self) -> DiscountPolicy:
        """The policy after the last epoch, with a card."""
        return with_card(self.trainer.policy, self.settings, self.records[-1])

    def best(self) -> DiscountPolicy:
        """The best policy so far, with a card."""
        policy = self.trainer.policy.with_parameters(self.best_parameters)
        return with_card(policy, self.settings, best_of(self.records))

    def save(self, status: str) -> None:
        """Write everything but the picture."""
        arrays = {**self.trainer.state(), "best_parameters": self.best_parameters}
        identity = " ".join(self.identities)
        name = f"{self.settings.algorithm} by {self.settings.optimizer}"
        self.folder.save_state(Checkpoint(identity, name, self.trainer.epoch, self.seconds, arrays))
        self.folder.save_policy(self.policy(), POLICY)
        self.folder.save_policy(self.best(), BEST)
        best, lost = best_of(self.records), sum(record.lost for record in self.records)
        self.folder.describe(self.settings, self.identities, status=status, last=self.records[-1], best=best, lost=lost)
        self.saved_at = perf_counter()


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
        out: the training folder of a new training; see :mod:`treeplex.runs.discount.folder`.
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
        TrainInterrupted: Ctrl-C; it carries the training so far.
    """
    if (out is None) == (resume is None):
        raise SpecError("give a folder: out (--out) for a new training, resume (--resume) to go on with one")
    work = Work(workers, ray)
    if out is not None:
        run, fitness = start(settings or TrainSettings(), out, force, work)
    else:
        run, fitness = reopen(TrainFolder(str(resume)), changes or {}, work)
    with Interrupt() as interrupt:
        try:
            status = iterate(run, fitness, interrupt, progress)
        finally:
            run.trainer.close()
    run.save(status)
    run.folder.plot(run.settings, run.records)
    training = Training(run.settings, run.policy(), run.best(), tuple(run.records), status, run.folder.path)
    if status == "interrupted":
        raise TrainInterrupted(training)
    return training


def start(settings: TrainSettings, out: str | os.PathLike[str], force: bool, work: Work) -> tuple[_Run, Fitness]:
    """A new training at epoch 0, its folder claimed once all else is ready, so that a mistake costs no earlier training."""
    games = training_games(settings.games)
    fitness = fitness_on(games, settings.horizon, kind=settings.fitness, weights=settings.weights)
    run = _Run(settings, games, trainer_for(settings, games, fitness, work), TrainFolder(out))
    try:
        run.folder.claim(force=force)
        run.folder.describe(settings, run.identities, status="running", last=None, best=None, lost=0)
    except BaseException:
        run.trainer.close()
        raise
    return run, fitness


def reopen(folder: TrainFolder, changes: Mapping[str, Any], work: Work) -> tuple[_Run, Fitness]:
    """A training from its folder, as it stood at its last checkpoint."""
    about, settings = folder.about(), folder.settings()
    for name, value in changes.items():
        old = getattr(settings, name)
        if name != "epochs" and value != old:
            raise SpecError(f"{folder.path} trains with {name} {old}, not {value}; leave it out or start a new training")
    settings = replace(settings, epochs=changes.get("epochs", settings.epochs))
    games = training_games(settings.games, named_in=None if "games" in changes else folder.path)
    if [game.identity for game in games] != about["identities"]:
        raise FileError(f"{folder.path}: the rules of its games changed since; start a new training")
    fitness = fitness_on(games, settings.horizon, kind=settings.fitness, weights=settings.weights)
    run = _Run(settings, games, trainer_for(settings, games, fitness, work), folder)
    if (folder.path / STATE).exists() or about.get("last") is not None:
        try:
            restore(run)
        except BaseException:
            run.trainer.close()
            raise
    else:
        folder.rewrite([])
    return run, fitness


def restore(run: _Run) -> None:
    """Put a new run where the checkpoint in its folder stands."""
    folder, path, checkpoint = run.folder, run.folder.path / STATE, run.folder.state()
    if checkpoint.identity != " ".join(run.identities):
        raise FileError(f"{path}: the state of another training; put back the right file")
    if checkpoint.iteration > run.settings.epochs:
        raise SpecError(
            f"{folder.path} has trained {checkpoint.iteration} epochs already; epochs counts all of them, so ask for at least "
            f"{checkpoint.iteration}"
        )
    try:
        run.trainer.restore(checkpoint.arrays)
        run.best_parameters = np.array(checkpoint.arrays["best_parameters"])
        run.trainer.policy.with_parameters(run.best_parameters)
    except (FileError, SpecError, KeyError, ValueError, TypeError) as error:
        raise FileError(f"{path}: not a state of {checkpoint.algorithm} ({error}); start again (with --force)") from error
    found = folder.records()
    run.records = [record for record in found if record.epoch <= checkpoint.iteration]
    if [record.epoch for record in run.records] != list(range(checkpoint.iteration + 1)):
        raise FileError(
            f"{folder.path / METRICS}: truncated or changed, for {TRAIN} and {STATE} are {checkpoint.iteration} epochs on; "
            "put back a copy or start the training again (with --force)"
        )
    run.seconds = checkpoint.seconds
    folder.rewrite(run.records)


def iterate(run: _Run, fitness: Fitness, interrupt: Interrupt, progress: Watcher | None) -> str:
    """Train until the last epoch or Ctrl-C; return which."""

    def watch() -> None:
        if interrupt.requested:
            raise _Stopped

    run.trainer.watch = watch
    if not run.records:
        run.record(before(run.trainer.policy, run.games, fitness))
        run.save("running")
    first, began = run.trainer.epoch, perf_counter()
    tell(run, None, progress)
    while run.trainer.epoch < run.settings.epochs:
        begun = perf_counter()
        try:
            report = run.trainer.step()
        except _Stopped:
            return "interrupted"
        run.seconds += perf_counter() - begun
        run.record(record_of(report, run.seconds))
        if perf_counter() - run.saved_at >= CHECKPOINT_SECONDS:
            run.save("running")
        done = run.trainer.epoch
        tell(run, (perf_counter() - began) / (done - first) * (run.settings.epochs - done), progress)
        if interrupt.requested and done < run.settings.epochs:
            return "interrupted"
    return "finished"


def tell(run: _Run, left: float | None, progress: Watcher | None) -> None:
    """Report where a training stands."""
    if progress:
        lost = sum(record.lost for record in run.records)
        state = TrainProgress(
            run.settings.algorithm, run.settings.epochs, run.records[-1], best_of(run.records), left, lost
        )  # fmt: skip
        progress(state)


def before(policy: DiscountPolicy, games: Sequence[CompiledGame], fitness: Fitness) -> TrainRecord:
    """The record of a policy before training."""
    reached = exploitability_of(policy, games)
    return TrainRecord(0, float(fitness.of(reached)), None, None, tuple(float(value) for value in reached), 0.0)


def record_of(report: EpochReport, seconds: float) -> TrainRecord:
    """The record of an epoch."""
    return TrainRecord(
        report.epoch, report.fitness, report.mean, report.best, report.exploitability, seconds, report.lost
    )  # fmt: skip


def best_of(records: Sequence[TrainRecord]) -> TrainRecord:
    """The first record with the best fitness."""
    return max(records, key=lambda record: record.fitness)


def with_card(policy: DiscountPolicy, settings: TrainSettings, record: TrainRecord) -> DiscountPolicy:
    """The policy with a card: what it was trained on and how, when, and how it scores."""
    asked = asdict(settings)
    card = {
        "algorithm": settings.algorithm,
        "games": list(settings.games),
        "epochs": record.epoch,
        "settings": {name: asked[name] for name in asked if name not in ("algorithm", "games")},
        "seconds": record.seconds,
        "date": datetime.now(UTC).date().isoformat(),
        "fitness": record.fitness,
        "exploitability": dict(zip(settings.games, record.exploitability, strict=True)),
        "treeplex": own_version(),
    }
    return replace(policy, card=card)
