"""Folders of trainings on turns of hold'em: everything about one training in one folder, whole at every moment.

======================= =========================================================================================
``turn.json``           spot, settings, versions, status, and the last record
``metrics.jsonl``       one record every few seconds: games, rows, steps, loss, seconds, cpu_seconds, rate
``net.safetensors``     the network for rivers, with a card
``state.safetensors``   everything from which the training continues
``learning-curve.png``  the loss against games
======================= =========================================================================================
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from treeplex.errors import FileError
from treeplex.games.poker.cards.cards import cards_to_string
from treeplex.runs.discount.plot import quiet
from treeplex.runs.job.folder import METRICS, STATE, CheckpointFolder, claim_folder, read_about, write_about
from treeplex.runs.plots import INK, colour, write_figure
from treeplex.runs.rebel.holdem_settings import HoldemRebelRun, run_from
from treeplex.storage.reading import parse_json

FORMAT, VERSION = "treeplex turn training", 1
TURN, NET, PLOT = "turn.json", "net.safetensors", "learning-curve.png"
FILES = (TURN, METRICS, NET, STATE, PLOT)


@dataclass(frozen=True)
class HoldemRebelRecord:
    """Where a training stood.

    Attributes:
        games: turns drawn.
        rows: in the buffer, solved rivers.
        steps: gradient steps.
        loss: mean loss of the steps since the last record; None without any.
        seconds: time spent in training, summed over resumes.
        cpu_seconds: processor time in training.
        rate: games a second since the last record.
    """

    games: int
    rows: int
    steps: int
    loss: float | None
    seconds: float
    cpu_seconds: float
    rate: float

    def to_json(self) -> str:
        """One line of ``metrics.jsonl``, without the line end."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str, place: str) -> "HoldemRebelRecord":
        """Read one line; ``place`` (file and line) goes into the :class:`FileError`."""
        try:
            record = cls(**parse_json(text))
            _ = record.games + record.rows + record.steps + record.seconds + record.cpu_seconds + record.rate
            _ = record.loss or 0.0
            return record
        except (ValueError, TypeError) as error:
            raise FileError(f"{place}: not a record of a training; put back a copy or start it again") from error


@final
class HoldemRebelFolder(CheckpointFolder[HoldemRebelRecord]):
    """One training on disk."""

    record = HoldemRebelRecord

    def claim(self, *, force: bool = False) -> None:
        """Make the folder, empty of an earlier training.

        Raises:
            FileError: it cannot be made or written, or it holds files and ``force`` is not set.
        """
        claim_folder(self.path, TURN, FILES, kind="training", force=force)

    def describe(self, run: HoldemRebelRun, *, status: str, last: HoldemRebelRecord | None) -> None:
        """Write ``turn.json``."""
        ended = asdict(last) if last else None
        write_about(self.path / TURN, FORMAT, VERSION, **run.to_json(), status=status, last=ended)

    def about(self) -> Mapping[str, Any]:
        """Read ``turn.json``.

        Raises:
            FileError: no training in this folder, or its ``turn.json`` is truncated, tampered with or of another version.
        """
        return read_about(self.path / TURN, FORMAT, VERSION, kind="training on turns", maker="treeplex holdem train")

    def run(self) -> HoldemRebelRun:
        """What was asked for."""
        return run_from(self.about(), str(self.path / TURN))

    def plot(self, run: HoldemRebelRun, records: Sequence[HoldemRebelRecord]) -> None:
        """Draw ``learning-curve.png``."""
        spot = run.spot
        title = f"ReBeL on turns, pot {spot.pot:g}" + ("" if run.settings.boards else f", {cards_to_string(spot.board)}")
        write_figure(turn_figure(title, records), self.path / PLOT)

    def __repr__(self) -> str:
        return f"<turn training folder {self.path}>"


def is_turn_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a folder holds a training on turns."""
    return (Path(path) / TURN).is_file()


def turn_figure(title: str, records: Sequence[HoldemRebelRecord]) -> Figure:
    """The loss against games, its height logarithmic."""
    learnt = [record for record in records if record.loss is not None]
    figure = Figure(figsize=(7.6, 3.6), dpi=160, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    marker = "o" if len(learnt) < 4 else None
    heights = [record.loss or 0.0 for record in learnt]
    axes.plot([record.games for record in learnt], heights, color=colour(0), linewidth=1.3, marker=marker)
    if learnt:
        axes.set_yscale("log")
    axes.set_ylabel("Huber loss, in pots", fontsize=11, color=INK)
    axes.set_xlabel("Games", fontsize=11, color=INK)
    axes.set_xlim(0, max([record.games for record in records], default=1) or 1)
    axes.set_title(title, loc="left", fontsize=12, fontweight="bold", color=INK, pad=10, parse_math=False)
    quiet(axes)
    return figure
