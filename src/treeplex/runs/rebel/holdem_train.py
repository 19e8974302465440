"""Train a network for rivers by ReBeL on turns of hold'em: start a training or reopen one, and let it run."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from treeplex.errors import SpecError
from treeplex.games.poker.spots.spot import Spot
from treeplex.learn.rebel.holdem_trainer import HoldemRebelSettings
from treeplex.learn.rebel.trainer import RebelTrainer
from treeplex.runs.job.folder import RUN, JobFolder
from treeplex.runs.job.interrupt import Interrupted
from treeplex.runs.job.job import go_on, start
from treeplex.runs.job.record import Record, Watcher
from treeplex.runs.rebel.holdem_job import TURNS, HoldemRebelJob
from treeplex.runs.rebel.holdem_settings import FIXED, HoldemRebelRun, run_from, settings_for, turn_run
from treeplex.runs.rebel.settings import changed_under_way
from treeplex.runs.rebel.train import one_thread


@dataclass(frozen=True)
class TurnTraining:
    """A training as it ended.

    Attributes:
        run: what was asked for.
        records: the records (:data:`treeplex.runs.rebel.holdem_job.TURNS`).
        status: ``finished`` or ``interrupted``.
        folder: where it is.
    """

    run: HoldemRebelRun
    records: tuple[Record, ...]
    status: str
    folder: Path


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
        out: the folder of a new training; see :mod:`treeplex.runs.rebel.holdem_job`.
        resume: a folder to go on with, bit for bit. A finished training is left as it is.
        changes: with ``resume``, settings to change; not those of :data:`treeplex.runs.rebel.holdem_settings.FIXED`.
        force: overwrite what is in ``out``.
        progress: called after each game.

    Raises:
        SpecError: an unknown name or a value outside its range, a spot that is no turn, or PyTorch is missing.
        AlgorithmError: the loss is no number; the last good checkpoint stays.
        FileError: a folder that cannot be written, or a training that cannot be resumed.
        Interrupted: Ctrl-C or SIGTERM; its ``result`` is the training so far.
    """
    if (out is None) == (resume is None) or (out is not None and spot is None):
        raise SpecError("give a folder: out (--out) for a new training, resume (--resume) to go on with one")
    with one_thread(), JobFolder(TURNS, str(resume) if out is None else out) as folder:
        if spot is not None and out is not None:
            run = turn_run(spot, settings or settings_for(spot))
            job = HoldemRebelJob(run, RebelTrainer(run.spot, run.settings))
            session = start(job, folder, force=force)
        else:
            run = run_from(folder.reopen(), str(folder.path / RUN))
            run = replace(run, settings=changed_under_way(run.settings, changes or {}, FIXED, folder.path))
            job = HoldemRebelJob(run, RebelTrainer(run.spot, run.settings))
            session = go_on(job, folder)
            job.last = session.records[-1] if session.records else None
        outcome = session.run(progress=progress)
    training = TurnTraining(run, outcome.records, outcome.status, folder.path)
    if training.status == "interrupted":
        raise Interrupted(training)
    return training
