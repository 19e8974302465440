"""Function approximators trained on rows of infosets or histories: networks, or tables without approximation error.

In uncompiled games an infoset is a row of features and legal actions. In a compiled game it is a number that indexes features
and legal actions: a network evaluates all infosets of a player at once, rows of one infoset are merged before fitting, and a
table may replace the network. Each learner is tested with a table, for which its theory holds; with a network the only
difference is approximation error.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Bools, Floats, Singles
from treeplex.base.settings import Settings, setting
from treeplex.engine.histories.recording import gathered
from treeplex.forms.policies.heads import SOFTMAX
from treeplex.forms.policies.neural import Layers
from treeplex.learn.common.device import torch_module
from treeplex.learn.common.fitting import load_weights, optimizer_arrays, restore_optimizer
from treeplex.learn.neural.fitting.buffers import Rows
from treeplex.learn.neural.fitting.descent import Descent, finite
from treeplex.learn.neural.fitting.policies import GIVEN, NetworkValues, PlayerPolicy, TableValues, Values, layers_from

NETWORK, TABLE = "network", "table"
VALUES, POLICY = "values", "policy"
"""What an approximator outputs: values fitted with squared errors, or action probabilities fitted with cross entropy."""


@dataclass(frozen=True)
class NetworkSettings(Settings):
    """Settings for networks and their training."""

    approximator: str = setting(
        NETWORK,
        "function approximator: a network, or a table without approximation error",
        choices=(NETWORK, TABLE),
        fixed=True,
    )
    width: int = setting(64, "units per hidden layer", low=1, fixed=True)
    layers: int = setting(3, "hidden layers", low=1, fixed=True)
    batch: int = setting(
        2048, "rows per gradient step (if there are fewer infosets, all of them, each with its mean row)", low=1
    )
    rate: float = setting(1e-3, "Adam's step size", above=0)
    clip: float = setting(1.0, "maximum gradient norm, to which gradients are clipped", above=0)


class Targets(NamedTuple):
    """Training targets of a network.

    Attributes:
        features: float32 [n, F].
        wanted: float32 [n, outputs], target outputs.
        parts: float32 [n, outputs], fraction of the row's weight that each target has; 0 for missing actions.
        legal: bool [n, outputs].
        shares: float64 [n], fraction of the total weight.
    """

    features: Singles
    wanted: Singles
    parts: Singles
    legal: Bools
    shares: Floats


class RowInputs:
    """Rows of features and legal actions side by side, float32 [n, F + A]: infosets or histories of uncompiled games.

    Attributes:
        width: F.
        actions: A, number of action columns.
        outputs: number of network outputs, also A.
        numbered: whether infosets are represented by numbers.
        policy_head: head that turns frozen policy outputs into probabilities.
    """

    numbered, policy_head = False, SOFTMAX

    def __init__(self, features: int, actions: int) -> None:
        self.width, self.actions, self.outputs = features, actions, actions

    def no_rows(self) -> NDArray[Any]:
        """An empty array of rows."""
        return np.empty((0, self.width + self.actions), np.float32)

    def legal(self, rows: NDArray[Any]) -> Bools:
        """The legal actions of rows, bool [n, A]."""
        return np.asarray(rows[:, self.width :] > 0.0)

    def evaluate(self, function: Callable[[Singles, Bools], Singles], rows: NDArray[Any] | None) -> Floats:
        """Evaluate a function of features and legal outputs at rows; float64 [n, A]."""
        assert rows is not None, "a network has no list of all rows; pass the rows to evaluate"
        return np.asarray(function(rows[:, : self.width], self.legal(rows)), np.float64)

    def frozen(self, network: "Network") -> Values:
        """A frozen copy of a network's current values."""
        return NetworkValues(self.width, network.copied_layers())

    def constant(self, value: float) -> NetworkValues:
        """Frozen values that are constant."""
        layer = np.zeros((self.actions, self.width), np.float32), np.full(self.actions, value, np.float32)
        return NetworkValues(self.width, [layer])

    def restored(self, arrays: Mapping[str, NDArray[Any]]) -> Values:
        """Frozen values from their saved arrays."""
        return NetworkValues(self.width, layers_from(arrays))

    def targets(self, rows: Rows) -> Targets:
        """Training targets: one per row, without merging rows."""
        known, shares = ~np.isnan(rows.values), rows.weights.astype(np.float64)
        wanted, total = np.where(known, rows.values, np.float32(0.0)), max(float(shares.sum()), 1e-300)
        features, legal = rows.places[:, : self.width], self.legal(rows.places)
        return Targets(features, wanted, known.astype(np.float32), legal, shares / total)


