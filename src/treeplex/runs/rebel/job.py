"""A ReBeL training, as a job: a step is one round of self-play and the gradient steps that it allows.

======================= =========================================================================================
``run.json``            game, settings, versions, status, and the last record
``metrics.jsonl``       one record every few seconds: subgames, seconds, rows, steps, loss, now and then exploitability
``net.safetensors``     the network, with a card
``net-96.safetensors``  the network as it was after 96% of the training, and ``net-98``: the paper judges three checkpoints
``state.safetensors``   everything from which the training continues
``learning-curve.png``  losses and exploitability against subgames
``evaluations.jsonl``   what ``treeplex evaluate`` found, one record each
``judged/``             parts of evaluations, so that they can go on; may be deleted
``tensorboard/``        the records as TensorBoard events, if asked for
======================= =========================================================================================
"""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from treeplex.learn.common.workers import Alone, Workers
from treeplex.learn.rebel.files import save_net
from treeplex.learn.rebel.parallel_self_play import ParallelSelfPlay, SelfPlayJob, SelfPlayRows, SelfPlayStopped
from treeplex.learn.rebel.policy_net import weights_of
from treeplex.learn.rebel.trainer import RebelTrainer, Round
from treeplex.runs.job.checkpoint import Arrays, State
from treeplex.runs.job.folder import Kind, kind_of
from treeplex.runs.job.interrupt import StepAbandoned
from treeplex.runs.job.job import Job
from treeplex.runs.job.record import Record, maybe, real, whole
from treeplex.runs.rebel.events import Events, no_events
from treeplex.runs.rebel.live_evaluation import RunJudge
from treeplex.runs.rebel.settings import RebelRun

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NET, PLOT, EVALUATIONS, JUDGED, EVENTS = (
    "net.safetensors",
    "learning-curve.png",
    "evaluations.jsonl",
    "judged",
    "tensorboard",
)
LATE: Mapping[float, str] = {0.96: "net-96.safetensors", 0.98: "net-98.safetensors"}
"""Networks kept on the way, by the part of the training done: epochs 980 and 1,000 of the paper's 1,020."""
REBEL = Kind(
    name="rebel",
    unit="subgames",
    maker="treeplex train rebel",
    numbers={
        "rows": whole,
        "steps": whole,
        "loss": maybe(real),
        "policy_loss": maybe(real),
        "rate": real,
        "lost": whole,
        "exploitability": maybe(real),
        "playthroughs": maybe(whole),
        "iterations": maybe(whole),
    },
    needs={"game": str, "settings": dict, "identity": str},
    files=(NET, PLOT),
    noun="training",
)
"""Trainings of ReBeL. ``rows`` in the buffer and gradient ``steps``; ``loss``: mean Huber loss of the steps since the last
record, None without any, ``policy_loss`` the same of a policy network; ``rate``: subgames a second since the last record;
``lost``: workers that died so far; ``exploitability`` of ``playthroughs`` playthroughs, ``iterations`` a search, None where not
judged."""


