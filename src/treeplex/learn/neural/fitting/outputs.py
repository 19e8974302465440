"""Trainable outputs for every infoset: a table, or a network that evaluates all infosets at once.

A learner computes, in NumPy, the gradient of its loss with respect to each output. A table follows the gradient directly; a
network backpropagates it to its weights. Each loss is thus implemented once for both.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Singles
from treeplex.errors import AlgorithmError
from treeplex.forms.policies.neural import Layers
from treeplex.learn.common.device import torch_module
from treeplex.learn.neural.fitting.approximator import NetworkSettings, Perceptron

Arrays = Mapping[str, NDArray[Any]]
SECOND = 0.999
"""Adam's beta_2."""


class Outputs(ABC):
    """K trainable outputs for each of I infosets."""

    @abstractmethod
    def values(self) -> Floats:
        """All outputs, float64 [I, K]; read-only."""

    @abstractmethod
    def move(self, slopes: Floats, rate: float) -> None:
        """Take a descent step of size ``rate``; ``slopes``, float64 [I, K], is the gradient of the loss with respect to each
        output.

        Raises:
            AlgorithmError: a gradient entry is not finite; parameters are unchanged.
        """

    @abstractmethod
    def follow(self, other: Self, share: float) -> None:
        """Move a table's outputs, or a network's weights, by the fraction ``share`` toward those of ``other``, of the same
        type."""

    def look(self, features: Singles) -> None:
        """In uncompiled games, set the features, float32 [I, F], of the infosets that the network evaluates."""
        raise NotImplementedError

    def copied_layers(self) -> Layers:
        """Copies of a network's matrices and biases."""
        raise NotImplementedError

    @abstractmethod
    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays that :meth:`restore` needs."""

    @abstractmethod
    def restore(self, arrays: Arrays) -> None:
        """Resume from the arrays of :meth:`state`.

        Raises:
            KeyError, ValueError, RuntimeError: the arrays do not fit.
        """

    def fit(self, targets: Floats, counts: Floats, rate: float) -> float:
        """Take a step toward mean targets, float64 [I, K], each from ``counts`` [I, K] rows; returns half the mean squared
        error before the step.

        The gradient of the squared error depends only on each infoset's mean target and count, so this equals a step on all
        rows.
        """
        wrong, total = np.where(counts > 0, self.values() - targets, 0.0), max(float(counts.sum()), 1.0)
        self.move(counts * wrong / total, rate)
        return float((counts * wrong**2).sum() / total / 2)


class TableOutputs(Outputs):
    """A table with an independent number for each infoset and column; initially zero.

    Attributes:
        numbers: float64 [I, K].
        first: Adam's beta_1; None for plain gradient steps.
        moments: float64 [2, I, K], Adam's moment estimates; [0, I, K] for plain gradient steps.
        steps: number of Adam steps taken.
    """

    def __init__(self, infosets: int, columns: int, first: float | None) -> None:
        self.numbers, self.first, self.steps = np.zeros((infosets, columns)), first, 0
        self.moments = np.zeros((0 if first is None else 2, infosets, columns))

    def values(self) -> Floats:
        return self.numbers

    def move(self, slopes: Floats, rate: float) -> None:
        check_slopes(slopes)
        if self.first is not None:
            self.steps += 1
            self.moments[0] += (1.0 - self.first) * (slopes - self.moments[0])
            self.moments[1] += (1.0 - SECOND) * (slopes**2 - self.moments[1])
            spread = np.sqrt(self.moments[1] / (1.0 - SECOND**self.steps))
            slopes = self.moments[0] / (1.0 - self.first**self.steps) / (spread + 1e-8)
        self.numbers -= rate * slopes

    def fit(self, targets: Floats, counts: Floats, rate: float) -> float:
        """Move each output toward its mean target, as ``counts`` steps of an exponential moving average would.

        The step size of the moving average is ``rate``. Returns half the mean squared error before the step.
        """
        wrong = np.where(counts > 0, targets - self.numbers, 0.0)
        self.numbers += (1.0 - (1.0 - min(rate, 1.0)) ** counts) * wrong
        return float((counts * wrong**2).sum() / max(float(counts.sum()), 1.0) / 2)

    def follow(self, other: Self, share: float) -> None:
        self.numbers += share * (other.numbers - self.numbers)

    def state(self) -> dict[str, NDArray[Any]]:
        return {"numbers": self.numbers, "moments": self.moments, "steps": np.array([self.steps])}

    def restore(self, arrays: Arrays) -> None:
        numbers, moments = np.array(arrays["numbers"]), np.array(arrays["moments"])
        if numbers.shape != self.numbers.shape or moments.shape != self.moments.shape:
            raise ValueError(f"the table has shape {numbers.shape}; it must have {self.numbers.shape}")
        self.numbers, self.moments, self.steps = numbers, moments, int(arrays["steps"][0])


class Network(Perceptron, Outputs):
    """A ReLU network for all infosets, trained with Adam; its last layer starts at zero.

    Args:
        features: float32 [I, F].
        columns: K.
        settings: architecture and gradient clipping.
        generator: random number generator for the initial weights.
        first: Adam's beta_1.
    """

    def __init__(
        self, features: Singles, columns: int, settings: NetworkSettings, generator: np.random.Generator, first: float
    ) -> None:
        torch = torch_module()
        super().__init__(features.shape[1], columns, settings, generator)
        with torch.no_grad():
            for parameter in self.module[-1].parameters():
                parameter.zero_()
        self.optimizer = torch.optim.Adam(self.module.parameters(), betas=(first, SECOND), fused=True)
        self.look(features)

    def look(self, features: Singles) -> None:
        """Set the features, float32 [I, F], of the infosets to evaluate."""
        self.features = torch_module().from_numpy(np.ascontiguousarray(features))
        self._outputs: Any = None

    def values(self) -> Floats:
        if self._outputs is None:
            with torch_module().enable_grad():
                self._outputs = self.module(self.features)
        return np.asarray(self._outputs.detach().numpy(), np.float64)

    def move(self, slopes: Floats, rate: float) -> None:
        check_slopes(slopes)
        self.values()
        self.set_rate(rate)
        self.optimizer.zero_grad()
        self._outputs.backward(torch_module().from_numpy(slopes.astype(np.float32)))
        self.clip_and_step()
        self._outputs = None

    def follow(self, other: Self, share: float) -> None:
        with torch_module().no_grad():
            for parameter, wanted in zip(self.module.parameters(), other.module.parameters(), strict=True):
                parameter.lerp_(wanted, share)
        self._outputs = None

    def restore(self, arrays: Arrays) -> None:
        super().restore(arrays)
        self._outputs = None


def check_slopes(slopes: Floats) -> None:
    """Check that gradients are finite.

    Raises:
        AlgorithmError: a gradient entry is not finite."""
    if not np.isfinite(slopes).all():
        raise AlgorithmError("the gradient is not finite; set a smaller rate (--set rate=...)")
