"""Trainings that solve situations and fit networks to what they are worth, as jobs."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from treeplex.learn.train.kind import CURVE, SettingsT, TrainingJob
from treeplex.run.job.checkpoint import Arrays, State
from treeplex.run.job.record import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class SituationsTrainer(Protocol):
    """What such a job asks of its trainer: :class:`treeplex.learn.deepstack.trainer.DeepStackTrainer` and its like."""

    @property
    def steps(self) -> int: ...

    @property
    def done(self) -> int: ...

    @property
    def total(self) -> int: ...

    @property
    def fitting(self) -> Any: ...

    def step(self) -> Any: ...

    def validation(self) -> float | None: ...

    def state(self) -> State: ...

    def restore(self, arrays: Arrays) -> None: ...


TrainerT = TypeVar("TrainerT", bound=SituationsTrainer)


class SituationsJob(TrainingJob[SettingsT], Generic[SettingsT, TrainerT]):
    """A training under way: a step solves what its trainer takes at once, and takes the gradient steps due.

    Attributes:
        trainer: the trainer.
    """

    def __init__(self, learner: str, game: str, identity: str, settings: SettingsT, trainer: TrainerT) -> None:
        super().__init__(learner, game, identity, settings)
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
        """One step, as long as there are situations left."""
        return int(self.done < self.total)

    def step(self, count: int) -> None:
        """Situations, and the gradient steps that they allow."""
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

    def card(self, records: Sequence[Record]) -> dict[str, Any]:
        """What the file of a network says of its training."""
        date = datetime.now(UTC).date().isoformat()
        times = {"seconds": self.clock.seconds, "cpu_seconds": self.clock.cpu_seconds, "date": date}
        card = {"situations": self.done, "steps": self.trainer.steps, **times}
        if records and records[-1].numbers["validation"] is not None:
            card["validation"] = records[-1].numbers["validation"]
        return card

    def write_curve(self, folder: Path, title: str, records: Sequence[Record]) -> None:
        """Draw the learning curve."""
        from treeplex.run.plots import write_figure

        write_figure(loss_figure(title, records), folder / CURVE)


def loss_figure(title: str, records: Sequence[Record]) -> "Figure":
    """Losses of training and validation against situations, the height logarithmic."""
    from treeplex.run.plots import Curve, Panel, curves_figure

    def curve(name: str, number: int, label: str) -> Curve:
        shown = [record for record in records if record.numbers[name] is not None]
        return Curve([each.done for each in shown], [each.numbers[name] for each in shown], number=number, label=label)

    end = max([record.done for record in records], default=1)
    panel = Panel("Huber loss, in pots", [curve("loss", 0, "training"), curve("validation", 1, "validation")])
    return curves_figure(title, "Situations solved", [panel], last=end, height=3.6)
