"""Trainings of learners for studies: one folder for each learner and seed, which goes on where it stands."""

from collections.abc import Mapping
from typing import Any

from papers.common.results import ROOT
from treeplex.runs.job.folder import kind_of
from treeplex.runs.train.kind import Training
from treeplex.runs.train.own import LIBRARY
from treeplex.runs.train.train import train

FOLDERS = ROOT / "runs" / "papers" / "learners"


def trained(game: str, name: str, settings: Mapping[str, Any], *, seed: int = 0, called: str | None = None) -> Training:
    """A training of a learner, resumed if it has begun.

    Args:
        game, name: the game and the learner.
        settings: besides the defaults; ``nodes`` and ``episodes`` are limits.
        seed: of the training.
        called: what its folder is called; None: the learner's name.
    """
    folder = FOLDERS / game / f"{called or name}-{seed}".replace(", ", "-")
    if kind_of(folder) == LIBRARY.name:
        return train(resume=folder, settings=dict(settings))
    return train(game, name, settings={**settings, "seed": seed}, out=folder, force=True)


def reached(training: Training) -> dict[str, Any]:
    """What a training has come to: steps, effort, and the last exploitability."""
    last = training.records[-1]
    found = {name: last.measures[name] for name in ("exploitability", "nodes", "episodes")}
    return {"steps": last.done, "cpu_seconds": last.cpu_seconds, **found}


def curve_of(training: Training) -> dict[str, float]:
    """Exploitability by the number of steps, as text."""
    return {str(record.done): record.measures["exploitability"] for record in training.records}
