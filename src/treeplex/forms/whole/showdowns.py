"""What hands get at a showdown without further betting, as one matrix over pairs of hands for each board."""

from collections import OrderedDict
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from treeplex.forms.whole.suits import Board, Suits
from treeplex.games.poker.cards.canonical import canonical_boards
from treeplex.games.poker.cards.cards import HAND_CLASSES
from treeplex.games.poker.cards.class_equities import class_equities
from treeplex.games.poker.cards.evaluator import format_strengths
from treeplex.games.poker.cards.format import HOLDEM

Shares = NDArray[np.float32]
MOST_ENTRIES = 200_000_000
"""Pairs of hands times boards that are all looked at; where there are more, boards are drawn."""
DRAWN = 48
"""Boards that are drawn then, always the same ones."""
KEPT_BYTES = 500_000_000


class Showdowns:
    """Matrices of a deck, the newest remembered.

    Attributes:
        suits: of the deck.
        apart: float32 [H, H], 1 where two hands share no card, else 0.
    """

    def __init__(self, suits: Suits) -> None:
        self.suits, self.format, hands = suits, suits.format, suits.format.hands
        shared = (hands[:, None, :, None] == hands[None, :, None, :]).any(axis=(2, 3))
        self.apart = (~shared).astype(np.float32)
        self._kept: OrderedDict[Board, Shares] = OrderedDict()
        self._most = max(KEPT_BYTES // self.apart.nbytes, 4)

    def shares(self, board: Board) -> Shares:
        """The share of the pot that a hand gets from another, ties halved, over the cards to come, float32 [H, H].

        Zero for hands that share a card with each other or with the board. Exact, but where more boards can follow than
        :data:`MOST_ENTRIES` allows, as on flops of 52 cards: :data:`DRAWN` of them are drawn there. Before the flop of 52 cards
        it is the mean over the two classes of hands.
        """
        if board in self._kept:
            self._kept.move_to_end(board)
            return self._kept[board]
        found = self._found(board)
        self._kept[board] = found
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return found

    def _found(self, board: Board) -> Shares:
        missing = self.format.board_size - len(board)
        if not missing:
            return self.complete(board)
        if not board and self.format == HOLDEM:
            equity = class_equities().equity[HAND_CLASSES][:, HAND_CLASSES]
            return np.asarray(equity * self.apart, np.float32)
        total = np.zeros_like(self.apart)
        if not board:
            classes = canonical_boards(self.format, missing)
            for cards, weight in zip(classes.boards.tolist(), classes.weights.tolist(), strict=True):
                total += weight * self.complete(tuple(cards))
            total = np.stack([total[image][:, image] for image in self.suits.maps]).mean(axis=0)
            return np.asarray(total / comb(len(self.format.deck) - 4, missing), np.float32)
        left = [card for card in self.format.deck if card not in board]
        if comb(len(left), missing) * self.apart.size <= MOST_ENTRIES:
            for cards in combinations(left, missing):
                total += self.complete((*board, *cards))
            return np.asarray(total / comb(len(left) - 4, missing), np.float32)
        met, generator = np.zeros_like(total), np.random.default_rng(board)
        for _ in range(DRAWN):
            drawn = (*board, *generator.choice(left, missing, replace=False).tolist())
            free = (~np.isin(self.format.hands, drawn).any(axis=1)).astype(np.float32)
            total += self.complete(drawn)
            met += free[:, None] * free
        met *= self.apart
        half: Shares = np.multiply(self.apart, 0.5, dtype=np.float32)
        np.divide(total, met, out=half, where=met > 0)
        return half

    def complete(self, board: Board) -> Shares:
        """The same on a complete board."""
        strengths = format_strengths(self.format, board)
        free = strengths >= 0
        shares: Shares = np.sign(strengths[:, None] - strengths).astype(np.float32)
        shares += 1.0
        shares *= 0.5 * self.apart
        shares *= free
        shares[~free] = 0.0
        return shares
