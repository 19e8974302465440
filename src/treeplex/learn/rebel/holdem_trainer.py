"""ReBeL on turns of hold'em: a value network for rivers, learnt by self-play (Brown et al. 2020, algorithm 1, appendix C.2)."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import SpecError
from treeplex.games.poker.spots.spot import Spot
from treeplex.learn.common.fitting import Fitting
from treeplex.learn.common.replay import Replay
from treeplex.learn.common.schedules import check_learning
from treeplex.learn.rebel.holdem_self_play import HoldemSelfPlay, HoldemSelfPlaySettings
from treeplex.learn.rebel.river_net import RiverNet, river_loss
from treeplex.learn.rebel.river_targets import River
from treeplex.learn.rebel.trainer import RebelTrainer

Arrays = Mapping[str, NDArray[Any]]
MOST_BINS = 1024
"""Hands of a river have hardly more strengths."""


@dataclass(frozen=True)
class HoldemRebelSettings(HoldemSelfPlaySettings):
    """Everything that decides a training, but the spot on which games are modelled.

    Attributes:
        games: turns to be drawn in all; the step size falls over them.
        bins: of strength, what a network sees of a range.
        width, layers: of the network.
        rows: the most rows of the buffer.
        burn_in: rows before the first step.
        batch: rows of a step.
        reuse: how often a row is seen on average.
        rate, last_rate: Adam's step at first and at the end, along half a cosine.
        halve: instead, the part of the training after which the step is halved, again and again; 0: it is not.
        clip: the most that a gradient's norm may be.
        seed: of everything random.
    """

    games: int = 1000
    bins: int = 64
    width: int = 256
    layers: int = 3
    rows: int = 200_000
    burn_in: int = 256
    batch: int = 256
    reuse: float = 96.0
    rate: float = 1e-3
    last_rate: float = 2e-5
    halve: float = 0.0
    clip: float = 5.0
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_learning(self, "games")
        if self.burn_in > self.rows:
            raise SpecError(f"burn_in must be at most rows, {self.rows}, not {self.burn_in!r}; learning would never begin")
        if not 2 <= self.bins <= MOST_BINS or self.bins != int(self.bins):
            raise SpecError(f"bins must be a whole number from 2 to {MOST_BINS:,}, not {self.bins!r}")

    @property
    def length(self) -> int:
        """Games to be drawn."""
        return self.games

    def lesson(self, game: Spot, generator: np.random.Generator) -> "HoldemLesson":
        """A fresh network, which says nothing but the showdown, and games modelled on a spot.

        Raises:
            SpecError: PyTorch is missing, or self-play cannot model games on the spot.
            AlgorithmError: hands have not two cards.
        """
        return HoldemLesson(game, self, generator)

    def playing(self) -> HoldemSelfPlaySettings:
        """The part that is about self-play."""
        return HoldemSelfPlaySettings(**{each.name: getattr(self, each.name) for each in fields(HoldemSelfPlaySettings)})


PAPER_TURNS = HoldemRebelSettings(
    method="lcfr-avg-modified", draw="average", width=1536, layers=6, rows=6_000_000, batch=1024, rate=4e-4, halve=1 / 3
)
"""What the paper says of turn endgame hold'em: its method (figure 2, appendix I), iterations drawn as in algorithm 2,
and network and steps of appendix E, a row being both players' values. How many games and iterations there are and how
often a row is seen it does not say; these are as usual here, and must be raised (``games``, ``rivers``) for its 750,000
steps."""


class HoldemLesson:
    """Turns of hold'em, and a network for rivers over bins of strength; see :class:`treeplex.learn.rebel.trainer.Lesson`."""

    def __init__(self, spot: Spot, settings: HoldemRebelSettings, generator: np.random.Generator) -> None:
        self.settings, bins = settings, settings.bins
        self.net = RiverNet(bins, width=settings.width, layers=settings.layers, seed=settings.seed)
        self.leaf = self.net.leaf()
        empty = [np.zeros((0, numbers), np.float32) for numbers in (1 + 2 * bins, 2 * bins, 2 * bins)]
        rows = Replay(*empty, room=settings.rows)
        self.fittings = {"": Fitting(self.net.net, rows, ("inputs", "targets", "weights"), river_loss)}
        self.play = HoldemSelfPlay(spot, settings.playing(), self.leaf, generator)

    @property
    def done(self) -> int:
        """Games drawn."""
        return self.play.games

    @done.setter
    def done(self, count: int) -> None:
        self.play.games = count

    @property
    def begun(self) -> bool:
        """Whether there are rows enough."""
        return len(self.fittings[""].rows) >= self.settings.burn_in

    def advance(self) -> int:
        """Play a game."""
        rivers = self.play.advance(self.settings.bins)
        if rivers:
            self.fittings[""].rows.add(parts(rivers), self.settings.rows)
        return len(rivers)

    def state(self) -> dict[str, NDArray[Any]]:
        """Nothing: every game is drawn anew."""
        return {}

    def restore(self, arrays: Arrays) -> None:
        """Nothing to put back."""


def save_rivers(trainer: RebelTrainer, path: str | os.PathLike[str], **card: Any) -> None:
    """Write the network of a training on turns with its settings and a card: how far training is, and what else one notes.

    Raises:
        FileError: the file cannot be written.
    """
    known = {"games": trainer.lesson.done, "steps": trainer.steps, "rows": len(trainer.values.rows)}
    trainer.net.save(path, settings=asdict(trainer.settings), card=known | card)


def parts(rivers: list[River]) -> tuple[NDArray[np.float32], ...]:
    """Rows of solved rivers: inputs, targets and weights of bins."""
    found = [river.row() for river in rivers]
    return tuple(np.stack(part) for part in zip(*found, strict=True))
