"""Network inputs at a decision in a hold'em spot: a player's cards, then the betting, in one row.

Cards are counted as in :mod:`treeplex.holdem.rules.features`, after a renaming of suits that gives isomorphic hands and
boards the same inputs. A policy of these inputs is therefore the same on isomorphic boards, and evaluation needs one board of
each class. Suits are ordered by their cards on the board, high cards first, and ties by those of the hand, so the board's
inputs do not depend on the hand.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Ints, Singles
from treeplex.holdem.betting.tree import Action, BettingTree, Decision, StreetEnd
from treeplex.holdem.rules.features import features_of_betting, features_of_board
from treeplex.holdem.spots.spot import Spot

RANKS, SUITS = 13, 4
ACTION = 3
"""Inputs per action: whether it is a check or call, whether it is a bet or raise, and its chips as a share of all chips."""


class SpotLook:
    """Network inputs of a spot.

    Attributes:
        spot: the spot; all suits of its deck have the same ranks.
        betting: float32 [nodes, B], the betting at each node of the betting tree
            (:func:`treeplex.holdem.rules.features.features_of_betting`), and the actions so far, street by street.
        held: float32 [H, C], how often each hand has each card, rank and suit of the deck.
        place: int64 [52, 52], the index of the hand of two cards, or of one card given twice.
        width: length of a row: C for the hand, C for the board, one for its strength, B.
    """

    def __init__(self, spot: Spot, tree: BettingTree) -> None:
        form = spot.format
        self.spot, self.betting = spot, betting_rows(spot, tree)
        self.held: Singles = np.stack([features_of_board(form, tuple(hand)) for hand in form.hands.tolist()]).astype(np.float32)
        self.place = np.zeros((52, 52), np.int64)
        low, high = form.hands[:, 0], form.hands[:, -1]
        self.place[low, high] = self.place[high, low] = np.arange(len(form.hands))
        self.width = 2 * self.held.shape[1] + 1 + self.betting.shape[1]
        self._hands = form.hands.astype(np.int64)
        self._suits = np.unique(np.array(form.deck) & 3)
        bits = np.zeros((len(self._hands), SUITS), np.int64)
        for card in self._hands.T:
            np.bitwise_or.at(bits, (np.arange(len(bits)), card & 3), 1 << (card >> 2))
        self._bits = bits[:, self._suits]
        self._strengths: dict[tuple[int, ...], Singles] = {}

    @property
    def cards_width(self) -> int:
        """The width of the first part of a row, which encodes the cards."""
        return int(self.width - self.betting.shape[1])

    def alike(self, board: Sequence[int], hands: Ints) -> tuple[tuple[int, ...], Ints]:
        """Rename suits canonically; return the sorted board, and the renamed hands as indices, int64 [n]."""
        shown = np.array(board, np.int64)
        bits = np.array([(1 << (shown[shown & 3 == suit] >> 2)).sum() for suit in self._suits], np.int64)
        order = np.argsort(-((bits << RANKS) + self._bits[hands]), axis=1, kind="stable")
        renaming = np.broadcast_to(np.arange(SUITS), (len(hands), SUITS)).copy()
        np.put_along_axis(renaming, self._suits[order], np.broadcast_to(self._suits, order.shape), axis=1)
        cards, rows = self._hands[hands], np.arange(len(hands))[:, None]
        renamed = (cards & ~3) + renaming[rows, cards & 3]
        on_board = (shown & ~3) + renaming[0, shown & 3] if len(hands) else shown
        return tuple(sorted(on_board.tolist())), self.place[renamed[:, 0], renamed[:, -1]]

    def cards(self, board: tuple[int, ...], hands: Ints) -> Singles:
        """The first part of the rows for hands on a board (both from :meth:`alike`), float32 [n, cards_width]."""
        count = self.held.shape[1]
        rows = np.zeros((len(hands), self.cards_width), np.float32)
        rows[:, :count] = self.held[hands]
        rows[:, count : 2 * count] = features_of_board(self.spot.format, board)
        if len(board) == self.spot.format.board_size:
            rows[:, -1] = self.strengths(board)[hands]
        return rows

    def strengths(self, board: tuple[int, ...]) -> Singles:
        """The fraction of possible hands that each hand beats on a complete board (a tie counts half), float32 [H].

        A hand with a greater number wins. Values of blocked hands are undefined.
        """
        if board not in self._strengths:
            from treeplex.holdem.cards.evaluator import (
                format_strengths,
            )  # imported here because it loads Numba, which most games do not need

            strengths = format_strengths(self.spot.format, board)
            ordered = np.sort(strengths[strengths >= 0])
            below, with_ties = (
                np.searchsorted(ordered, strengths, side="left"),
                np.searchsorted(ordered, strengths, side="right"),
            )
            self._strengths[board] = ((below + with_ties) / (2.0 * len(ordered))).astype(np.float32)
        return self._strengths[board]


def betting_rows(spot: Spot, tree: BettingTree) -> NDArray[np.float32]:
    """Betting features of each node of a tree, including the actions that lead to it, float32 [nodes, B]."""
    total = spot.pot + 2.0 * spot.stack
    paths: list[tuple[tuple[int, Action], ...]] = [()] * len(tree)
    for number, node in enumerate(tree.nodes):
        if isinstance(node, Decision):
            for action, child in zip(node.actions, node.children, strict=True):
                paths[child] = (*paths[number], (node.street, action))
        elif isinstance(node, StreetEnd):
            paths[node.child] = paths[number]
    most = [max(sum(street == target for street, _ in path) for path in paths) for target in tree.streets]
    starts = np.concatenate([[0], np.cumsum(most)])
    rows = np.zeros((len(tree), 8 + ACTION * int(starts[-1])), np.float32)
    for number, (node, path) in enumerate(zip(tree.nodes, paths, strict=True)):
        rows[number, :8] = features_of_betting(node, spot)
        done = dict.fromkeys(tree.streets, 0)
        for street, action in path:
            at = 8 + ACTION * (int(starts[street - tree.streets[0]]) + done[street])
            raises = action.kind in ("bet", "raise", "allin")
            rows[number, at : at + ACTION] = action.kind in ("check", "call"), raises, action.amount / total if raises else 0.0
            done[street] += 1
    return rows
