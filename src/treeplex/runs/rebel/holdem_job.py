"""A ReBeL training on turns of hold'em, as a job: a step is one game.

======================= =========================================================================================
``run.json``            spot, settings, versions, status, and the last record
``metrics.jsonl``       one record every few seconds: games, rows, steps, loss, seconds, cpu_seconds, rate
``net.safetensors``     the network for rivers, with a card
``state.safetensors``   everything from which the training continues
``learning-curve.png``  the loss against games
======================= =========================================================================================
"""

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeplex.games.poker.cards.cards import cards_to_string
from treeplex.learn.rebel.holdem_trainer import save_rivers
from treeplex.learn.rebel.trainer import RebelTrainer
from treeplex.runs.job.checkpoint import Arrays, State
from treeplex.runs.job.folder import Kind, kind_of
from treeplex.runs.job.job import Job
from treeplex.runs.job.record import Record, maybe, real, whole
from treeplex.runs.rebel.holdem_settings import HoldemRebelRun

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NET, PLOT = "net.safetensors", "learning-curve.png"
TURNS = Kind(
    name="rebel on turns",
    unit="games",
    maker="treeplex holdem train",
    numbers={"rows": whole, "steps": whole, "loss": maybe(real), "rate": real},
    needs={"spot": dict, "identity": str, "settings": dict},
    files=(NET, PLOT),
    noun="training on turns",
)
"""Trainings on turns of hold'em. ``rows``: solved rivers in the buffer; gradient ``steps``; ``loss``: their mean loss since the
last record, None without any; ``rate``: games a second since the last record."""


class HoldemRebelJob(Job):
    """A training under way."""

    kind = TURNS

    def __init__(self, run: HoldemRebelRun, trainer: RebelTrainer) -> None:
        super().__init__()
        self.asked, self.trainer = run, trainer
        self.last: Record | None = None
        self._losses: list[tuple[int, float]] = []  # gradient steps of each game, and their mean loss

    @property
    def name(self) -> str:
        """What runs."""
        return TURNS.name

    @property
    def identity(self) -> str:
        """Of the spot."""
        return self.asked.spot.identity

    @property
    def done(self) -> int:
        """Games drawn."""
        return int(self.trainer.play.games)

    @property
    def total(self) -> int:
        """Games asked for."""
        return self.asked.settings.games

    @property
    def ahead(self) -> int:
        """A step is one game."""
        return 0 if self.trainer.finished else 1

    def step(self, count: int) -> None:
        """One game."""
        steps = self.trainer.steps
        found = self.trainer.round()
        if found.steps > steps:
            self._losses.append((found.steps - steps, found.loss))

    def measure(self) -> Mapping[str, Any]:
        """Loss and speed since the last record."""
        found = {"loss": None, **self.live()}
        self._losses.clear()
        self.last = Record(self.done, self.clock.seconds, self.clock.cpu_seconds, found)
        return found

    def live(self) -> Mapping[str, Any]:
        """Rows, steps, speed and loss since the last record; the rate is that of the last record until there is a new one."""
        last, steps = self.last, sum(count for count, _ in self._losses)
        games = self.done - (last.done if last else 0)
        passed = self.clock.seconds - (last.seconds if last else 0.0)
        rate = games / passed if games > 0 and passed > 0 else last.rate if last else 0.0
        loss = {"loss": sum(count * loss for count, loss in self._losses) / steps} if steps else {}
        return {"rows": len(self.trainer.values.rows), "steps": self.trainer.steps, "rate": rate, **loss}

    def about(self) -> Mapping[str, Any]:
        """Spot and settings."""
        return self.asked.to_json()

    def state(self) -> State:
        """The trainer's arrays."""
        return self.trainer.state()

    def restore(self, arrays: Arrays) -> None:
        """Restore the trainer."""
        self.trainer.restore(arrays)

    def write(self, path: Path, records: Sequence[Record], *, ended: bool) -> None:
        """Write the network, and at the end the learning curve."""
        clock, spot = self.clock, self.asked.spot
        card = {"seconds": clock.seconds, "cpu_seconds": clock.cpu_seconds, "date": datetime.now(UTC).date().isoformat()}
        save_rivers(self.trainer, path / NET, **card, spot=spot.to_json())
        if ended:
            from treeplex.runs.plots import write_figure

            board = "" if self.asked.settings.boards else f", {cards_to_string(spot.board)}"
            write_figure(loss_figure(f"ReBeL on turns, pot {spot.pot:g}{board}", records), path / PLOT)


def is_turn_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a folder holds a training on turns."""
    return kind_of(path) == TURNS.name


def loss_figure(title: str, records: Sequence[Record]) -> "Figure":
    """The loss against games, its height logarithmic."""
    from treeplex.runs.plots import Curve, Panel, curves_figure

    learnt = [record for record in records if record.loss is not None]
    curve = Curve([record.done for record in learnt], [record.loss for record in learnt])
    end = max([record.done for record in records], default=1)
    return curves_figure(title, "Games", [Panel("Huber loss, in pots", [curve])], last=end, height=3.6)
