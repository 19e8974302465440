"""Folders of ReBeL trainings: everything about one training in one folder, readable by people, whole at every moment.

======================= =========================================================================================
``rebel.json``          game, settings, versions, status, and the last record
``metrics.jsonl``       one record every few seconds: subgames, seconds, rows, steps, loss, now and then exploitability
``net.safetensors``     the network, with a card
``net-96.safetensors``  the network as it was after 96% of the training, and ``net-98``: the paper judges three checkpoints
``state.safetensors``   everything from which the training continues
``learning-curve.png``  losses and exploitability against subgames
``evaluations.jsonl``   what ``treeplex evaluate`` found, one record each
``judged/``             parts of evaluations, so that they can go on; may be deleted
``tensorboard/``        the records as TensorBoard events, if asked for
======================= =========================================================================================
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

from treeplex.errors import FileError
from treeplex.learn.rebel.files import NetFile, read_net
from treeplex.runs.job.folder import METRICS, STATE, CheckpointFolder, claim_folder, read_about, write_about
from treeplex.runs.rebel.settings import RebelRun, run_from
from treeplex.storage.reading import parse_json

FORMAT, VERSION = "treeplex rebel training", 1
REBEL, NET = "rebel.json", "net.safetensors"
PLOT, EVALUATIONS, JUDGED, EVENTS = "learning-curve.png", "evaluations.jsonl", "judged", "tensorboard"
LATE: Mapping[float, str] = {0.96: "net-96.safetensors", 0.98: "net-98.safetensors"}
"""Networks kept on the way, by the part of the training done: epochs 980 and 1,000 of the paper's 1,020."""
FILES = (REBEL, METRICS, NET, *LATE.values(), STATE, PLOT, EVALUATIONS)


@dataclass(frozen=True)
class RebelRecord:
    """Where a training stood.

    Attributes:
        solved: subgames solved.
        seconds: time spent in training, summed over resumes; judging excluded.
        cpu_seconds: processor time of all processes in training.
        rows: rows in the buffer.
        steps: gradient steps.
        loss: mean Huber loss of the steps since the last record; None without any.
        rate: subgames a second since the last record.
        lost: workers that died so far.
        exploitability: of ``playthroughs`` playthroughs, ``iterations`` a search; None where not judged.
        policy_loss: mean loss of the policy network's steps since the last record; None without any, and in early files.
    """

    solved: int
    seconds: float
    cpu_seconds: float
    rows: int
    steps: int
    loss: float | None
    rate: float
    lost: int = 0
    exploitability: float | None = None
    playthroughs: int | None = None
    iterations: int | None = None
    policy_loss: float | None = None

    def to_json(self) -> str:
        """One line of ``metrics.jsonl``, without the line end."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str, place: str) -> "RebelRecord":
        """Read one line; ``place`` (file and line) goes into the :class:`FileError`."""
        try:
            record = cls(**parse_json(text))
            _ = record.solved + record.seconds + record.cpu_seconds + record.rows + record.steps + record.rate + record.lost
            _ = (record.loss or 0.0) + (record.exploitability or 0.0) + (record.policy_loss or 0.0)
            return record
        except (ValueError, TypeError) as error:
            raise FileError(f"{place}: not a record of a training; put back a copy or start it again") from error


@final
class RebelFolder(CheckpointFolder[RebelRecord]):
    """One training on disk."""

    record = RebelRecord

    def claim(self, *, force: bool = False) -> None:
        """Make the folder, empty of an earlier training.

        Raises:
            FileError: it cannot be made or written, or it holds files and ``force`` is not set.
        """
        claim_folder(self.path, REBEL, FILES, folders=(JUDGED, EVENTS), kind="training", force=force)

    def describe(self, run: RebelRun, identity: str, *, status: str, last: RebelRecord | None) -> None:
        """Write ``rebel.json``."""
        ended = asdict(last) if last else None
        write_about(self.path / REBEL, FORMAT, VERSION, **asdict(run), identity=identity, status=status, last=ended)

    def about(self) -> Mapping[str, Any]:
        """Read ``rebel.json``.

        Raises:
            FileError: no training in this folder, or its ``rebel.json`` is truncated, tampered with or of another version.
        """
        return read_about(self.path / REBEL, FORMAT, VERSION, kind="ReBeL training", maker="treeplex train rebel")

    def run(self) -> RebelRun:
        """What was asked for."""
        return run_from(self.about(), str(self.path / REBEL))

    def net(self) -> NetFile:
        """Read ``net.safetensors``."""
        return read_net(self.path / NET)

    def plot(self, run: RebelRun, records: Sequence[RebelRecord]) -> None:
        """Draw ``learning-curve.png``."""
        from treeplex.runs.plots import write_figure
        from treeplex.runs.rebel.plot import rebel_figure

        write_figure(rebel_figure(f"ReBeL on {run.game}", records), self.path / PLOT)

    def __repr__(self) -> str:
        return f"<ReBeL training folder {self.path}>"


def is_rebel_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a folder holds a ReBeL training."""
    return (Path(path) / REBEL).is_file()
