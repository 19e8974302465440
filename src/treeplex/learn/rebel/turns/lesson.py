"""ReBeL on turns of hold'em: a value network for rivers, by self-play (Brown et al. 2020, algorithm 1, appendix C.2)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import SpecError
from treeplex.holdem.betting.sizes import BetPlan
from treeplex.holdem.spots.spot import Spot
from treeplex.learn.common.device import torch_device
from treeplex.learn.common.fitting import Fitting
from treeplex.learn.common.replay import Replay
from treeplex.learn.rebel.policy_encoding import PolicyRows
from treeplex.learn.rebel.policy_net import PREFIX, policy_loss
from treeplex.learn.rebel.settings import HoldemRebelSettings
from treeplex.learn.rebel.turns.nets import turn_leaf
from treeplex.learn.rebel.turns.policies import GuidedRivers, inputs_of
from treeplex.learn.rebel.turns.river_net import RiverNet, river_loss
from treeplex.learn.rebel.turns.self_play import HoldemSelfPlay

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
    """Turns of hold'em, and a network for rivers over bins of strength or single hands; see
    :class:`treeplex.learn.rebel.lesson.Lesson`."""

    play: Any

    def __init__(self, spot: Spot, settings: HoldemRebelSettings, generator: np.random.Generator) -> None:
        self.settings, self.leaf, room = settings, turn_leaf(spot, settings), settings.rows
        device, kind = torch_device(settings.device), np.float16 if settings.hands else np.float32
        inputs, outputs = settings.sizes(spot)
        rows = Replay(*(np.zeros((0, numbers), kind) for numbers in (inputs, outputs, outputs)), room=room)
        names = ("inputs", "targets", "weights")
        self.fittings = {"": Fitting(self.net.net, rows, names, river_loss, device=device)}
        if isinstance(self.leaf, GuidedRivers):
            hands, columns, seen = len(spot.format.hands), self.leaf.guess.columns, inputs_of(spot)
            shapes = ((seen,), np.float32), ((hands, columns), np.uint8), ((columns,), np.bool_)
            examples = Replay(*(np.zeros((0, *shape), kind) for shape, kind in shapes), room=room)
            net = self.leaf.guess.net
            self.fittings[PREFIX] = Fitting(net, examples, PolicyRows._fields, policy_loss, device=device)
        self.play = HoldemSelfPlay(spot, settings, self.leaf, generator)

    @property
    def net(self) -> RiverNet:
        """The network for rivers."""
        assert isinstance(self.leaf.function, RiverNet)
        return self.leaf.function

    @property
    def done(self) -> int:
        """Games drawn."""
        return int(self.play.solved)

    @done.setter
    def done(self, count: int) -> None:
        self.play.solved = count

    @property
    def begun(self) -> bool:
        """Whether there are rows enough."""
        return len(self.fittings[""].rows) >= self.settings.burn_in

    def advance(self) -> int:
        """Play a game."""
        found = self.play.advance()
        if len(found.inputs):
            self.fittings[""].rows.add(found[:3], self.settings.rows)
        if found.policies is not None:
            self.fittings[PREFIX].rows.add(found.policies, self.settings.rows)
        return len(found.inputs)

    def state(self) -> dict[str, NDArray[Any]]:
        """Where the games stand."""
        found: dict[str, NDArray[Any]] = self.play.state()
        return found

    def restore(self, arrays: Arrays) -> None:
        """Put the games where they stood."""
        self.play.restore(arrays)
