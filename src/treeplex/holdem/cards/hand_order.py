"""Hands in order of strength on many complete boards at once."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Bytes, Ints, Shorts
from treeplex.engine.kernel import kernel
from treeplex.holdem.cards.evaluator import evaluate_board, format_strengths
from treeplex.holdem.cards.format import Format


class HandOrder(NamedTuple):
    """Hands by strength on R complete boards, which allow up to N of them.

    Attributes:
        order: int16 [R, N], hands from weakest to strongest, ties in the order given.
        start: int16 [R, N], position of the first hand that ties with each.
        sizes: int16 [R], number of hands that each board allows.
    """

    order: Shorts
    start: Shorts
    sizes: Shorts


def hand_order(format: Format, boards: Sequence[Sequence[int]], held: Shorts, hands: Bytes) -> HandOrder:
    """Order hands by strength on each of some complete boards.

    Args:
        format: the format.
        boards: R complete boards, not checked.
        held: int16 [n], numbers of the hands.
        hands: uint8 [n, m], their cards.
    """
    hands = np.ascontiguousarray(hands, np.uint8)
    keys = np.empty((len(boards), len(hands)), np.int32)
    if format.ranking == "five":
        evaluate_boards(np.array(boards, np.int64), hands, keys)
    else:
        for row, board in zip(keys, boards, strict=True):
            row[:] = format_strengths(format, board, hands)
    sizes = (keys >= 0).sum(axis=1).astype(np.int16)
    order, start = np.zeros((2, len(boards), int(sizes.max())), np.int16)
    order_by_strength(keys, np.argsort(keys, axis=1, kind="stable"), held, sizes, order, start)
    return HandOrder(order, start, sizes)


@kernel()
def evaluate_boards(boards: Ints, hands: Bytes, keys: NDArray[np.int32]) -> None:
    """Write the strength of each hand on each board into ``keys``, int32 [R, n]; -1 for a hand that shares a card with it."""
    for row in range(boards.shape[0]):
        evaluate_board(boards[row], hands, keys[row])


@kernel()
def order_by_strength(
    keys: NDArray[np.int32], by_key: NDArray[np.intp], held: Shorts, sizes: Shorts, order: Shorts, start: Shorts
) -> None:
    """Write the order of hands and where their ties begin, see :class:`HandOrder`.

    Args:
        keys, by_key: [R, n], strengths, -1 for hands that share a card with the board, and the hands by strength.
        held, sizes: as in :class:`HandOrder` and :func:`hand_order`.
        order, start: written.
    """
    for row in range(keys.shape[0]):
        size, first, last = sizes[row], 0, -1
        blocked = keys.shape[1] - size
        for place in range(size):
            k = by_key[row, blocked + place]
            if keys[row, k] != last:
                first, last = place, keys[row, k]
            order[row, place], start[row, place] = held[k], first
