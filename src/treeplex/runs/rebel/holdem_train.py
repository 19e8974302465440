"""Train a network for rivers by ReBeL on turns of hold'em: start a training or reopen one, and let it run."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from time import perf_counter, process_time
from typing import Any

import numpy as np

from treeplex.errors import AlgorithmError, FileError, SpecError
from treeplex.games.poker.spots.spot import Spot
from treeplex.learn.rebel.holdem_trainer import HoldemRebelSettings, save_rivers
from treeplex.learn.rebel.trainer import RebelTrainer
from treeplex.runs.job.checkpoint import Checkpoint
from treeplex.runs.job.folder import STATE
from treeplex.runs.job.interrupt import Interrupt
from treeplex.runs.job.session import Trained, iterate, one_thread, restored, stopped_by
from treeplex.runs.rebel.holdem_folder import NET, HoldemRebelFolder, HoldemRebelRecord
from treeplex.runs.rebel.holdem_settings import FIXED, HoldemRebelRun, settings_for, turn_run
from treeplex.runs.rebel.settings import changed_under_way

NAME = "rebel on turns"
"""What checkpoints call it."""
TurnTraining = Trained[HoldemRebelRun, HoldemRebelRecord]


class HoldemRebelInterrupted(KeyboardInterrupt):
    """Ctrl-C during :func:`train_turns`: everything was saved, and ``training`` holds what there is."""

    def __init__(self, training: TurnTraining) -> None:
        super().__init__("interrupted")
        self.training = training


@dataclass(frozen=True)
class HoldemRebelProgress:
    """Where a training stands, for a live display.

    Attributes:
        run: what was asked for.
        last: the numbers of this moment; loss and rate since the last record.
        seconds_left: an estimate.
    """

    run: HoldemRebelRun
    last: HoldemRebelRecord
    seconds_left: float


Watcher = Callable[[HoldemRebelProgress], None]


def train_turns(
    spot: Spot | None = None,
    settings: HoldemRebelSettings | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    changes: Mapping[str, Any] | None = None,
    force: bool = False,
    progress: Watcher | None = None,
) -> TurnTraining:
    """Train a network for rivers by self-play on turns.

    Args:
        spot: the turn on which games are modelled: its pot, bet sizes and format. Board, stack and sizes are moved as the
            settings say; every hand may be held, whatever its ranges.
        settings: default: the usual ones, stacks in parts of the spot's pot.
        out: the folder of a new training; see :mod:`treeplex.runs.rebel.holdem_folder`.
        resume: a folder to go on with, bit for bit. A finished training is left as it is.
        changes: with ``resume``, settings to change; not those of :data:`treeplex.runs.rebel.holdem_settings.FIXED`.
        force: overwrite what is in ``out``.
        progress: called after each game.

    Raises:
        SpecError: an unknown name or a value outside its range, a spot that is no turn, or PyTorch is missing.
        AlgorithmError: the loss is no number; the last good checkpoint stays.
        FileError: a folder that cannot be written, or a training that cannot be resumed.
        HoldemRebelInterrupted: Ctrl-C; it carries the training so far.
    """
    if (out is None) == (resume is None) or (out is not None and spot is None):
        raise SpecError("give a folder: out (--out) for a new training, resume (--resume) to go on with one")
    with one_thread():
        if spot is not None and out is not None:
            sitting = start(turn_run(spot, settings or settings_for(spot)), HoldemRebelFolder(out), force)
        else:
            sitting = reopen(HoldemRebelFolder(str(resume)), changes or {})
        over = resume is not None and not changes and sitting.finished and sitting.folder.about()["status"] == "finished"
        over = over and (sitting.folder.path / NET).is_file()
        with Interrupt() as interrupt:
            status = iterate(sitting, interrupt, telling(sitting, progress))
            if not over:  # else the network would only get a new date
                if sitting.records[-1].games < sitting.trainer.play.games:
                    sitting.record()
                sitting.save(status)
                sitting.folder.plot(sitting.run, sitting.records)
    training = TurnTraining(sitting.run, tuple(sitting.records), status, sitting.folder.path)
    if status == "interrupted":
        raise HoldemRebelInterrupted(training)
    return training


@dataclass
class Sitting:
    """A training under way: the only thing here that changes.

    ``losses`` gathers for the next record the gradient steps of each game and their mean loss.
    """

    run: HoldemRebelRun
    folder: HoldemRebelFolder
    trainer: RebelTrainer
    records: list[HoldemRebelRecord] = field(default_factory=list)
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    losses: list[tuple[int, float]] = field(default_factory=list)
    saved_at: float = field(default_factory=perf_counter)

    @property
    def finished(self) -> bool:
        """Whether all games have been drawn."""
        return self.trainer.finished

    def round(self) -> None:
        """One game, and its time."""
        began, processor, steps = perf_counter(), process_time(), self.trainer.steps
        try:
            found = self.trainer.round()
        except AlgorithmError as error:
            self.folder.describe(self.run, status="failed", last=self.records[-1])
            raise stopped_by(error, self.folder, "games") from error
        self.seconds += perf_counter() - began
        self.cpu_seconds += process_time() - processor
        if found.steps > steps:
            self.losses.append((found.steps - steps, found.loss))

    def now(self) -> HoldemRebelRecord:
        """Where the training stands; the rate is that of the last record as long as there is nothing to go by."""
        last = self.records[-1] if self.records else HoldemRebelRecord(0, 0, 0, None, 0.0, 0.0, 0.0)
        games, passed = self.trainer.play.games, self.seconds - last.seconds
        steps = sum(count for count, _ in self.losses)
        return HoldemRebelRecord(
            games=games,
            rows=len(self.trainer.values.rows),
            steps=self.trainer.steps,
            loss=sum(count * loss for count, loss in self.losses) / steps if steps else None,
            seconds=self.seconds,
            cpu_seconds=self.cpu_seconds,
            rate=(games - last.games) / passed if games > last.games and passed > 0 else last.rate,
        )

    def record(self) -> None:
        """Write down where the training stands."""
        self.records.append(self.now())
        self.losses.clear()
        self.folder.append(self.records[-1])

    def save(self, status: str) -> None:
        """Write everything but the picture."""
        trainer, run = self.trainer, self.run
        arrays = {**trainer.state(), "time": np.array([self.cpu_seconds])}
        self.folder.save_state(Checkpoint(run.spot.identity, NAME, trainer.play.games, self.seconds, arrays))
        card = {"seconds": self.seconds, "cpu_seconds": self.cpu_seconds, "date": datetime.now(UTC).date().isoformat()}
        save_rivers(trainer, self.folder.path / NET, **card, spot=run.spot.to_json())
        self.folder.describe(run, status=status, last=self.records[-1] if self.records else None)
        self.saved_at = perf_counter()


def start(run: HoldemRebelRun, folder: HoldemRebelFolder, force: bool) -> Sitting:
    """A new training, its folder claimed once all else is ready, so that a mistake costs no earlier training."""
    sitting = Sitting(run, folder, RebelTrainer(run.spot, run.settings))
    folder.claim(force=force)
    folder.describe(run, status="running", last=None)
    return sitting


def reopen(folder: HoldemRebelFolder, changes: Mapping[str, Any]) -> Sitting:
    """A training from its folder, as it stood at its last checkpoint; at the start if it never came to one."""
    about, run = folder.about(), folder.run()
    run = replace(run, settings=changed_under_way(run.settings, changes, FIXED, folder.path))
    sitting = Sitting(run, folder, RebelTrainer(run.spot, run.settings))
    path = folder.path / STATE
    if not path.exists() and about.get("last") is None:
        folder.rewrite([])
        return sitting
    checkpoint = folder.state()
    if (checkpoint.algorithm, checkpoint.identity) != (NAME, run.spot.identity):
        raise FileError(f"{path}: the state of another training; put back the right file")
    sitting.records, sitting.cpu_seconds = restored(folder, checkpoint, sitting.trainer.restore, lambda record: record.games)
    sitting.seconds = checkpoint.seconds
    return sitting


def telling(sitting: Sitting, progress: Watcher | None) -> Callable[[], None]:
    """What tells ``progress``, if there is one, where a sitting stands that begins now."""
    first, began = sitting.trainer.play.games, sitting.seconds

    def tell() -> None:
        if progress is not None:
            last, done = sitting.now(), sitting.trainer.play.games - first
            left = (sitting.seconds - began) / done * max(0, sitting.run.settings.games - last.games)
            progress(HoldemRebelProgress(sitting.run, last, left))

    return tell
