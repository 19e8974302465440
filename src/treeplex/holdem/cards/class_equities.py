# mypy: disallow-untyped-decorators=False
"""All-in preflop equities between the 169 hand classes, over all pairs of hands and all boards.

The equities are exact, and the file that holds them ships with the library. :func:`counted` computes them, and
``bench/class_equities.py`` writes the file.
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Ints
from treeplex.engine.kernel import kernel
from treeplex.holdem.cards.cards import CLASSES, HAND_CLASSES, HANDS
from treeplex.holdem.cards.evaluator import evaluate_board
from treeplex.holdem.engine.showdowns.strength import sort_by_strength

FILE = Path(__file__).with_name("class_equities.npz")
BOARDS = 1_712_304
"""Number of boards for two hands that share no card, C(48, 5)."""
ORDERS = 20
"""Number of ways to deal a board as flop, turn and river."""
WHOLE = 1000
"""Resolution to which board weights are rounded."""
SIZE = len(CLASSES)


class ClassEquities(NamedTuple):
    """Numbers of pairs of hands, and equities, for every two hand classes.

    Attributes:
        pairs: float64 [169, 169], number of ordered pairs of hands from two classes that share no card.
        equity: float64 [169, 169], the first player's share of the pot, in [0, 1]; ties count half.
    """

    pairs: NDArray[np.float64]
    equity: NDArray[np.float64]


@cache
def class_equities() -> ClassEquities:
    """The tables from the file that ships with the library; read-only."""
    with np.load(FILE, allow_pickle=False) as file:
        upper = file["margins"]
    rows, columns = np.triu_indices(SIZE, 1)
    margins = np.zeros((SIZE, SIZE))
    margins[rows, columns] = upper
    margins[columns, rows] = -upper.astype(np.float64)
    pairs = pairs_of_classes()
    equity = 0.5 + 0.5 * margins / (BOARDS * pairs)
    for table in (pairs, equity):
        table.flags.writeable = False
    return ClassEquities(pairs, equity)


def pairs_of_classes() -> NDArray[np.float64]:
    """Number of ordered pairs of hands from two classes that share no card, float64 [169, 169]."""
    holds = np.zeros((SIZE, 52))
    for hand, (low, high) in enumerate(HANDS):
        holds[HAND_CLASSES[hand], [low, high]] += 1
    members = np.bincount(HAND_CLASSES, minlength=SIZE).astype(np.float64)
    # each pair that shares one card is counted once by that card, and each hand with itself twice
    shared = holds @ holds.T - np.diag(members)
    return np.asarray(np.outer(members, members) - shared)


@kernel(error_model="numpy")
def count_margins(hands: NDArray[np.uint8], classes: Ints, boards: NDArray[np.uint8], weights: Ints, margins: Ints) -> None:
    """Add wins minus losses of every class against every other on complete boards.

    Each board is one sweep in ascending order of strength: a hand beats all weaker hands that share no card with it.

    Args:
        hands: uint8 [H, 2].
        classes: int64 [H].
        boards: uint8 [B, 5].
        weights: int64 [B], weight of each board.
        margins: int64 [169, 169], added to: how often the row beats the column; subtract the transpose for the margin.
    """
    keys = np.empty(hands.shape[0], dtype=np.int32)
    order, spare = np.empty(hands.shape[0], dtype=np.int16), np.empty(hands.shape[0], dtype=np.int16)
    board = np.empty(5, dtype=np.int64)
    below = np.zeros(margins.shape[0], dtype=np.int32)
    wins = np.zeros(margins.shape, dtype=np.int32)
    weaker = np.zeros((52, 52), dtype=np.int64)
    held = np.zeros(52, dtype=np.int64)
    for number in range(boards.shape[0]):
        for position in range(5):
            board[position] = boards[number, position]
        evaluate_board(board, hands, keys)
        size = sort_by_strength(keys, order, spare)
        below[:] = 0
        held[:] = 0
        wins[:] = 0
        first = 0
        while first < size:
            end = first
            while end < size and keys[order[end]] == keys[order[first]]:
                end += 1
            for position in range(first, end):
                hand = order[position]
                row = wins[classes[hand]]
                for other in range(below.shape[0]):
                    row[other] += below[other]
                for card in hands[hand]:
                    for entry in range(held[card]):
                        row[weaker[card, entry]] -= 1
            for position in range(first, end):
                hand = order[position]
                below[classes[hand]] += 1
                for card in hands[hand]:
                    weaker[card, held[card]] = classes[hand]
                    held[card] += 1
            first = end
        for row in range(margins.shape[0]):
            for column in range(margins.shape[1]):
                margins[row, column] += weights[number] * wins[row, column]


def counted(boards: NDArray[np.uint8], weights: Ints) -> Ints:
    """Wins minus losses of every class against every other on all complete boards, int64 [169, 169].

    Args:
        boards: uint8 [B, 5].
        weights: int64 [B], weight of each board.
    """
    margins = np.zeros((SIZE, SIZE), np.int64)
    count_margins(HANDS, HAND_CLASSES.astype(np.int64), boards, weights, margins)
    return np.asarray(margins - margins.T)


def equities_on(boards: NDArray[np.uint8], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Equities of classes against each other on a weighted sample of boards, float64 [169, 169].

    If two classes share fewer of these boards than of all boards, the missing ones count as ties.

    Args:
        boards: uint8 [B, 5].
        weights: float64 [B], the number of deals of flop, turn and river that each board stands for.
    """
    margins = counted(boards, np.rint(WHOLE * weights).astype(np.int64)) / WHOLE
    return np.asarray(0.5 + margins / (2 * BOARDS * ORDERS * pairs_of_classes()))
