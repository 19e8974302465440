"""A network for single hands: situations are drawn and solved, the network is fitted to what hands are worth in them."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Singles
from treeplex.errors import FileError, SpecError
from treeplex.holdem.engine.showdowns.hand_features import INPUTS
from treeplex.holdem.search.leaves.hand_values import HandValues, zero_sum
from treeplex.learn.common.device import torch_module
from treeplex.learn.common.fitting import Fitting, load_weights
from treeplex.learn.common.networks import Forward, Module, network_text, value_net
from treeplex.learn.common.random_state import random_state, set_random_state
from treeplex.learn.common.replay import Replay
from treeplex.learn.common.steps import Steps
from treeplex.learn.hand_values.settings import SOLVES, STREETS, HandValueSettings
from treeplex.learn.hand_values.shipped import shipped_hand_net
from treeplex.learn.hand_values.situations import SURE, Situation, draw
from treeplex.learn.rebel.files import NetFile, read_net, save_net

Arrays = Mapping[str, NDArray[Any]]
GAME = "hands of hold'em where the {street} begins"
FORM = "treeplex network for hands"
NET = "net.safetensors"
PARTS = ("inputs", "targets")
HELD = "held."
"""Before the names of rows that are kept for validation."""
LINEAR = 0.2
"""Parts of the pot: an error beyond it counts as its size, not its square."""


class HandNet:
    """A network for hands where a street begins.

    Attributes:
        street: ``flop``, ``turn`` or ``river``.
        net: float32 [n, INPUTS] to [n, 1].
        forward: its outputs: what hands are worth over the showdown, in pots.
    """

    def __init__(self, street: str, *, width: int, layers: int, seed: int) -> None:
        """A fresh network.

        Raises:
            SpecError: PyTorch is missing.
        """
        self.street = street
        self.net: Module = value_net(INPUTS, 1, width=width, layers=layers, seed=seed)
        self.forward = Forward(self.net)

    def __repr__(self) -> str:
        return f"<network for hands on the {self.street}: {network_text(self.net)}>"

    def worth(self, situation: Situation) -> Floats:
        """What both players' hands are worth over half of the pot, in pots, float64 [2, n]; zero-sum."""
        found = [situation.equity[own] - 0.5 + self.forward(situation.rows(own))[:, 0] for own in (0, 1)]
        reach = situation.reach[:, situation.board.held]
        return np.stack(zero_sum((found[0], found[1]), (reach[0], reach[1]), situation.mass))

    def leaf(self, *, step: int = 1, every: int = 1, symmetric: bool = False) -> HandValues:
        """Leaf values of the street before; see :class:`HandValues`."""
        return HandValues(self.forward, step=step, every=every, symmetric=symmetric)

    def save(self, path: str | os.PathLike[str], *, settings: Mapping[str, Any], card: Mapping[str, Any]) -> None:
        """Write it atomically, with the settings of its training.

        Raises:
            FileError: the file cannot be written.
        """
        game = GAME.format(street=self.street)
        weights = {name: tensor.detach().cpu().numpy() for name, tensor in self.net.state_dict().items()}
        save_net(path, weights, game=game, identity=game, settings=settings, card=card, form=FORM)


def hand_net_of(found: NetFile) -> HandNet:
    """The network of a file.

    Raises:
        FileError: a network for something else.
        SpecError: PyTorch is missing.
    """
    try:
        street, width, layers = (found.settings[name] for name in ("street", "width", "layers"))
        net = HandNet(str(street), width=int(width), layers=int(layers), seed=0)
        load_weights(net.net, found.weights)
    except (KeyError, ValueError, TypeError, RuntimeError) as error:
        raise FileError(f"{found.path}: not a network for hands ({error}); give one of treeplex train hand-values") from error
    return net


def read_hand_net(path: str | os.PathLike[str]) -> HandNet:
    """Read a network that :meth:`HandNet.save` wrote.

    Raises:
        FileError: missing, damaged, or a network for something else.
        SpecError: PyTorch is missing.
    """
    return hand_net_of(read_net(path, form=FORM, makers="train hand-values"))


def leaf_of(settings: HandValueSettings) -> HandValues | None:
    """What values the street after the settings' own, by the library's network for it; None where situations are solved.

    Raises:
        SpecError: no street follows, or no network for it comes with the library.
    """
    if settings.labels == SOLVES:
        return None
    following = dict(pairwise(STREETS)).get(settings.street)
    if following is None:
        raise SpecError("labels=network values the street after this one, and none follows the river; --set labels=solves")
    return read_hand_net(shipped_hand_net(following)).leaf(step=2 if following == "turn" else 1, every=2)


