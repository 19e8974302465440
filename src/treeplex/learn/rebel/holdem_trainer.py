"""ReBeL on turns of hold'em: a value network for rivers, by self-play (Brown et al. 2020, algorithm 1, appendix C.2)."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import SpecError
from treeplex.games.poker.betting.sizes import BetPlan
from treeplex.games.poker.spots.spot import Spot
from treeplex.learn.common.fitting import Fitting
from treeplex.learn.common.replay import Replay
from treeplex.learn.common.schedules import LearningSettings
from treeplex.learn.rebel.holdem_self_play import HoldemSelfPlay, HoldemSelfPlaySettings
from treeplex.learn.rebel.river_net import RiverNet, river_loss
from treeplex.learn.rebel.river_targets import River
from treeplex.learn.rebel.trainer import RebelTrainer
from treeplex.settings import setting

Arrays = Mapping[str, NDArray[Any]]
MOST_BINS = 1024
"""Hands of a river have hardly more strengths."""


@dataclass(frozen=True)
class HoldemRebelSettings(LearningSettings, HoldemSelfPlaySettings):
    """Everything that decides a training, but the spot on which games are modelled."""

    games: int = setting(1000, "turns to draw in total; the step size falls over them", low=1)
    bins: int = setting(64, "bins of strength, what the network sees of a range", low=2, high=MOST_BINS, fixed=True)
    width: int = 256
    layers: int = 3
    rows: int = 200_000
    burn_in: int = 256
    batch: int = 256
    reuse: float = 96.0

    def check(self) -> None:
        """Refuse a buffer in which there are never rows enough."""
        super().check()
        if self.burn_in > self.rows:
            raise SpecError(f"burn_in must be at most rows, {self.rows}, not {self.burn_in!r}; learning would never begin")

    @property
    def length(self) -> int:
        """Games to be drawn."""
        return self.games

    def lesson(self, game: Spot, generator: np.random.Generator, net: Any = None) -> "HoldemLesson":
        """A fresh network, which says nothing but the showdown, and games modelled on a spot.

        Raises:
            SpecError: PyTorch is missing, or self-play cannot model games on the spot.
            AlgorithmError: hands have not two cards.
        """
        if net is not None:
            raise SpecError("networks for rivers are the library's own; leave net out")
        return HoldemLesson(game, self, generator)


PAPER_TURNS = HoldemRebelSettings(
    method="lcfr-avg-modified", draw="average", width=1536, layers=6, rows=6_000_000, batch=1024, rate=4e-4, halve=1 / 3
)
"""What the paper says of turn endgame hold'em: its method (figure 2, appendix I), iterations drawn as in algorithm 2,
and network and steps of appendix E, a row being both players' values. How many games and iterations there are and how
often a row is seen it does not say; these are as usual here, and must be raised (``games``, ``rivers``) for its 750,000
steps."""


def check_turn(spot: Spot) -> None:
    """Refuse a spot that networks do not know.

    Raises:
        SpecError: it is no turn, has no pot, rake or donk sizes, or other numbers of cards.
    """
    if len(spot.streets) != 2:
        raise SpecError(f"the spot has {len(spot.streets)} streets of betting, not 2: give the board of the turn")
    if spot.rake.rate:
        raise SpecError("networks know no rake; leave the rake out")
    if isinstance(spot.bets, BetPlan) and spot.bets.streets[-1][0].donk is not None:
        raise SpecError("networks do not see who bet last on the turn and know no donk sizes; set donk to default (--donk)")
    if spot.format.hole != 2 or spot.format.deal[-1] != 1:
        raise SpecError(f"networks are for hands of two cards and a river of one; {spot.format.name} has others")
    if not spot.pot > 0:
        raise SpecError("networks value chips in parts of the pot, which is 0; give a pot")


class HoldemLesson:
    """Turns of hold'em, and a network for rivers over bins of strength; see :class:`treeplex.learn.rebel.trainer.Lesson`."""

    def __init__(self, spot: Spot, settings: HoldemRebelSettings, generator: np.random.Generator) -> None:
        self.settings, bins = settings, settings.bins
        self.net = RiverNet(bins, width=settings.width, layers=settings.layers, seed=settings.seed)
        self.leaf = self.net.leaf()
        empty = [np.zeros((0, numbers), np.float32) for numbers in (1 + 2 * bins, 2 * bins, 2 * bins)]
        rows = Replay(*empty, room=settings.rows)
        self.fittings = {"": Fitting(self.net.net, rows, ("inputs", "targets", "weights"), river_loss)}
        self.play = HoldemSelfPlay(spot, settings, self.leaf, generator)

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
