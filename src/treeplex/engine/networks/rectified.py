"""ReLU networks for rows with shared inputs; first-layer terms of shared inputs are computed once.

See ``engine.networks.mlp_batch`` for the fast matrix products. A row's outputs do not depend on the other rows.
"""

import numpy as np

from treeplex.base.arrays import Ints, Singles
from treeplex.engine.kernel import kernel
from treeplex.engine.networks.mlp_batch import BLOCK, linear, padded


@kernel()
def first_layer(rows: Singles, panels: Singles, biases: Singles) -> Singles:
    """Return the contribution of a part of the input to the first layer, float32 [n, padded width].

    Args:
        rows: float32 [n, F], that part of the input.
        panels, biases: as :func:`treeplex.engine.networks.mlp_batch.linear` reads them.
    """
    result = np.empty((rows.shape[0], biases.shape[0]), np.float32)
    if rows.shape[0] > 0:
        linear(rows, rows.shape[1], panels, biases, result)
    return result


@kernel()
def rectified(sizes: Ints, parameters: Singles, before: Singles, more: Singles, outputs: Singles) -> None:
    """Evaluate a network, given its first layer in two parts: ReLU on all layers but the last.

    Args:
        sizes: int64 [L], number of units of each layer.
        parameters: all layers but the first, packed by :func:`treeplex.engine.networks.mlp_batch.packed`.
        before: float32 [n, padded sizes[0]], first-layer contribution of one part of the input.
        more: float32 [padded sizes[0]], first-layer contribution of the shared rest of the input.
        outputs: float32 [n, sizes[-1]], output.
    """
    layers, widest, zero = sizes.shape[0] - 1, padded(sizes.max()), np.float32(0.0)
    source, target = np.empty((BLOCK, widest), np.float32), np.empty((BLOCK, widest), np.float32)
    for first in range(0, before.shape[0], BLOCK):
        count, offset = min(BLOCK, before.shape[0] - first), 0
        for k in range(count):
            row, copy = before[first + k], source[k]
            for i in range(more.shape[0]):
                copy[i] = row[i] + more[i]
        for layer in range(layers):
            width, wide = sizes[layer], padded(sizes[layer + 1])
            for k in range(count):
                row = source[k]
                for i in range(width):
                    row[i] = max(row[i], zero)
            linear(source[:count], width, parameters[offset : offset + width * wide],
                   parameters[offset + width * wide : offset + width * wide + wide], target[:count])  # fmt: skip
            offset += width * wide + wide
            source, target = target, source
        for k in range(count):
            row, copy = source[k], outputs[first + k]
            for o in range(outputs.shape[1]):
                copy[o] = row[o]
