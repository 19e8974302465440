"""ReBeL on turns of hold'em: a value network for rivers, learnt by self-play (Brown et al. 2020, algorithm 1, appendix C.2)."""

import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import AlgorithmError, FileError, SpecError
from treeplex.games.poker.spots.spot import Spot
from treeplex.learn.common.fitting import Fitting
from treeplex.learn.common.replay import Replay
from treeplex.learn.common.schedules import check_learning, falling_rate
from treeplex.learn.rebel.holdem_self_play import HoldemSelfPlay, HoldemSelfPlaySettings
from treeplex.learn.rebel.river_net import RiverNet, river_loss
from treeplex.learn.rebel.river_targets import River
from treeplex.learn.rebel.trainer import random_state, set_random_state

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


@dataclass(frozen=True)
class HoldemRound:
    """What one game of a training did.

    Attributes:
        games: drawn in all.
        rows: in the buffer.
        steps: gradient steps in all.
        loss: mean loss of this round's steps; NaN without any.
    """

    games: int
    rows: int
    steps: int
    loss: float


class HoldemTrainer:
    """Games and gradient steps in turn; one thread, deterministic.

    Attributes:
        settings: what was asked for.
        net: the network.
        play: the games.
        fitting: the network's.
        steps: gradient steps so far.
    """

    def __init__(self, spot: Spot, settings: HoldemRebelSettings | None = None) -> None:
        """Start with a fresh network, which says nothing but the showdown.

        Raises:
            SpecError: PyTorch is missing, or the spot is not one that self-play can model games on.
            AlgorithmError: hands have not two cards.
        """
        self.settings = settings or HoldemRebelSettings()
        self.generator = np.random.default_rng(self.settings.seed)
        bins = self.settings.bins
        self.net = RiverNet(bins, width=self.settings.width, layers=self.settings.layers, seed=self.settings.seed)
        empty = [np.zeros((0, numbers), np.float32) for numbers in (1 + 2 * bins, 2 * bins, 2 * bins)]
        rows = Replay(*empty, room=self.settings.rows)
        self.fitting = Fitting(self.net.net, rows, ("inputs", "targets", "weights"), river_loss)
        self.play = HoldemSelfPlay(spot, self.settings.playing(), self.net.leaf(), self.generator)
        self.steps = 0
        self._owed = 0.0

    @property
    def finished(self) -> bool:
        """Whether all games have been drawn."""
        return self.play.games >= self.settings.games

    def round(self) -> HoldemRound:
        """Play a game, and take the gradient steps that are due.

        Raises:
            AlgorithmError: the loss is not finite; the network is as it was before.
        """
        rivers, losses = self.play.advance(self.settings.bins), []
        if rivers:
            self.fitting.rows.add(parts(rivers), self.settings.rows)
        self._owed += self.settings.reuse * len(rivers) / self.settings.batch
        while self._owed >= 1.0 and len(self.fitting.rows) >= self.settings.burn_in:
            self._owed -= 1.0
            losses.append(self._step())
        return HoldemRound(self.play.games, len(self.fitting.rows), self.steps, float(np.mean(losses)) if losses else math.nan)

    def _step(self) -> float:
        """One step of Adam on a uniform batch; the loss."""
        settings = self.settings
        rate = falling_rate(settings, self.play.games / settings.games)
        try:
            loss = self.fitting.step(self.generator, batch=settings.batch, rate=rate, clip=settings.clip)
        except AlgorithmError as error:
            raise AlgorithmError(f"{error} after {self.steps} steps; train again with a smaller rate") from error
        self.steps += 1
        return loss

    def save(self, path: str | os.PathLike[str], **card: Any) -> None:
        """Write the network with its settings and a card: how far training is, and what else one wants to note.

        Raises:
            FileError: the file cannot be written.
        """
        known = {"games": self.play.games, "steps": self.steps, "rows": len(self.fitting.rows)}
        self.net.save(path, settings=asdict(self.settings), card=known | card)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs, as arrays."""
        return {
            "counts": np.array([self.play.games, self.steps], np.int64),
            "owed": np.array([self._owed]),
            "random": random_state(self.generator),
            **self.fitting.state(),
        }

    def restore(self, arrays: Arrays) -> None:
        """Continue bit for bit from what :meth:`state` returned.

        Raises:
            FileError: the arrays are not of a training with these settings.
        """
        try:
            self.fitting.restore(arrays)
            self.play.games, self.steps = (int(count) for count in arrays["counts"])
            self._owed = float(arrays["owed"][0])
            set_random_state(self.generator, arrays["random"])
        except (KeyError, ValueError, RuntimeError) as error:
            raise FileError(f"not a state of this training ({error}); start it again") from error


def parts(rivers: list[River]) -> tuple[NDArray[np.float32], ...]:
    """Rows of solved rivers: inputs, targets and weights of bins."""
    found = [river.row() for river in rivers]
    return tuple(np.stack(part) for part in zip(*found, strict=True))
