"""ReBeL: a value network learned by self-play with search (Brown, Bakhtin, Lerer and Gong 2020, algorithms 1 and 2).

What is trained, and for how long, :mod:`treeplex.learn.rebel.settings` says.
"""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import SpecError
from treeplex.games.public import PublicTree
from treeplex.learn.common.device import torch_device
from treeplex.learn.common.fitting import Fitting
from treeplex.learn.common.replay import Replay
from treeplex.learn.common.settings import LearningSettings
from treeplex.learn.common.trainer import Arrays, Trainer
from treeplex.learn.common.value_net import NetFactory
from treeplex.learn.rebel.nets import PREFIX, modules_of, networks
from treeplex.learn.rebel.play import Play
from treeplex.learn.rebel.self_play import SelfPlay
from treeplex.learn.rebel.settings import HoldemRebelSettings, RebelSettings, WholeRebelSettings
from treeplex.learn.rebel.turns.nets import save_turn_leaf, turn_leaf
from treeplex.learn.rebel.turns.self_play import HoldemSelfPlay
from treeplex.learn.rebel.whole.nets import whole_leaf
from treeplex.learn.rebel.whole.self_play import WholeSelfPlay


class RebelTrainer(Trainer):
    """Self-play and gradient steps in turn; one thread, deterministic.

    Attributes:
        play: self-play.
        leaf: the networks as searches use them.
        fittings: the value network's, and that of a policy network.
    """

    def __init__(self, game: Any, settings: LearningSettings | None = None, net: NetFactory | None = None) -> None:
        """Start with fresh networks.

        Args:
            game: public-tree rules; of :class:`treeplex.learn.rebel.settings.HoldemRebelSettings` the spot on which games
                are modelled, of :class:`treeplex.learn.rebel.settings.WholeRebelSettings` whole hold'em.
            settings: all else; None for :class:`RebelSettings` as they are.
            net: makes the value network, in place of ``settings.net``.

        Raises:
            SpecError: PyTorch is missing, or the device, or a method that it knows, or settings for another kind of game.
            GameError: the rules have no features.
            AlgorithmError: hands of hold'em that have not two cards.
        """
        super().__init__(settings or RebelSettings())
        play = self_play_of(game, self.settings, self.generator, net)
        self.play: Any = play
        self.leaf, self._burns_rows = play.leaf, play.burns_rows
        self.fittings, empty, device = dict[str, Fitting](), play.empty, torch_device(play.settings.device)
        columns = {"": empty.values, PREFIX: empty.policies._asdict() if empty.policies is not None else {}}
        for (prefix, module), loss in zip(modules_of(self.leaf).items(), play.losses, strict=False):
            rows = Replay(*columns[prefix].values(), room=self.settings.rows)
            self.fittings[prefix] = Fitting(module, rows, tuple(columns[prefix]), loss, device=device)
        self._examples = 0

    @property
    def done(self) -> int:
        """The part of the training's length that is done, in its own unit."""
        return int(self.play.solved)

    @done.setter
    def done(self, count: int) -> None:
        self.play.solved = count

    @property
    def share(self) -> float:
        """The part of the training's length that is done."""
        return float(self.done / self.settings.length)

    @property
    def counts(self) -> list[int]:
        """And examples of policies."""
        return [*super().counts, self._examples]

    @property
    def net(self) -> Any:
        """The value network, a PyTorch module."""
        return self.leaf.net

    @property
    def values(self) -> Fitting:
        """The value network's fitting."""
        return self.fittings[""]

    @property
    def policies(self) -> Fitting | None:
        """The policy network's; None without one."""
        return self.fittings.get(PREFIX)

    @property
    def finished(self) -> bool:
        """Whether all is done."""
        return bool(self.done >= self.settings.length)

    @property
    def begun(self) -> bool:
        """Whether the settings' ``burn_in`` is behind."""
        rows = len(self.values.rows)
        return (rows if self._burns_rows else self.done) >= self.settings.burn_in and rows > 0

    def advance(self) -> int:
        """Play on."""
        found = self.play.advance()
        if len(found.inputs):
            self.values.rows.add([*found.values.values()], self._newest(self.done))
        if self.policies is not None and found.policies is not None:
            self._examples += len(found.policies.inputs)
            self.policies.rows.add(found.policies, self._newest(self._examples))
        return len(found.inputs) if self.begun or self._burns_rows else 0

    def _newest(self, seen: int) -> int:
        """How many of ``seen`` rows are kept: the part ``fresh``, as far as the buffer goes."""
        settings, fresh = self.settings, getattr(self.settings, "fresh", 1.0)
        return int(settings.rows if fresh == 1.0 else min(settings.rows, max(int(fresh * seen), settings.batch)))

    def state_of_rows(self) -> dict[str, NDArray[Any]]:
        """State of self-play, as arrays."""
        found: dict[str, NDArray[Any]] = self.play.state()
        return found

    def restore_rows(self, arrays: Arrays) -> None:
        """Continue self-play."""
        self._examples = int(arrays["counts"][2])
        self.play.restore(arrays)


def self_play_of(game: Any, settings: LearningSettings, generator: np.random.Generator, net: NetFactory | None = None) -> Play:
    """Self-play with fresh networks (``net`` makes the value network), by the kind of the settings.

    Raises:
        SpecError: settings for another kind of game; else as :class:`RebelTrainer` raises.
    """
    if isinstance(settings, HoldemRebelSettings):
        if net is not None:
            raise SpecError("networks for rivers are the library's own; leave net out")
        return HoldemSelfPlay(game, settings, turn_leaf(game, settings), generator)
    if isinstance(settings, WholeRebelSettings):
        return WholeSelfPlay(game, settings, whole_leaf(game, settings, net), generator)
    assert isinstance(settings, RebelSettings)
    if not isinstance(game, PublicTree):
        raise SpecError("RebelSettings train on public-tree rules; for a spot of hold'em give HoldemRebelSettings")
    return SelfPlay(game, settings, networks(game, settings, net), generator)


def save_rivers(trainer: RebelTrainer, path: str | os.PathLike[str], **card: Any) -> None:
    """Write the river network of a training on turns, with its settings and a card.

    Args:
        trainer: the training.
        path: the file.
        card: notes on the card, added to games, steps and rows.

    Raises:
        FileError: the file cannot be written.
    """
    known = {"games": trainer.done, "steps": trainer.steps, "rows": len(trainer.values.rows)}
    save_turn_leaf(trainer.leaf, path, settings=trainer.settings.to_json(), card=known | card)
