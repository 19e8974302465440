"""A small fully connected network for evaluation inside compiled loops."""

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.kernel import kernel


@kernel(fastmath={"contract"})
def forward(sizes: Ints, parameters: Floats, activations: Floats) -> int:
    """Evaluate the network: ELU hidden layers and a linear output layer.

    Args:
        sizes: [L+1], inputs, hidden units of each layer, outputs.
        parameters: [P], weights [in, out] in row-major order and biases [out] of each layer.
        activations: [sum of sizes], starts with the inputs; the layers are written after them, the outputs last.

    Returns:
        Index of the first output.
    """
    source, offset = 0, 0
    for layer in range(sizes.shape[0] - 1):
        inputs, outputs = sizes[layer], sizes[layer + 1]
        target, biases = source + inputs, offset + inputs * outputs
        result = activations[target : target + outputs]
        for k in range(outputs):
            result[k] = parameters[biases + k]
        values, weights = activations[source:target], parameters[offset:biases]
        whole = inputs - inputs % 4
        for i in range(0, whole, 4):  # four rows at a time, to load and store sums a quarter as often
            v0, v1, v2, v3 = values[i], values[i + 1], values[i + 2], values[i + 3]
            rows = weights[i * outputs : (i + 4) * outputs]
            for o in range(outputs):
                result[o] += (v0 * rows[o] + v1 * rows[outputs + o]) + (v2 * rows[2 * outputs + o] + v3 * rows[3 * outputs + o])
        for i in range(whole, inputs):
            value, row = values[i], weights[i * outputs : (i + 1) * outputs]
            for o in range(outputs):
                result[o] += value * row[o]
        if layer + 2 < sizes.shape[0]:
            for o in range(outputs):
                result[o] = result[o] if result[o] > 0.0 else negative_elu(result[o])
        source, offset = target, biases + outputs
    return source


@kernel(inline="always")
def negative_elu(x: float) -> float:
    """Return ``exp(x) - 1`` for x <= 0 to about 1e-14, without calls or branches, so that loops over it vectorise.

    Uses a Taylor polynomial for ``e = exp(x / 256) - 1``, then ``exp(2 y) - 1 = e (e + 2)`` eight times.
    """
    y = max(x, -40.0) * (1.0 / 256.0)
    e = y * (1.0 + y * (1 / 2 + y * (1 / 6 + y * (1 / 24 + y * (1 / 120 + y * (1 / 720 + y * (1 / 5040 + y / 40320)))))))
    e *= e + 2.0
    e *= e + 2.0
    e *= e + 2.0
    e *= e + 2.0
    e *= e + 2.0
    e *= e + 2.0
    e *= e + 2.0
    return e * (e + 2.0)


def parameter_count(sizes: Ints) -> int:
    """Return the number of weights and biases of a network of these sizes."""
    return int(np.sum((sizes[:-1] + 1) * sizes[1:]))
