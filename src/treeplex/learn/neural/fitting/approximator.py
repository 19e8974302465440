"""What learns numbers of infosets or histories from rows: a network, or a table in its place that makes no error.

All places of a game are numbered, so a network is asked for all of them at once and read into a flat array, one number ("slot")
for each action of each place. Walks look only at that array. Each method is tried with a table first, where it has to do
what its theory says; then the only difference is how well a network learns.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints, Singles
from treeplex.base.settings import Settings, setting
from treeplex.engine.histories.recording import gathered
from treeplex.learn.common.device import torch_module
from treeplex.learn.common.fitting import load_weights, optimizer_arrays, restore_optimizer
from treeplex.learn.neural.fitting.buffers import Rows
from treeplex.learn.neural.fitting.descent import Descent, finite

NETWORK, TABLE = "network", "table"
VALUES, POLICY = "values", "policy"
"""What the numbers are: values fitted by squared errors; or the probabilities of a place's actions, by cross entropy."""


class Inputs(NamedTuple):
    """The places that an approximator knows: infosets of a player, or histories.

    Attributes:
        features: float32 [P, F], what a network sees of each.
        first: int64 [P+1], the first slot of each place.
        outputs: int64 [S], the output of the network that each slot is: actions of one name share one.
    """

    features: NDArray[np.float32]
    first: Ints
    outputs: Ints

    @property
    def slots(self) -> int:
        """S."""
        return len(self.outputs)


@dataclass(frozen=True)
class NetworkSettings(Settings):
    """The shape of networks and how they are fitted."""

    approximator: str = setting(NETWORK, "what learns; a table makes no error of its own", choices=(NETWORK, TABLE), fixed=True)
    width: int = setting(64, "units of each hidden layer", low=1, fixed=True)
    layers: int = setting(3, "hidden layers", low=1, fixed=True)
    batch: int = setting(2048, "rows of a gradient step; where fewer places have rows, their means, all at once", low=1)
    rate: float = setting(1e-3, "Adam's step size", above=0)
    clip: float = setting(1.0, "the most that a gradient's norm may be", above=0)


