"""ReBeL: a value network learned by self-play with search (Brown, Bakhtin, Lerer and Gong 2020, algorithms 1 and 2).

The settings are in :mod:`treeplex.learn.rebel.settings`.
"""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import SpecError
from treeplex.games.public import PublicTree
from treeplex.learn.common.device import torch_device
from treeplex.learn.common.fitting import NetworkFitter
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
    """Alternates self-play and gradient steps; single-threaded and deterministic.

    Attributes:
        play: self-play.
        leaf: the networks, as searches use them.
        fittings: fittings of the value network and of a policy network.
    """

    def __init__(self, game: Any, settings: LearningSettings | None = None, net: NetFactory | None = None) -> None:
        """Start with untrained networks.

        Args:
            game: public-tree rules; for :class:`treeplex.learn.rebel.settings.HoldemRebelSettings` the spot that games are
                modelled on, for :class:`treeplex.learn.rebel.settings.WholeRebelSettings` full-game hold'em.
            settings: the training settings; None for the defaults of :class:`RebelSettings`.
            net: factory of the value network, in place of ``settings.net``.

        Raises:
            SpecError: PyTorch or the device is missing, the device does not support the method, or the settings are for another
                game type.
            GameError: the rules do not define features.
            AlgorithmError: the game is hold'em with hands of another size than two cards.
        """
        super().__init__(settings or RebelSettings())
        play = self_play_of(game, self.settings, self.generator, net)
        self.play: Any = play
        self.leaf, self._burns_rows = play.leaf, play.burns_rows
        self.fittings, empty, device = dict[str, NetworkFitter](), play.empty, torch_device(play.settings.device)
        columns = {"": empty.values, PREFIX: empty.policies._asdict() if empty.policies is not None else {}}
        for (prefix, module), loss in zip(modules_of(self.leaf).items(), play.losses, strict=False):
            rows = Replay(*columns[prefix].values(), room=self.settings.rows)
            self.fittings[prefix] = NetworkFitter(module, rows, tuple(columns[prefix]), loss, device=device)
        self._examples = 0

    @property
    def done(self) -> int:
        """Training progress, in the unit of the settings' length."""
        return int(self.play.solved)

    @done.setter
    def done(self, count: int) -> None:
        self.play.solved = count

    @property
    def share(self) -> float:
        """Fraction of training completed."""
        return float(self.done / self.settings.length)

    @property
    def counts(self) -> list[int]:
        """Counters to save: those of the base class, and the number of policy rows."""
        return [*super().counts, self._examples]

    @property
    def net(self) -> Any:
        """The value network, a PyTorch module."""
        return self.leaf.net

    @property
    def values(self) -> NetworkFitter:
        """The value network's fitting."""
        return self.fittings[""]

    @property
    def policies(self) -> NetworkFitter | None:
        """The policy network's fitting; None without one."""
        return self.fittings.get(PREFIX)

    @property
    def finished(self) -> bool:
        """Whether training is complete."""
        return bool(self.done >= self.settings.length)

    @property
    def begun(self) -> bool:
        """Whether self-play has reached ``burn_in``."""
        rows = len(self.values.rows)
        return (rows if self._burns_rows else self.done) >= self.settings.burn_in and rows > 0

    def advance(self) -> int:
        """Advance self-play and add its rows; returns the number of new rows, which determines the gradient steps due."""
        rows = self.play.advance()
        if len(rows.inputs):
            self.values.rows.add([*rows.values.values()], self._newest(self.done))
        if self.policies is not None and rows.policies is not None:
            self._examples += len(rows.policies.inputs)
            self.policies.rows.add(rows.policies, self._newest(self._examples))
        return len(rows.inputs) if self.begun or self._burns_rows else 0

    def _newest(self, seen: int) -> int:
        """Number of rows to keep out of the ``seen`` rows: the fraction ``fresh``, up to the buffer's capacity."""
        settings, fresh = self.settings, getattr(self.settings, "fresh", 1.0)
        return int(settings.rows if fresh == 1.0 else min(settings.rows, max(int(fresh * seen), settings.batch)))

    def state_of_rows(self) -> dict[str, NDArray[Any]]:
        """State of self-play, as arrays."""
        arrays: dict[str, NDArray[Any]] = self.play.state()
        return arrays

    def restore_rows(self, arrays: Arrays) -> None:
        """Restore self-play."""
        counts = arrays["counts"]
        self._examples = int(counts[2] if len(counts) > 2 else counts[0])  # files of early versions lack it
        self.play.restore(arrays)


def self_play_of(game: Any, settings: LearningSettings, generator: np.random.Generator, net: NetFactory | None = None) -> Play:
    """Create the self-play that the settings determine, with untrained networks (``net`` is a factory of the value network).

    Raises:
        SpecError: the settings are for another game type; otherwise as :class:`RebelTrainer`.
    """
    if isinstance(settings, HoldemRebelSettings):
        if net is not None:
            raise SpecError("river networks cannot be custom; leave out 'net'")
        return HoldemSelfPlay(game, settings, turn_leaf(game, settings), generator)
    if isinstance(settings, WholeRebelSettings):
        return WholeSelfPlay(game, settings, whole_leaf(game, settings, net), generator)
    assert isinstance(settings, RebelSettings)
    if not isinstance(game, PublicTree):
        raise SpecError("RebelSettings need public-tree rules; for a hold'em spot give HoldemRebelSettings")
    return SelfPlay(game, settings, networks(game, settings, net), generator)


def save_rivers(trainer: RebelTrainer, path: str | os.PathLike[str], **card: Any) -> None:
    """Write the river network trained on turns, with its settings and a model card.

    Args:
        trainer: the trainer.
        path: the file.
        card: entries of the model card, in addition to games, steps and rows.

    Raises:
        FileError: the file cannot be written.
    """
    known = {"games": trainer.done, "steps": trainer.steps, "rows": len(trainer.values.rows)}
    save_turn_leaf(trainer.leaf, path, settings=trainer.settings.to_json(), card=known | card)
