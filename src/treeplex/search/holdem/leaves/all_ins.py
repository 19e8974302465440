"""What hands get when both players are all-in and cards are still to come: one matrix over pairs of hands for a board."""

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.arrays import Singles
from treeplex.engine.holdem.showdowns.rows_of_hands import add_shares
from treeplex.games.poker.cards.cards import HAND_CLASSES
from treeplex.games.poker.cards.class_equities import class_equities
from treeplex.games.poker.cards.evaluator import format_strengths
from treeplex.games.poker.cards.format import HOLDEM, Format

CHUNK = 64
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
    left, (shares, met) = [card for card in format.deck if card not in board], np.zeros((2, len(held), len(held)), np.float32)
    complete = [(*board, *more) for more in combinations(left, format.board_size - len(board))]
    for start in range(0, len(complete), CHUNK):
        some = complete[start : start + CHUNK]
        strengths = np.full((len(some), len(held)), -1, np.int32)
        for row, cards in zip(strengths, some, strict=True):
            free = ~np.isin(hands, cards).any(axis=1)
            row[free] = format_strengths(format, cards, hands[free])
        add_shares(strengths, np.ones(len(some)), shares, met)
    edges = np.divide(shares, met, out=np.full_like(met, 0.5), where=met > 0) - 0.5
    return AllIns(held, np.asarray(edges * apart, np.float32))
