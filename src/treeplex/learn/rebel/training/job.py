"""Job that trains ReBeL: each step is one round of self-play and the gradient steps due.

======================= =========================================================================================
``run.json``            game or spot, settings, versions, status, and the last record
``metrics.jsonl``       one record every few seconds: subgames or games, rows, steps, loss, periodically exploitability
``net.safetensors``     the network, with a card
``net-96.safetensors``  the network after 96% of training, and ``net-98``: the paper evaluates three checkpoints
``state.safetensors``   state for resuming
``learning-curve.png``  losses and exploitability against subgames or games
``evaluations.jsonl``   results of ``treeplex evaluate``, one record each
``judged/``             finished parts of evaluations for resuming; may be deleted
``tensorboard/``        the records as TensorBoard events, if requested
======================= =========================================================================================

Training runs on hold'em turns have no checkpoints at 96% and 98%, and ``treeplex evaluate`` does not evaluate them.
"""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeplex.base.work_clock import work_time
from treeplex.base.workers.crew import Inline
from treeplex.base.workers.executor import Executor
from treeplex.learn.common.settings import LearningSettings
from treeplex.learn.rebel.files import save_net
from treeplex.learn.rebel.nets import weights_of
from treeplex.learn.rebel.parallel_self_play import ParallelSelfPlay, SelfPlayStopped
from treeplex.learn.rebel.trainer import RebelTrainer, save_rivers
from treeplex.learn.rebel.training.live_evaluation import Judge
from treeplex.learn.train.kind import TrainingJob
from treeplex.run.job.checkpoint import Arrays, State
from treeplex.run.job.folder import JobKind, kind_of
from treeplex.run.job.interrupt import StepAbandoned
from treeplex.run.job.job import RUNNING
from treeplex.run.job.record import Record, integer, maybe, real

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NET, PLOT, EVALUATIONS, JUDGED = "net.safetensors", "learning-curve.png", "evaluations.jsonl", "judged"
LATE: Mapping[float, str] = {0.96: "net-96.safetensors", 0.98: "net-98.safetensors"}
"""Fractions of training after which networks are saved: epochs 980 and 1,000 of the paper's 1,020."""
NUMBERS = {"rows": integer, "steps": integer, "loss": maybe(real), "rate": real}
REBEL = JobKind(
    name="rebel",
    unit="subgames",
    maker="treeplex train",
    numbers={
        **NUMBERS,
        "policy_loss": maybe(real),
        "lost": integer,
        "exploitability": maybe(real),
        "playthroughs": maybe(integer),
        "iterations": maybe(integer),
    },
    needs={"game": str, "settings": dict, "identity": str},
    files=(NET, PLOT),
    noun="training",
)
"""Training runs of ReBeL.

Numbers of a record: ``rows`` in the buffer and gradient ``steps``; ``loss``, mean Huber loss of the steps since the last
record, None if there were none, and ``policy_loss``, the same for a policy network; ``rate``, subgames per second since the
last record; ``lost``, number of workers that died so far; ``exploitability``, from ``playthroughs`` playthroughs with
``iterations`` iterations per search, None if not evaluated."""
TURNS = JobKind(
    name="rebel on turns",
    unit="games",
    maker="treeplex train rebel",
    numbers={**NUMBERS, "policy_loss": maybe(real), "lost": maybe(integer)},
    needs={"game": dict, "identity": str, "settings": dict},
    files=(NET, PLOT),
    noun="training on turns",
)
"""Training runs on hold'em turns: as for ReBeL, but progress is in games, and rows are solved rivers."""


