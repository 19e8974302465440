"""Training runs of learners for studies: one folder per learner and seed, resumed if unfinished."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from papers.common.results import ROOT, stored
from treeplex import train
from treeplex.learn.train.learner_job import LIBRARY
from treeplex.results import TrainingRun
from treeplex.run.job.folder import kind_of

FOLDERS = ROOT / "runs" / "papers" / "learners"
SEEDS = range(3)
RunRecord = dict[str, Any]
STORED = "stored"
"""Option of a study that uses stored results where :data:`FOLDERS` has no training run, to add a seed or a run."""


def trained(game: str, name: str, settings: Mapping[str, Any], *, seed: int = 0, called: str | None = None) -> TrainingRun:
    """A training run of a learner, resumed if it exists.

    Args:
        game, name: the game and the learner.
        settings: besides the defaults; ``nodes`` and ``episodes`` are limits.
        seed: of the training.
        called: name of its folder; None: the learner's name.
    """
    folder = folder_of(game, called or name, seed)
    if kind_of(folder) == LIBRARY.name:
        return train(resume=folder, settings=dict(settings))
    return train(game, name, settings={**settings, "seed": seed}, out=folder, force=True)


def trainings(
    game: str,
    name: str,
    settings: Mapping[str, Any],
    *,
    called: str,
    seeds: Iterable[int] = SEEDS,
    before: tuple[RunRecord, RunRecord] = ({}, {}),
) -> tuple[RunRecord, RunRecord]:
    """Results of :func:`trained` by seed as text: :func:`reached` and :func:`curve_of`.

    Args:
        game, name, settings, called: as there.
        seeds: of the training runs.
        before: results stored with the study, used where a training run has no folder.
    """
    found, curves = {}, {}
    for seed in map(str, seeds):
        if seed in before[0] and not folder_of(game, called, int(seed)).exists():
            found[seed], curves[seed] = before[0][seed], before[1].get(seed, {})
            continue
        training = trained(game, name, settings, seed=int(seed), called=called)
        found[seed], curves[seed] = reached(training), curve_of(training)
        print(called, seed, found[seed], flush=True)
    return found, curves


def earlier(study: str, options: Sequence[str]) -> RunRecord:
    """Results stored with a study if :data:`STORED` is given; otherwise empty."""
    return stored(study) if STORED in options else {}


def folder_of(game: str, called: str, seed: int) -> Path:
    """Folder of a training run."""
    return FOLDERS / game / f"{called}-{seed}".replace(", ", "-")


def reached(training: TrainingRun) -> RunRecord:
    """Results of a training run: steps, cost, and the last exploitability."""
    last = training.records[-1]
    names = ("exploitability", "nodes", "episodes", *(["pool"] if "pool" in last.measures else []))
    return {"steps": last.done, "cpu_seconds": last.cpu_seconds, **{name: last.measures[name] for name in names}}


def curve_of(training: TrainingRun) -> dict[str, float]:
    """Exploitability by the number of steps, as text."""
    return {str(record.done): record.measures["exploitability"] for record in training.records}


def values_of(found: Mapping[str, Mapping[str, Any]], name: str) -> list[float]:
    """One number per seed."""
    return [each[name] for each in found.values()]


def mean_at(curves: Mapping[str, Mapping[str, float]], step: int) -> float | None:
    """The mean over seeds after a number of steps; None if one was not measured there."""
    values = [curve.get(str(step)) for curve in curves.values()]
    return None if None in values else float(np.mean(values))  # type: ignore[arg-type]


def band(values: Sequence[float], digits: int = 2) -> str:
    """The mean, and in brackets the range if there are several."""
    mean = f"{np.mean(values):.{digits}f}"
    return mean if len(values) == 1 else f"{mean} ({min(values):.{digits}f} to {max(values):.{digits}f})"


BANDS = "Numbers are means over seeds with the range in brackets."
"""Note for a table of bands."""