class GameInputs:
    """Numbered infosets of one player of a compiled game, or numbered histories: int32 [n].

    Attributes:
        features: float32 [P, F].
        legal_actions: bool [P, A], legal ones first.
        output_of: int64 [P, A], network output of each action, shared by equal action ids; 0 for illegal actions.
        legal_outputs: bool [P, outputs].
        width, actions, outputs, numbered, policy_head: see :class:`RowInputs`.
    """

    numbered, policy_head = True, GIVEN

    def __init__(self, features: Singles, legal: Bools, actions: NDArray[np.integer]) -> None:
        """Create inputs; ``actions``, int [S], are the ids of legal actions."""
        self.features, self.legal_actions = np.ascontiguousarray(features), legal
        self.output_of = np.zeros(legal.shape, np.int64)
        self.output_of[legal] = np.unique(actions, return_inverse=True)[1]
        self.width, self.actions, self.outputs = features.shape[1], legal.shape[1], int(self.output_of.max(initial=0)) + 1
        self.legal_outputs = self.spread(np.ones(legal.shape)) > 0.0

    def no_rows(self) -> NDArray[Any]:
        """An empty array of rows."""
        return np.empty(0, np.int32)

    def legal(self, rows: NDArray[Any]) -> Bools:
        """The legal actions of rows, bool [n, A]."""
        return np.asarray(self.legal_actions[rows])

    def evaluate(self, function: Callable[[Singles, Bools], Singles], rows: NDArray[Any] | None) -> Floats:
        """Evaluate a function of features and legal outputs at rows; float64 [n, A], zero for illegal actions."""
        outputs = function(self.features, self.legal_outputs)
        whole = np.where(self.legal_actions, np.take_along_axis(outputs, self.output_of, axis=1), 0.0).astype(np.float64)
        return whole if rows is None else whole[rows]

    def frozen(self, network: "Network") -> Values:
        """A frozen copy of a network's current values."""
        return TableValues(network.values(), self.legal_actions)

    def constant(self, value: float) -> TableValues:
        """Frozen values that are constant."""
        return TableValues(np.full(self.legal_actions.shape, value), self.legal_actions)

    def restored(self, arrays: Mapping[str, NDArray[Any]]) -> Values:
        """Frozen values from their saved arrays."""
        return TableValues(np.array(arrays["table"]), self.legal_actions)

    def targets(self, rows: Rows) -> Targets:
        """Training targets: the weighted mean of each infoset's rows, which gives the same gradient as all rows."""
        weights, means, _ = gathered(self.legal_actions, *rows)
        total = weights.max(axis=1, initial=0.0)
        places = np.flatnonzero(total)
        parts = self.spread(weights / np.maximum(total, 1e-300)[:, None])[places]
        wanted, legal = self.spread(means)[places], self.legal_outputs[places]
        return Targets(self.features[places], wanted, parts, legal, total[places] / max(float(total.sum()), 1e-300))

    def spread(self, matrix: Floats) -> Singles:
        """Rearrange action values, float64 [P, A], by network output, float32 [P, outputs]; 0 for missing actions."""
        spread = np.zeros((len(matrix), self.outputs), np.float32)
        places, numbers = np.nonzero(self.legal_actions)
        spread[places, self.output_of[places, numbers]] = matrix[places, numbers]
        return spread


Inputs = RowInputs | GameInputs


class TableApproximator:
    """A table with one number per action: the weighted mean of its rows, or unchanged if there are none.

    Values start at 0, and policies start uniform.
    """

    def __init__(self, inputs: GameInputs, kind: str = VALUES) -> None:
        self.inputs, legal = inputs, inputs.legal_actions
        self._begun = legal / legal.sum(axis=1, keepdims=True) if kind == POLICY else np.zeros(legal.shape)
        self._values = self._begun.copy()

    def values(self, rows: NDArray[Any] | None = None) -> Floats:
        """Values at rows, float64 [n, A]; in a compiled game None means all infosets."""
        return self._values.copy() if rows is None else self._values[rows]

    def frozen(self) -> Values:
        """A frozen copy of the values (of a policy in an uncompiled game, the logits)."""
        return TableValues(self._values.copy(), self.inputs.legal_actions)

    def as_policy(self) -> PlayerPolicy:
        """The current policy of a player, if this approximator represents a policy."""
        return PlayerPolicy(self.frozen(), self.inputs.policy_head)

    def fit(self, rows: Rows, steps: int, generator: np.random.Generator) -> float:
        """Fit to the weighted means of rows; returns the final loss, a weighted mean.

        Raises:
            AlgorithmError: the loss is not finite.
        """
        weights, means, error = gathered(self.inputs.legal_actions, *rows)
        self._values = np.where(weights > 0.0, means, self._values)
        return finite(error)

    def regress(self, means: Floats, weights: Floats, steps: int) -> float:
        """In a compiled game, fit to ``means`` by weighted squared error, both float64 [P, A]; returns the loss.

        Raises:
            AlgorithmError: the loss is not finite.
        """
        self._values = np.where(weights > 0.0, means, self._values)
        return 0.0

    def reset(self, generator: np.random.Generator) -> None:
        """Reinitialise."""
        self._values = self._begun.copy()

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays that :meth:`restore` needs."""
        return {"values": self._values[self.inputs.legal_actions]}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume from the arrays of :meth:`state`.

        Raises:
            KeyError, ValueError: the arrays do not fit.
        """
        stored, legal = np.array(arrays["values"], np.float64), self.inputs.legal_actions
        if stored.shape != (int(legal.sum()),):
            raise ValueError(f"the table has {len(stored)} numbers; it must have {int(legal.sum())}")
        self._values[legal] = stored


