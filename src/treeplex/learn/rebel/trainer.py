"""ReBeL: a value network learned by self-play with search (Brown, Bakhtin, Lerer and Gong 2020, algorithms 1 and 2).

What is trained, and for how long, :mod:`treeplex.learn.rebel.settings` says.
"""

import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import FileError, SpecError
from treeplex.games.public import PublicTree
from treeplex.learn.common.fitting import Fitting
from treeplex.learn.common.networks import NetFactory
from treeplex.learn.common.random_state import random_state, set_random_state
from treeplex.learn.common.settings import LearningSettings
from treeplex.learn.common.steps import Steps
from treeplex.learn.rebel.lesson import Lesson, PublicLesson
from treeplex.learn.rebel.policy_net import PREFIX
from treeplex.learn.rebel.settings import HoldemRebelSettings, RebelSettings
from treeplex.learn.rebel.turns.lesson import HoldemLesson
from treeplex.learn.rebel.turns.nets import save_turn_nets
from treeplex.learn.rebel.whole.lesson import WholeLesson
from treeplex.learn.rebel.whole.settings import WholeRebelSettings

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Round:
    """What one round of training did.

    Attributes:
        done: subgames solved in all, or, of hold'em, games drawn.
        rows: rows in the value network's buffer.
        steps: gradient steps in all.
        loss: mean loss of the value network in the round's steps; NaN without any.
        policy_loss: the same of the policy network's; NaN without one.
    """

    done: int
    rows: int
    steps: int
    loss: float
    policy_loss: float = math.nan


class RebelTrainer:
    """Self-play and gradient steps in turn; one thread, deterministic.

    Attributes:
        settings: what was asked for.
        generator: of everything random.
        lesson: self-play, networks and rows, a :class:`Lesson`.
        due: gradient steps that are owed, of each network.
    """

    def __init__(self, game: Any, settings: LearningSettings | None = None, net: NetFactory | None = None) -> None:
        """Start with fresh networks.

        Args:
            game: public-tree rules; of :class:`treeplex.learn.rebel.settings.HoldemRebelSettings` the spot on which games
                are modelled.
            settings: all else; None for :class:`RebelSettings` as they are.
            net: makes the value network, in place of ``settings.net``.

        Raises:
            SpecError: PyTorch is missing, or the device, or a method that it knows, or settings for another kind of game.
            GameError: the rules have no features.
            AlgorithmError: hands of hold'em that have not two cards.
        """
        self.settings: Any = settings or RebelSettings()
        self.generator = np.random.default_rng(self.settings.seed)
        self.lesson: Any = lesson_of(game, self.settings, self.generator, net)
        self.due = Steps(self.settings)

    @property
    def steps(self) -> int:
        """Gradient steps so far."""
        return self.due.taken

    @property
    def play(self) -> Any:
        """Self-play."""
        return self.lesson.play

    @play.setter
    def play(self, play: Any) -> None:
        self.lesson.play = play

    @property
    def leaf(self) -> Any:
        """The networks as searches use them."""
        return self.lesson.leaf

    @property
    def net(self) -> Any:
        """The value network."""
        return self.lesson.net

    @property
    def values(self) -> Fitting:
        """The value network's fitting."""
        found: Fitting = self.lesson.fittings[""]
        return found

    @property
    def policies(self) -> Fitting | None:
        """The policy network's; None without one."""
        found: Fitting | None = self.lesson.fittings.get(PREFIX)
        return found

    @property
    def finished(self) -> bool:
        """Whether all is done."""
        return bool(self.lesson.done >= self.settings.length)

    def round(self) -> Round:
        """Play on, and take the gradient steps that are due.

        Raises:
            AlgorithmError: the loss is not finite; the network is as it was before.
        """
        self.due.owe(self.lesson.advance())
        losses = self.take_due() if self.lesson.begun else []
        for fitting in self.lesson.fittings.values() if losses else ():
            fitting.publish()
        means = np.mean(losses, axis=0).tolist() if losses else [math.nan]
        return Round(self.lesson.done, len(self.values.rows), self.steps, *means)

    def take_due(self) -> list[tuple[float, ...]]:
        """Take the gradient steps that are due; the losses of each, as :meth:`round` raises."""
        return self.due.take(self.lesson.fittings.values(), self.generator, self.lesson.done / self.settings.length)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs, as arrays."""
        arrays: dict[str, NDArray[Any]] = {
            "counts": np.array([self.lesson.done, self.steps], np.int64),
            "owed": np.array([self.due.owed]),
            "random": random_state(self.generator),
            **self.lesson.state(),
        }
        for prefix, fitting in self.lesson.fittings.items():
            arrays |= {prefix + name: array for name, array in fitting.state().items()}
        return arrays

    def restore(self, arrays: Arrays) -> None:
        """Continue bit for bit from what :meth:`state` returned.

        Raises:
            FileError: the arrays are not of this game and these settings.
        """
        try:
            for prefix, fitting in self.lesson.fittings.items():
                own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
                fitting.restore(own)
            self.lesson.restore(arrays)
            self.lesson.done, self.due.taken = (int(count) for count in arrays["counts"])
            self.due.owed = float(arrays["owed"][0])
            set_random_state(self.generator, arrays["random"])
        except (KeyError, ValueError, RuntimeError) as error:
            raise FileError(f"not a state of this training ({error}); start it again") from error


def lesson_of(game: Any, settings: LearningSettings, generator: np.random.Generator, net: NetFactory | None = None) -> Lesson:
    """Fresh networks (``net`` makes the value network) and self-play, by the kind of the settings.

    Raises:
        SpecError: settings for another kind of game; else as :class:`RebelTrainer` raises.
    """
    if isinstance(settings, HoldemRebelSettings):
        if net is not None:
            raise SpecError("networks for rivers are the library's own; leave net out")
        return HoldemLesson(game, settings, generator)
    if isinstance(settings, WholeRebelSettings):
        return WholeLesson(game, settings, generator, net)
    assert isinstance(settings, RebelSettings)
    if not isinstance(game, PublicTree):
        raise SpecError("RebelSettings train on public-tree rules; for a spot of hold'em give HoldemRebelSettings")
    return PublicLesson(game, settings, generator, net)


def save_rivers(trainer: RebelTrainer, path: str | os.PathLike[str], **card: Any) -> None:
    """Write the network of a training on turns with its settings and a card: how far training is, and what else one notes.

    Raises:
        FileError: the file cannot be written.
    """
    known = {"games": trainer.lesson.done, "steps": trainer.steps, "rows": len(trainer.values.rows)}
    save_turn_nets(trainer.leaf, path, settings=asdict(trainer.settings), card=known | card)