class RebelJob(Job):
    """A training under way."""

    kind = REBEL

    def __init__(
        self,
        run: RebelRun,
        identity: str,
        trainer: RebelTrainer,
        workers: Workers[SelfPlayJob, SelfPlayRows] | None,
        judge: RunJudge,
        folder: Path,
    ) -> None:
        super().__init__()
        self.asked, self.trainer, self.workers, self.judge, self.folder = run, trainer, workers, judge, folder
        self.events: Events = no_events()
        self.last: Record | None = None
        self.lost = 0
        self._identity = identity
        self._judged: dict[str, Any] = {}
        self._losses: list[tuple[int, float, float]] = []  # gradient steps of each round, mean losses of both networks
        judge.stop = lambda: self.interrupt.requested
        if parallel := self._parallel:
            parallel.stop = judge.stop

    @property
    def name(self) -> str:
        """With how many streams."""
        return f"rebel of {self.asked.streams} streams"

    @property
    def identity(self) -> str:
        """Of the public rules."""
        return self._identity

    @property
    def done(self) -> int:
        """Subgames solved."""
        return int(self.trainer.play.solved)

    @property
    def total(self) -> int | None:
        """Subgames asked for; None with a budget of time."""
        return None if self.asked.seconds is not None else self.asked.settings.solves

    def share(self, seconds: float) -> float:
        """The part of the training that is done after so many seconds."""
        if self.asked.seconds is not None:
            return seconds / self.asked.seconds
        return float(self.done / self.trainer.settings.solves)

    @property
    def ahead(self) -> int:
        """A step is one round."""
        finished = self.trainer.finished if self.asked.seconds is None else self.clock.seconds >= self.asked.seconds
        return 0 if finished else 1

    @property
    def seconds_left(self) -> float | None:
        """What is left of a budget of time."""
        return None if self.asked.seconds is None else max(0.0, self.asked.seconds - self.clock.seconds)

    @property
    def _parallel(self) -> ParallelSelfPlay | None:
        return self.trainer.play if isinstance(self.trainer.play, ParallelSelfPlay) else None

    def step(self, count: int) -> None:
        """One round; with a budget of time, ``solves`` is what that time will do at the speed so far."""
        trainer, parallel = self.trainer, self._parallel
        if self.asked.seconds is not None:
            share = min(max(self.clock.seconds / self.asked.seconds, 1e-6), 1.0)
            solved = trainer.play.solved + trainer.settings.episodes
            trainer.settings = replace(trainer.settings, solves=math.ceil(solved / share))
        worked, steps, before = parallel.seconds if parallel else 0.0, trainer.steps, self.share(self.clock.seconds)
        began = perf_counter()
        try:
            found: Round = trainer.round()
        except SelfPlayStopped as stopped:
            raise StepAbandoned from stopped
        if parallel and not isinstance(self.workers, Alone):
            self.clock.cpu_seconds += parallel.seconds - worked
        after = self.share(self.clock.seconds + perf_counter() - began)
        for share, name in LATE.items():
            if before < share <= after:
                self.save_net(self.folder / name)
        if found.steps > steps:
            self._losses.append((found.steps - steps, found.loss, found.policy_loss))

    def measure(self) -> Mapping[str, Any]:
        """Losses and speed since the last record; exploitability if it is time for it."""
        judged = self.judge.due(self.trainer, self.clock.seconds, at_end=not self.ahead)
        found = {
            "exploitability": None,
            "playthroughs": None,
            "iterations": None,
            **self._now(),
            **mean_losses(self._losses),
            **judged,
        }
        self._losses.clear()
        self._judged = judged or self._judged
        self.last = Record(self.done, self.clock.seconds, self.clock.cpu_seconds, found)
        self.events.add(self.last)
        return found

    def _now(self) -> dict[str, Any]:
        last, parallel = self.last, self._parallel
        solved = self.done - (last.done if last else 0)
        passed = self.clock.seconds - (last.seconds if last else 0.0)
        if parallel:
            self.lost, parallel.errands.lost = self.lost + parallel.errands.lost, 0
        rate = solved / passed if solved > 0 and passed > 0 else last.rate if last else 0.0
        return {"rows": len(self.trainer.values.rows), "steps": self.trainer.steps, "rate": rate, "lost": self.lost}

    def live(self) -> Mapping[str, Any]:
        """Rows, steps, speed and losses since the last record, and the newest exploitability."""
        return {**self._now(), **self._judged, **(mean_losses(self._losses) if self._losses else {})}

    def about(self) -> Mapping[str, Any]:
        """Game and settings."""
        return {**asdict(self.asked), "identity": self.identity}

    def state(self) -> State:
        """The trainer's arrays."""
        return self.trainer.state()

    def restore(self, arrays: Arrays) -> None:
        """Restore the trainer."""
        self.trainer.restore(arrays)

    def write(self, path: Path, records: Sequence[Record], *, ended: bool) -> None:
        """Write the network, and at the end the learning curve."""
        self.save_net(path / NET)
        if ended:
            from treeplex.runs.plots import write_figure

            write_figure(rebel_figure(f"ReBeL on {self.asked.game}", records), path / PLOT)

    def save_net(self, path: Path) -> None:
        """Write the network with a card."""
        trainer, run = self.trainer, self.asked
        card = {
            "solved": trainer.play.solved,
            "steps": trainer.steps,
            "seconds": self.clock.seconds,
            "cpu_seconds": self.clock.cpu_seconds,
            "date": datetime.now(UTC).date().isoformat(),
        }
        weights, settings = weights_of(trainer.leaf), asdict(run.settings)
        save_net(path, weights, game=run.game, identity=self.identity, settings=settings, card=card)

    def close(self) -> None:
        """End the workers and close the events."""
        self.events.close()
        if self.workers is not None:
            self.workers.close()


def mean_losses(losses: Sequence[tuple[int, float, float]]) -> dict[str, Any]:
    """Mean losses over rounds of (steps, loss, policy loss) as a record has them; None of a network without steps."""
    steps = sum(count for count, _, _ in losses)
    means = [sum(each[0] * each[kind] for each in losses) / steps if steps else math.nan for kind in (1, 2)]
    return {name: None if math.isnan(mean) else mean for name, mean in zip(("loss", "policy_loss"), means, strict=True)}


def is_rebel_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a folder holds a ReBeL training."""
    return kind_of(path) == REBEL.name


def rebel_figure(title: str, records: Sequence[Record]) -> "Figure":
    """The loss, that of a policy network, exploitability where it was judged: one below the other, against subgames solved."""
    from treeplex.runs.plots import Curve, Panel, curves_figure

    def curve(name: str, number: int, *, dots: bool = False) -> Curve:
        shown = [record for record in records if record.numbers[name] is not None]
        return Curve([record.done for record in shown], [record.numbers[name] for record in shown], number=number, dots=dots)

    panels = [Panel("Huber loss", [curve("loss", 0)])]
    if any(record.policy_loss is not None for record in records):
        panels.append(Panel("Squared error\nof the policy network", [curve("policy_loss", 2)]))
    if judged := [record for record in records if record.exploitability is not None]:
        last = judged[-1]
        label = f"Exploitability of {last.playthroughs} playthroughs\n(T = {last.iterations}, game units)"
        panels.append(Panel(label, [curve("exploitability", 1, dots=True)], floor=1e-12))
    end = max([record.done for record in records], default=1)
    return curves_figure(title, "Subgames solved", panels, last=end, height=1.2 + 2.4 * len(panels))