class RebelJob(TrainingJob[LearningSettings]):
    """A training run in progress; on hold'em turns its game is a spot as plain data.

    Attributes:
        trainer: the trainer.
        executor: executor of workers that advance the streams; None for self-play in this process.
        judge: evaluates networks at intervals; None for no evaluation.
        folder: folder for networks saved during training; None to save none.
        lost: number of workers that died so far.
    """

    kind: JobKind  # type: ignore[misc]

    def __init__(
        self,
        kind: JobKind,
        game: Any,
        identity: str,
        trainer: RebelTrainer,
        settings: LearningSettings,
        folder: Path | None,
        *,
        executor: Executor | None = None,
        judge: Judge | None = None,
    ) -> None:
        super().__init__("rebel", game, identity, settings)
        self.kind, self.late = kind, LATE if kind is REBEL else {}
        self.trainer, self.folder, self.executor, self.judge = trainer, folder, executor, judge
        self.lost = 0
        self._seconds: float | None = getattr(settings, "seconds", None)
        self._last: Record | None = None
        self._judged: dict[str, Any] = {}
        self._losses: list[tuple[int, float, float]] = []  # gradient steps of each round, and both networks' mean losses
        if judge is not None:
            judge.stop = lambda: self.interrupt.requested
        if parallel := self._parallel:
            parallel.stop = lambda: self.interrupt.requested

    @property
    def done(self) -> int:
        """Number of subgames solved, or of games drawn."""
        return self.trainer.done

    @property
    def total(self) -> int | None:
        """Length of the training run; None with a time budget."""
        return None if self._seconds is not None else self.settings.length

    def share(self, seconds: float) -> float:
        """The fraction of training completed after ``seconds`` seconds."""
        return self.done / self.settings.length if self._seconds is None else seconds / self._seconds

    @property
    def ahead(self) -> int:
        """Rounds per step: 1, or 0 once training is complete."""
        finished = self.trainer.finished if self._seconds is None else self.clock.seconds >= self._seconds
        return 0 if finished else 1

    @property
    def seconds_left(self) -> float | None:
        """Remaining seconds of the time budget; None without one."""
        return None if self._seconds is None else max(0.0, self._seconds - self.clock.seconds)

    @property
    def _parallel(self) -> ParallelSelfPlay | None:
        return self.trainer.play if isinstance(self.trainer.play, ParallelSelfPlay) else None

    def resumed(self, records: Sequence[Record]) -> None:
        """Continue from the last record's speed and number of workers that died."""
        self._last = records[-1] if records else None
        self.lost = self._last.numbers.get("lost", 0) if self._last else 0

    def step(self, count: int) -> None:
        """Run one round; with a time budget, ``solves`` is first estimated from the speed so far."""
        trainer, parallel = self.trainer, self._parallel
        if self._seconds is not None:
            share = min(max(self.clock.seconds / self._seconds, 1e-6), 1.0)
            solved = trainer.play.solved + trainer.settings.episodes
            trainer.settings = replace(trainer.settings, solves=math.ceil(solved / share))
        worked, steps, before = parallel.seconds if parallel else 0.0, trainer.steps, self.share(self.clock.seconds)
        began = work_time()
        try:
            result = trainer.round()
        except SelfPlayStopped as stopped:
            raise StepAbandoned from stopped
        if parallel and not isinstance(parallel.executor.crew, Inline):
            self.clock.cpu_seconds += parallel.seconds - worked
        after = self.share(self.clock.seconds + work_time() - began)
        for share, name in self.late.items():
            if self.folder and before < share <= after:
                self.save_net(self.folder / name)
        if result.steps > steps:
            self._losses.append((result.steps - steps, result.loss, result.policy_loss))

    def measure(self) -> Mapping[str, Any]:
        """Losses and speed since the last record, and exploitability if an evaluation is due."""
        judged = self.judge.due(self.trainer, self.clock.seconds, at_end=not self.ahead) if self.judge else {}
        missing = dict.fromkeys(("exploitability", "playthroughs", "iterations"))
        numbers = {**missing, **self._now(), **mean_losses(self._losses), **judged}
        self._losses.clear()
        self._judged = judged or self._judged
        self._last = Record(self.done, self.clock.seconds, self.clock.cpu_seconds, numbers)
        return numbers

    def _now(self) -> dict[str, Any]:
        """Rows, steps, recent speed (initially that of the last record), and number of workers that died."""
        last, parallel = self._last, self._parallel
        solved = self.done - (last.done if last else 0)
        passed = self.clock.seconds - (last.seconds if last else 0.0)
        if parallel:
            self.lost, parallel.executor.lost = self.lost + parallel.executor.lost, 0
        rate = solved / passed if solved > 0 and passed > 0 else last.rate if last else 0.0
        return {"rows": len(self.trainer.values.rows), "steps": self.trainer.steps, "rate": rate, "lost": self.lost}

    def live(self) -> Mapping[str, Any]:
        """Rows, steps, speed and losses since the last record, and the latest exploitability."""
        return {**self._now(), **self._judged, **(mean_losses(self._losses) if self._losses else {})}

    def state(self) -> State:
        """The trainer's arrays."""
        return self.trainer.state()

    def restore(self, arrays: Arrays) -> None:
        """Restore the trainer."""
        self.trainer.restore(arrays)

    def write(self, path: Path, records: Sequence[Record], *, status: str) -> None:
        """Write the network, and at the end the learning curve."""
        self.save_net(path / NET)
        if status != RUNNING:
            from treeplex.run.plots import write_figure

            write_figure(self.figure(records), path / PLOT)

    def figure(self, records: Sequence[Record]) -> "Figure":
        """The learning curve."""
        if self.kind is not TURNS:
            return rebel_figure(f"ReBeL on {self.game}", records)
        board = "" if self.trainer.settings.boards else f", {self.game['board']}"
        title = f"ReBeL on turns, pot {self.game['pot']:g}{board}"
        return rebel_figure(title, records, across="Games", loss="Huber loss, in pots")

    def _times(self) -> dict[str, Any]:
        date = datetime.now(UTC).date().isoformat()
        return {"seconds": self.clock.seconds, "cpu_seconds": self.clock.cpu_seconds, "date": date}

    def save_net(self, path: Path) -> None:
        """Write the network with a card."""
        if self.kind is TURNS:
            save_rivers(self.trainer, path, **self._times(), spot=self.game)
            return
        card = {"solved": self.done, "steps": self.trainer.steps, **self._times()}
        weights, settings = weights_of(self.trainer.leaf), self.settings.to_json()
        save_net(path, weights, game=self.game, identity=self.identity, settings=settings, card=card)

    def close(self) -> None:
        """Stop the workers."""
        if self.executor is not None:
            self.executor.close()


