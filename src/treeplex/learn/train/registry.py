"""Registry of learners, and lookup of the learner of a training folder."""

import os
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from treeplex.base.spec import quoted
from treeplex.base.storage.reading import read_json
from treeplex.base.wings import provided
from treeplex.errors import FileError, SpecError
from treeplex.forms.sources.load import named_file
from treeplex.learn.learner import Learner
from treeplex.learn.train.kind import TrainingKind
from treeplex.learn.train.learner_job import OWN, LearnerKind, LibraryKind, custom_learner
from treeplex.run.job.folder import RUN, JobFolder, JobKind, kind_of
from treeplex.solvers.synonyms import unknown_algorithm

TRAINING = JobKind(name="training", unit="steps", maker="treeplex train", noun="training")
"""Job type used in messages about folders that contain no training run."""
REBEL = "rebel"
"""The default learner; in training folders, also the name of the learner for hold'em turns."""
AnyLearner = str | type[Learner] | TrainingKind
"""A learner's name, ``file.py:NAME`` or a custom class."""

NEURAL: Mapping[str, str] = {
    "a2c": "gradients.a2c:IndependentA2C",
    "coma": "gradients.coma:Coma",
    "armac": "regrets.armac:Armac",
    "deep-cfr": "regrets.deep_cfr:DeepCfr",
    "dream": "regrets.dream:Dream",
    "escher": "regrets.escher:Escher",
    "mmd": "gradients.mmd:Mmd",
    "ned": "gradients.ned:Ned",
    "neurd": "gradients.policy_gradient:NeuRD",
    "nfsp": "responses.nfsp:Nfsp",
    "ppg": "gradients.ppg:Ppg",
    "ppo": "gradients.ppo:Ppo",
    "psro": "responses.psro:PSRO",
    "qpg": "gradients.policy_gradient:Qpg",
    "r-nad": "gradients.r_nad:RNaD",
    "rcfr": "regrets.rcfr:Rcfr",
    "rmpg": "gradients.policy_gradient:Rmpg",
    "rpg": "gradients.policy_gradient:Rpg",
    "sd-cfr": "regrets.deep_cfr:SingleDeepCfr",
    "vr-deep-dcfr+": "regrets.vr_deep_cfr:VrDeepDcfr",
    "vr-deep-pdcfr+": "regrets.vr_deep_cfr:VrDeepPdcfr",
}
"""The library's classes derived from :class:`Learner`: a name, and the module and class under ``treeplex.learn.neural``."""


@cache
def learners() -> Mapping[str, TrainingKind]:
    """The built-in learners by name."""
    known: list[TrainingKind] = [
        provider if isinstance(provider, TrainingKind) else provider() for provider in provided("learners")
    ]
    known += [LibraryKind(neural_class(location), name) for name, location in NEURAL.items()]
    return {kind.name: kind for kind in known}


def neural_class(path: str) -> type[Learner]:
    """Import a class named like ``regrets.deep_cfr:DeepCfr``."""
    module, _, name = path.partition(":")
    loaded: type[Learner] = getattr(import_module(f"treeplex.learn.neural.{module}"), name)
    return loaded


def learner_named(learner: AnyLearner) -> TrainingKind:
    """The learner type for a name or class.

    Raises:
        SpecError: the name is unknown, or the file does not contain the class.
    """
    if isinstance(learner, TrainingKind):
        return learner
    if isinstance(learner, type):
        for kind in learners().values():
            if isinstance(kind, LibraryKind) and kind.made is learner:
                return kind
    if (custom := custom_learner(learner)) is not None:
        return custom
    if learner not in learners():
        raise SpecError(f"{unknown_algorithm(str(learner), learners(), 'unknown learner')}; see treeplex train --list")
    return learners()[str(learner)]


def kind_for(game: Any, learner: AnyLearner | None, resume: str | os.PathLike[str] | None, preset: str | None) -> TrainingKind:
    """The requested learner type; if no learner is named, that of the folder to resume, otherwise ReBeL.

    Raises:
        SpecError: the learner is unknown, or a preset is given for a resumed run.
        FileError: the folder contains no training run, or one of another learner.
    """
    if resume is None:
        return learner_named(learner or REBEL).for_game(game)
    refuse_preset(preset)
    if learner is None or (learner == REBEL and game is None):
        return learner_of(resume)
    known = learner_named(learner).for_game(game)
    if kind_of(resume) not in (None, OWN.name) and (trained := learner_of(resume).name) != known.name:
        raise FileError(f"{resume} is a training run of {trained}, not of {known.name}; resume it without naming a learner")
    return known


def refuse_preset(preset: str | None) -> None:
    """Reject a preset for a resumed run.

    Raises:
        SpecError: a preset is given.
    """
    if preset is not None:
        raise SpecError("a resumed run keeps its settings, so --preset does not apply; change single settings with --set")


def learner_of(folder: str | os.PathLike[str]) -> TrainingKind:
    """The learner type of the run in a training folder.

    Raises:
        FileError: the folder contains no training run, or one of a custom learner, whose code is not executed from a folder.
    """
    from treeplex.learn.rebel.training.kind import HoldemRebelKind, WholeRebelKind

    kind = kind_of(folder)
    if kind == OWN.name:
        about = JobFolder(OWN, folder).about()
        name, game = str(about["learner"]), str(about["game"])
        words = [name, *([quoted(game)] if named_file(game) else []), "--resume", quoted(str(folder))]
        raise FileError(
            f"{folder} was trained by a custom learner, whose code is not run from a folder; name it again, before "
            f"other options: treeplex train {' '.join(words)}"
        )
    for candidate in (HoldemRebelKind, WholeRebelKind):
        if kind == candidate.job_kind.name:
            return candidate()
    known = [candidate for candidate in learners().values() if candidate.job_kind.name == kind]
    if not known:
        JobFolder(TRAINING, folder).about()  # raises, since no folder is of this kind
    named = about_of(folder).get("learner") if len(known) > 1 else known[0].name
    if named not in learners():
        raise FileError(f"{Path(folder) / RUN}: 'learner' is missing; restore a backup or restart (with --force)")
    return learners()[str(named)]


def about_of(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The contents of ``run.json``, unchecked."""
    about = read_json(Path(folder) / RUN)
    return about if isinstance(about, dict) else {}


__all__ = ["LearnerKind", "LibraryKind", "learner_named", "learner_of", "learners"]
