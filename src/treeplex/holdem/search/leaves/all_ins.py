"""All-in values with cards still to come: one matrix over pairs of hands for a board."""

from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Singles
from treeplex.holdem.cards.cards import HAND_CLASSES
from treeplex.holdem.cards.class_equities import class_equities
from treeplex.holdem.cards.evaluator import format_strengths
from treeplex.holdem.cards.format import HOLDEM, Format
from treeplex.holdem.engine.pairs import BLOCKED_HIGH, BLOCKED_LOW, add_wins

CHUNK = 512
"""Complete boards whose strengths are held at a time."""


class AllIns(NamedTuple):
    """A board with its hands.

    Attributes:
        held: intp [n], the hands.
        edges: float32 [n, n], how much more than half of the pot each hand gets from each other on average, ties halved; zero
            for hands that share a card.
    """

    held: NDArray[np.intp]
    edges: Singles


def all_ins(format: Format, board: tuple[int, ...], wanted: NDArray[np.bool_]) -> AllIns:
    """Exact edges on a board over all cards to come; before the flop of hold'em those of the two classes of hands.

    Args:
        format: cards in play; hands have two cards.
        board: the board.
        wanted: bool [H], hands that are looked at; those that the board blocks are left out.
    """
    held = np.flatnonzero(wanted & ~np.isin(format.hands, board).any(axis=1))
    hands = format.hands[held]
    apart = ~(hands[:, None, :, None] == hands[None, :, None, :]).any(axis=(2, 3))
    if not board and format == HOLDEM:
        classes = HAND_CLASSES[held]
        return AllIns(held, np.asarray((class_equities().equity[classes][:, classes] - 0.5) * apart, np.float32))
    complete, wins = [*format.complete_boards(board)], np.zeros((len(held), len(held)), np.float32)
    for start in range(0, len(complete), CHUNK):
        some = complete[start : start + CHUNK]
        low, high = np.full((2, len(some), len(held)), BLOCKED_LOW, np.int16)
        high[:] = BLOCKED_HIGH
        for below, above, cards in zip(low, high, some, strict=True):
            strengths = format_strengths(format, cards, hands)
            ranks, free = np.unique(strengths, return_inverse=True)[1], strengths >= 0
            below[free] = above[free] = ranks[free]
        add_wins(low, high, wins)
    left = len(format.deck) - len(board) - 2 * format.hole
    boards = comb(left, format.board_size - len(board))  # on which two hands can meet
    return AllIns(held, np.asarray(0.5 * wins / boards * apart, np.float32))
