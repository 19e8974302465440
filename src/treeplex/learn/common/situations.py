"""Networks fitted to the values of solved situations: where these come from, and the trainer."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeplex.learn.common.device import torch_module
from treeplex.learn.common.fitting import Fitting, Loss
from treeplex.learn.common.replay import Column, Replay
from treeplex.learn.common.trainer import Arrays, Trainer
from treeplex.learn.common.value_net import Module

HELD = "held."
"""Before the names of rows that are kept for validation."""


class SituationSource(ABC):
    """Solves situations and makes rows of them.

    Attributes:
        parts: the names of a row's parts.
        loss: what falls, of a network and the parts of some rows.
        settings: of the training: ``situations`` for each network, the part of them ``held_out``, and its gradient steps.
        networks: what is fitted, one network after the other.
        empty: no rows, [0, ...] of each part.
        side: situations solved side by side.
        together: rows of one situation, which are held out together.
    """

    parts: ClassVar[tuple[str, ...]]
    loss: Loss
    settings: Any
    networks: Sequence[Module]
    empty: Sequence[Column]
    side: int = 1
    together: int = 1

    @abstractmethod
    def rows(self, stage: int, count: int, generator: np.random.Generator) -> Sequence[Column]:
        """The rows of ``count`` situations for the network ``stage``, fewer where some have zero reach."""

    @abstractmethod
    def save(self, path: Path, *, game: str, identity: str, card: Mapping[str, Any]) -> None:
        """Write the networks as a file.

        Raises:
            FileError: it cannot be written.
        """

    def weights(self) -> dict[str, NDArray[Any]]:
        """The weights of all networks by name, if there are several."""
        return {}

    def load(self, arrays: Arrays) -> None:  # noqa: B027
        """Put weights that :meth:`weights` returned into the networks.

        Raises:
            KeyError, RuntimeError: they do not fit.
        """


class SituationTrainer(Trainer):
    """Fits a source's networks, one after the other, each to the same number of situations.

    Attributes:
        source: where situations come from.
        done: situations so far, of all networks.
        held: rows of the network being trained that are kept for validation.
    """

    def __init__(self, source: SituationSource) -> None:
        super().__init__(source.settings)
        self.source, self.done = source, 0
        self._begin(0)

    @property
    def fitting(self) -> Fitting:
        """The fitting of the network that is being trained."""
        return self.fittings[""]

    @property
    def total(self) -> int:
        """Situations of all networks."""
        return int(self.settings.situations * len(self.source.networks))

    @property
    def stage(self) -> int:
        """Index of the network to train next; at the end, the last one."""
        return int(min(self.done, self.total - 1) // self.settings.situations)

    @property
    def begun(self) -> bool:
        """Whether ``burn_in`` rows have come."""
        return bool(len(self.fitting.rows) >= self.settings.burn_in)

    @property
    def share(self) -> float:
        """The part of the network's situations that came before this round."""
        return float(self._before / self.settings.situations)

    def _begin(self, stage: int) -> None:
        """Turn to a network."""
        source, room = self.source, self.settings.rows
        self._stage, self._before, self.due.owed = stage, 0, 0.0
        self.fittings = {"": Fitting(source.networks[stage], Replay(*source.empty, room=room), source.parts, source.loss)}
        self.held = Replay(*source.empty, room=room)

    def advance(self) -> int:
        """Solve situations side by side, some of them for validation."""
        source, settings = self.source, self.settings
        if self.stage != self._stage:
            self._begin(self.stage)
        self._before = self.done - self._stage * settings.situations
        count = min(source.side, settings.situations - self._before)
        rows = source.rows(self._stage, count, self.generator)
        held = np.repeat(self.generator.random(len(rows[0]) // source.together) < settings.held_out, source.together)
        self.held.add([part[held] for part in rows], settings.rows)
        self.fitting.rows.add([part[~held] for part in rows], settings.rows)
        self.done += count
        return int((~held).sum())

    def validation(self) -> float | None:
        """Loss of the network being trained on rows that it does not learn from; None without any."""
        if not len(self.held):
            return None
        torch = torch_module()
        with torch.inference_mode():
            return float(self.source.loss(self.fitting.net, *map(torch.from_numpy, self.held.ordered())))

    def state_of_rows(self) -> dict[str, NDArray[Any]]:
        """Rows for validation, and the weights of all networks."""
        held = {HELD + name: part for name, part in zip(self.source.parts, self.held.ordered(), strict=True)}
        return held | self.source.weights()

    def restore_rows(self, arrays: Arrays) -> None:
        """Continue with the network that was being trained."""
        self.source.load(arrays)
        self._begin(min(max(self.done - 1, 0) // self.settings.situations, len(self.source.networks) - 1))
        self.held.restore(*(arrays[HELD + name] for name in self.source.parts))
