"""PyTorch modules with their optimizer: checked gradient steps, and states as arrays for checkpoints."""

from collections.abc import Iterable, Mapping
from typing import Any

from numpy.typing import NDArray

from treeplex.learn.common.device import torch_module
from treeplex.learn.common.fitting import load_weights, optimizer_arrays, restore_optimizer
from treeplex.learn.neural.fitting.descent import finite

Arrays = Mapping[str, NDArray[Any]]


class TrainableModule:
    """A module, its inputs, and an optimizer of its parameters.

    Attributes:
        module: a ``torch.nn.Module``.
        rows: inputs: row numbers of a table, or rows of features.
        optimizer: optimizer of all its parameters.
    """

    def __init__(self, module: Any, rows: Any, optimizer: Any, *, most: float) -> None:
        """Combine module, inputs and optimizer; ``most`` is the norm to which gradients are clipped."""
        self.module, self.rows, self.optimizer, self.most = module, rows, optimizer, most

    def __call__(self, at: Any = None) -> Any:
        """The module's outputs for all rows, or for the rows ``at``."""
        return self.module(self.rows if at is None else self.rows[at])

    def descend(self, loss: Any) -> float:
        """Take a gradient step; returns the loss before it.

        Raises:
            AlgorithmError: the loss is not finite; parameters are unchanged.
        """
        value = finite(float(loss.detach()))
        self.optimizer.zero_grad()
        loss.backward()
        torch_module().nn.utils.clip_grad_norm_(self.module.parameters(), self.most)
        self.optimizer.step()
        return value

    def state(self) -> dict[str, NDArray[Any]]:
        """Weights and the optimizer's moments."""
        weights = {f"net.{key}": tensor.numpy().copy() for key, tensor in self.module.state_dict().items()}
        return weights | optimizer_arrays(self.optimizer)

    def restore(self, arrays: Arrays) -> None:
        """Resume from the arrays of :meth:`state`, bit for bit.

        Raises:
            KeyError, ValueError, RuntimeError: the arrays do not fit.
        """
        load_weights(self.module, {name.removeprefix("net."): array for name, array in arrays.items()})
        restore_optimizer(self.optimizer, arrays)


def zero_table(rows: int, outputs: int) -> tuple[Any, Any]:
    """Create a table of zeros as a module, and its row numbers."""
    torch = torch_module()
    return torch.nn.Embedding.from_pretrained(torch.zeros(rows, outputs), freeze=False), torch.arange(rows)


def perceptron(inputs: int, hidden: Iterable[int], outputs: int, seed: int) -> Any:
    """A fully connected ReLU network with weights drawn from a seed; its initial outputs are close to 0."""
    torch = torch_module()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layers, width = list[Any](), inputs
        for units in hidden:
            layers += [torch.nn.Linear(width, units), torch.nn.ReLU()]
            width = units
        last = torch.nn.Linear(width, outputs)
    with torch.no_grad():
        last.weight *= 0.01
        last.bias *= 0.0
    return torch.nn.Sequential(*layers, last)
