"""Job that trains a discount policy: each step is one epoch and writes one record.

======================= =========================================================================================
``run.json``            settings, games, versions, status, the last and the best epoch
``metrics.jsonl``       one record per epoch: fitness, exploitability on each game, seconds, workers lost
``policy.safetensors``  the policy after the last epoch, with a card
``best.safetensors``    the policy with the best fitness so far
``state.safetensors``   state for resuming
``learning-curve.png``  fitness and exploitability against epochs
======================= =========================================================================================
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from treeplex.base.spec import Spec, parse_spec
from treeplex.base.version import own_version
from treeplex.engine.tree.learned import LOWEST
from treeplex.errors import SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.learn.discount.fitness import Fitness, exploitability_of
from treeplex.learn.discount.settings import DiscountSettings
from treeplex.learn.discount.trainer import EpochReport, Trainer
from treeplex.learn.train.kind import TrainingJob
from treeplex.run.job.checkpoint import Arrays, State
from treeplex.run.job.folder import JobKind
from treeplex.run.job.interrupt import StepAbandoned
from treeplex.run.job.job import RUNNING
from treeplex.run.job.record import Record, integer, maybe, real, reals
from treeplex.solvers.rules.discount_policy import DiscountPolicy
from treeplex.solvers.rules.discount_policy_files import save_discount_policy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POLICY, BEST, PLOT = "policy.safetensors", "best.safetensors", "learning-curve.png"
DISCOUNT = JobKind(
    name="discount",
    unit="epochs",
    maker="treeplex train",
    numbers={
        "fitness": real,
        "mean": maybe(real),
        "best": maybe(real),
        "exploitability": reals,
        "lost": integer,
    },
    needs={"learner": str, "game": list, "identity": str, "settings": dict},
    files=(POLICY, BEST, PLOT),
    noun="training",
)
"""Training runs for discount policies.

Numbers of a record: ``fitness``, of the policy after the epoch, without noise (epoch 0: before training); ``mean`` and
``best``, fitness over the epoch's candidates, None at epoch 0; ``exploitability``, the policy's final exploitability on each
game, in game units and the games' order; ``lost``, workers that died in the epoch."""