@dataclass(frozen=True)
class Progress:
    """What one step of a training did: gradient steps, and their mean loss, NaN without any."""

    steps: int
    loss: float


def hand_loss(net: Module, inputs: Any, targets: Any) -> Any:
    """Mean Huber loss of hands' values over the showdown, in pots."""
    return torch_module().nn.functional.huber_loss(net(inputs), targets, delta=LINEAR)


class HandValueTrainer:
    """Situations and gradient steps in turn; one thread, deterministic.

    The rows of a step are single hands, so values are not made to sum to zero in training; they are in use. Half of the hands
    are drawn evenly, half by the range.

    Attributes:
        settings: what was asked for.
        net: the network.
        generator: of everything random.
        done: situations so far.
        due: gradient steps that are owed.
        fitting: network, optimizer and rows.
        held: rows for validation.
        leaf: what values the next street, where situations are not solved to the end.
    """

    def __init__(self, settings: HandValueSettings) -> None:
        """Start with a fresh network.

        Raises:
            SpecError: PyTorch is missing.
        """
        self.settings = settings
        self.net = HandNet(settings.street, width=settings.width, layers=settings.layers, seed=settings.seed)
        self.generator = np.random.default_rng(settings.seed)
        self.done, self.due = 0, Steps(settings)
        empty = np.zeros((0, INPUTS), np.float32), np.zeros((0, 1), np.float32)
        self.fitting = Fitting(self.net.net, Replay(*empty, room=settings.rows), PARTS, hand_loss)
        self.held = Replay(*empty, room=settings.rows)
        self.leaf = leaf_of(settings)

    @property
    def steps(self) -> int:
        """Gradient steps so far."""
        return self.due.taken

    @property
    def total(self) -> int:
        """Situations in all."""
        return self.settings.situations

    def step(self) -> Progress:
        """Draw and solve a situation, and take the gradient steps that are due.

        Raises:
            AlgorithmError: the loss is not finite; the network is as it was before.
        """
        settings = self.settings
        parts = self.sampled(draw(settings, self.generator, self.leaf))
        held = self.generator.random() < settings.held_out
        (self.held if held else self.fitting.rows).add(parts, settings.rows)
        self.due.owe(0 if held else len(parts[0]))
        begun, part = len(self.fitting.rows) >= settings.burn_in, self.done / settings.situations
        losses = self.due.take([self.fitting], self.generator, part) if begun else []
        self.done += 1
        return Progress(len(losses), float(np.mean(losses)) if losses else math.nan)

    def sampled(self, situation: Situation) -> Sequence[Singles]:
        """Rows of some hands of both players: what the network sees, and their value over the showdown."""
        inputs, targets, count = [], [], self.settings.sampled
        for player in (0, 1):
            known = np.flatnonzero((situation.mass[player] > SURE) & (situation.reach[player, situation.board.held] > 0))
            weights = situation.weights[player][known]
            evenly = self.generator.choice(known, count - count // 2)
            by_range = self.generator.choice(known, count // 2, p=weights / weights.sum())
            chosen = np.concatenate([evenly, by_range])
            inputs.append(situation.rows(player)[chosen])
            over = situation.worth[player] - (situation.equity[player] - 0.5)
            targets.append(over[chosen, None].astype(np.float32))
        return np.concatenate(inputs), np.concatenate(targets)

    def validation(self) -> float | None:
        """Loss on situations that the network does not learn from; None without any."""
        if not len(self.held):
            return None
        torch = torch_module()
        with torch.inference_mode():
            return float(hand_loss(self.net.net, *(torch.from_numpy(part) for part in self.held.ordered())))

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs, as arrays."""
        return {
            "counts": np.array([self.done, self.steps], np.int64),
            "owed": np.array([self.due.owed]),
            "random": random_state(self.generator),
            **self.fitting.state(),
            **{HELD + name: part for name, part in zip(PARTS, self.held.ordered(), strict=True)},
        }

    def restore(self, arrays: Arrays) -> None:
        """Continue bit for bit from what :meth:`state` returned.

        Raises:
            FileError: the arrays are not of these settings.
        """
        try:
            self.fitting.restore(arrays)
            self.held.restore(*(arrays[HELD + name] for name in PARTS))
            self.done, self.due.taken = (int(count) for count in arrays["counts"])
            self.due.owed = float(arrays["owed"][0])
            set_random_state(self.generator, arrays["random"])
        except (KeyError, ValueError, RuntimeError) as error:
            raise FileError(f"not a state of this training ({error}); start it again") from error
