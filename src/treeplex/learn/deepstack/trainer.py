"""DeepStack's value networks, one round after the other, the last one first: situations are solved, networks fitted to them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import FileError
from treeplex.games.public import PublicTree
from treeplex.learn.common.device import torch_module
from treeplex.learn.common.fitting import Fitting
from treeplex.learn.common.random_state import random_state, set_random_state
from treeplex.learn.common.replay import Replay
from treeplex.learn.common.steps import Steps
from treeplex.learn.deepstack.leaf import DeepStackLeaf, RoundNets
from treeplex.learn.deepstack.settings import DeepStackSettings
from treeplex.learn.deepstack.situations import SearchedRanges, SituationMaker, Situations, no_situations
from treeplex.learn.deepstack.value_net import situation_loss
from treeplex.search.leaf import NoLeaf
from treeplex.search.subgames.beliefs import Belief
from treeplex.search.subgames.horizon import TO_THE_END, Horizon

Arrays = Mapping[str, NDArray[Any]]
THIS_ROUND = Horizon(rounds=1)
HELD = "held."
"""Before the names of rows that are kept for validation."""


@dataclass(frozen=True)
class Progress:
    """What one step of a training did.

    Attributes:
        steps: gradient steps taken.
        loss: their mean loss; NaN without any.
    """

    steps: int
    loss: float


class DeepStackTrainer:
    """Situations and gradient steps in turn; one thread, deterministic.

    Situations of the last round are solved to the end of the game, those of rounds before it to the end of their round, where
    the network of the next one, which is finished by then, says what hands are worth.

    Attributes:
        settings: what was asked for.
        nets: the networks of all rounds.
        leaf: leaf values by them.
        generator: of everything random.
        done: situations drawn, of all networks.
        due: gradient steps that are owed, and how many were taken, of all networks.
        fitting: of the network that is being trained.
        held: its situations for validation.
    """

    def __init__(self, rules: PublicTree, settings: DeepStackSettings) -> None:
        """Start with fresh networks.

        Raises:
            SpecError: PyTorch is missing.
            GameError: no round begins with a deal, or the rules do not say how states look to a network.
        """
        self.rules, self.settings = rules, settings
        self.nets = RoundNets(rules, unit=settings.unit, width=settings.width, layers=settings.layers, seed=settings.seed)
        self.leaf = DeepStackLeaf(self.nets)
        self.generator = np.random.default_rng(settings.seed)
        self.done, self.due = 0, Steps(settings)
        self._begin()

    @property
    def steps(self) -> int:
        """Gradient steps so far."""
        return self.due.taken

    @property
    def total(self) -> int:
        """Situations of all networks."""
        return self.settings.situations * len(self.nets.nets)

    @property
    def number(self) -> int:
        """Which network is being trained, or was last: 0 is that of the round after the first deal."""
        return len(self.nets.nets) - 1 - min(self.done, self.total - 1) // self.settings.situations

    def _begin(self) -> None:
        """Turn to the network whose turn it is."""
        number, room = self.number, self.settings.rows
        last = number == len(self.nets.nets) - 1
        self._maker = SituationMaker(
            self.rules, self.nets.starts[number], NoLeaf() if last else self.leaf, TO_THE_END if last else THIS_ROUND
        )
        self._searched = SearchedRanges(self.rules, self.nets.starts[number - 1] if number else None, self.leaf)
        empty = no_situations(self.nets.encoding)
        self.fitting = Fitting(self.nets.nets[number], Replay(*empty, room=room), Situations._fields, situation_loss)
        self.held = Replay(*empty, room=room)
        self._fitted, self.due.owed = number, 0.0

    def step(self) -> Progress:
        """Solve situations side by side, and take the gradient steps that are due.

        Raises:
            AlgorithmError: the loss is not finite; the network is as it was before.
        """
        settings = self.settings
        if self.number != self._fitted:
            self._begin()
        of_this = self.done % settings.situations
        count = min(settings.side, settings.situations - of_this)
        found = self._maker.solved(self._drawn(count), settings.method, settings.iterations)
        held = self.generator.random(len(found.inputs)) < settings.held_out
        self.held.add([part[held] for part in found], settings.rows)
        self.fitting.rows.add([part[~held] for part in found], settings.rows)
        self.due.owe(int((~held).sum()))
        begun, part = len(self.fitting.rows) >= settings.burn_in, of_this / settings.situations
        losses = self.due.take([self.fitting], self.generator, part) if begun else []
        self.done += count
        return Progress(len(losses), float(np.mean(losses)) if losses else math.nan)

    def _drawn(self, count: int) -> list[Belief]:
        """So many situations of the round whose network is trained."""
        searched = round(self.settings.searched * count)
        found = self._maker.random(count - searched, self.generator)
        return found + (self._searched.beliefs(searched, self.settings.method, self.generator) if searched else [])

    def validation(self) -> float | None:
        """Loss of the network being trained on situations that it does not learn from; None without any."""
        if not len(self.held):
            return None
        torch = torch_module()
        with torch.inference_mode():
            parts = (torch.from_numpy(part) for part in self.held.ordered())
            return float(situation_loss(self.fitting.net, *parts))

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs, as arrays."""
        arrays: dict[str, NDArray[Any]] = {
            "counts": np.array([self.done, self.steps, self._fitted], np.int64),
            "owed": np.array([self.due.owed]),
            "random": random_state(self.generator),
            **self.fitting.state(),
            **{HELD + name: part for name, part in zip(Situations._fields, self.held.ordered(), strict=True)},
        }
        return arrays | self.nets.weights()

    def restore(self, arrays: Arrays) -> None:
        """Continue bit for bit from what :meth:`state` returned.

        Raises:
            FileError: the arrays are not of this game and these settings.
        """
        try:
            self.done, self.due.taken, fitted = (int(count) for count in arrays["counts"])
            self.nets.load(arrays)
            done, self.done = self.done, (len(self.nets.nets) - 1 - fitted) * self.settings.situations
            self._begin()
            self.done = done
            self.fitting.restore(arrays)
            self.held.restore(*(arrays[HELD + name] for name in Situations._fields))
            self.due.owed = float(arrays["owed"][0])
            set_random_state(self.generator, arrays["random"])
        except (KeyError, ValueError, RuntimeError) as error:
            raise FileError(f"not a state of this training ({error}); start it again") from error
