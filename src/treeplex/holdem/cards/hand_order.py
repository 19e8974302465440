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
    order, start = np.zeros((2, len(boards), len(held)), np.int16)
    sizes = np.empty(len(boards), np.int16)
    if format.ranking == "five":
        order_on_boards(np.array(boards, np.int64), hands, held, order, start, sizes)
    else:
        for row, board in enumerate(boards):
            sizes[row] = order_by_strength(format_strengths(format, board, hands), held, order[row], start[row])
    most = int(sizes.max())
    return HandOrder(np.ascontiguousarray(order[:, :most]), np.ascontiguousarray(start[:, :most]), sizes)


@kernel()
def order_on_boards(boards: Ints, hands: Bytes, held: Shorts, order: Shorts, start: Shorts, sizes: Shorts) -> None:
    """Write the order of hands on each board, see :class:`HandOrder`; ``hands`` [n, m] are the cards of ``held``."""
    keys = np.empty(hands.shape[0], np.int32)
    for row in range(boards.shape[0]):
        evaluate_board(boards[row], hands, keys)
        sizes[row] = order_by_strength(keys, held, order[row], start[row])


@kernel()
def order_by_strength(keys: NDArray[np.int32], held: Shorts, order: Shorts, start: Shorts) -> int:
    """Write the hands in order of strength on one board, and where each hand's ties begin; return the number of hands.

    Args:
        keys: int32 [n], strengths; -1 for a hand that shares a card with the board.
        held: int16 [n], the hands.
        order, start: int16 [at least n], written.
    """
    count, first, last = 0, 0, -1
    for k in np.argsort(keys, kind="mergesort"):
        if keys[k] < 0:
            continue
        if keys[k] != last:
            first, last = count, keys[k]
        order[count], start[count] = held[k], first
        count += 1
    return count
