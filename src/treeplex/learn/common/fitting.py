"""A network with its optimizer and training rows: takes gradient steps, and saves its full state as arrays."""

import math
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import AlgorithmError
from treeplex.learn.common.device import torch_module
from treeplex.learn.common.replay import Replay
from treeplex.learn.common.value_net import Module

Arrays = Mapping[str, NDArray[Any]]
Loss = Callable[..., Any]
"""Maps a network and the parts of training rows, as tensors, to a loss."""


def huber(net: Module, inputs: Any, targets: Any) -> Any:
    """Mean Huber loss of values: half the squared error up to an error of 1, linear above it."""
    return torch_module().nn.functional.huber_loss(net(inputs), targets)


def squared(net: Module, inputs: Any, targets: Any) -> Any:
    """Mean squared error of values."""
    return torch_module().nn.functional.mse_loss(net(inputs), targets)


def of_known(loss: Loss) -> Loss:
    """Wrap a loss so that it ignores NaN targets."""

    def known_loss(net: Module, inputs: Any, targets: Any) -> Any:
        known = ~targets.isnan()
        return loss(lambda rows: net(rows)[known], inputs, targets[known])

    return known_loss


class NetworkFitter:
    """A network trained with Adam on uniformly sampled batches.

    Attributes:
        net: the network, on the CPU.
        device: device for gradient steps; None for the CPU.
        fitted: the network being trained: ``net`` itself, or its copy on the device, see :meth:`publish`.
        parameters: its parameters.
        optimizer: fused Adam.
        rows: training rows.
        names: names of the rows' parts in :meth:`state`.
        loss: loss to minimise.
    """

    def __init__(self, net: Module, rows: Replay, names: Sequence[str], loss: Loss, *, device: Any = None) -> None:
        self.net, self.rows, self.names, self.loss, self.device = net, rows, names, loss, device
        self.fitted = net if device is None else deepcopy(net).to(device)
        self.parameters = list(self.fitted.parameters())
        self.optimizer = torch_module().optim.Adam(self.parameters, fused=True)

    def step(self, generator: np.random.Generator, *, batch: int, rate: float, clip: float) -> float:
        """Take an Adam step on ``batch`` rows; returns the loss.

        Raises:
            AlgorithmError: the loss is not finite; the network is left unchanged.
        """
        torch = torch_module()
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        parts = self.rows.take(generator.integers(0, len(self.rows), batch))
        with torch.enable_grad():
            loss = self.loss(self.fitted, *(torch.from_numpy(part).to(self.device or "cpu") for part in parts))
            value = float(loss.detach())
            if not math.isfinite(value):
                raise AlgorithmError(f"the loss is {value}")
            self.optimizer.zero_grad()
            loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, clip)
        self.optimizer.step()
        for parameter in self.parameters:  # fused Adam does not count its in-place changes, which Forward checks
            torch.autograd.graph.increment_version(parameter)
        return value

    def publish(self) -> None:
        """Copy the weights from the device to :attr:`net`."""
        if self.device is not None:
            self.net.load_state_dict(self.fitted.state_dict())

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays that :meth:`restore` needs, rows oldest first."""
        arrays: dict[str, NDArray[Any]] = dict(zip(self.names, self.rows.ordered(), strict=True))
        for name, tensor in self.fitted.state_dict().items():
            arrays[f"net.{name}"] = tensor.cpu().numpy().copy()
        return arrays | optimizer_arrays(self.optimizer)

    def restore(self, arrays: Arrays) -> None:
        """Resume from the arrays of :meth:`state`, bit for bit.

        Raises:
            KeyError, ValueError, RuntimeError: the arrays do not fit.
        """
        load_weights(self.fitted, {name.removeprefix("net."): array for name, array in arrays.items()})
        self.publish()
        restore_optimizer(self.optimizer, arrays)
        self.rows.restore(*(arrays[name] for name in self.names))


def load_weights(module: Any, arrays: Arrays) -> None:
    """Load weights from arrays.

    Args:
        module: a PyTorch module.
        arrays: its weights by name; other names are ignored.

    Raises:
        KeyError, RuntimeError: the arrays do not fit.
    """
    torch = torch_module()
    module.load_state_dict({name: torch.from_numpy(np.array(arrays[name])) for name in module.state_dict()})


def optimizer_arrays(optimizer: Any) -> dict[str, NDArray[Any]]:
    """State of an optimizer such as Adam as arrays named ``adam.PARAMETER.NAME``, for :func:`restore_optimizer`."""
    arrays = {}
    for number, moments in optimizer.state_dict()["state"].items():
        for key, tensor in moments.items():
            arrays[f"adam.{number}.{key}"] = np.atleast_1d(tensor.cpu().numpy().copy())
    return arrays


def restore_optimizer(optimizer: Any, arrays: Arrays) -> None:
    """Restore the state of an optimizer.

    Args:
        optimizer: an optimizer such as Adam.
        arrays: the result of :func:`optimizer_arrays`; other names are ignored. If there are none, the optimizer is reset.

    Raises:
        KeyError, RuntimeError: the arrays do not fit the parameters.
    """
    torch, moments = torch_module(), dict[int, dict[str, Any]]()
    for name, array in arrays.items():
        kind, _, rest = name.partition(".")
        if kind == "adam":
            number, _, key = rest.partition(".")
            moments.setdefault(int(number), {})[key] = torch.from_numpy(np.array(array[0] if key == "step" else array))
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": moments, "param_groups": groups})
