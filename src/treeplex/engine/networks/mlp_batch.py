"""Batched forward pass of ReBeL's networks: linear layers, layer norm and GELU in one call.

A tile of rows passes through all layers before the next tile, so that activations stay in the fastest caches. A row's outputs
do not depend on the other rows. See ``engine.networks.mlp_single`` for single rows in double precision.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev

from treeplex.base.arrays import Floats, Ints, Singles
from treeplex.engine.kernel import kernel
from treeplex.engine.networks.simd import LANES, add_product, load, store

ROWS = 6
"""Rows of a tile: six rows and the weights fill sixteen 256-bit registers."""
BLOCK = 8 * ROWS
"""Rows that pass through all layers together."""
EPSILON = 1e-5
"""PyTorch's epsilon, added to variances."""


def fitted_tail(degree: int, end: float) -> Floats:
    """Fit a polynomial in ``s = 2 t / end - 1`` to the normal distribution's upper tail ``Q(t)``, 0 <= t <= end.

    The fit minimises the squares of ``t (polynomial - Q(t))``, the error of GELU, at 400 Chebyshev points. For a smooth
    function this is close to the minimax fit.

    Returns:
        Coefficients of ``s**0, s**1, ...``, float64 [degree + 1].
    """
    points = np.cos(np.pi * (np.arange(400) + 0.5) / 400)
    t = 0.5 * end * (points + 1.0)
    tail = [0.5 * math.erfc(x / math.sqrt(2.0)) for x in t]
    return np.asarray(chebyshev.cheb2poly(chebyshev.chebfit(points, tail, degree, w=t)), np.float64)


END = 5.4
"""End of the fitted range; ``t Q(t)`` is 1.8e-7 there."""
TAIL: Any = tuple(np.float32(coefficient) for coefficient in fitted_tail(15, END))
CUT, STRETCH, ONE, ZERO, LEAST = (np.float32(each) for each in (END, 2.0 / END, 1.0, 0.0, EPSILON))


@kernel(inline="always")
def gelu(x: Any) -> Any:
    """``x Phi(x)``, with the normal distribution's Phi, as ``max(x, 0) - t Q(t)`` for ``t = min(|x|, END)``.

    In float32, without calls or branches, so that loops over it vectorise. For |x| <= 10 the error is at most 5e-7, of which
    1e-7 comes from the polynomial and the rest from rounding. It is 0 at 0, and NaN for NaN.
    """
    t = min(abs(x), CUT)
    s = t * STRETCH - ONE
    q = TAIL[15] * s + TAIL[14]
    q = q * s + TAIL[13]
    q = q * s + TAIL[12]
    q = q * s + TAIL[11]
    q = q * s + TAIL[10]
    q = q * s + TAIL[9]
    q = q * s + TAIL[8]
    q = q * s + TAIL[7]
    q = q * s + TAIL[6]
    q = q * s + TAIL[5]
    q = q * s + TAIL[4]
    q = q * s + TAIL[3]
    q = q * s + TAIL[2]
    q = q * s + TAIL[1]
    q = q * s + TAIL[0]
    return max(x, ZERO) - t * q


