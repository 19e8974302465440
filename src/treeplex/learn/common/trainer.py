"""The loop of trainings that fit networks to rows as these come, a round at a time."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import FileError
from treeplex.learn.common.fitting import Fitting
from treeplex.learn.common.random_state import random_state, set_random_state
from treeplex.learn.common.steps import Steps

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Round:
    """Results of one round of training.

    Attributes:
        done: how much of the training is done, in its own unit.
        rows: rows in the value network's buffer.
        steps: gradient steps in all.
        loss: mean loss of the value network in the round's steps; NaN without any.
        policy_loss: that of a policy network; NaN without one.
    """

    done: int
    rows: int
    steps: int
    loss: float
    policy_loss: float = math.nan


class Trainer(ABC):
    """Rows and gradient steps in turn; one thread, deterministic.

    Attributes:
        settings: what was asked for, a :class:`treeplex.learn.common.settings.LearningSettings`.
        generator: of everything random.
        due: gradient steps that are owed, of each network.
        fittings: the value network's first; the key goes before the names of its arrays.
        done: how much of the training is done, in its own unit.
    """

    fittings: dict[str, Fitting]
    done: int

    def __init__(self, settings: Any) -> None:
        self.settings = settings
        self.generator, self.due = np.random.default_rng(settings.seed), Steps(settings)

    @property
    def steps(self) -> int:
        """Gradient steps so far."""
        return self.due.taken

    @property
    def counts(self) -> list[int]:
        """What is counted: how much is done and gradient steps, in a class that derives it perhaps more."""
        return [self.done, self.steps]

    @property
    @abstractmethod
    def begun(self) -> bool:
        """Whether there are rows enough for steps."""

    @property
    @abstractmethod
    def share(self) -> float:
        """The part of the training that is done; the step size falls with it."""

    @abstractmethod
    def advance(self) -> int:
        """Add rows to the fittings; how many of them steps are owed for."""

    def round(self) -> Round:
        """Add rows, and take the gradient steps that are due.

        Raises:
            AlgorithmError: the loss is not finite; the network is as it was before.
        """
        self.due.owe(self.advance())
        losses = self.take_due() if self.begun else []
        for fitting in self.fittings.values() if losses else ():
            fitting.publish()
        means = np.mean(losses, axis=0).tolist() if losses else [math.nan]
        return Round(self.done, len(self.fittings[""].rows), self.steps, *means)

    def take_due(self) -> list[tuple[float, ...]]:
        """Take the gradient steps that are due; the losses of each, as :meth:`round` raises."""
        return self.due.take(self.fittings.values(), self.generator, self.share)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs, as arrays."""
        arrays: dict[str, NDArray[Any]] = {
            "counts": np.array(self.counts, np.int64),
            "owed": np.array([self.due.owed]),
            "random": random_state(self.generator),
            **self.state_of_rows(),
        }
        for prefix, fitting in self.fittings.items():
            arrays |= {prefix + name: array for name, array in fitting.state().items()}
        return arrays

    def restore(self, arrays: Arrays) -> None:
        """Continue bit for bit from what :meth:`state` returned.

        Raises:
            FileError: the arrays are not of this game and these settings.
        """
        try:
            self.done, self.due.taken = (int(count) for count in arrays["counts"][:2])
            self.restore_rows(arrays)
            for prefix, fitting in self.fittings.items():
                fitting.restore({name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)})
            self.due.owed = float(arrays["owed"][0])
            set_random_state(self.generator, arrays["random"])
        except (KeyError, ValueError, RuntimeError) as error:
            raise FileError(f"not a state of this training ({error}); start it again") from error

    @abstractmethod
    def state_of_rows(self) -> dict[str, NDArray[Any]]:
        """State of the row source, as arrays."""

    @abstractmethod
    def restore_rows(self, arrays: Arrays) -> None:
        """Continue from what :meth:`state_of_rows` returned.

        Raises:
            KeyError, ValueError, RuntimeError: the arrays do not fit.
        """
