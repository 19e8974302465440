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
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeplex.learn.deepstack.files import NETS, save_round_nets
from treeplex.learn.deepstack.settings import DeepStackSettings
from treeplex.learn.deepstack.trainer import DeepStackTrainer
from treeplex.runs.job.checkpoint import Arrays, State
from treeplex.runs.job.folder import JobKind
from treeplex.runs.job.record import Record, maybe, real, whole
from treeplex.runs.train.kind import CURVE, TrainingJob

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEEPSTACK = JobKind(
    name="deepstack",
    unit="situations",
    maker="treeplex train",
    numbers={"round": whole, "rows": whole, "steps": whole, "loss": maybe(real), "validation": maybe(real)},
    needs={"game": str, "settings": dict, "identity": str},
    files=(NETS, CURVE),
    noun="training",
)
"""Trainings of DeepStack's networks. ``round``: whose network is trained, 1 for that after the first deal; ``rows`` that it
learns from; gradient ``steps`` of all networks; ``loss``: mean Huber loss in pots of the steps since the last record, None
without any; ``validation``: the same on situations that it does not learn from."""


class DeepStackJob(TrainingJob[DeepStackSettings]):
    """A training under way.

    Attributes:
        trainer: the trainer.
    """

    kind = DEEPSTACK

    def __init__(self, game: str, identity: str, trainer: DeepStackTrainer, settings: DeepStackSettings) -> None:
        super().__init__("deepstack", game, identity, settings)
        self.trainer = trainer
        self._losses: list[tuple[int, float]] = []

    @property
    def done(self) -> int:
        """Situations drawn."""
        return self.trainer.done

    @property
    def total(self) -> int:
        """Situations of all networks."""
        return self.trainer.total

    @property
    def ahead(self) -> int:
        """A step is one batch of situations."""
        return int(self.done < self.total)

    def step(self, count: int) -> None:
        """A batch of situations, and the gradient steps that it allows."""
        found = self.trainer.step()
        if found.steps:
            self._losses.append((found.steps, found.loss))

    def _now(self) -> dict[str, Any]:
        steps = sum(count for count, _ in self._losses)
        loss = sum(count * mean for count, mean in self._losses) / steps if steps else None
        trainer = self.trainer
        return {"round": trainer.number + 1, "rows": len(trainer.fitting.rows), "steps": trainer.steps, "loss": loss}

    def measure(self) -> Mapping[str, Any]:
        """Losses since the last record, and on what is held out."""
        found = {**self._now(), "validation": self.trainer.validation()}
        self._losses.clear()
        return found

    def live(self) -> Mapping[str, Any]:
        """The same, without what is held out."""
        return self._now()

    def state(self) -> State:
        """The trainer's arrays."""
        return self.trainer.state()

    def restore(self, arrays: Arrays) -> None:
        """Restore the trainer."""
        self.trainer.restore(arrays)

    def write(self, path: Path, records: Sequence[Record], *, ended: bool) -> None:
        """Write the networks, and at the end the learning curve."""
        date = datetime.now(UTC).date().isoformat()
        times = {"seconds": self.clock.seconds, "cpu_seconds": self.clock.cpu_seconds, "date": date}
        card = {"situations": self.done, "steps": self.trainer.steps, **times}
        if records and records[-1].numbers["validation"] is not None:
            card["validation"] = records[-1].numbers["validation"]
        about = {"game": self.game, "identity": self.identity, "settings": self.settings.to_json(), "card": card}
        save_round_nets(path / NETS, self.trainer.nets, **about)
        if ended:
            from treeplex.runs.plots import write_figure

            write_figure(loss_figure(f"DeepStack's networks for {self.game}", records), path / CURVE)


def loss_figure(title: str, records: Sequence[Record]) -> "Figure":
    """Losses of training and validation against situations, the height logarithmic."""
    from treeplex.runs.plots import Curve, Panel, curves_figure

    def curve(name: str, number: int, label: str) -> Curve:
        shown = [record for record in records if record.numbers[name] is not None]
        return Curve([each.done for each in shown], [each.numbers[name] for each in shown], number=number, label=label)

    end = max([record.done for record in records], default=1)
    panel = Panel("Huber loss, in pots", [curve("loss", 0, "training"), curve("validation", 1, "validation")])
    return curves_figure(title, "Situations solved", [panel], last=end, height=3.6)
