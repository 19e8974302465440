"""A training of DeepStack's networks, as a job: a step solves situations side by side and takes the gradient steps due.

======================= =========================================================================================
``run.json``            game, settings, versions, status, and the last record
``metrics.jsonl``       one record every few seconds: situations, rows, steps, losses
``nets.safetensors``    the networks of all rounds, with a card
``state.safetensors``   everything from which the training continues
``learning-curve.png``  losses against situations
======================= =========================================================================================
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from treeplex.learn.deepstack.files import NETS, save_round_nets
from treeplex.learn.deepstack.settings import DeepStackSettings
from treeplex.learn.deepstack.trainer import DeepStackTrainer
from treeplex.learn.train.kind import CURVE
from treeplex.learn.train.situations import SituationsJob
from treeplex.run.job.folder import JobKind
from treeplex.run.job.record import Record, integer, maybe, real

DEEPSTACK = JobKind(
    name="deepstack",
    unit="situations",
    maker="treeplex train",
    numbers={"round": integer, "rows": integer, "steps": integer, "loss": maybe(real), "validation": maybe(real)},
    needs={"game": str, "settings": dict, "identity": str},
    files=(NETS, CURVE),
    noun="training",
)
"""Trainings of DeepStack's networks. ``round``: whose network is trained, 1 for that after the first deal; ``rows`` that it
learns from; gradient ``steps`` of all networks; ``loss``: mean Huber loss in pots of the steps since the last record, None
without any; ``validation``: the same on situations that it does not learn from."""


class DeepStackJob(SituationsJob[DeepStackSettings, DeepStackTrainer]):
    """A training under way."""

    kind = DEEPSTACK

    def __init__(self, game: str, identity: str, trainer: DeepStackTrainer, settings: DeepStackSettings) -> None:
        super().__init__("deepstack", game, identity, settings, trainer)

    def live(self) -> Mapping[str, Any]:
        """The round as well."""
        return {"round": self.trainer.number + 1, **super().live()}

    def write(self, path: Path, records: Sequence[Record], *, ended: bool) -> None:
        """Write the networks, and at the end the learning curve."""
        about = {"game": self.game, "identity": self.identity, "settings": self.settings.to_json(), "card": self.card(records)}
        save_round_nets(path / NETS, self.trainer.nets, **about)
        if ended:
            self.write_curve(path, f"DeepStack's networks for {self.game}", records)
