"""Operations at one player's nodes on one board, for a tile of adjacent hands: reach, local update and best response.

``rows`` is always [sequences, TILE]: one row per sequence, with the first ``width`` numbers in use. Stored arrays (regrets,
averages) are flat; the tile's numbers for a player's action e begin at ``base + e * stride``.
"""

import math
from typing import Any

from numba import types
from numba.extending import overload

from treeplex.base.arrays import Bytes, Floats, Ints
from treeplex.engine.kernel import kernel
from treeplex.engine.tree.regret import (
    FLOOR,
    NEGATIVE,
    POSITIVE,
    PREDICTED_NEGATIVE,
    PREDICTED_POSITIVE,
    PREDICTION,
    REGRET,
    adaptive_factor,
)
from treeplex.holdem.engine.row_view import row_view

TILE = 128
"""Hands per tile, so that all rows of a tile fit into the second-level cache."""

TINY = 1e-30
"""Flush threshold in single precision: denormal arithmetic is a hundred times slower."""


@kernel(error_model="numpy")
def play(nodes: Ints, roots: int, source: Floats, base: int, stride: int, width: int, rows: Floats, scratch: Floats) -> None:
    """Reach, top-down: compute rows of own reach from the given root rows.

    The policy is proportional to the positive part of ``source`` (regrets or an average), and uniform where that is zero.
    """
    share, uniform, zero = row_view(scratch, 0, width), row_view(scratch, TILE, width), rows.dtype.type(0)
    tiny = rows.dtype.type(TINY if rows.itemsize == 4 else 0.0)
    for x in range(nodes.shape[0]):
        parent, first, actions = row_view(rows, nodes[x, 0] * TILE, width), nodes[x, 1], nodes[x, 2]
        start, equal = base + first * stride, rows.dtype.type(1.0 / actions)
        for j in range(width):
            share[j] = zero
        for a in range(actions):
            weights = row_view(source, start + a * stride, width)
            for j in range(width):
                share[j] += max(weights[j], zero)
        for j in range(width):
            total, reach = share[j], parent[j]
            share[j] = reach / total if total > zero else zero
            uniform[j] = zero if total > zero else reach * equal
        for a in range(actions):
            weights, row = row_view(source, start + a * stride, width), row_view(rows, (roots + first + a) * TILE, width)
            for j in range(width):
                reach = max(weights[j], zero) * share[j] + uniform[j]
                row[j] = reach if reach > tiny else zero


@kernel(error_model="numpy")
def accumulate(
    actions: int, roots: int, average: Floats, base: int, stride: int, width: int, rows: Floats, keep: float, add: float
) -> None:
    """Discount the average by ``keep``, then add the reach in ``rows`` times ``add``."""
    keep, add = average.dtype.type(keep), average.dtype.type(add)
    for e in range(actions):
        row, stored = row_view(rows, (roots + e) * TILE, width), row_view(average, base + e * stride, width)
        for j in range(width):
            stored[j] = keep * stored[j] + add * row[j]


@kernel(error_model="numpy")
def blend(
    actions: int, roots: int, average: Floats, target: Floats, base: int, stride: int, width: int, rows: Floats, share: float
) -> None:
    """Set ``target`` to ``(1 - share) average + share reach``."""
    weight, rest = target.dtype.type(share), target.dtype.type(1.0 - share)
    for e in range(actions):
        start = base + e * stride
        row, old, new = rows[roots + e], row_view(average, start, width), row_view(target, start, width)
        for j in range(width):
            new[j] = rest * old[j] + weight * row[j]


def blend_target(
    actions: int,
    roots: int,
    average: Floats,
    target: Floats | None,
    base: int,
    stride: int,
    width: int,
    rows: Floats,
    share: float,
) -> None:
    """Call :func:`blend` if ``target`` is not None."""
    raise NotImplementedError("this function can only be called in Numba kernels")


