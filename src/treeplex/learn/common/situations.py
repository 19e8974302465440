"""Training on solved situations: the source of situations, and the trainer that fits networks to their values."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeplex.learn.common.device import torch_module
from treeplex.learn.common.fitting import Loss, NetworkFitter
from treeplex.learn.common.replay import Column, Replay
from treeplex.learn.common.trainer import Arrays, Trainer
from treeplex.learn.common.value_net import Module

HELD = "held."
"""Name prefix of validation rows."""


class SituationSource(ABC):
    """Solves situations and turns them into training rows.

    Attributes:
        parts: names of a row's parts.
        loss: loss function of a network and the parts of rows.
        settings: the training settings, with ``situations`` per network, the fraction ``held_out`` of them, and gradient
            steps.
        networks: the networks, fitted one after the other.
        empty: an empty array [0, ...] for each part.
        side: number of situations solved in one batch.
        together: rows per situation; all of them are held out together.
        device: PyTorch device of gradient steps; None for the CPU.
        before: number of situations already used for the current network.
    """

    parts: ClassVar[tuple[str, ...]]
    loss: Loss
    settings: Any
    networks: Sequence[Module]
    empty: Sequence[Column]
    side: int = 1
    together: int = 1
    device: Any = None
    before: int = 0

    @abstractmethod
    def rows(self, stage: int, count: int, generator: np.random.Generator) -> Sequence[Column]:
        """Training rows from ``count`` situations for network ``stage``; situations with zero reach yield none."""

    @abstractmethod
    def save(self, path: Path, *, game: str, identity: str, card: Mapping[str, Any]) -> None:
        """Write the networks to a file.

        Raises:
            FileError: the file cannot be written.
        """

    def weights(self) -> dict[str, NDArray[Any]]:
        """Weights of all networks by name; empty if there is only one network."""
        return {}

    def load(self, arrays: Arrays) -> None:  # noqa: B027
        """Load the weights of :meth:`weights` into the networks.

        Raises:
            KeyError, RuntimeError: the weights do not fit.
        """

    def close(self) -> None:  # noqa: B027
        """Stop worker processes, if there are any."""


class SituationTrainer(Trainer):
    """Fits a source's networks one after the other, each to the same number of situations.

    Attributes:
        source: source of situations.
        done: number of situations solved so far, over all networks.
        held: validation rows of the current network.
    """

    def __init__(self, source: SituationSource) -> None:
        super().__init__(source.settings)
        self.source, self.done = source, 0
        self._begin(0)

    @property
    def fitting(self) -> NetworkFitter:
        """The :class:`NetworkFitter` of the current network."""
        return self.fittings[""]

    @property
    def total(self) -> int:
        """Total number of situations to solve, over all networks."""
        return int(self.settings.situations * len(self.source.networks))

    @property
    def stage(self) -> int:
        """Index of the network to train next; at the end, the last one."""
        return int(min(self.done, self.total - 1) // self.settings.situations)

    @property
    def begun(self) -> bool:
        """Whether the buffer has reached ``burn_in`` rows."""
        return bool(len(self.fitting.rows) >= self.settings.burn_in)

    @property
    def share(self) -> float:
        """Fraction of the current network's situations solved before this round."""
        return float(self._before / self.settings.situations)

    def _begin(self, stage: int) -> None:
        """Start training network ``stage``."""
        source, room = self.source, self.settings.rows
        self._stage, self._before, self.due.owed = stage, 0, 0.0
        rows = Replay(*source.empty, room=room)
        self.fittings = {
            "": NetworkFitter(source.networks[stage], rows, source.parts, source.loss, device=source.device),
        }
        self.held = Replay(*source.empty, room=room)

    def advance(self) -> int:
        """Solve a batch of situations, some of them for validation; returns the number of new training rows."""
        source, settings = self.source, self.settings
        if self.stage != self._stage:
            self._begin(self.stage)
        self._before = self.done - self._stage * settings.situations
        count, source.before = min(source.side, settings.situations - self._before), self._before
        rows = source.rows(self._stage, count, self.generator)
        held = np.repeat(self.generator.random(len(rows[0]) // source.together) < settings.held_out, source.together)
        self.held.add([part[held] for part in rows], settings.rows)
        self.fitting.rows.add([part[~held] for part in rows], settings.rows)
        self.done += count
        return int((~held).sum())

    def validation(self) -> float | None:
        """Loss of the current network on validation rows; None if there are no such rows."""
        if not len(self.held):
            return None
        torch = torch_module()
        with torch.inference_mode():
            return float(self.source.loss(self.fitting.net, *map(torch.from_numpy, self.held.ordered())))

    def state_of_rows(self) -> dict[str, NDArray[Any]]:
        """Validation rows, and the weights of all networks."""
        held = {HELD + name: part for name, part in zip(self.source.parts, self.held.ordered(), strict=True)}
        return held | self.source.weights()

    def restore_rows(self, arrays: Arrays) -> None:
        """Restore the validation rows and weights of the current network."""
        self.source.load(arrays)
        self._begin(min(max(self.done - 1, 0) // self.settings.situations, len(self.source.networks) - 1))
        self.held.restore(*(arrays[HELD + name] for name in self.source.parts))