def mean_losses(losses: Sequence[tuple[int, float, float]]) -> dict[str, Any]:
    """Mean losses over rounds of (steps, loss, policy loss) for a record; None for a network that took no steps."""
    steps = sum(count for count, _, _ in losses)
    means = [sum(row[0] * row[kind] for row in losses) / steps if steps else math.nan for kind in (1, 2)]
    return {name: None if math.isnan(mean) else mean for name, mean in zip(("loss", "policy_loss"), means, strict=True)}


def is_rebel_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a folder contains ReBeL training on public-tree rules."""
    return kind_of(path) == REBEL.name


def is_turn_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a folder contains ReBeL training on hold'em turns."""
    return kind_of(path) == TURNS.name


def rebel_figure(
    title: str, records: Sequence[Record], *, across: str = "Subgames solved", loss: str = "Huber loss"
) -> "Figure":
    """Plot the loss and, if available, the policy network's loss and exploitability in panels with log scales."""
    from treeplex.run.plots import Curve, Panel, curves_figure

    def curve(name: str, number: int, *, dots: bool = False) -> Curve:
        shown = [record for record in records if record.numbers.get(name) is not None]
        return Curve([record.done for record in shown], [record.numbers[name] for record in shown], number=number, dots=dots)

    panels = [Panel(loss, [curve("loss", 0)])]
    if any(record.numbers.get("policy_loss") is not None for record in records):
        panels.append(Panel("Squared error\nof the policy network", [curve("policy_loss", 2)]))
    if judged := [record for record in records if record.numbers.get("exploitability") is not None]:
        last = judged[-1]
        label = f"Exploitability of {last.playthroughs} playthroughs\n(T = {last.iterations}, game units)"
        panels.append(Panel(label, [curve("exploitability", 1, dots=True)], floor=1e-12))
    end = max([record.done for record in records], default=1)
    return curves_figure(title, across, panels, last=end, height=1.2 + 2.4 * len(panels))
