"""Networks for hold'em turns: creation, files, and the spots that they support."""

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
    """Check that networks support a spot.

    Raises:
        SpecError: the spot is not a turn, has no pot, has rake or donk sizes, or has other numbers of cards.
    """
    if len(spot.streets) != 2:
        raise SpecError(f"the spot has {len(spot.streets)} streets of betting, not 2; give a turn board")
    if spot.rake.rate:
        raise SpecError("networks do not support rake; leave the rake out")
    if isinstance(spot.bets, BetPlan) and spot.bets.streets[-1][0].donk is not None:
        raise SpecError(
            "networks do not support donk sizes, since they do not see who bet last on the turn; set donk to default (--donk)"
        )
    if spot.format.hole != 2 or spot.format.deal[-1] != 1:
        raise SpecError(f"networks support two-card hands and one river card, unlike {spot.format.name}; use another deck")
    if not spot.pot > 0:
        raise SpecError("networks predict values as fractions of the pot, which is 0; give a pot")


def turn_leaf(spot: Spot, settings: HoldemRebelSettings) -> RiverLeaf:
    """Create untrained networks; the settings determine whether there is a policy network.

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
    """Write the river network, and the policy network if any, atomically; ``settings`` are the training settings.

    Raises:
        FileError: the file cannot be written.
    """
    game = leaf.function.game
    save_net(path, weights_of(leaf), game=game, identity=game, settings=settings, card=card)


def read_turn_leaf(path: str | os.PathLike[str]) -> RiverLeaf:
    """Read a network file as leaf values for turns; a policy network in the file warm-starts searches.

    Raises:
        FileError: the file is missing, corrupted, or does not contain networks for turns.
        SpecError: PyTorch is missing.
    """
    file = read_net(path)
    settings, weights = file.settings, file.weights
    if "bins" not in settings:
        raise FileError(f"{path}: a network for {file.game}, not for hold'em rivers; give one that train rebel wrote")
    try:
        bins, width, layers = (int(settings[name]) for name in ("bins", "width", "layers"))
        last, board, shape = f"{3 * layers}.bias", 0, {"width": width, "layers": layers, "seed": 0}
        if settings.get("hands", False):
            bins = len(weights[last]) // 2
            board = weights["0.weight"].shape[1] - 1 - 2 * bins
        net = RiverNet(bins, **shape, board=board, shown=bool(settings.get("shown", True)))
        if file.identity != net.game:
            raise ValueError(f"it is for {file.game}")
        leaf = net.leaf()
        if settings.get("policy_net", False):
            columns = len(weights[PREFIX + last]) // bins
            guess = TurnGuess(weights[PREFIX + "0.weight"].shape[1], bins, columns, **shape)
            leaf = RiverLeaf(net, guess, int(settings["warm"]))
        load_weights(leaf, weights)
    except (KeyError, ValueError, RuntimeError) as error:
        raise FileError(f"{path}: not a network for hold'em rivers ({error}); give one from a training run on turns") from error
    return leaf