@kernel(error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def activate(rows: Singles, width: int, gain: Singles, shift: Singles) -> None:
    """Apply layer norm and GELU in place to the first ``width`` entries of each row, whose mean is already 0.

    The square roots of all rows are computed together, which hides their latency.
    """
    scales = np.empty(rows.shape[0], np.float32)
    for k in range(rows.shape[0]):
        row = rows[k, :width]
        squares = ZERO
        for o in range(width):
            squares += row[o] * row[o]
        scales[k] = squares
    share = ONE / np.float32(width)
    for k in range(rows.shape[0]):
        scales[k] = ONE / math.sqrt(scales[k] * share + LEAST)
    for k in range(rows.shape[0]):
        row = rows[k, :width]
        scale = scales[k]
        for o in range(width):
            row[o] = gelu(row[o] * scale * gain[o] + shift[o])


@kernel()
def linear(inputs: Singles, width: int, panels: Singles, biases: Singles, results: Singles) -> None:
    """Write ``inputs @ weights + biases``.

    Args:
        inputs: [K, at least width].
        width: number of entries used per row.
        panels: flattened [T, width, LANES], weights in groups of :data:`LANES` outputs.
        biases: [T * LANES].
        results: [K, at least T * LANES].
    """
    last = inputs.shape[0] - 1
    for start in range(0, biases.shape[0], LANES):
        panel = panels[start * width : (start + LANES) * width]
        for k in range(0, inputs.shape[0], ROWS):  # rows beyond the last repeat it
            k1, k2, k3, k4, k5 = min(k + 1, last), min(k + 2, last), min(k + 3, last), min(k + 4, last), min(k + 5, last)
            x0, x1, x2, x3, x4, x5 = inputs[k], inputs[k1], inputs[k2], inputs[k3], inputs[k4], inputs[k5]
            bias = load(biases, start)
            y0, y1, y2, y3, y4, y5 = bias, bias, bias, bias, bias, bias
            for i in range(width):
                weights = load(panel, i * LANES)
                y0, y1 = add_product(y0, x0[i], weights), add_product(y1, x1[i], weights)
                y2, y3 = add_product(y2, x2[i], weights), add_product(y3, x3[i], weights)
                y4, y5 = add_product(y4, x4[i], weights), add_product(y5, x5[i], weights)
            store(results[k], start, y0)
            store(results[k1], start, y1)
            store(results[k2], start, y2)
            store(results[k3], start, y3)
            store(results[k4], start, y4)
            store(results[k5], start, y5)


@kernel()
def forward(sizes: Ints, parameters: Singles, inputs: Singles, chosen: Ints, outputs: Singles) -> None:
    """Evaluate a network for some rows: hidden layers with layer norm and GELU, linear output.

    Args:
        sizes: [L+1], number of inputs, hidden units of each layer, and outputs.
        parameters: packed by :func:`packed`.
        inputs: [K, sizes[0]].
        chosen: [n], indices of the rows to evaluate.
        outputs: [K, sizes[-1]], written for the chosen rows.
    """
    layers, widest = sizes.shape[0] - 1, padded(sizes.max())
    source, target = np.empty((BLOCK, widest), np.float32), np.empty((BLOCK, widest), np.float32)
    for first in range(0, chosen.shape[0], BLOCK):
        count, offset = min(BLOCK, chosen.shape[0] - first), 0
        for k in range(count):
            row, copy = inputs[chosen[first + k]], source[k]
            for i in range(inputs.shape[1]):
                copy[i] = row[i]
        for layer in range(layers):
            width, wide = sizes[layer], padded(sizes[layer + 1])
            panels = parameters[offset : offset + width * wide]
            offset += width * wide
            linear(source[:count], width, panels, parameters[offset : offset + wide], target[:count])
            offset += wide
            if layer + 1 < layers:
                gain, shift = parameters[offset : offset + wide], parameters[offset + wide : offset + 2 * wide]
                offset += 2 * wide
                activate(target[:count], sizes[layer + 1], gain, shift)
            source, target = target, source
        for k in range(count):
            row, copy = source[k], outputs[chosen[first + k]]
            for o in range(outputs.shape[1]):
                copy[o] = row[o]


@kernel()
def padded(width: int) -> int:
    """Round up to a multiple of :data:`LANES`."""
    return (width + LANES - 1) // LANES * LANES


def packed(
    weights: Sequence[Singles], biases: Sequence[Singles], gains: Sequence[Singles], shifts: Sequence[Singles]
) -> Singles:
    """Pack parameters for :func:`forward`.

    Each layer has its weights in groups of :data:`LANES` outputs, input by input, then its biases, then (except the last layer)
    the gains and shifts of layer norm, all zero-padded to a multiple of :data:`LANES` outputs. Layer norm subtracts the mean of
    a row; for hidden layers this is folded into weights and biases.

    Args:
        weights: [outputs, inputs] of each layer.
        biases: [outputs] of each layer.
        gains, shifts: [outputs] of each layer but the last.

    Returns:
        The packed parameters, float32 [P].
    """
    parts = []
    for layer, (matrix, bias) in enumerate(zip(weights, biases, strict=True)):
        outputs, inputs = matrix.shape
        panels, rest = np.zeros((padded(outputs), inputs), np.float32), np.zeros((3, padded(outputs)), np.float32)
        hidden = layer < len(gains)
        panels[:outputs] = matrix - matrix.mean(axis=0) if hidden else matrix
        rest[0, :outputs] = bias - bias.mean() if hidden else bias
        if hidden:
            rest[1, :outputs], rest[2, :outputs] = gains[layer], shifts[layer]
        parts += [panels.reshape(-1, LANES, inputs).transpose(0, 2, 1).ravel(), rest[: 3 if hidden else 1].ravel()]
    return np.concatenate(parts)
