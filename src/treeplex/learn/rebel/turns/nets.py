"""Networks of a training on turns of hold'em: fresh ones, their files, and the spots that they know."""

import os
from collections.abc import Mapping
from typing import Any

from treeplex.errors import FileError, SpecError
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.spots.spot import Spot
from treeplex.learn.rebel.files import read_net, save_net
from treeplex.learn.rebel.nets import PREFIX, load_weights, weights_of
from treeplex.learn.rebel.settings import HoldemRebelSettings
from treeplex.learn.rebel.turns.policies import TurnGuess, inputs_of, most_columns
from treeplex.learn.rebel.turns.river_net import RiverLeaf, RiverNet


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


def turn_leaf(spot: Spot, settings: HoldemRebelSettings) -> RiverLeaf:
    """Fresh networks as settings have them, with guesses where there is a policy network.

    Raises:
        SpecError: PyTorch is missing.
    """
    inputs, outputs = settings.sizes(spot)
    shape = {"width": settings.width, "layers": settings.layers, "seed": settings.seed}
    net = RiverNet(outputs // 2, **shape, board=inputs - 1 - outputs, shown=settings.shown)
    guess = None
    if settings.policy_net:
        guess = TurnGuess(inputs_of(spot), len(spot.format.hands), most_columns(spot), **shape)
    return RiverLeaf(net, guess, settings.warm)


def save_turn_leaf(
    leaf: RiverLeaf, path: str | os.PathLike[str], *, settings: Mapping[str, Any], card: Mapping[str, Any]
) -> None:
    """Write the network for rivers, and a policy network with it, atomically; ``settings`` are those of the training.

    Raises:
        FileError: the file cannot be written.
    """
    game = leaf.function.game
    save_net(path, weights_of(leaf), game=game, identity=game, settings=settings, card=card)


def read_turn_leaf(path: str | os.PathLike[str]) -> RiverLeaf:
    """Leaf values of turns by the networks of a file; searches start warm if there is a policy network.

    Raises:
        FileError: missing, damaged, or networks for something else.
        SpecError: PyTorch is missing.
    """
    found = read_net(path)
    settings, weights = found.settings, found.weights
    if "bins" not in settings:
        raise FileError(f"{path}: a network for {found.game}, not for rivers of hold'em; give one that train rebel wrote")
    try:
        bins, width, layers = (int(settings[name]) for name in ("bins", "width", "layers"))
        last, board, shape = f"{3 * layers}.bias", 0, {"width": width, "layers": layers, "seed": 0}
        if settings.get("hands", False):
            bins = len(weights[last]) // 2
            board = weights["0.weight"].shape[1] - 1 - 2 * bins
        net = RiverNet(bins, **shape, board=board, shown=bool(settings.get("shown", True)))
        if found.identity != net.game:
            raise ValueError(f"it is for {found.game}")
        leaf = net.leaf()
        if settings.get("policy_net", False):
            columns = len(weights[PREFIX + last]) // bins
            guess = TurnGuess(weights[PREFIX + "0.weight"].shape[1], bins, columns, **shape)
            leaf = RiverLeaf(net, guess, int(settings["warm"]))
        load_weights(leaf, weights)
    except (KeyError, ValueError, RuntimeError) as error:
        raise FileError(f"{path}: not a network for rivers of hold'em ({error}); give one of a turn's training") from error
    return leaf
