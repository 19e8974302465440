"""Showdown values of hands without further betting, as one matrix over pairs of hands per board."""

from collections import OrderedDict
from math import comb

import numpy as np
from numpy.typing import NDArray

from treeplex.holdem.cards.canonical import canonical_boards
from treeplex.holdem.cards.cards import HAND_CLASSES
from treeplex.holdem.cards.class_equities import class_equities
from treeplex.holdem.cards.evaluator import format_strengths
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.engine.showdowns.rows_of_hands import add_shares
from treeplex.holdem.street_search.suits import Board, Suits

Shares = NDArray[np.float32]
MOST_ENTRIES = 200_000_000
"""Maximum number of pairs of hands times boards to enumerate; beyond it, boards are sampled."""
TURNS = 4
"""Number of times each card is sampled as the next card and as each later card; the sample is fixed."""
KEPT_BYTES = 500_000_000


class Showdowns:
    """Showdown matrices for a deck, with a cache of recent ones.

    Attributes:
        suits: suits of the deck.
        apart: float32 [H, H], 1 for pairs of hands without a common card, else 0.
    """

    def __init__(self, suits: Suits) -> None:
        self.suits, self.format, hands = suits, suits.format, suits.format.hands
        shared = (hands[:, None, :, None] == hands[None, :, None, :]).any(axis=(2, 3))
        self.apart = (~shared).astype(np.float32)
        self._kept: OrderedDict[Board, Shares] = OrderedDict()
        self._most = max(KEPT_BYTES // self.apart.nbytes, 4)

    def shares(self, board: Board) -> Shares:
        """Each hand's pot share against each other hand over all runouts (ties split), float32 [H, H].

        Zero for hands that share a card with each other or with the board. Exact unless more boards can follow than
        :data:`MOST_ENTRIES` allows, as on flops with 52 cards: there, boards are sampled such that every card appears equally
        often (196 of 1,176). Preflop with 52 cards it is the mean over the two hand classes.
        """
        if board in self._kept:
            self._kept.move_to_end(board)
            return self._kept[board]
        matrix = self._computed_shares(board)
        self._kept[board] = matrix
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return matrix

    def _computed_shares(self, board: Board) -> Shares:
        if not board and self.format == HOLDEM:
            equity = class_equities().equity[HAND_CLASSES][:, HAND_CLASSES]
            return np.asarray(equity * self.apart, np.float32)
        boards, weights = self._complete(board)
        strengths = np.stack([format_strengths(self.format, complete) for complete in boards])
        totals = np.zeros((2, *self.apart.shape), np.float32)
        add_shares(strengths, weights, totals[0], totals[1])
        if not board:  # each board represents its images under suit renamings
            totals = np.stack([totals[:, image][:, :, image] for image in self.suits.maps]).mean(axis=0)
        shares, met = totals[0], totals[1]
        share = np.full_like(met, 0.5)
        np.divide(shares, met, out=share, where=met > 0)
        free = np.asarray(~np.isin(self.format.hands, board).any(axis=1), np.float32)
        return np.asarray(share * self.apart * free * free[:, None], np.float32)

    def _complete(self, board: Board) -> tuple[list[Board], NDArray[np.float64]]:
        """The complete boards that can follow a board, and their weights."""
        missing = self.format.board_size - len(board)
        if not board:
            classes = canonical_boards(self.format, missing)
            return [tuple(cards) for cards in classes.boards.tolist()], classes.weights.astype(np.float64)
        left = self.format.cards_left(board)
        if comb(len(left), missing) * self.apart.size <= MOST_ENTRIES:
            boards = [*self.format.complete_boards(board)]
        else:
            order = np.random.default_rng(board).permutation(left)
            steps = range(1, TURNS + 1)
            drawn = np.concatenate(
                [np.stack([np.roll(order, offset * step) for offset in range(missing)], 1) for step in steps]
            )
            boards = [(*board, *cards) for cards in drawn.tolist()]
        return boards, np.ones(len(boards))
