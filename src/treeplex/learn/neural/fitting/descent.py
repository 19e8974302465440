"""Gradient steps of networks of rectified linear layers, written out.

Networks of a few thousand weights spend more time in PyTorch's bookkeeping than in arithmetic: written out, a step takes half
as long. All weights lie in one array, so a step of Adam is a few operations on it. Products of matrices are PyTorch's, on the
same memory and with one thread: those of NumPy take all cores, and matrices so small are many times slower for it wherever
another process has a core.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from treeplex.base.arrays import Singles
from treeplex.errors import AlgorithmError
from treeplex.learn.common.device import one_thread, torch_module

Slopes = Callable[[Singles, Any], tuple[float, Singles]]
"""Maps outputs [n, O] and the places of a batch to the loss and its derivatives by the outputs."""
FIRST, SECOND, SMALLEST = 0.9, 0.999, 1e-8
"""Adam's decay of the first and second moments, and epsilon (Kingma and Ba 2015)."""
MOMENTS = ("exp_avg", "exp_avg_sq")


class Descent:
    """Adam on a copy of the weights of a ``torch.nn.Sequential``, which :meth:`publish` writes back, moments included.

    Attributes:
        weights, gradient: float32 [W], the layers one after another, in each the matrix [out, in], then the biases.
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
                row[:] = np.concatenate([each[name].numpy().ravel() for each in known])
        self._layers, self._slopes = [list(self._views(whole)) for whole in (self.weights, self.gradient)]

    def _views(self, whole: Singles) -> Iterator[tuple[Any, Any]]:
        """The matrix and the biases of each layer in an array of all weights, as tensors on its memory."""
        torch, start = torch_module(), 0
        for matrix, bias in zip(self.parameters[::2], self.parameters[1::2], strict=True):
            middle, end = start + matrix.numel(), start + matrix.numel() + bias.numel()
            yield torch.from_numpy(whole[start:middle].reshape(matrix.shape)), torch.from_numpy(whole[middle:end])
            start = end

    def run(self, inputs: Singles, batches: Sequence[Any], slopes: Slopes, *, rate: float, clip: float) -> float:
        """A step for each batch, slices or arrays of rows of ``inputs``; the loss before the last one.

        Raises:
            AlgorithmError: a loss is not finite; the module is as before.
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
        """A step by the gradient, shortened to ``clip`` if it is longer."""
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
                kept = {"step": torch.tensor(float(self.taken))}
                for name, row in zip(MOMENTS, self.moments, strict=True):
                    kept[name] = torch.from_numpy(row[part].copy().reshape(parameter.shape))
                self.optimizer.state[parameter] = kept
                start = part.stop


def finite(loss: float) -> float:
    """The loss itself.

    Raises:
        AlgorithmError: it is not finite.
    """
    if not np.isfinite(loss):
        raise AlgorithmError(f"the loss is {loss}; take a smaller rate (--set rate=...)")
    return loss