@overload(blend_target)
def _blend_target(
    actions: Any, roots: Any, average: Any, target: Any, base: Any, stride: Any, width: Any, rows: Any, share: Any
) -> Any:
    if isinstance(target, types.NoneType):

        def nothing(
            actions: Any, roots: Any, average: Any, target: Any, base: Any, stride: Any, width: Any, rows: Any, share: Any
        ) -> Any:
            pass

        return nothing

    def blended(
        actions: Any, roots: Any, average: Any, target: Any, base: Any, stride: Any, width: Any, rows: Any, share: Any
    ) -> Any:
        blend(actions, roots, average, target, base, stride, width, rows, share)

    return blended


@kernel(error_model="numpy")
def update(
    nodes: Ints,
    roots: int,
    regrets: Floats,
    guesses: Floats,
    predicts: bool,
    base: int,
    stride: int,
    width: int,
    weights: Floats,
    rows: Floats,
    scratch: Floats,
) -> None:
    """Backup and local update, bottom-up: ``rows`` holds the gradient and becomes counterfactual values.

    Same rule as ``engine.tree.regret.update``. ``guesses`` holds the unnormalised next policy; unless the variant
    ``predicts`` (or discounts once more) it is ``regrets`` itself.
    """
    number = regrets.dtype.type
    positive, negative, regret_weight = (number(weights[POSITIVE]), number(weights[NEGATIVE]), number(weights[REGRET]))
    zero, lowest = number(0.0), number(0.0 if weights[FLOOR] > 0.0 else -math.inf)
    tiny = number(TINY if regrets.itemsize == 4 else 0.0)
    predicted_positive, predicted_negative = number(weights[PREDICTED_POSITIVE]), number(weights[PREDICTED_NEGATIVE])
    strength = number(weights[PREDICTION])
    value = row_view(scratch, 2 * TILE, width)
    for x in range(nodes.shape[0] - 1, -1, -1):
        first, actions = nodes[x, 1], nodes[x, 2]
        start = base + first * stride
        expected(guesses, start, stride, width, roots + first, actions, rows, scratch)
        parent = row_view(rows, nodes[x, 0] * TILE, width)
        for j in range(width):
            parent[j] += value[j]
        for a in range(actions):
            row, stored = row_view(rows, (roots + first + a) * TILE, width), row_view(regrets, start + a * stride, width)
            if predicts:
                guess = row_view(guesses, start + a * stride, width)
                for j in range(width):
                    new, old = row[j] - value[j], stored[j]
                    regret = max(old * (positive if old > zero else negative) + regret_weight * new, lowest)
                    stored[j] = regret
                    guess[j] = max(
                        regret * (predicted_positive if regret > zero else predicted_negative) + strength * new, zero
                    )
            else:
                for j in range(width):
                    old = stored[j]
                    new = regret_weight * (row[j] - value[j])
                    regret = max(old * (positive if old > zero else negative) + new, lowest)
                    stored[j] = regret if abs(regret) > tiny else zero


@kernel(error_model="numpy")
def expected(
    source: Floats, start: int, stride: int, width: int, first_row: int, actions: int, rows: Floats, scratch: Floats
) -> None:
    """Write a node's value to ``scratch[2]``: action values weighted by the positive part of ``source``."""
    total, bump, value = (row_view(scratch, 0, width), row_view(scratch, TILE, width), row_view(scratch, 2 * TILE, width))
    zero, one, equal = (rows.dtype.type(0), rows.dtype.type(1), rows.dtype.type(1.0 / actions))
    for j in range(width):
        total[j] = zero
        value[j] = zero
    for a in range(actions):
        weights = row_view(source, start + a * stride, width)
        for j in range(width):
            total[j] += max(weights[j], zero)
    for j in range(width):
        bump[j] = zero if total[j] > zero else one
        total[j] = one / total[j] if total[j] > zero else equal
    for a in range(actions):
        row, weights = row_view(rows, (first_row + a) * TILE, width), row_view(source, start + a * stride, width)
        for j in range(width):
            value[j] += (max(weights[j], zero) + bump[j]) * row[j]
    for j in range(width):
        value[j] *= total[j]


