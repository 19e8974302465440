"""A ReBeL training under way: what changes while it runs, and what is written down of it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from time import perf_counter, process_time
from typing import Any

import numpy as np

from treeplex.errors import AlgorithmError
from treeplex.games.public import PublicTree
from treeplex.learn.common.workers import Alone, Workers
from treeplex.learn.rebel.files import save_net
from treeplex.learn.rebel.parallel_self_play import ParallelSelfPlay, SelfPlayJob, SelfPlayRows
from treeplex.learn.rebel.policy_net import weights_of
from treeplex.learn.rebel.trainer import RebelTrainer, Round
from treeplex.runs.job.checkpoint import Checkpoint
from treeplex.runs.job.session import stopped_by
from treeplex.runs.rebel.events import Events
from treeplex.runs.rebel.folder import LATE, NET, RebelFolder, RebelRecord
from treeplex.runs.rebel.live_evaluation import RunJudge
from treeplex.runs.rebel.settings import RebelRun


@dataclass(frozen=True)
class RebelProgress:
    """Where a training stands, for a live display.

    Attributes:
        run: what was asked for.
        last: the newest record.
        judged: the newest record with an exploitability; None before.
        seconds_left: an estimate; None before there is one.
    """

    run: RebelRun
    last: RebelRecord
    judged: RebelRecord | None
    seconds_left: float | None


Watcher = Callable[[RebelProgress], None]


@dataclass
class Sitting:
    """A training under way: the only thing here that changes.

    ``losses`` gathers for the next record the gradient steps of each round and their mean losses, of the value network and of
    the policy network.
    """

    run: RebelRun
    rules: PublicTree
    folder: RebelFolder
    trainer: RebelTrainer
    workers: Workers[SelfPlayJob, SelfPlayRows] | None
    judge: RunJudge
    events: Events
    records: list[RebelRecord] = field(default_factory=list)
    identity: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    losses: list[tuple[int, float, float]] = field(default_factory=list)
    saved_at: float = field(default_factory=perf_counter)

    @property
    def crew(self) -> ParallelSelfPlay | None:
        """The self-play of workers, if there are any."""
        return self.trainer.play if isinstance(self.trainer.play, ParallelSelfPlay) else None

    @property
    def finished(self) -> bool:
        """Whether all that was asked for is done."""
        return self.trainer.finished if self.run.seconds is None else self.seconds >= self.run.seconds

    def round(self) -> None:
        """One round, and its time; with a budget of time, ``solves`` is what that time will do at the speed so far."""
        trainer = self.trainer
        if self.run.seconds is not None:
            share = min(max(self.seconds / self.run.seconds, 1e-6), 1.0)
            solved = trainer.play.solved + trainer.settings.episodes
            trainer.settings = replace(trainer.settings, solves=math.ceil(solved / share))
        began, processor, workers = perf_counter(), process_time(), self.crew.seconds if self.crew else 0.0
        steps, before = trainer.steps, self.done
        try:
            done: Round = trainer.round()
        except AlgorithmError as error:
            self.folder.describe(self.run, self.identity, status="failed", last=self.records[-1])
            raise stopped_by(error, self.folder, "subgames") from error
        self.seconds += perf_counter() - began
        self.cpu_seconds += process_time() - processor
        if self.crew and not isinstance(self.workers, Alone):
            self.cpu_seconds += self.crew.seconds - workers
        for share, name in LATE.items():
            if before < share <= self.done:
                self.save_net(name)
        if done.steps > steps:
            self.losses.append((done.steps - steps, done.loss, done.policy_loss))

    def record(self) -> None:
        """Write down where the training stands."""
        solved, last = self.trainer.play.solved, self.records[-1] if self.records else None
        since = (solved - last.solved, self.seconds - last.seconds) if last else (solved, self.seconds)
        found = RebelRecord(
            solved=solved,
            seconds=self.seconds,
            cpu_seconds=self.cpu_seconds,
            rows=len(self.trainer.values.rows),
            steps=self.trainer.steps,
            rate=since[0] / since[1] if since[1] > 0 else 0.0,
            lost=(last.lost if last else 0) + self.newly_lost(),
            **mean_losses(self.losses),
            **self.judge.due(self.trainer, self.seconds, at_end=self.finished),
        )
        self.losses.clear()
        self.records.append(found)
        self.folder.append(found)
        self.events.add(found)

    def newly_lost(self) -> int:
        """Workers that died since this was asked last."""
        if self.crew is None:
            return 0
        lost, self.crew.errands.lost = self.crew.errands.lost, 0
        return lost

    def save(self, status: str) -> None:
        """Write everything but the picture."""
        trainer, run = self.trainer, self.run
        arrays = {**trainer.state(), "time": np.array([self.cpu_seconds])}
        name = f"rebel of {run.streams} streams"
        self.folder.save_state(Checkpoint(self.identity, name, trainer.play.solved, self.seconds, arrays))
        self.save_net(NET)
        self.folder.describe(run, self.identity, status=status, last=self.records[-1] if self.records else None)
        self.saved_at = perf_counter()

    def save_net(self, name: str) -> None:
        """Write the network with a card."""
        trainer, run = self.trainer, self.run
        card = {
            "solved": trainer.play.solved,
            "steps": trainer.steps,
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
            "date": datetime.now(UTC).date().isoformat(),
        }
        weights, settings = weights_of(trainer.leaf), asdict(run.settings)
        save_net(self.folder.path / name, weights, game=run.game, identity=self.identity, settings=settings, card=card)

    @property
    def done(self) -> float:
        """The part of the training that is done."""
        if self.run.seconds is not None:
            return self.seconds / self.run.seconds
        return float(self.trainer.play.solved / self.trainer.settings.solves)


def mean_losses(losses: Sequence[tuple[int, float, float]]) -> dict[str, Any]:
    """Mean losses over rounds of (steps, loss, policy loss) as a record has them; None of a network without steps."""
    steps = sum(count for count, _, _ in losses)
    means = [sum(each[0] * each[kind] for each in losses) / steps if steps else math.nan for kind in (1, 2)]
    return {name: None if math.isnan(mean) else mean for name, mean in zip(("loss", "policy_loss"), means, strict=True)}


def telling(sitting: Sitting, progress: Watcher | None) -> Callable[[], None]:
    """What tells ``progress``, if there is one, where a sitting stands that begins now."""
    first, began = sitting.trainer.play.solved, sitting.seconds
    return lambda: None if progress is None else progress(where(sitting, first, began))


def where(sitting: Sitting, first: int, began: float) -> RebelProgress:
    """The state of a sitting for a display; rates since the last record, time left by the speed of this sitting."""
    solved, last = sitting.trainer.play.solved, sitting.records[-1]
    passed = sitting.seconds - last.seconds
    rate = (solved - last.solved) / passed if passed > 0.5 else last.rate
    now = replace(
        last,
        solved=solved,
        seconds=sitting.seconds,
        rows=len(sitting.trainer.values.rows),
        steps=sitting.trainer.steps,
        rate=rate,
        **(mean_losses(sitting.losses) if sitting.losses else {}),
    )
    if sitting.run.seconds is not None:
        left: float | None = max(0.0, sitting.run.seconds - sitting.seconds)
    else:
        done = solved - first
        left = (sitting.seconds - began) / done * max(0, sitting.run.settings.solves - solved) if done else None
    judged = next((record for record in reversed(sitting.records) if record.exploitability is not None), None)
    return RebelProgress(sitting.run, now, judged, left)