class Approximator(ABC):
    """Learns one number a slot."""

    inputs: Inputs

    @abstractmethod
    def values(self) -> Floats:
        """The number of every slot, float64 [S]."""

    def at(self, rows: Rows) -> Floats:
        """The numbers of the rows' places, float64 as their values; beyond a place's last action anything."""
        starts, values = self.inputs.first[rows.places], self.values()
        return np.asarray(values[np.minimum(starts[:, None] + np.arange(rows.values.shape[1]), len(values) - 1)])

    @abstractmethod
    def fit(self, rows: Rows, steps: int, generator: np.random.Generator) -> float:
        """Bring the numbers nearer to the weighted means of rows; the loss at the end, a mean over weights.

        Raises:
            AlgorithmError: the loss is not finite.
        """

    @abstractmethod
    def regress(self, means: Floats, weights: Floats, steps: int) -> float:
        """Bring numbers nearer to ``means`` by squared errors with a weight for each slot, both float64 [S]; the loss.

        Raises:
            AlgorithmError: the loss is not finite.
        """

    @abstractmethod
    def reset(self, generator: np.random.Generator) -> None:
        """Forget everything."""

    @abstractmethod
    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what :meth:`state` returned.

        Raises:
            KeyError, ValueError, RuntimeError: the arrays do not fit.
        """


class TableApproximator(Approximator):
    """A number for each slot: places that have rows get their weighted means, others stay as they are."""

    def __init__(self, inputs: Inputs) -> None:
        self.inputs, self._values = inputs, np.zeros(inputs.slots)

    def values(self) -> Floats:
        return self._values.copy()

    def fit(self, rows: Rows, steps: int, generator: np.random.Generator) -> float:
        weights, means, error = gathered(self.inputs.first, *rows)
        self._values = np.where(weights > 0.0, means, self._values)
        return finite(error)

    def regress(self, means: Floats, weights: Floats, steps: int) -> float:
        self._values = np.where(weights > 0.0, means, self._values)
        return 0.0

    def reset(self, generator: np.random.Generator) -> None:
        self._values = np.zeros(self.inputs.slots)

    def state(self) -> dict[str, NDArray[Any]]:
        return {"values": self._values}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        found = np.array(arrays["values"], np.float64)
        if found.shape != self._values.shape:
            raise ValueError(f"a table of {len(found)} numbers, not {self.inputs.slots}")
        self._values = found


class Targets(NamedTuple):
    """What a network is fitted to: float32 features [n, F], targets [n, outputs], and ``parts`` [n, outputs], which share of a
    place's rows knows an output, 0 where it has no such action; bool [n, outputs], which it has.
    """

    features: Singles
    wanted: Singles
    parts: Singles
    legal: NDArray[np.bool_]


class Network(Approximator):
    """A network of rectified linear layers, fitted by Adam.

    The squared errors of a place's rows have the same gradient as that of their weighted mean. So rows are put together by
    place first, and where no more places than ``settings.batch`` have rows, each step takes all of them: the gradient of the
    whole buffer at the price of a small batch. Otherwise a step takes places drawn in proportion to their weight.

    Attributes:
        module: the ``torch.nn.Sequential``, float32 on the processor, [rows, F] to [rows, outputs].
        optimizer: Adam.
        features: ``inputs.features`` as a tensor.
        legal: [P, outputs], 1 where a place has an action, else 0.
    """

    def __init__(self, inputs: Inputs, settings: NetworkSettings, generator: np.random.Generator, kind: str = VALUES) -> None:
        torch = torch_module()
        self.inputs, self.settings, self.kind = inputs, settings, kind
        sizes = [inputs.features.shape[1], *(settings.width,) * settings.layers, int(inputs.outputs.max(initial=0)) + 1]
        parts = []
        for size, following in pairwise(sizes):
            parts += [torch.nn.Linear(size, following), torch.nn.ReLU()]
        self.module = torch.nn.Sequential(*parts[:-1])
        self.features = torch.from_numpy(np.ascontiguousarray(inputs.features))
        self._places = np.repeat(np.arange(len(inputs.features)), np.diff(inputs.first))
        self.legal = torch.zeros((len(inputs.features), sizes[-1]))
        self.legal[self._places, inputs.outputs] = 1.0
        self.reset(generator)

    def values(self) -> Floats:
        with torch_module().no_grad():
            found = self.module(self.features)
            if self.kind == POLICY:
                found = found.masked_fill(self.legal == 0.0, -np.inf).softmax(dim=1)
            found = found.numpy()
        return np.asarray(found[self._places, self.inputs.outputs], np.float64)

    def fit(self, rows: Rows, steps: int, generator: np.random.Generator) -> float:
        weights, means, _ = gathered(self.inputs.first, *rows)
        if not weights.any():
            return 0.0
        total = np.maximum.reduceat(weights, self.inputs.first[:-1])
        places = np.flatnonzero(total)
        parts = self.spread(weights / np.maximum(total, 1e-300)[self._places])[places]
        targets = Targets(self.features.numpy()[places], self.spread(means)[places], parts, self.legal.numpy()[places] > 0.0)
        return self.descend(targets, total[places] / total.sum(), steps, generator)

    def descend(self, targets: "Targets", shares: Floats, steps: int, generator: np.random.Generator) -> float:
        """Steps of Adam toward targets: on all of them, or on batches drawn by their shares, float64 [n]; the last loss.

        Raises:
            AlgorithmError: the loss is not finite; nothing has changed.
        """
        batch, count = self.settings.batch, len(shares)
        whole = count <= batch
        scale = np.asarray(shares if whole else np.full(count, 1.0 / batch), np.float32)[:, None]
        batches: Sequence[Any] = [slice(None)] * steps
        if not whole:
            batches = list(generator.choice(count, (steps, batch), p=shares))

        def slopes(found: Singles, at: Any) -> tuple[float, Singles]:
            return self.slopes(found, targets.wanted[at], targets.parts[at], targets.legal[at], scale[at])

        descent = Descent(self.module, self.optimizer)
        loss = descent.run(targets.features, batches, slopes, rate=self.rate, clip=self.settings.clip)
        descent.publish()
        return loss

    def regress(self, means: Floats, weights: Floats, steps: int) -> float:
        torch = torch_module()
        wanted = torch.from_numpy(np.where(weights > 0.0, means, 0.0).astype(np.float32))
        shares = torch.from_numpy((weights / max(float(weights.sum()), 1e-30)).astype(np.float32))
        return self.minimise(lambda found: shares @ (found - wanted).square(), steps)

    def climb(self, slopes: NDArray[np.float32]) -> None:
        """A step of Adam up a gradient by outputs of slots, float32 [S]: of values, or of the logits of a policy.

        Raises:
            AlgorithmError: it is not finite.
        """
        wanted = torch_module().from_numpy(slopes)
        self.minimise(lambda found: -(wanted @ found), 1)

    @property
    def rate(self) -> float:
        """Adam's step size."""
        return float(self.optimizer.param_groups[0]["lr"])

    def set_rate(self, rate: float) -> None:
        """Adam's step size from now on."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate

    def minimise(self, loss: Callable[[Any], Any], steps: int) -> float:
        """Steps of Adam down a loss of the numbers of all slots, a tensor [S]; the loss before the last step.

        Raises:
            AlgorithmError: the loss is not finite.
        """
        torch, lost = torch_module(), np.nan
        for _ in range(steps):
            with torch.enable_grad():
                value = loss(self.module(self.features)[self._places, self.inputs.outputs])
                self.optimizer.zero_grad()
                value.backward()
            lost = finite(float(value.detach()))
            self.clip_and_step()
        return lost

    def slopes(self, found: Singles, wanted: Singles, parts: Singles, legal: Any, scale: Singles) -> tuple[float, Singles]:
        """The loss and its derivatives by the outputs of some places.

        Args:
            found, wanted: float32 [n, outputs], outputs and targets.
            parts: float32 [n, outputs], which share of a place's rows knows an output; 0 where it has no such action.
            legal: bool [n, outputs].
            scale: float32 [n, 1], weights of places.
        """
        if self.kind == POLICY:
            shifted = np.where(legal, found, -np.inf)
            shifted -= shifted.max(axis=1, keepdims=True)
            chances = np.exp(shifted)
            sums = chances.sum(axis=1, keepdims=True)
            losses = scale * wanted * (np.log(sums) - np.where(legal, shifted, 0.0))
            found = scale * (chances / sums * wanted.sum(axis=1, keepdims=True) - wanted)
            return float(losses.sum()), np.asarray(found, np.float32)
        apart = found - wanted
        slope = scale * parts * apart
        return float((slope * apart).sum()), np.float32(2.0) * slope

    def spread(self, slots: Floats) -> NDArray[np.float32]:
        """Numbers of slots as float32 [P, outputs], 0 where a place has no such action."""
        found = np.zeros(tuple(self.legal.shape), np.float32)
        found[self._places, self.inputs.outputs] = slots
        return found

    def clip_and_step(self) -> None:
        """A step of Adam by the gradients that the parameters have, no longer than ``settings.clip``."""
        torch_module().nn.utils.clip_grad_norm_(self.module.parameters(), self.settings.clip)
        self.optimizer.step()

    def reset(self, generator: np.random.Generator) -> None:
        """New weights (uniform, He et al. 2015, as PyTorch draws them) and a new optimizer."""
        torch = torch_module()
        with torch.no_grad():
            for layer in self.module[::2]:
                bound = layer.in_features**-0.5
                for parameter in (layer.weight, layer.bias):
                    drawn = generator.uniform(-bound, bound, parameter.shape).astype(np.float32)
                    parameter.copy_(torch.from_numpy(drawn))
        self.optimizer = torch.optim.Adam(self.module.parameters(), lr=self.settings.rate, fused=True)

    def state(self) -> dict[str, NDArray[Any]]:
        weights = {f"net.{name}": tensor.numpy().copy() for name, tensor in self.module.state_dict().items()}
        return weights | optimizer_arrays(self.optimizer)

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        load_weights(self.module, {name.removeprefix("net."): array for name, array in arrays.items()})
        restore_optimizer(self.optimizer, arrays)


def make_approximator(
    inputs: Inputs, settings: NetworkSettings, generator: np.random.Generator, kind: str = VALUES
) -> Approximator:
    """A network of values or of a policy, or a table where the settings ask for one."""
    return TableApproximator(inputs) if settings.approximator == TABLE else Network(inputs, settings, generator, kind)
