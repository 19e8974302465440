"""Hand-written gradient steps of ReLU networks.

For networks with a few thousand weights, PyTorch's overhead exceeds the arithmetic, and a hand-written step takes half as long.
All weights are in one array, so a step of Adam is a few operations on it. Matrix products use PyTorch with one thread on the
same memory. NumPy's use all cores and, for such small matrices, become many times slower whenever another process uses a core.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from treeplex.base.arrays import Singles
from treeplex.errors import AlgorithmError
from treeplex.learn.common.device import one_thread, torch_module

Slopes = Callable[[Singles, Any], tuple[float, Singles]]
"""Maps outputs [n, O] and a batch's rows to the loss and its derivatives with respect to the outputs."""
FIRST, SECOND, SMALLEST = 0.9, 0.999, 1e-8
"""Adam's beta_1, beta_2 and epsilon (Kingma and Ba 2015)."""
MOMENTS = ("exp_avg", "exp_avg_sq")


class Descent:
    """Adam on a copy of the weights of a ``torch.nn.Sequential``; :meth:`publish` writes the weights and Adam's moments back.

    Attributes:
        weights, gradient: float32 [W], layer by layer, each with its matrix [out, in], then its biases.
        moments: float32 [2, W].
        taken: steps of Adam so far.
    """

    def __init__(self, module: Any, optimizer: Any) -> None:
        self.module, self.optimizer = module, optimizer
        self.parameters = list(module.parameters())
        self.weights = np.concatenate([parameter.detach().numpy().ravel() for parameter in self.parameters])
        self.gradient, self.moments, self.taken = np.zeros_like(self.weights), np.zeros((2, len(self.weights)), np.float32), 0
        known = [optimizer.state.get(parameter, {}) for parameter in self.parameters]
        if known[0]:
            self.taken = int(known[0]["step"])
            for row, name in zip(self.moments, MOMENTS, strict=True):
                row[:] = np.concatenate([layer[name].numpy().ravel() for layer in known])
        self._layers, self._slopes = [list(self._views(whole)) for whole in (self.weights, self.gradient)]

    def _views(self, whole: Singles) -> Iterator[tuple[Any, Any]]:
        """Matrix and biases of each layer in an array of all weights, as tensors that share its memory."""
        torch, start = torch_module(), 0
        for matrix, bias in zip(self.parameters[::2], self.parameters[1::2], strict=True):
            middle, end = start + matrix.numel(), start + matrix.numel() + bias.numel()
            yield torch.from_numpy(whole[start:middle].reshape(matrix.shape)), torch.from_numpy(whole[middle:end])
            start = end

    def run(self, inputs: Singles, batches: Sequence[Any], slopes: Slopes, *, rate: float, clip: float) -> float:
        """Take a step for each batch, given as a slice or an array of row indices of ``inputs``; returns the loss before the
        last step.

        Raises:
            AlgorithmError: a loss is not finite; the module is left unchanged.
        """
        torch, loss = torch_module(), 0.0
        with one_thread(), torch.no_grad():
            for batch in batches:
                hidden = [torch.from_numpy(inputs[batch])]
                for number, (matrix, bias) in enumerate(self._layers):
                    out = torch.addmm(bias, hidden[-1], matrix.T)
                    hidden.append(out.relu_() if number + 1 < len(self._layers) else out)
                loss, slopes_out = slopes(hidden[-1].numpy(), batch)
                finite(loss)
                slope = torch.from_numpy(slopes_out)
                for number in range(len(self._layers) - 1, -1, -1):
                    of_matrix, of_bias = self._slopes[number]
                    torch.mm(slope.T, hidden[number], out=of_matrix)
                    torch.sum(slope, 0, out=of_bias)
                    if number:
                        slope = slope @ self._layers[number][0]
                        torch.ops.aten.threshold_backward.grad_input(slope, hidden[number], 0, grad_input=slope)
                self._adam(rate, clip)
        return loss

    def _adam(self, rate: float, clip: float) -> None:
        """Take an Adam step with the gradient clipped to norm ``clip``."""
        self.taken += 1
        norm = float(np.sqrt(np.square(self.gradient).sum()))
        if norm > clip:
            self.gradient *= clip / (norm + 1e-6)
        first, second = self.moments
        first += (1.0 - FIRST) * (self.gradient - first)
        self.gradient *= self.gradient
        second += (1.0 - SECOND) * (self.gradient - second)
        size = np.sqrt(second)
        size *= (1.0 - SECOND**self.taken) ** -0.5
        size += SMALLEST
        np.divide(first, size, out=size)
        size *= rate / (1.0 - FIRST**self.taken)
        self.weights -= size

    def publish(self) -> None:
        """Write weights and moments to the module and its optimizer."""
        torch, start = torch_module(), 0
        with torch.no_grad():
            for parameter in self.parameters:
                part = slice(start, start + parameter.numel())
                parameter.copy_(torch.from_numpy(self.weights[part].reshape(parameter.shape)))
                moments = {"step": torch.tensor(float(self.taken))}
                for name, row in zip(MOMENTS, self.moments, strict=True):
                    moments[name] = torch.from_numpy(row[part].copy().reshape(parameter.shape))
                self.optimizer.state[parameter] = moments
                start = part.stop


def finite(loss: float) -> float:
    """Check that a loss is finite, and return it.

    Raises:
        AlgorithmError: the loss is not finite.
    """
    if not np.isfinite(loss):
        raise AlgorithmError(f"the loss is {loss}; set a smaller rate (--set rate=...)")
    return loss