@kernel(error_model="numpy")
def expect(nodes: Ints, roots: int, source: Floats, base: int, stride: int, width: int, rows: Floats, scratch: Floats) -> None:
    """Backup, bottom-up, under the policy in ``source``."""
    value = row_view(scratch, 2 * TILE, width)
    for x in range(nodes.shape[0] - 1, -1, -1):
        first, actions = nodes[x, 1], nodes[x, 2]
        expected(source, base + first * stride, stride, width, roots + first, actions, rows, scratch)
        parent = row_view(rows, nodes[x, 0] * TILE, width)
        for j in range(width):
            parent[j] += value[j]


@kernel(error_model="numpy")
def best(
    nodes: Ints,
    roots: int,
    reply: Floats,
    locked: Bytes,
    base: int,
    stride: int,
    infosets: int,
    hands: int,
    width: int,
    keep: bool,
    rows: Floats,
    scratch: Floats,
) -> None:
    """Best response, bottom-up; with ``keep``, store it in ``reply``: 1 for the first best action, 0 for others.

    Where ``locked`` (if not empty), the policy in ``reply`` is followed.
    """
    value = scratch[2]
    for x in range(nodes.shape[0] - 1, -1, -1):
        first, actions = nodes[x, 1], nodes[x, 2]
        top = rows[roots + first]
        for j in range(width):
            value[j] = top[j]
        for a in range(1, actions):
            row = rows[roots + first + a]
            for j in range(width):
                value[j] = max(value[j], row[j])
        if locked.shape[0] > 0:
            for j in range(width):
                if locked[infosets + x * hands + j]:
                    value[j] = 0.0
                    for a in range(actions):
                        value[j] += reply[base + (first + a) * stride + j] * rows[roots + first + a, j]
        parent = rows[nodes[x, 0]]
        for j in range(width):
            parent[j] += value[j]
        if keep:
            open_choice = scratch[0]
            for j in range(width):
                open_choice[j] = 1.0
            for a in range(actions):
                start = base + (first + a) * stride
                row, stored = rows[roots + first + a], reply[start : start + width]
                for j in range(width):
                    chosen = open_choice[j] if row[j] == value[j] else 0.0
                    stored[j] = chosen
                    open_choice[j] -= chosen


@kernel(error_model="numpy")
def update_adaptively(
    nodes: Ints,
    roots: int,
    regrets: Floats,
    guesses: Floats,
    previous: Floats,
    changes: Floats,
    base: int,
    stride: int,
    infosets: int,
    hands: int,
    width: int,
    weights: Floats,
    rows: Floats,
    scratch: Floats,
) -> None:
    """Variant of :func:`update` in which every infoset adapts its prediction strength (APCFR+).

    ``previous`` is laid out as ``regrets``; ``changes`` is [2, I], with node x of the tile's hand j at ``infosets + x *
    hands + j``.
    """
    positive, negative, regret_weight = weights[POSITIVE], weights[NEGATIVE], weights[REGRET]
    lowest = 0.0 if weights[FLOOR] > 0.0 else -math.inf
    predicted_positive, predicted_negative = weights[PREDICTED_POSITIVE], weights[PREDICTED_NEGATIVE]
    value = row_view(scratch, 2 * TILE, width)
    for x in range(nodes.shape[0] - 1, -1, -1):
        first, actions = nodes[x, 1], nodes[x, 2]
        expected(guesses, base + first * stride, stride, width, roots + first, actions, rows, scratch)
        parent = row_view(rows, nodes[x, 0] * TILE, width)
        for j in range(width):
            parent[j] += value[j]
            infoset = infosets + x * hands + j
            for a in range(actions):
                q = base + (first + a) * stride + j
                new, old = rows[roots + first + a, j] - value[j], regrets[q]
                regret = max(old * (positive if old > 0.0 else negative) + regret_weight * new, lowest)
                changes[0, infoset] += (new - previous[q]) ** 2
                changes[1, infoset] += (regret - old) ** 2
                previous[q] = new
                regrets[q] = regret
            strength = 1.0 / (1.0 + adaptive_factor(changes, infoset))
            for a in range(actions):
                q = base + (first + a) * stride + j
                regret = regrets[q]
                guesses[q] = max(
                    regret * (predicted_positive if regret > 0.0 else predicted_negative) + strength * previous[q], 0.0
                )