class DiscountJob(TrainingJob[DiscountSettings]):
    """A training run in progress.

    Attributes:
        games: the compiled training games.
        trainer: the trainer.
        fitness: the objective.
    """

    kind = DISCOUNT

    def __init__(
        self,
        learner: str,
        specs: list[str],
        games: Sequence[CompiledGame],
        settings: DiscountSettings,
        trainer: Trainer,
        fitness: Fitness,
    ) -> None:
        super().__init__(learner, specs, " ".join(game.identity for game in games), settings)
        self.games, self.trainer, self.fitness = games, trainer, fitness
        self.best: tuple[int, float] | None = None
        self.best_parameters: Any = trainer.policy.parameters.copy()
        self.lost = 0
        self._report: EpochReport | None = None
        trainer.watch = self._watch

    def _watch(self) -> None:
        if self.interrupt.requested:
            raise StepAbandoned

    @property
    def name(self) -> str:
        """The learner and its optimizer."""
        return f"{self.learner} by {self.settings.optimizer}"

    @property
    def done(self) -> int:
        """Number of epochs completed."""
        return self.trainer.epoch

    @property
    def total(self) -> int:
        """Total number of epochs."""
        return self.settings.epochs

    @property
    def ahead(self) -> int:
        """Epochs per step: 1, or 0 once training is complete."""
        return min(1, max(0, self.total - self.done))

    def step(self, count: int) -> None:
        """Run one epoch; a stop request cancels it."""
        self._report = self.trainer.step()
        self.lost += self._report.lost

    def measure(self) -> Mapping[str, Any]:
        """Measurements of the last epoch or, before training, of the initial policy."""
        report = self._report
        if report is None:
            reached = exploitability_of(self.trainer.policy, self.games)
            numbers: dict[str, Any] = {"fitness": float(self.fitness.of(reached)), "mean": None, "best": None, "lost": 0}
            numbers["exploitability"] = tuple(float(value) for value in reached)
        else:
            numbers = {name: getattr(report, name) for name in DISCOUNT.numbers}
        if self.best is None or numbers["fitness"] > self.best[1]:
            self.best, self.best_parameters = (self.done, numbers["fitness"]), self.trainer.policy.parameters.copy()
        return numbers

    def live(self) -> Mapping[str, Any]:
        """Best fitness so far, and number of workers that died in this session."""
        return {"best_fitness": None if self.best is None else self.best[1], "lost": self.lost}

    def points(self) -> Iterator[int]:
        """Measurement points: every epoch."""
        return count(0)

    def about(self) -> Mapping[str, Any]:
        """Learner, games, settings and the best epoch."""
        best = None if self.best is None else {"epoch": self.best[0], "fitness": self.best[1]}
        return {**super().about(), "best": best}

    def state(self) -> State:
        """The trainer's arrays, and those of the best policy."""
        best = np.array(self.best or (0, 0.0), np.float64)
        return {**self.trainer.state(), "best_parameters": self.best_parameters, "best": best}

    def restore(self, arrays: Arrays) -> None:
        """Restore the trainer."""
        self.trainer.restore(arrays)
        self.best_parameters = np.array(arrays["best_parameters"])
        epoch, fitness = arrays["best"]
        self.best = int(epoch), float(fitness)
        try:
            self.trainer.policy.with_parameters(self.best_parameters)
        except SpecError as error:
            raise ValueError(str(error)) from error

    def write(self, path: Path, records: Sequence[Record], *, status: str) -> None:
        """Write both policies, and at the end the learning curve."""
        save_discount_policy(self.last_policy(records), path / POLICY)
        save_discount_policy(self.best_policy(records), path / BEST)
        if status != RUNNING:
            from treeplex.run.plots import write_figure

            title = f"Training {self.name}, {self.settings.horizon:,} iterations per episode"
            write_figure(learning_figure(title, self.game, records), path / PLOT)

    def close(self) -> None:
        """Stop the workers."""
        self.trainer.close()

    def last_policy(self, records: Sequence[Record]) -> DiscountPolicy:
        """The policy after the last epoch, with a model card."""
        return self.with_card(self.trainer.policy, records[-1])

    def best_policy(self, records: Sequence[Record]) -> DiscountPolicy:
        """The best policy so far, with a model card."""
        policy = self.trainer.policy.with_parameters(self.best_parameters)
        return self.with_card(policy, best_of(records))

    def with_card(self, policy: DiscountPolicy, record: Record) -> DiscountPolicy:
        """The policy with a model card: training method, date, games, settings, and evaluation results."""
        card = {
            "algorithm": self.learner,
            "games": self.game,
            "epochs": record.done,
            "settings": self.settings.to_json(),
            "seconds": record.seconds,
            "date": datetime.now(UTC).date().isoformat(),
            "fitness": record.fitness,
            "exploitability": dict(zip(self.game, record.exploitability, strict=True)),
            "treeplex": own_version(),
        }
        return replace(policy, card=card)


def best_of(records: Sequence[Record]) -> Record:
    """The first record with the best fitness."""
    return max(records, key=lambda record: float(record.fitness))


def learning_figure(title: str, games: Sequence[str], records: Sequence[Record]) -> "Figure":
    """Plot fitness and, below it on a log scale, exploitability on each game against epochs.

    Args:
        title: the figure's title.
        games: specs, in the records' order.
        records: at least one.
    """
    from treeplex.run.plots import Curve, Panel, curves_figure

    epochs = [record.done for record in records]
    searched = [record for record in records if record.mean is not None and record.best is not None]
    means, bests = [record.mean for record in searched], [record.best for record in searched]
    spans = [record.done for record in searched]
    candidates = Curve(spans, means, "candidates, mean to best", 5, means, bests, line=False)
    above = [candidates] if searched else []
    above.append(Curve(epochs, [record.fitness for record in records], "policy"))
    below = [
        Curve(epochs, [record.exploitability[number] for record in records], name, number)
        for number, name in enumerate(short_names(games))
    ]
    panels = [
        Panel("Fitness", above, logarithmic=False, share=2.0),
        Panel("Final exploitability\n(mean best-response gain, game units)", below, floor=LOWEST, named_ends=True, share=3.0),
    ]
    low = any(value < LOWEST for record in records for value in record.exploitability)
    across = f"Epochs\n(exploitability below {LOWEST:.0e} is drawn there)" if low else "Epochs"
    return curves_figure(title, across, panels, last=max(epochs[-1], 1), height=6.4)


def short_names(games: Sequence[str]) -> list[str]:
    """Short labels for specs: only the parameters that differ between games of the same name; file paths are unchanged."""
    try:
        specs = [parse_spec(game) for game in games]
    except SpecError:
        return list(games)
    names = []
    for spec in specs:
        others = [other for other in specs if other.name == spec.name]
        distinct = {
            key: value for key, value in spec.parameters.items() if any(other.parameters.get(key) != value for other in others)
        }
        names.append(str(Spec(spec.name, distinct)))
    return names
