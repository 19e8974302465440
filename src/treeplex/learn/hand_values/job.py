"""A training of a network for single hands, as a job: a step solves one situation and takes the gradient steps due.

======================= =========================================================================================
``run.json``            settings, versions, status, and the last record
``metrics.jsonl``       one record every few seconds: situations, rows, steps, losses
``net.safetensors``     the network, with a card
``state.safetensors``   everything from which the training continues
``learning-curve.png``  losses against situations
======================= =========================================================================================
"""

from collections.abc import Sequence
from pathlib import Path

from treeplex.learn.hand_values.settings import HandValueSettings
from treeplex.learn.hand_values.trainer import NET, HandValueTrainer
from treeplex.learn.train.kind import CURVE
from treeplex.learn.train.situations import SituationsJob
from treeplex.run.job.folder import JobKind
from treeplex.run.job.record import Record, integer, maybe, real

HAND_VALUES = JobKind(
    name="hand-values",
    unit="situations",
    maker="treeplex train",
    numbers={"rows": integer, "steps": integer, "loss": maybe(real), "validation": maybe(real)},
    needs={"game": str, "settings": dict, "identity": str},
    files=(NET, CURVE),
    noun="training",
)
"""Trainings of networks for hands. ``rows``: hands that it learns from; gradient ``steps``; ``loss``: mean Huber loss in pots
of the steps since the last record, None without any; ``validation``: the same on situations that it does not learn from."""


class HandValuesJob(SituationsJob[HandValueSettings, HandValueTrainer]):
    """A training under way."""

    kind = HAND_VALUES

    def __init__(self, game: str, trainer: HandValueTrainer) -> None:
        super().__init__("hand-values", game, game, trainer.settings, trainer)

    def write(self, path: Path, records: Sequence[Record], *, ended: bool) -> None:
        """Write the network, and at the end the learning curve."""
        self.trainer.net.save(path / NET, settings=self.settings.to_json(), card=self.card(records))
        if ended:
            self.write_curve(path, f"A network for {self.game}", records)
