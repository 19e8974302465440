"""Trainings that solve situations and fit networks to what they are worth, as jobs and learners."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from treeplex.learn.common.device import one_thread
from treeplex.learn.common.settings import LearningSettings
from treeplex.learn.common.situations import SituationSource, SituationTrainer
from treeplex.learn.train.kind import CURVE, Training, TrainingJob, TrainingKind, count_of
from treeplex.run.job.checkpoint import Arrays, State
from treeplex.run.job.folder import JobKind
from treeplex.run.job.record import Record, integer, maybe, real

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def situations_job_kind(name: str, file: str, **numbers: Callable[[Any], Any]) -> JobKind:
    """Of jobs whose networks are in ``file``.

    Their numbers, besides others: ``rows`` that a network learns from; gradient ``steps``; ``loss``: mean Huber loss in pots of
    the steps since the last record, None without any; ``validation``: on situations that it does not learn from.
    """
    return JobKind(
        name=name,
        unit="situations",
        maker="treeplex train",
        numbers={**numbers, "rows": integer, "steps": integer, "loss": maybe(real), "validation": maybe(real)},
        needs={"game": str, "settings": dict, "identity": str},
        files=(file, CURVE),
        noun="training",
    )


class SituationsKind(TrainingKind):
    """A learner that fits networks to solved situations.

    Attributes:
        file: the name of the networks' file in a folder.
        title: of a training on a game.
        values: what losses are about.
        rows: what it learns from; of a round, if there are several.
    """

    file: ClassVar[str]
    title: ClassVar[str]
    values: ClassVar[str]
    rows: ClassVar[str]
    line: ClassVar[Mapping[str, str]] = {"rows": "{:,} rows", "loss": "loss {:.2e}", "validation": "validation {:.2e}"}

    def context(self) -> AbstractContextManager[None]:
        """One thread: the networks are small."""
        return one_thread()

    def report(self, training: Training) -> tuple[str, dict[str, str]]:
        """Losses and steps."""
        last, numbers, facts = training.records[-1], training.numbers(), dict[str, str]()
        for name, of in (("loss", "in training"), ("validation", "on situations held out")):
            if numbers[name] is not None:
                facts[name] = f"{numbers[name]:.3e}   mean Huber loss of {self.values} in pots, {of}"
        facts["steps"] = f"{last.steps:,}; {last.rows:,} {self.rows.format(numbers.get('round'))}"
        return f"{self.title.format(training.game)}: {count_of(last.done, self.job_kind.unit)}", facts


class SituationsJob(TrainingJob[LearningSettings]):
    """A training under way: a step solves the situations that its source takes at once, and takes the gradient steps due.

    Attributes:
        learner_kind: the learner.
        trainer: the trainer.
    """

    def __init__(self, kind: SituationsKind, game: str, identity: str, source: SituationSource) -> None:
        super().__init__(kind.name, game, identity, source.settings)
        self.learner_kind, self.trainer = kind, SituationTrainer(source)
        self._losses: list[tuple[int, float]] = []

    @property
    def kind(self) -> JobKind:  # type: ignore[override]
        """The learner's."""
        return self.learner_kind.job_kind

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
        before = self.trainer.steps
        found = self.trainer.round()
        if found.steps > before:
            self._losses.append((found.steps - before, found.loss))

    def live(self) -> Mapping[str, Any]:
        """Rows, steps, the loss since the last record, and the round where rounds are trained one after the other."""
        trainer, steps = self.trainer, sum(count for count, _ in self._losses)
        loss = sum(count * mean for count, mean in self._losses) / steps if steps else None
        several = {"round": len(trainer.source.networks) - trainer.stage} if "round" in self.kind.numbers else {}
        return {**several, "rows": len(trainer.fitting.rows), "steps": trainer.steps, "loss": loss}

    def measure(self) -> Mapping[str, Any]:
        """Those numbers, and the loss on what is held out."""
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
        """Write the networks with a card, and at the end the learning curve."""
        from treeplex.run.plots import write_figure

        date = datetime.now(UTC).date().isoformat()
        times = {"seconds": self.clock.seconds, "cpu_seconds": self.clock.cpu_seconds, "date": date}
        card = {"situations": self.done, "steps": self.trainer.steps, **times}
        if records and records[-1].numbers["validation"] is not None:
            card["validation"] = records[-1].numbers["validation"]
        kind, source = self.learner_kind, self.trainer.source
        source.save(path / kind.file, game=self.game, identity=self.identity, card=card)
        if ended:
            write_figure(loss_figure(kind.title.format(self.game), records), path / CURVE)


def loss_figure(title: str, records: Sequence[Record]) -> "Figure":
    """Losses of training and validation against situations, the height logarithmic."""
    from treeplex.run.plots import Curve, Panel, curves_figure

    def curve(name: str, number: int, label: str) -> Curve:
        shown = [record for record in records if record.numbers[name] is not None]
        return Curve([each.done for each in shown], [each.numbers[name] for each in shown], number=number, label=label)

    end = max([record.done for record in records], default=1)
    panel = Panel("Huber loss, in pots", [curve("loss", 0, "training"), curve("validation", 1, "validation")])
    return curves_figure(title, "Situations solved", [panel], last=end, height=3.6)
