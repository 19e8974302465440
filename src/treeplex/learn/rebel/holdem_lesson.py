"""ReBeL on turns of hold'em: a value network for rivers, by self-play (Brown et al. 2020, algorithm 1, appendix C.2)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import SpecError
from treeplex.games.poker.betting.sizes import BetPlan
from treeplex.games.poker.spots.spot import Spot
from treeplex.learn.common.fitting import Fitting
from treeplex.learn.common.replay import Replay
from treeplex.learn.rebel.holdem_self_play import HoldemSelfPlay
from treeplex.learn.rebel.river_net import RiverNet, river_loss
from treeplex.learn.rebel.river_targets import River
from treeplex.learn.rebel.settings import HoldemRebelSettings

Arrays = Mapping[str, NDArray[Any]]


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


def parts(rivers: list[River]) -> tuple[NDArray[np.float32], ...]:
    """Rows of solved rivers: inputs, targets and weights of bins."""
    found = [river.row() for river in rivers]
    return tuple(np.stack(part) for part in zip(*found, strict=True))
