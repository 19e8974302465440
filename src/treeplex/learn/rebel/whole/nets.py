"""Networks of ReBeL on full-game hold'em: creation, files, and the games that they support."""

import hashlib
import json
from typing import Any

from treeplex.errors import FileError
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.learn.common.device import torch_module
from treeplex.learn.common.value_net import Module, NetFactory, value_net
from treeplex.learn.rebel.files import NetFile
from treeplex.learn.rebel.nets import load_weights
from treeplex.learn.rebel.settings import WholeRebelSettings
from treeplex.learn.rebel.whole.guess import NetworkStreetGuess, StreetPolicies
from treeplex.learn.rebel.whole.value_leaf import WholeEncoding, WholeLeaf

SEEN = 2
"""Version of the encoding of network inputs and outputs; networks with another version are rejected."""
LINEAR = 0.2
"""Error, as a fraction of the pot, beyond which the Huber loss is linear; deep stacks have large errors."""


def whole_leaf(game: PublicHoldem, settings: WholeRebelSettings, net: NetFactory | None = None) -> WholeLeaf:
    """Create untrained networks: a value network (by ``net`` if given) and, if the settings request it, a policy network."""
    encoding = WholeEncoding(game, settings.bins)
    sizes = {"width": settings.width, "layers": settings.layers, "seed": settings.seed}
    made: Module = net(encoding.inputs, encoding.outputs) if net else value_net(encoding.inputs, encoding.outputs, **sizes)
    guess = None
    if settings.policy_net:
        policies = StreetPolicies(encoding, game)
        guess = NetworkStreetGuess(policies, value_net(policies.encoding.inputs, policies.outputs, **sizes))
    return WholeLeaf(encoding, made, guess, settings.warm, shown=settings.shown)


def weighted_huber(net: Module, inputs: Any, targets: Any, weights: Any) -> Any:
    """Weighted mean Huber loss of hand or bin values; quadratic up to :data:`LINEAR`."""
    errors = torch_module().nn.functional.huber_loss(net(inputs), targets, reduction="none", delta=LINEAR)
    return (errors * weights).sum() / weights.sum().clamp(min=1.0)


def leaf_of(net: NetFile, game: PublicHoldem) -> WholeLeaf:
    """Leaf values from a file's network.

    Raises:
        FileError: the network does not fit the game.
    """
    try:
        leaf = whole_leaf(game, WholeRebelSettings.from_json(net.settings, net.path))
        load_weights(leaf, net.weights)
    except (KeyError, ValueError, RuntimeError) as error:
        raise FileError(
            f"{net.path}: the network for {net.game} does not fit the game ({error}); give the game that it was trained on"
        ) from error
    return leaf


def whole_identity(game: PublicHoldem) -> str:
    """SHA-256 of everything that a network depends on: cards, blinds, betting plan and encoding version, but not stacks."""
    form, betting, rake = game.rules.format, game.rules.betting, game.rules.rake
    cards = form.deck, form.hole, form.deal, form.ranking
    bets = betting.dealer, betting.blinds, betting.antes, betting.big_blind_ante, betting.limits, betting.most, betting.rules
    about = [SEEN, cards, bets, betting.plan.to_json(), rake.to_json()]
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()