class Perceptron:
    """A ReLU network trained with Adam.

    Attributes:
        module: the ``torch.nn.Sequential``, float32 on the CPU, [rows, F] to [rows, outputs].
        optimizer: Adam.
    """

    def __init__(self, features: int, outputs: int, settings: NetworkSettings, generator: np.random.Generator) -> None:
        torch = torch_module()
        self.settings, parts = settings, []
        for size, following in pairwise([features, *(settings.width,) * settings.layers, outputs]):
            parts += [torch.nn.Linear(size, following), torch.nn.ReLU()]
        self.module = torch.nn.Sequential(*parts[:-1])
        self.reset(generator)

    def reset(self, generator: np.random.Generator) -> None:
        """Sample new weights (PyTorch's default: uniform, He et al. 2015) and reset the optimizer."""
        torch = torch_module()
        with torch.no_grad():
            for layer in self.module[::2]:
                bound = layer.in_features**-0.5
                for parameter in (layer.weight, layer.bias):
                    drawn = generator.uniform(-bound, bound, parameter.shape).astype(np.float32)
                    parameter.copy_(torch.from_numpy(drawn))
        self.optimizer = torch.optim.Adam(self.module.parameters(), lr=self.settings.rate, fused=True)

    def clip_and_step(self) -> None:
        """Clip the parameters' gradients to ``settings.clip`` and take an Adam step."""
        torch_module().nn.utils.clip_grad_norm_(self.module.parameters(), self.settings.clip)
        self.optimizer.step()

    @property
    def rate(self) -> float:
        """Adam's step size."""
        return float(self.optimizer.param_groups[0]["lr"])

    def set_rate(self, rate: float) -> None:
        """Set Adam's step size."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate

    def copied_layers(self) -> Layers:
        """Copies of the matrices and biases."""
        return [(layer.weight.detach().numpy().copy(), layer.bias.detach().numpy().copy()) for layer in self.module[::2]]

    def state(self) -> dict[str, NDArray[Any]]:
        """Weights and Adam's moments."""
        weights = {f"net.{name}": tensor.numpy().copy() for name, tensor in self.module.state_dict().items()}
        return weights | optimizer_arrays(self.optimizer)

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume from the arrays of :meth:`state`.

        Raises:
            KeyError, ValueError, RuntimeError: the arrays do not fit.
        """
        load_weights(self.module, {name.removeprefix("net."): array for name, array in arrays.items()})
        restore_optimizer(self.optimizer, arrays)


class Network(Perceptron):
    """A network that approximates values or a policy.

    If there are at most ``settings.batch`` rows (in a compiled game, infosets with rows), each step uses all of them, which
    gives the gradient of the entire buffer at the cost of a small batch. Otherwise each step samples rows in proportion to
    their weights.
    """

    def __init__(self, inputs: Inputs, settings: NetworkSettings, generator: np.random.Generator, kind: str = VALUES) -> None:
        self.inputs: Any = inputs
        self.kind = kind
        super().__init__(inputs.width, inputs.outputs, settings, generator)

    def values(self, rows: NDArray[Any] | None = None) -> Floats:
        """Values at rows, float64 [n, A]; in a compiled game None means all infosets."""
        return np.asarray(self.inputs.evaluate(self.outputs, rows))

    def outputs(self, features: Singles, legal: Bools) -> Singles:
        """The network's outputs, float32 [n, outputs]; for a policy, probabilities."""
        torch = torch_module()
        with torch.inference_mode():
            tensor = self.module(torch.from_numpy(np.ascontiguousarray(features)))
            if self.kind == POLICY:
                tensor = tensor.masked_fill(torch.from_numpy(~legal), -np.inf).softmax(dim=1)
            outputs: Singles = tensor.numpy()
        return outputs

    def frozen(self) -> Values:
        """A frozen copy of the values (of a policy in an uncompiled game, the logits)."""
        frozen: Values = self.inputs.frozen(self)
        return frozen

    def as_policy(self) -> PlayerPolicy:
        """The current policy of a player, if this approximates a policy."""
        return PlayerPolicy(self.frozen(), self.inputs.policy_head)

    def fit(self, rows: Rows, steps: int, generator: np.random.Generator) -> float:
        """Fit to the weighted means of rows; returns the final loss, a weighted mean.

        Raises:
            AlgorithmError: the loss is not finite.
        """
        if not rows.weights.any():
            return 0.0
        targets = self.inputs.targets(rows)
        batch, count = self.settings.batch, len(targets.shares)
        whole = count <= batch
        scale = np.asarray(targets.shares if whole else np.full(count, 1.0 / batch), np.float32)[:, None]
        batches: Sequence[Any] = [slice(None)] * steps
        if not whole:
            batches = list(generator.choice(count, (steps, batch), p=targets.shares))

        def slopes(outputs: Singles, at: Any) -> tuple[float, Singles]:
            return self.slopes(outputs, targets.wanted[at], targets.parts[at], targets.legal[at], scale[at])

        descent = Descent(self.module, self.optimizer)
        loss = descent.run(targets.features, batches, slopes, rate=self.rate, clip=self.settings.clip)
        descent.publish()
        return loss

    def slopes(self, outputs: Singles, wanted: Singles, parts: Singles, legal: Any, scale: Singles) -> tuple[float, Singles]:
        """The loss and its derivatives with respect to outputs.

        Args:
            outputs: float32 [n, outputs], the outputs.
            wanted, parts, legal: see :class:`Targets`.
            scale: float32 [n, 1], weights.
        """
        if self.kind == POLICY:
            shifted = np.where(legal, outputs, -np.inf)
            shifted -= shifted.max(axis=1, keepdims=True)
            chances = np.exp(shifted)
            sums = chances.sum(axis=1, keepdims=True)
            losses = scale * wanted * (np.log(sums) - np.where(legal, shifted, 0.0))
            gradient = scale * (chances / sums * wanted.sum(axis=1, keepdims=True) - wanted)
            return float(losses.sum()), np.asarray(gradient, np.float32)
        apart = outputs - wanted
        slope = scale * parts * apart
        return float((slope * apart).sum()), np.float32(2.0) * slope

    def regress(self, means: Floats, weights: Floats, steps: int) -> float:
        """In a compiled game, fit to ``means`` by weighted squared error, both float64 [P, A]; returns the loss.

        Raises:
            AlgorithmError: the loss is not finite.
        """
        torch, inputs = torch_module(), self.inputs
        wanted = torch.from_numpy(inputs.spread(np.where(weights > 0.0, means, 0.0)))
        shares = torch.from_numpy(inputs.spread(weights / max(float(weights[inputs.legal_actions].sum()), 1e-30)))
        return self.minimise(lambda outputs: (shares * (outputs - wanted).square()).sum(), steps)

    def climb(self, slopes: Floats) -> None:
        """Take an Adam ascent step along a gradient, float64 [P, A], of values or of a policy's logits; only in compiled games.

        Raises:
            AlgorithmError: the gradient is not finite.
        """
        wanted = torch_module().from_numpy(self.inputs.spread(slopes))
        self.minimise(lambda outputs: -(wanted * outputs).sum(), 1)

    def minimise(self, loss: Callable[[Any], Any], steps: int) -> float:
        """Minimise a loss of all outputs, a tensor [P, outputs], with Adam; returns the loss before the last step.

        Raises:
            AlgorithmError: the loss is not finite.
        """
        torch, lost = torch_module(), np.nan
        features = torch.from_numpy(self.inputs.features)
        for _ in range(steps):
            with torch.enable_grad():
                value = loss(self.module(features))
                self.optimizer.zero_grad()
                value.backward()
            lost = finite(float(value.detach()))
            self.clip_and_step()
        return lost


Approximator = TableApproximator | Network
"""An approximator of one number per action of each infoset or history."""


def make_approximator(
    inputs: Inputs, settings: NetworkSettings, generator: np.random.Generator, kind: str = VALUES
) -> Approximator:
    """Create a network or, depending on the settings, a table for values or a policy."""
    if settings.approximator == TABLE:
        assert isinstance(inputs, GameInputs)
        return TableApproximator(inputs, kind)
    return Network(inputs, settings, generator, kind)
