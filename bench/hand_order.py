"""The 169 hand classes ordered by preflop all-in equity against a random hand, over all boards.

It prints the text of ``STRONGEST`` in :mod:`treeplex.holdem.cards.ranges`, which defines ``top 15%``:

    python -m bench.hand_order
"""

import numpy as np

from treeplex.holdem.cards.canonical import canonical_boards
from treeplex.holdem.cards.cards import CLASSES, HAND_CLASSES, HANDS
from treeplex.holdem.cards.evaluator import evaluate_board
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.engine.showdowns.strength import double_wins

OPPONENTS = 990
"""Possible opponent hands, given two hole cards and a board of five."""


def equities() -> np.ndarray:
    """The equity of each class, float64 [169]."""
    boards = canonical_boards(HOLDEM, 5)
    keys, codes = np.empty(len(HANDS), np.int32), np.empty(len(HANDS), np.uint16)
    order, spare = np.empty(len(HANDS), np.int16), np.empty(len(HANDS), np.int16)
    won, met = np.zeros(len(CLASSES)), np.zeros(len(CLASSES))
    for board, weight in zip(boards.boards, boards.weights, strict=True):
        evaluate_board(board.astype(np.int64), HANDS, keys)
        double_wins(HANDS, keys, order, spare, codes)
        won += weight * np.bincount(HAND_CLASSES, weights=codes, minlength=len(CLASSES)) / 2
        met += weight * OPPONENTS * np.bincount(HAND_CLASSES, weights=keys >= 0, minlength=len(CLASSES))
    return np.asarray(won / met)


if __name__ == "__main__":
    found = equities()
    print(" ".join(CLASSES[place] for place in np.argsort(-found)))
    print({CLASSES[place]: round(100 * float(found[place]), 3) for place in np.argsort(-found)})
