"""Training folders: everything about one training in one folder, readable by people, whole at every moment.

======================= =========================================================================================
``train.json``          settings, games, versions, status, and the last and the best epoch
``metrics.jsonl``       one record an epoch: fitness, exploitability on each game, seconds, workers lost
``policy.safetensors``  the policy after the last epoch, with a card
``best.safetensors``    the policy with the best fitness so far
``state.safetensors``   everything from which the training continues
``learning-curve.png``  fitness and exploitability against epochs
======================= =========================================================================================
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, final

from treeplex.errors import FileError
from treeplex.forms.files import append_line, whole_lines, write_atomically
from treeplex.runs.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from treeplex.runs.folder import claim_folder, own_version
from treeplex.runs.train_settings import TrainSettings, settings_from
from treeplex.solvers.scheme import DiscountPolicy
from treeplex.solvers.scheme_files import save_scheme

FORMAT = "treeplex training"
VERSION = 1
TRAIN, METRICS, POLICY, BEST = "train.json", "metrics.jsonl", "policy.safetensors", "best.safetensors"
STATE, PLOT = "state.safetensors", "learning-curve.png"
FILES = (TRAIN, METRICS, POLICY, BEST, STATE, PLOT)


@dataclass(frozen=True)
class TrainRecord:
    """One epoch; epoch 0 is the policy before training.

    Attributes:
        epoch: epochs done.
        fitness: of the policy after them, without noise.
        mean, best: fitness over the epoch's candidates; None at epoch 0.
        exploitability: what the policy reaches at the end of its horizon on each game, in game units, in the games' order.
        seconds: time spent in training, summed over resumes.
        lost: workers that died in the epoch.
    """

    epoch: int
    fitness: float
    mean: float | None
    best: float | None
    exploitability: tuple[float, ...]
    seconds: float
    lost: int = 0

    def to_json(self) -> str:
        """One line of ``metrics.jsonl``, without the line end."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str, place: str) -> "TrainRecord":
        """Read one line of ``metrics.jsonl``; ``place`` (file and line) goes into the :class:`FileError`."""
        try:
            found = json.loads(text)
            mean, best = (None if found[name] is None else float(found[name]) for name in ("mean", "best"))
            reached = tuple(float(value) for value in found["exploitability"])
            return cls(
                int(found["epoch"]), float(found["fitness"]), mean, best, reached, float(found["seconds"]), int(found["lost"])
            )
        except (ValueError, KeyError, TypeError) as error:
            raise FileError(f"{place}: not a record of an epoch; put back a copy or start the training again") from error


@final
class TrainFolder:
    """One training on disk."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path: Final = Path(path)

    def claim(self, *, force: bool = False) -> None:
        """Make the folder, empty of an earlier training.

        Raises:
            FileError: it cannot be made or written, or it holds files and ``force`` is not set.
        """
        claim_folder(self.path, TRAIN, FILES, kind="training", force=force)

    def describe(
        self,
        settings: TrainSettings,
        identities: Sequence[str],
        *,
        status: str,
        last: TrainRecord | None,
        best: TrainRecord | None,
        lost: int,
    ) -> None:
        """Write ``train.json``."""
        about = {
            "format": FORMAT,
            "version": VERSION,
            "treeplex": own_version(),
            "settings": settings.to_json(),
            "identities": list(identities),
            "status": status,
            "last": asdict(last) if last else None,
            "best": asdict(best) if best else None,
            "lost": lost,
        }
        write_atomically(self.path / TRAIN, (json.dumps(about, indent=2) + "\n").encode())

    def about(self) -> Mapping[str, Any]:
        """Read ``train.json``.

        Raises:
            FileError: no training in this folder, or its ``train.json`` is truncated, tampered with or of another version.
        """
        path = self.path / TRAIN
        try:
            about = json.loads(path.read_bytes())
        except FileNotFoundError as error:
            raise FileError(f"{self.path} holds no training (no {TRAIN}); give a folder that train wrote with --out") from error
        except OSError as error:
            raise FileError(f"{path}: {error.strerror or error}") from error
        except ValueError as error:
            raise FileError(f"{path}: truncated or not JSON; start the training again (with --force)") from error
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise FileError(f"{path}: not written by treeplex train; give a folder that train wrote with --out")
        if about.get("version") != VERSION:
            found = about.get("treeplex", "unknown")
            raise FileError(
                f"{path}: format version {about.get('version')}, this Treeplex reads {VERSION}; use Treeplex {found}"
            )
        for key, kind in (("settings", dict), ("identities", list)):
            if not isinstance(about.get(key), kind):
                raise FileError(f"{path}: {key!r} is missing; start the training again (with --force)")
        return about

    def settings(self) -> TrainSettings:
        """The settings in ``train.json``."""
        return settings_from(self.about()["settings"], str(self.path / TRAIN))

    def append(self, record: TrainRecord) -> None:
        """Add one line to ``metrics.jsonl``."""
        append_line(self.path / METRICS, record.to_json())

    def records(self) -> list[TrainRecord]:
        """All of ``metrics.jsonl``."""
        path = self.path / METRICS
        return [TrainRecord.from_json(line, f"{path}, line {number}") for number, line in enumerate(whole_lines(path), start=1)]

    def rewrite(self, records: Sequence[TrainRecord]) -> None:
        """Replace ``metrics.jsonl``."""
        write_atomically(self.path / METRICS, "".join(record.to_json() + "\n" for record in records).encode())

    def save_state(self, checkpoint: Checkpoint) -> None:
        """Write ``state.safetensors``."""
        write_checkpoint(self.path / STATE, checkpoint)

    def state(self) -> Checkpoint:
        """Read ``state.safetensors``."""
        return read_checkpoint(self.path / STATE)

    def save_policy(self, policy: DiscountPolicy, name: str) -> None:
        """Write ``policy.safetensors`` or ``best.safetensors``."""
        save_scheme(policy, self.path / name)

    def plot(self, settings: TrainSettings, records: Sequence[TrainRecord]) -> None:
        """Draw ``learning-curve.png``."""
        from treeplex.runs.plots import write_figure
        from treeplex.runs.train_plot import learning_figure

        title = f"Training {settings.algorithm}: {settings.optimizer}, {settings.horizon:,} iterations an episode"
        write_figure(learning_figure(title, settings.games, records), self.path / PLOT)

    def __repr__(self) -> str:
        return f"<training folder {self.path}>"
