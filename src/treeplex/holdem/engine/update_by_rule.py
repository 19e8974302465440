"""Selects the local update of a tile when kernels are compiled, by the arrays that a store has.

Most runs use one update rule. Kernels compile only the rules that the store's arrays permit.
"""

from typing import Any

from numba import types
from numba.extending import overload

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.tree.value_tested import DECAY
from treeplex.holdem.engine.node import update, update_adaptively
from treeplex.holdem.engine.value_tested import update_by_test


def update_by_rule(
    nodes: Ints,
    roots: int,
    regrets: Floats,
    guesses: Floats,
    previous: Floats | None,
    changes: Floats | None,
    predicts: bool,
    base: int,
    stride: int,
    infosets: int,
    hands: int,
    width: int,
    weights: Floats,
    rows: Floats,
    scratch: Floats,
) -> None:
    """Update a tile: value-tested if ``weights`` has its columns, adaptive with ``previous``, else plain.

    The arguments are those of :func:`update_by_test`, :func:`update_adaptively` and :func:`update`.
    """
    raise NotImplementedError("this function can only be called in Numba kernels")


@overload(update_by_rule)
def _update_by_rule(
    nodes: Any,
    roots: Any,
    regrets: Any,
    guesses: Any,
    previous: Any,
    changes: Any,
    predicts: Any,
    base: Any,
    stride: Any,
    infosets: Any,
    hands: Any,
    width: Any,
    weights: Any,
    rows: Any,
    scratch: Any,
) -> Any:
    if isinstance(previous, types.NoneType):

        def plain(
            nodes: Any,
            roots: Any,
            regrets: Any,
            guesses: Any,
            previous: Any,
            changes: Any,
            predicts: Any,
            base: Any,
            stride: Any,
            infosets: Any,
            hands: Any,
            width: Any,
            weights: Any,
            rows: Any,
            scratch: Any,
        ) -> Any:
            update(nodes, roots, regrets, guesses, predicts, base, stride, width, weights, rows, scratch)

        return plain

    def adaptive(
        nodes: Any,
        roots: Any,
        regrets: Any,
        guesses: Any,
        previous: Any,
        changes: Any,
        predicts: Any,
        base: Any,
        stride: Any,
        infosets: Any,
        hands: Any,
        width: Any,
        weights: Any,
        rows: Any,
        scratch: Any,
    ) -> Any:
        if weights.shape[0] > DECAY:
            update_by_test(
                nodes, roots, regrets, guesses, previous, changes,
                base, stride, infosets, hands, width, weights, rows, scratch
            )  # fmt: skip
        else:
            update_adaptively(
                nodes, roots, regrets, guesses, previous, changes,
                base, stride, infosets, hands, width, weights, rows, scratch
            )  # fmt: skip

    return adaptive
