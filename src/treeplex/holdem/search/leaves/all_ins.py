"""All-in values with cards to come: one matrix over pairs of hands for each board."""

from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Singles
from treeplex.holdem.cards.cards import HAND_CLASSES
from treeplex.holdem.cards.class_equities import class_equities
from treeplex.holdem.cards.format import HOLDEM, Format
from treeplex.holdem.cards.hand_order import hand_order
from treeplex.holdem.engine.pairs import add_wins

CHUNK = 512
"""Number of complete boards whose strengths are held in memory at once."""


class AllIns(NamedTuple):
    """A board's hands and their all-in values.

    Attributes:
        held: intp [n], the hands.
        edges: float32 [n, n], each hand's average pot share against each other hand, minus one half (ties split); 0 for hands
            that share a card.
    """

    held: NDArray[np.intp]
    edges: Singles


def all_ins(format: Format, board: tuple[int, ...], wanted: NDArray[np.bool_]) -> AllIns:
    """Exact all-in values on a board, over all runouts; preflop in hold'em, those of the hand classes.

    Args:
        format: the format, with two hole cards.
        board: the board.
        wanted: bool [H], hands to include; blocked hands are left out.
    """
    held = np.flatnonzero(wanted & ~np.isin(format.hands, board).any(axis=1))
    hands = format.hands[held]
    holds = (hands[:, :, None] == np.arange(52)).any(axis=1).astype(np.float32)
    apart = holds @ holds.T == 0.0
    if not board and format == HOLDEM:
        classes = HAND_CLASSES[held]
        return AllIns(held, np.asarray((class_equities().equity[classes][:, classes] - 0.5) * apart, np.float32))
    complete, wins = [*format.complete_boards(board)], np.zeros((len(held), len(held)), np.float32)
    for start in range(0, len(complete), CHUNK):
        add_wins(*hand_order(format, complete[start : start + CHUNK], np.arange(len(held), dtype=np.int16), hands), wins)
    left = len(format.deck) - len(board) - 2 * format.hole
    boards = comb(left, format.board_size - len(board))  # boards on which both hands are possible
    return AllIns(held, np.asarray(0.5 * wins / boards * apart, np.float32))
