"""Jobs and learners that solve situations and fit networks to their values."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from treeplex.learn.common.device import one_thread
from treeplex.learn.common.settings import LearningSettings
from treeplex.learn.common.situations import SituationSource, SituationTrainer
from treeplex.learn.train.kind import CURVE, TrainingJob, TrainingKind, TrainingRun, count_of
from treeplex.run.job.checkpoint import Arrays, State
from treeplex.run.job.folder import JobKind
from treeplex.run.job.job import RUNNING
from treeplex.run.job.record import Record, integer, maybe, real

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def situations_job_kind(name: str, file: str, **numbers: Callable[[Any], Any]) -> JobKind:
    """Create the job type for learners whose networks are stored in ``file``.

    Numbers in a record include ``rows``, the training rows; ``steps``, gradient steps; ``loss``, the mean Huber loss as
    a fraction of the pot since the last record, None if there were no steps; ``validation``, the same loss on held-out
    situations.
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
    """Learner type that fits networks to solved situations.

    Attributes:
        file: file name of the networks in a folder.
        title: title of a training run, with a placeholder for the game.
        values: name of the values whose error the losses measure.
        rows: name of the training rows, with a placeholder for the round if there are several.
    """

    file: ClassVar[str]
    title: ClassVar[str]
    values: ClassVar[str]
    rows: ClassVar[str]
    line: ClassVar[Mapping[str, str]] = {"rows": "{:,} rows", "loss": "loss {:.2e}", "validation": "validation {:.2e}"}

    def context(self) -> AbstractContextManager[None]:
        """Limit PyTorch to one thread, since the networks are small."""
        return one_thread()

    def report(self, training: TrainingRun) -> tuple[str, dict[str, str]]:
        """Report losses and steps."""
        last, numbers, facts = training.records[-1], training.numbers(), dict[str, str]()
        for name, of in (("loss", "in training"), ("validation", "on held-out situations")):
            if numbers[name] is not None:
                facts[name] = f"{numbers[name]:.3e}   mean Huber loss of {self.values} in pots, {of}"
        facts["steps"] = f"{last.steps:,}; {last.rows:,} {self.rows.format(numbers.get('round'))}"
        return f"{self.title.format(training.game)}: {count_of(last.done, self.job_kind.unit)}", facts


class SituationsJob(TrainingJob[LearningSettings]):
    """A training run in progress: each step solves a batch of situations and takes the gradient steps due.

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
        """The learner's job type."""
        return self.learner_kind.job_kind

    @property
    def done(self) -> int:
        """Number of situations solved."""
        return self.trainer.done

    @property
    def total(self) -> int:
        """Total number of situations to solve."""
        return self.trainer.total

    @property
    def ahead(self) -> int:
        """Batches per step: 1, or 0 once all situations are solved."""
        return int(self.done < self.total)

    def step(self, count: int) -> None:
        """Solve a batch of situations and take the gradient steps due."""
        before = self.trainer.steps
        result = self.trainer.round()
        if result.steps > before:
            self._losses.append((result.steps - before, result.loss))

    def live(self) -> Mapping[str, Any]:
        """Rows, steps, the loss since the last record, and the current round if there are several."""
        trainer, steps = self.trainer, sum(count for count, _ in self._losses)
        loss = sum(count * mean for count, mean in self._losses) / steps if steps else None
        several = {"round": len(trainer.source.networks) - trainer.stage} if "round" in self.kind.numbers else {}
        return {**several, "rows": len(trainer.fitting.rows), "steps": trainer.steps, "loss": loss}

    def measure(self) -> Mapping[str, Any]:
        """The numbers of :meth:`live`, and the loss on held-out situations."""
        numbers = {**self.live(), "validation": self.trainer.validation()}
        self._losses.clear()
        return numbers

    def state(self) -> State:
        """The trainer's arrays."""
        return self.trainer.state()

    def restore(self, arrays: Arrays) -> None:
        """Restore the trainer."""
        self.trainer.restore(arrays)

    def close(self) -> None:
        """Stop the source's worker processes."""
        self.trainer.source.close()

    def write(self, path: Path, records: Sequence[Record], *, status: str) -> None:
        """Write the networks with a card, and at the end the learning curve."""
        from treeplex.run.plots import write_figure

        date = datetime.now(UTC).date().isoformat()
        times = {"seconds": self.clock.seconds, "cpu_seconds": self.clock.cpu_seconds, "date": date}
        card = {"situations": self.done, "steps": self.trainer.steps, **times}
        if records and records[-1].numbers["validation"] is not None:
            card["validation"] = records[-1].numbers["validation"]
        kind, source = self.learner_kind, self.trainer.source
        source.save(path / kind.file, game=self.game, identity=self.identity, card=card)
        if status != RUNNING:
            write_figure(loss_figure(kind.title.format(self.game), records), path / CURVE)


def loss_figure(title: str, records: Sequence[Record]) -> "Figure":
    """Plot training and validation losses against situations, on a log scale."""
    from treeplex.run.plots import Curve, Panel, curves_figure

    def curve(name: str, number: int, label: str) -> Curve:
        shown = [record for record in records if record.numbers[name] is not None]
        return Curve([entry.done for entry in shown], [entry.numbers[name] for entry in shown], number=number, label=label)

    end = max([record.done for record in records], default=1)
    panel = Panel("Huber loss, in pots", [curve("loss", 0, "training"), curve("validation", 1, "validation")])
    return curves_figure(title, "Situations solved", [panel], last=end, height=3.6)
