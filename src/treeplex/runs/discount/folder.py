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
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, final

from treeplex.errors import FileError
from treeplex.runs.discount.settings import TrainSettings, settings_from
from treeplex.runs.job.folder import METRICS, STATE, CheckpointFolder, claim_folder, read_about, write_about
from treeplex.solvers.rules.discount_policy import DiscountPolicy
from treeplex.solvers.rules.discount_policy_files import save_discount_policy
from treeplex.storage.reading import parse_json

FORMAT = "treeplex training"
VERSION = 1
TRAIN, POLICY, BEST, PLOT = "train.json", "policy.safetensors", "best.safetensors", "learning-curve.png"
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
            found = parse_json(text)
            mean, best = (None if found[name] is None else float(found[name]) for name in ("mean", "best"))
            reached = tuple(float(value) for value in found["exploitability"])
            return cls(
                int(found["epoch"]), float(found["fitness"]), mean, best, reached, float(found["seconds"]), int(found["lost"])
            )
        except (ValueError, KeyError, TypeError) as error:
            raise FileError(f"{place}: not a record of an epoch; put back a copy or start the training again") from error


@final
class TrainFolder(CheckpointFolder[TrainRecord]):
    """One training on disk."""

    record = TrainRecord

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
        write_about(
            self.path / TRAIN,
            FORMAT,
            VERSION,
            settings=settings.to_json(),
            identities=list(identities),
            status=status,
            last=asdict(last) if last else None,
            best=asdict(best) if best else None,
            lost=lost,
        )

    def about(self) -> Mapping[str, Any]:
        """Read ``train.json``.

        Raises:
            FileError: no training in this folder, or its ``train.json`` is truncated, tampered with or of another version.
        """
        needs = {"settings": dict, "identities": list}
        return read_about(self.path / TRAIN, FORMAT, VERSION, kind="training", maker="treeplex train", needs=needs)

    def settings(self) -> TrainSettings:
        """The settings in ``train.json``."""
        return settings_from(self.about()["settings"], str(self.path / TRAIN))

    def save_policy(self, policy: DiscountPolicy, name: str) -> None:
        """Write ``policy.safetensors`` or ``best.safetensors``."""
        save_discount_policy(policy, self.path / name)

    def plot(self, settings: TrainSettings, records: Sequence[TrainRecord]) -> None:
        """Draw ``learning-curve.png``."""
        from treeplex.runs.discount.plot import learning_figure
        from treeplex.runs.plots import write_figure

        title = f"Training {settings.algorithm}: {settings.optimizer}, {settings.horizon:,} iterations an episode"
        write_figure(learning_figure(title, settings.games, records), self.path / PLOT)

    def __repr__(self) -> str:
        return f"<training folder {self.path}>"
