"""A network, its optimizer and its rows: gradient steps, and all of it as arrays."""

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
"""Maps a network and the parts of some rows, as tensors, to a loss."""


def huber(net: Module, inputs: Any, targets: Any) -> Any:
    """Mean Huber loss of values: half the squared error up to 1, beyond it the error less a half."""
    return torch_module().nn.functional.huber_loss(net(inputs), targets)


def squared(net: Module, inputs: Any, targets: Any) -> Any:
    """Mean squared error of values."""
    return torch_module().nn.functional.mse_loss(net(inputs), targets)


def of_known(loss: Loss) -> Loss:
    """A loss over those targets that are not NaN."""

    def found(net: Module, inputs: Any, targets: Any) -> Any:
        known = ~targets.isnan()
        return loss(lambda rows: net(rows)[known], inputs, targets[known])

    return found


class Fitting:
    """A network that is fitted by Adam to uniform batches of rows.

    Attributes:
        net: the network, on the processor.
        device: where steps are taken; None for the processor.
        fitted: the network that steps are taken of: ``net`` itself, or on a device a copy, see :meth:`publish`.
        parameters: its.
        optimizer: Adam, of one kernel.
        rows: what it is fitted to.
        names: of the parts of rows, in :meth:`state`.
        loss: what falls.
    """

    def __init__(self, net: Module, rows: Replay, names: Sequence[str], loss: Loss, *, device: Any = None) -> None:
        self.net, self.rows, self.names, self.loss, self.device = net, rows, names, loss, device
        self.fitted = net if device is None else deepcopy(net).to(device)
        self.parameters = list(self.fitted.parameters())
        self.optimizer = torch_module().optim.Adam(self.parameters, fused=True)

    def step(self, generator: np.random.Generator, *, batch: int, rate: float, clip: float) -> float:
        """One step of Adam on ``batch`` rows; the loss.

        Raises:
            AlgorithmError: the loss is not finite; the network is as it was before.
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
        for parameter in self.parameters:  # Adam of one kernel does not count its changes, which Forward looks at
            torch.autograd.graph.increment_version(parameter)
        return value

    def publish(self) -> None:
        """Bring the weights from the device to :attr:`net`."""
        if self.device is not None:
            self.net.load_state_dict(self.fitted.state_dict())

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs, rows oldest first."""
        arrays: dict[str, NDArray[Any]] = dict(zip(self.names, self.rows.ordered(), strict=True))
        for name, tensor in self.fitted.state_dict().items():
            arrays[f"net.{name}"] = tensor.cpu().numpy().copy()
        return arrays | optimizer_arrays(self.optimizer)

    def restore(self, arrays: Arrays) -> None:
        """Continue bit for bit from what :meth:`state` returned.

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
        KeyError, RuntimeError: they do not fit.
    """
    torch = torch_module()
    module.load_state_dict({name: torch.from_numpy(np.array(arrays[name])) for name in module.state_dict()})


def optimizer_arrays(optimizer: Any) -> dict[str, NDArray[Any]]:
    """The state of an optimizer such as Adam as arrays named ``adam.PARAMETER.NAME``, for :func:`restore_optimizer`."""
    arrays = {}
    for number, moments in optimizer.state_dict()["state"].items():
        for key, tensor in moments.items():
            arrays[f"adam.{number}.{key}"] = np.atleast_1d(tensor.cpu().numpy().copy())
    return arrays


def restore_optimizer(optimizer: Any, arrays: Arrays) -> None:
    """Restore the state of an optimizer.

    Args:
        optimizer: the optimizer, such as Adam.
        arrays: what :func:`optimizer_arrays` returned; other names are ignored. Without any the optimizer starts afresh.

    Raises:
        KeyError, RuntimeError: they do not fit the parameters.
    """
    torch, moments = torch_module(), dict[int, dict[str, Any]]()
    for name, array in arrays.items():
        kind, _, rest = name.partition(".")
        if kind == "adam":
            number, _, key = rest.partition(".")
            moments.setdefault(int(number), {})[key] = torch.from_numpy(np.array(array[0] if key == "step" else array))
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": moments, "param_groups": groups})
