"""Approximators fitted to rows of infosets or histories: a network, or in its place a table, which makes no error.

An infoset is a row. By the rules it is a row of features and legal actions. In a compiled game it is a number, by which
features and legal actions are looked up: a network is asked for all infosets of a player at once, rows of one infoset are put
together before a network is fitted, and a table may take the network's place. Each method is tried with a table first, where it
has to do what its theory says; then the only difference is how well a network learns.
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
"""What the numbers are: values fitted by squared errors; or the probabilities of actions, by cross entropy."""


@dataclass(frozen=True)
class NetworkSettings(Settings):
    """The shape of networks and how they are fitted."""

    approximator: str = setting(NETWORK, "what learns; a table makes no error of its own", choices=(NETWORK, TABLE), fixed=True)
    width: int = setting(64, "units of each hidden layer", low=1, fixed=True)
    layers: int = setting(3, "hidden layers", low=1, fixed=True)
    batch: int = setting(2048, "rows of a gradient step; where fewer places have rows, their means, all at once", low=1)
    rate: float = setting(1e-3, "Adam's step size", above=0)
    clip: float = setting(1.0, "the most that a gradient's norm may be", above=0)


class Targets(NamedTuple):
    """Targets of a network.

    Attributes:
        features: float32 [n, F].
        wanted: float32 [n, outputs].
        parts: float32 [n, outputs], which share of the weight knows an output, 0 where there is no such action.
        legal: bool [n, outputs].
        shares: float64 [n], of all weights.
    """

    features: Singles
    wanted: Singles
    parts: Singles
    legal: Bools
    shares: Floats


class RowInputs:
    """Rows of features and legal actions side by side, float32 [n, F + A]: infosets or histories by the rules.

    Attributes:
        width: F.
        actions: A, the columns of values.
        outputs: of a network, A as well.
        numbered: whether a row is a number.
        policy_head: what the frozen values of a policy say.
    """

    numbered, policy_head = False, SOFTMAX

    def __init__(self, features: int, actions: int) -> None:
        self.width, self.actions, self.outputs = features, actions, actions

    def no_rows(self) -> NDArray[Any]:
        """No rows, to be added to."""
        return np.empty((0, self.width + self.actions), np.float32)

    def legal(self, rows: NDArray[Any]) -> Bools:
        """The legal actions of rows, bool [n, A]."""
        return np.asarray(rows[:, self.width :] > 0.0)

    def evaluate(self, function: Callable[[Singles, Bools], Singles], rows: NDArray[Any] | None) -> Floats:
        """Numbers float64 [n, A] from a function of features and legal outputs."""
        assert rows is not None, "rows that describe infosets are not numbered"
        return np.asarray(function(rows[:, : self.width], self.legal(rows)), np.float64)

    def frozen(self, network: "Network") -> Values:
        """The values of a network, which stay as they are."""
        return NetworkValues(self.width, network.copied_layers())

    def constant(self, value: float) -> NetworkValues:
        """Values that are the same everywhere."""
        layer = np.zeros((self.actions, self.width), np.float32), np.full(self.actions, value, np.float32)
        return NetworkValues(self.width, [layer])

    def restored(self, arrays: Mapping[str, NDArray[Any]]) -> Values:
        """Frozen values from their arrays."""
        return NetworkValues(self.width, layers_from(arrays))

    def targets(self, rows: Rows) -> Targets:
        """Targets of a network: the rows themselves."""
        known, shares = ~np.isnan(rows.values), rows.weights.astype(np.float64)
        wanted, total = np.where(known, rows.values, np.float32(0.0)), max(float(shares.sum()), 1e-300)
        features, legal = rows.places[:, : self.width], self.legal(rows.places)
        return Targets(features, wanted, known.astype(np.float32), legal, shares / total)


class GameInputs:
    """The infosets of a player of a compiled game, or its histories, by number: int32 [n].

    Attributes:
        features: float32 [P, F].
        legal_actions: bool [P, A], legal ones first.
        output_of: int64 [P, A], which output of a network an action is: those of one id share it; 0 for illegal ones.
        legal_outputs: bool [P, outputs].
        width, actions, outputs, numbered, policy_head: see :class:`RowInputs`.
    """

    numbered, policy_head = True, GIVEN

    def __init__(self, features: Singles, legal: Bools, actions: NDArray[np.integer]) -> None:
        """Legal actions have ids in ``actions``, int [S]."""
        self.features, self.legal_actions = np.ascontiguousarray(features), legal
        self.output_of = np.zeros(legal.shape, np.int64)
        self.output_of[legal] = np.unique(actions, return_inverse=True)[1]
        self.width, self.actions, self.outputs = features.shape[1], legal.shape[1], int(self.output_of.max(initial=0)) + 1
        self.legal_outputs = self.spread(np.ones(legal.shape)) > 0.0

    def no_rows(self) -> NDArray[Any]:
        """No rows, to be added to."""
        return np.empty(0, np.int32)

    def legal(self, rows: NDArray[Any]) -> Bools:
        """The legal actions of rows, bool [n, A]."""
        return np.asarray(self.legal_actions[rows])

    def evaluate(self, function: Callable[[Singles, Bools], Singles], rows: NDArray[Any] | None) -> Floats:
        """Numbers float64 [n, A] from a function of features and legal outputs; zero for illegal actions."""
        found = function(self.features, self.legal_outputs)
        whole = np.where(self.legal_actions, np.take_along_axis(found, self.output_of, axis=1), 0.0).astype(np.float64)
        return whole if rows is None else whole[rows]

    def frozen(self, network: "Network") -> Values:
        """The values of a network, which stay as they are."""
        return TableValues(network.values(), self.legal_actions)

    def constant(self, value: float) -> TableValues:
        """Values that are the same everywhere."""
        return TableValues(np.full(self.legal_actions.shape, value), self.legal_actions)

    def restored(self, arrays: Mapping[str, NDArray[Any]]) -> Values:
        """Frozen values from their arrays."""
        return TableValues(np.array(arrays["table"]), self.legal_actions)

    def targets(self, rows: Rows) -> Targets:
        """Targets of a network: weighted means of the rows of each infoset, which have the same gradient."""
        weights, means, _ = gathered(self.legal_actions, *rows)
        total = weights.max(axis=1, initial=0.0)
        places = np.flatnonzero(total)
        parts = self.spread(weights / np.maximum(total, 1e-300)[:, None])[places]
        wanted, legal = self.spread(means)[places], self.legal_outputs[places]
        return Targets(self.features[places], wanted, parts, legal, total[places] / max(float(total.sum()), 1e-300))

    def spread(self, matrix: Floats) -> Singles:
        """Numbers of actions, float64 [P, A], by outputs, float32 [P, outputs]; 0 where there is no such action."""
        found = np.zeros((len(matrix), self.outputs), np.float32)
        places, numbers = np.nonzero(self.legal_actions)
        found[places, self.output_of[places, numbers]] = matrix[places, numbers]
        return found


Inputs = RowInputs | GameInputs


class TableApproximator:
    """A number for each action: those that have rows get their weighted means, others stay as they are.

    Values begin at 0, policies uniform.
    """

    def __init__(self, inputs: GameInputs, kind: str = VALUES) -> None:
        self.inputs, legal = inputs, inputs.legal_actions
        self._begun = legal / legal.sum(axis=1, keepdims=True) if kind == POLICY else np.zeros(legal.shape)
        self._values = self._begun.copy()

    def values(self, rows: NDArray[Any] | None = None) -> Floats:
        """The numbers of rows, float64 [n, A]; of a compiled game by default those of all."""
        return self._values.copy() if rows is None else self._values[rows]

    def frozen(self) -> Values:
        """A copy of the values that does not learn; by the rules of a policy its logits."""
        return TableValues(self._values.copy(), self.inputs.legal_actions)

    def as_policy(self) -> PlayerPolicy:
        """Of a policy, how a player follows it as it stands."""
        return PlayerPolicy(self.frozen(), self.inputs.policy_head)

    def fit(self, rows: Rows, steps: int, generator: np.random.Generator) -> float:
        """Bring the numbers nearer to the weighted means of rows; the loss at the end, a mean over weights.

        Raises:
            AlgorithmError: the loss is not finite.
        """
        weights, means, error = gathered(self.inputs.legal_actions, *rows)
        self._values = np.where(weights > 0.0, means, self._values)
        return finite(error)

    def regress(self, means: Floats, weights: Floats, steps: int) -> float:
        """In a compiled game, bring numbers nearer to ``means`` by squared errors with weights, both float64 [P, A]; the loss.

        Raises:
            AlgorithmError: the loss is not finite.
        """
        self._values = np.where(weights > 0.0, means, self._values)
        return 0.0

    def reset(self, generator: np.random.Generator) -> None:
        """Forget everything."""
        self._values = self._begun.copy()

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs."""
        return {"values": self._values[self.inputs.legal_actions]}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what :meth:`state` returned.

        Raises:
            KeyError, ValueError: the arrays do not fit.
        """
        found, legal = np.array(arrays["values"], np.float64), self.inputs.legal_actions
        if found.shape != (int(legal.sum()),):
            raise ValueError(f"a table of {len(found)} numbers, not {int(legal.sum())}")
        self._values[legal] = found


class Perceptron:
    """A network of rectified linear layers and Adam.

    Attributes:
        module: the ``torch.nn.Sequential``, float32 on the processor, [rows, F] to [rows, outputs].
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
        """New weights (uniform, He et al. 2015, as PyTorch draws them) and a new optimizer."""
        torch = torch_module()
        with torch.no_grad():
            for layer in self.module[::2]:
                bound = layer.in_features**-0.5
                for parameter in (layer.weight, layer.bias):
                    drawn = generator.uniform(-bound, bound, parameter.shape).astype(np.float32)
                    parameter.copy_(torch.from_numpy(drawn))
        self.optimizer = torch.optim.Adam(self.module.parameters(), lr=self.settings.rate, fused=True)

    def clip_and_step(self) -> None:
        """A step of Adam by the gradients that the parameters have, no longer than ``settings.clip``."""
        torch_module().nn.utils.clip_grad_norm_(self.module.parameters(), self.settings.clip)
        self.optimizer.step()

    @property
    def rate(self) -> float:
        """Adam's step size."""
        return float(self.optimizer.param_groups[0]["lr"])

    def set_rate(self, rate: float) -> None:
        """Adam's step size from now on."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate

    def copied_layers(self) -> Layers:
        """Copies of the matrices and biases."""
        return [(each.weight.detach().numpy().copy(), each.bias.detach().numpy().copy()) for each in self.module[::2]]

    def state(self) -> dict[str, NDArray[Any]]:
        """Weights and Adam's moments."""
        weights = {f"net.{name}": tensor.numpy().copy() for name, tensor in self.module.state_dict().items()}
        return weights | optimizer_arrays(self.optimizer)

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what :meth:`state` returned.

        Raises:
            KeyError, ValueError, RuntimeError: the arrays do not fit.
        """
        load_weights(self.module, {name.removeprefix("net."): array for name, array in arrays.items()})
        restore_optimizer(self.optimizer, arrays)


class Network(Perceptron):
    """A network of values or of a policy.

    Of no more rows than ``settings.batch`` (in a compiled game, infosets that have rows) each step takes all: the gradient of
    the whole buffer at the price of a small batch. Otherwise a step takes some, drawn in proportion to their weight.
    """

    def __init__(self, inputs: Inputs, settings: NetworkSettings, generator: np.random.Generator, kind: str = VALUES) -> None:
        self.inputs: Any = inputs
        self.kind = kind
        super().__init__(inputs.width, inputs.outputs, settings, generator)

    def values(self, rows: NDArray[Any] | None = None) -> Floats:
        """The numbers of rows, float64 [n, A]; of a compiled game by default those of all."""
        return np.asarray(self.inputs.evaluate(self.outputs, rows))

    def outputs(self, features: Singles, legal: Bools) -> Singles:
        """The network's outputs, float32 [n, outputs]; of a policy probabilities."""
        torch = torch_module()
        with torch.inference_mode():
            found = self.module(torch.from_numpy(np.ascontiguousarray(features)))
            if self.kind == POLICY:
                found = found.masked_fill(torch.from_numpy(~legal), -np.inf).softmax(dim=1)
            outputs: Singles = found.numpy()
        return outputs

    def frozen(self) -> Values:
        """A copy of the values that does not learn; by the rules of a policy its logits."""
        frozen: Values = self.inputs.frozen(self)
        return frozen

    def as_policy(self) -> PlayerPolicy:
        """Of a policy, how a player follows it as it stands."""
        return PlayerPolicy(self.frozen(), self.inputs.policy_head)

    def fit(self, rows: Rows, steps: int, generator: np.random.Generator) -> float:
        """Bring the numbers nearer to the weighted means of rows; the loss at the end, a mean over weights.

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

        def slopes(found: Singles, at: Any) -> tuple[float, Singles]:
            return self.slopes(found, targets.wanted[at], targets.parts[at], targets.legal[at], scale[at])

        descent = Descent(self.module, self.optimizer)
        loss = descent.run(targets.features, batches, slopes, rate=self.rate, clip=self.settings.clip)
        descent.publish()
        return loss

    def slopes(self, found: Singles, wanted: Singles, parts: Singles, legal: Any, scale: Singles) -> tuple[float, Singles]:
        """The loss and its derivatives by outputs.

        Args:
            found: float32 [n, outputs].
            wanted, parts, legal: see :class:`Targets`.
            scale: float32 [n, 1], weights.
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

    def regress(self, means: Floats, weights: Floats, steps: int) -> float:
        """In a compiled game, bring numbers nearer to ``means`` by squared errors with weights, both float64 [P, A]; the loss.

        Raises:
            AlgorithmError: the loss is not finite.
        """
        torch, inputs = torch_module(), self.inputs
        wanted = torch.from_numpy(inputs.spread(np.where(weights > 0.0, means, 0.0)))
        shares = torch.from_numpy(inputs.spread(weights / max(float(weights[inputs.legal_actions].sum()), 1e-30)))
        return self.minimise(lambda found: (shares * (found - wanted).square()).sum(), steps)

    def climb(self, slopes: Floats) -> None:
        """In a compiled game, a step of Adam up a gradient float64 [P, A]: of values, or of the logits of a policy.

        Raises:
            AlgorithmError: it is not finite.
        """
        wanted = torch_module().from_numpy(self.inputs.spread(slopes))
        self.minimise(lambda found: -(wanted * found).sum(), 1)

    def minimise(self, loss: Callable[[Any], Any], steps: int) -> float:
        """Steps of Adam down a loss of all outputs, a tensor [P, outputs]; the loss before the last step.

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
"""An approximator of a number for each action of each infoset, or history."""


def make_approximator(
    inputs: Inputs, settings: NetworkSettings, generator: np.random.Generator, kind: str = VALUES
) -> Approximator:
    """A network of values or of a policy, or a table where the settings ask for one."""
    if settings.approximator == TABLE:
        assert isinstance(inputs, GameInputs)
        return TableApproximator(inputs, kind)
    return Network(inputs, settings, generator, kind)
