"""A training of a network for single hands, as a job: a step solves one situation and takes the gradient steps due.

======================= =========================================================================================
``run.json``            settings, versions, status, and the last record
``metrics.jsonl``       one record every few seconds: situations, rows, steps, losses
``net.safetensors``     the network, with a card
``state.safetensors``   everything from which the training continues
``learning-curve.png``  losses against situations
======================= =========================================================================================
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from treeplex.learn.hand_values.settings import HandValueSettings
from treeplex.learn.hand_values.trainer import NET, HandValueTrainer
from treeplex.runs.deepstack.job import loss_figure
from treeplex.runs.job.checkpoint import Arrays, State
from treeplex.runs.job.folder import JobKind
from treeplex.runs.job.record import Record, maybe, real, whole
from treeplex.runs.train.kind import CURVE, TrainingJob

HAND_VALUES = JobKind(
    name="hand-values",
    unit="situations",
    maker="treeplex train",
    numbers={"rows": whole, "steps": whole, "loss": maybe(real), "validation": maybe(real)},
    needs={"game": str, "settings": dict, "identity": str},
    files=(NET, CURVE),
    noun="training",
)
"""Trainings of networks for hands. ``rows``: hands that it learns from; gradient ``steps``; ``loss``: mean Huber loss in pots
of the steps since the last record, None without any; ``validation``: the same on situations that it does not learn from."""


class HandValuesJob(TrainingJob[HandValueSettings]):
    """A training under way.

    Attributes:
        trainer: the trainer.
    """

    kind = HAND_VALUES

    def __init__(self, game: str, trainer: HandValueTrainer) -> None:
        super().__init__("hand-values", game, game, trainer.settings)
        self.trainer = trainer
        self._losses: list[tuple[int, float]] = []

    @property
    def done(self) -> int:
        """Situations solved."""
        return self.trainer.done

    @property
    def total(self) -> int:
        """Situations asked for."""
        return self.trainer.total

    @property
    def ahead(self) -> int:
        """A step is one situation."""
        return int(self.done < self.total)

    def step(self, count: int) -> None:
        """A situation, and the gradient steps that it allows."""
        found = self.trainer.step()
        if found.steps:
            self._losses.append((found.steps, found.loss))

    def live(self) -> Mapping[str, Any]:
        """Rows, steps and the loss since the last record."""
        steps = sum(count for count, _ in self._losses)
        loss = sum(count * mean for count, mean in self._losses) / steps if steps else None
        return {"rows": len(self.trainer.fitting.rows), "steps": self.trainer.steps, "loss": loss}

    def measure(self) -> Mapping[str, Any]:
        """The same, and the loss on what is held out."""
        found = {**self.live(), "validation": self.trainer.validation()}
        self._losses.clear()
        return found

    def state(self) -> State:
        """The trainer's arrays."""
        return self.trainer.state()

    def restore(self, arrays: Arrays) -> None:
        """Restore the trainer."""
        self.trainer.restore(arrays)

    def write(self, path: Path, records: Sequence[Record], *, ended: bool) -> None:
        """Write the network, and at the end the learning curve."""
        date = datetime.now(UTC).date().isoformat()
        times = {"seconds": self.clock.seconds, "cpu_seconds": self.clock.cpu_seconds, "date": date}
        card = {"situations": self.done, "steps": self.trainer.steps, **times}
        if records and records[-1].numbers["validation"] is not None:
            card["validation"] = records[-1].numbers["validation"]
        self.trainer.net.save(path / NET, settings=self.settings.to_json(), card=card)
        if ended:
            from treeplex.runs.plots import write_figure

            write_figure(loss_figure(f"A network for {self.game}", records), path / CURVE)
