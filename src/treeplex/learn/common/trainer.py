"""Training loop that alternates between adding rows and taking gradient steps, one round at a time."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import FileError
from treeplex.learn.common.fitting import NetworkFitter
from treeplex.learn.common.random_state import random_state, set_random_state
from treeplex.learn.common.steps import Steps

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Round:
    """Results of one training round.

    Attributes:
        done: training progress, in the unit of the settings' length.
        rows: rows in the value network's buffer.
        steps: gradient steps so far.
        loss: the value network's mean loss over the round's steps; NaN if there were none.
        policy_loss: the policy network's mean loss; NaN if there is no policy network.
    """

    done: int
    rows: int
    steps: int
    loss: float
    policy_loss: float = math.nan


class Trainer(ABC):
    """Alternates between adding rows and taking gradient steps; single-threaded and deterministic.

    Attributes:
        settings: the training settings, a :class:`treeplex.learn.common.settings.LearningSettings`.
        generator: random number generator.
        due: schedule of gradient steps.
        fittings: fittings, the value network's first, keyed by the prefix of their array names.
        done: training progress, in the unit of the settings' length.
    """

    fittings: dict[str, NetworkFitter]
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
        """Counters to save: progress and gradient steps; subclasses may add more."""
        return [self.done, self.steps]

    @property
    @abstractmethod
    def begun(self) -> bool:
        """Whether there are enough rows to start gradient steps."""

    @property
    @abstractmethod
    def share(self) -> float:
        """Fraction of training completed, which sets the step size."""

    @abstractmethod
    def advance(self) -> int:
        """Add rows to the fittings; returns the number of new rows, which determines the gradient steps due."""

    def round(self) -> Round:
        """Add rows and take the due gradient steps.

        Raises:
            AlgorithmError: the loss is not finite; the network is left unchanged.
        """
        self.due.owe(self.advance())
        losses = self.take_due() if self.begun else []
        for fitting in self.fittings.values() if losses else ():
            fitting.publish()
        means = np.mean(losses, axis=0).tolist() if losses else [math.nan]
        return Round(self.done, len(self.fittings[""].rows), self.steps, *means)

    def take_due(self) -> list[tuple[float, ...]]:
        """Take the due gradient steps; returns each step's losses, and raises the same errors as :meth:`round`."""
        return self.due.take(self.fittings.values(), self.generator, self.share)

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays that :meth:`restore` needs."""
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
        """Resume from the arrays of :meth:`state`, bit for bit.

        Raises:
            FileError: the arrays are from a different game or different settings.
        """
        try:
            self.done, self.due.taken = (int(count) for count in arrays["counts"][:2])
            self.restore_rows(arrays)
            for prefix, fitting in self.fittings.items():
                fitting.restore({name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)})
            self.due.owed = float(arrays["owed"][0])
            set_random_state(self.generator, arrays["random"])
        except (KeyError, ValueError, RuntimeError) as error:
            raise FileError(f"the saved state does not fit this training run ({error}); start the training again") from error

    @abstractmethod
    def state_of_rows(self) -> dict[str, NDArray[Any]]:
        """State of the row source, as arrays."""

    @abstractmethod
    def restore_rows(self, arrays: Arrays) -> None:
        """Resume from the arrays of :meth:`state_of_rows`.

        Raises:
            KeyError, ValueError, RuntimeError: the arrays do not fit.
        """
