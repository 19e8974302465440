"""What ReBeL learns on whole hold'em; see :class:`treeplex.learn.rebel.lesson.Lesson`."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import FileError
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.learn.common.device import torch_device, torch_module
from treeplex.learn.common.fitting import Fitting
from treeplex.learn.common.networks import Module, NetFactory, value_net
from treeplex.learn.common.replay import Replay
from treeplex.learn.rebel.files import NetFile
from treeplex.learn.rebel.lesson import SelfPlayLesson
from treeplex.learn.rebel.policy_encoding import PolicyRows
from treeplex.learn.rebel.policy_net import PREFIX, load_weights, policy_loss
from treeplex.learn.rebel.whole.guess import GuidedWholeLeaf, NetworkStreetGuess, StreetPolicies
from treeplex.learn.rebel.whole.self_play import WholeRows, WholeSelfPlay
from treeplex.learn.rebel.whole.settings import WholeRebelSettings
from treeplex.learn.rebel.whole.value_leaf import WholeEncoding, WholeLeaf

Arrays = Mapping[str, NDArray[Any]]
SEEN = 2
"""Raised when inputs or outputs of networks change their meaning, so that earlier networks are refused."""
LINEAR = 0.2
"""Parts of the pot: an error beyond it counts as its size, not its square; deep stacks have errors that others have not."""


class WholeLesson(SelfPlayLesson):
    """Hands of whole hold'em, and a value network for the ends of all streets."""

    def __init__(
        self,
        game: PublicHoldem,
        settings: WholeRebelSettings,
        generator: np.random.Generator,
        net: NetFactory | None = None,
    ) -> None:
        self.settings, self.leaf = settings, whole_leaf(game, settings, net)
        encoding = self.leaf.encoding
        device = torch_device(settings.device)
        empty = [np.zeros((0, numbers), np.float32) for numbers in (encoding.inputs, encoding.outputs, encoding.outputs)]
        rows = Replay(*empty, room=settings.rows)
        self.fittings = {"": Fitting(self.leaf.net, rows, WholeRows._fields, weighted_huber, device=device)}
        if isinstance(self.leaf, GuidedWholeLeaf):
            policies = self.leaf.guess.encoding
            examples = PolicyRows(
                inputs=np.zeros((0, policies.encoding.inputs), np.float32),
                targets=np.zeros((0, encoding.knots, policies.columns), np.uint8),
                legal=np.zeros((0, policies.columns), np.bool_),
            )
            kept = Replay(*examples, room=settings.rows)
            self.fittings[PREFIX] = Fitting(self.leaf.guess.net, kept, PolicyRows._fields, policy_loss, device=device)
        self.play = WholeSelfPlay(game, settings, self.leaf, generator)
        self.seen = self.examples = 0

    def advance(self) -> int:
        """Play a street of every hand."""
        found, examples = self.play.advance()
        self.seen += len(found.inputs)
        if len(found.inputs):
            self.fittings[""].rows.add(found, self._most(self.seen))
        if examples is not None:
            self.examples += len(examples.inputs)
            self.fittings[PREFIX].rows.add(examples, self._most(self.examples))
        return len(found.inputs) if self.begun else 0

    def state(self) -> dict[str, NDArray[Any]]:
        """Where the hands stand."""
        return {**self.play.state(), "seen": np.array([self.seen, self.examples], np.int64)}

    def restore(self, arrays: Arrays) -> None:
        """Put the hands where they stood."""
        self.seen, self.examples = (int(count) for count in arrays["seen"])
        self.play.restore(arrays)


def whole_leaf(game: PublicHoldem, settings: WholeRebelSettings, net: NetFactory | None = None) -> WholeLeaf:
    """Fresh networks as settings have them."""
    encoding = WholeEncoding(game, settings.bins)
    sizes = {"width": settings.width, "layers": settings.layers, "seed": settings.seed}
    made: Module = net(encoding.inputs, encoding.outputs) if net else value_net(encoding.inputs, encoding.outputs, **sizes)
    if not settings.policy_net:
        return WholeLeaf(encoding, made, shown=settings.shown)
    policies = StreetPolicies(encoding, game)
    guess = NetworkStreetGuess(policies, value_net(policies.encoding.inputs, policies.outputs, **sizes))
    return GuidedWholeLeaf(encoding, made, guess, settings.warm, shown=settings.shown)


def weighted_huber(net: Module, inputs: Any, targets: Any, weights: Any) -> Any:
    """Mean Huber loss of hands' values, or bins', each as much as its weight; squared up to :data:`LINEAR`."""
    errors = torch_module().nn.functional.huber_loss(net(inputs), targets, reduction="none", delta=LINEAR)
    return (errors * weights).sum() / weights.sum().clamp(min=1.0)


def leaf_of(net: NetFile, game: PublicHoldem) -> WholeLeaf:
    """Leaf values by the network of a file.

    Raises:
        FileError: it does not fit the game.
    """
    try:
        leaf = whole_leaf(game, WholeRebelSettings.from_json(net.settings, net.path))
        load_weights(leaf, net.weights)
    except (KeyError, ValueError, RuntimeError) as error:
        raise FileError(f"{net.path}: a network for {net.game} that does not fit the game ({error})") from error
    return leaf


def whole_identity(game: PublicHoldem) -> str:
    """Equal for games whose networks can be exchanged: the SHA-256 of cards, blinds, seats and plan, stacks aside, and of how
    networks see them (:data:`SEEN`)."""
    rules = replace(game.rules, betting=replace(game.rules.betting, stacks=()))
    return hashlib.sha256(f"{SEEN} {rules!r}".encode()).hexdigest()
