"""Add the network of a trained learner's average policy to the library, with its exploitability and command on its card.

``python -m papers.learners.ship_network NAME RUN`` reads a folder of ``treeplex train`` whose result is networks (deep-cfr,
vr-deep-dcfr+, vr-deep-pdcfr+, escher, nfsp), evaluates the file that it writes, and installs it as ``network:NAME``.
"""

import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from papers.common.results import COMMIT
from treeplex import judge, load_policy
from treeplex.base.spec import quoted
from treeplex.learn import AveragingLearner
from treeplex.learn.neural.fitting.approximator import Network
from treeplex.learn.neural.fitting.averages import LearnedAverage
from treeplex.learn.neural.network_policy import SHIPPED, SUFFIX, network_policy
from treeplex.learn.neural.responses.nfsp import Nfsp
from treeplex.learn.train.kind import RECIPE, Options, Work
from treeplex.learn.train.learner_job import LIBRARY, LibraryKind
from treeplex.learn.train.registry import learner_of
from treeplex.policies import NeuralPolicy
from treeplex.results import JobFolder
from treeplex.run.job.checkpoint import open_checkpoint


def networks_of(folder: Path) -> NeuralPolicy:
    """The networks of a finished training run, as a policy.

    Raises:
        SystemExit: its result is not one network per player.
    """
    about, kind = JobFolder(LIBRARY, folder).about(), learner_of(folder)
    assert isinstance(kind, LibraryKind)
    job = kind.make(about["game"], kind.settings.from_json(about["settings"], folder), Options(Work(1), None, folder))
    with open_checkpoint(folder / "state.safetensors") as file:
        job.restore({name: np.array(file[name]) for name in file})
    student = job.student
    student.policy()  # fits a learned average
    if isinstance(student, Nfsp) and isinstance(student.averages[0].network, Network):
        return network_policy(student, [average.network for average in student.averages])
    if isinstance(student, AveragingLearner) and isinstance(student.average, LearnedAverage):
        return network_policy(student, student.average.fitted)
    raise SystemExit(f"error: the result of {kind.name} is not one network per player")


def command_of(folder: Path) -> str:
    """The command of a training run: learner, game, and settings that differ from the defaults."""
    about, kind = JobFolder(LIBRARY, folder).about(), learner_of(folder)
    usual, settings = kind.presets(about["game"])[RECIPE], kind.settings.from_json(about["settings"], folder)
    pairs = {name: (value, getattr(usual, name)) for name, value in vars(settings).items()}
    changes = [f"--set {name}={value}" for name, (value, default) in pairs.items() if value != default]
    return " ".join([f"treeplex train {about['learner']} {quoted(about['game'])}", *changes])


def main() -> None:
    name, folder = sys.argv[1], Path(sys.argv[2])
    policy, about = networks_of(folder), JobFolder(LIBRARY, folder).about()
    SHIPPED.mkdir(exist_ok=True)
    path = SHIPPED / f"{name}{SUFFIX}"
    policy.save(path)
    read = load_policy(path)
    gain = judge(read.game, read).exploitability
    last, settings = about["last"], about["settings"]
    card = {
        "command": command_of(folder),
        "commit": COMMIT,
        "algorithm": about["learner"],
        "iterations": last["done"],
        "seed": settings["seed"],
        "exploitability": f"{gain:.6f}",
    }
    card |= {each: int(last["measures"][each]) for each in ("nodes", "episodes")}
    card |= {"cpu_seconds": round(last["cpu_seconds"]), "date": datetime.now(UTC).date().isoformat()}
    policy.save(path, card)
    print(f"wrote {path}, {path.stat().st_size:,} bytes: {card}")


if __name__ == "__main__":
    main()
