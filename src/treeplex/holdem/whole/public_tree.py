"""Heads-up hold'em with a small deck as public-tree rules, from which it is compiled without walking its histories.

A public node is the betting and the board. The cards of a street are dealt in one chance event; the rules deal them one by
one, in any order.
"""

from collections.abc import Hashable
from itertools import combinations
from math import comb, perm, prod

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Bools, Floats, Ints
from treeplex.errors import GameError
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.public import MOST_ENTRIES, Chance, Decision, PublicTree, Terminal
from treeplex.holdem.rules.rules import cards_of_deal, number_of_deal
from treeplex.holdem.whole.game import Holdem
from treeplex.holdem.whole.public import PublicHand, hand_of


class HoldemTree(PublicTree):
    """The public tree of a heads-up game without rake.

    A hand is an index of ``format.hands``.
    """

    def __init__(self, game: Holdem) -> None:
        """Prepare the tables over hands.

        Raises:
            GameError: more than two players, or rake.
        """
        self.game, self.rules, form = game, game.rules, game.rules.format
        if game.num_players != 2 or game.rules.rake.rate > 0:
            raise GameError(f"{game} has no public tree: only heads-up games without rake have one")
        self._apart = apart(form.hands)
        self.prior = self._apart / self._apart.sum()
        self.deals = self._apart * prod(range(1, form.hole + 1)) ** 2
        self.deal_depth = 2 * form.hole
        self.deal_histories = sum(perm(len(form.deck), cards) for cards in range(self.deal_depth))
        self.deals_hands = form.hole == 1
        self.root = PublicHand(self.rules.betting.root, ())
        self._free: dict[tuple[int, ...], Bools] = {}
        self._signs: dict[tuple[int, ...], Floats] = {}
        self._chances: dict[tuple[int, ...], Chance] = {}
        self._everyone = np.ones_like(self.prior)

    def visit(self, node: Hashable) -> Decision | Chance | Terminal:
        hand = hand_of(node)
        if hand.table.player == CHANCE:
            return self._chance(hand.board)
        if hand.table.player != TERMINAL:
            return Decision(hand.table.player, self.rules.betting.actions(hand.table))
        dealt = bool(hand.board)
        if hand.table.folded.count(False) == 1:
            return Terminal(self._everyone, self.rules.paid_out(hand.table, (0, 0), dealt=dealt)[0])
        win, tie, lose = (self.rules.paid_out(hand.table, pair, dealt=dealt)[0] for pair in ((1, 0), (0, 0), (0, 1)))
        sign = self._sign(hand.board)
        return Terminal(np.where(sign > 0, win, np.where(sign < 0, lose, tie)), 1.0)

    def child(self, node: Hashable, action: int) -> PublicHand:
        table, board = hand_of(node)
        if table.player != CHANCE:
            return PublicHand(self.rules.betting.after(table, action), board)
        board = (*board, *cards_of_deal(action, self._due(board)))
        return PublicHand(self.rules.dealt(table, len(board)), board)

    def infostate(self, node: Hashable, player: int, hand: int) -> str:
        table, board = hand_of(node)
        return self.rules.infostate(table, board, player, self.rules.format.hands[hand].tolist(), player)

    def action_to_string(self, node: Hashable, action: int) -> str:
        return self.rules.action_name(hand_of(node).table, action)

    def _due(self, board: tuple[int, ...]) -> int:
        """Return the number of cards of the next deal."""
        return self.rules.format.deal[self.rules.format.board_sizes.index(len(board)) + 1]

    def _chance(self, board: tuple[int, ...]) -> Chance:
        if board not in self._chances:
            form, due = self.rules.format, self._due(board)
            unseen = len(form.deck) - len(board) - 2 * form.hole
            deals = [*combinations(form.cards_left(board), due)]
            weights = [np.outer(free, free) / comb(unseen, due) for free in (self._free_of(deal) for deal in deals)]
            outcomes = [(number_of_deal(deal), weight) for deal, weight in zip(deals, weights, strict=True)]
            self._chances[board] = Chance(outcomes, tuple(range(unseen, unseen - due, -1)))
        return self._chances[board]

    def _free_of(self, cards: tuple[int, ...]) -> Bools:
        """Return whether each hand has none of the cards, bool [H]."""
        if cards not in self._free:
            self._free[cards] = np.asarray(np.isin(self.rules.format.hands, cards, invert=True).all(axis=1))
        return self._free[cards]

    def _sign(self, board: tuple[int, ...]) -> Floats:
        """Return 1 where player 0 wins the showdown, -1 where player 1 wins, else 0; float64 [H, H]."""
        if board not in self._signs:
            from treeplex.holdem.cards.evaluator import format_strengths  # it loads Numba, which most games do without

            strength = np.asarray(format_strengths(self.rules.format, board, self.rules.format.hands), np.int64)
            self._signs[board] = np.sign(strength[:, None] - strength[None, :]).astype(np.float64)
        return self._signs[board]


def apart(hands: NDArray[np.uint8]) -> Ints:
    """Return 1 for pairs of hands without a common card, else 0; int64 [H, H], from hands [H, cards]."""
    different = (hands[:, None, :, None] != hands[None, :, None, :]).all(axis=(2, 3))
    return np.asarray(different, np.int64)


def small_tree(game: Holdem) -> HoldemTree | None:
    """Return the public tree of a game if it has one and its tables over pairs of hands are small."""
    form = game.rules.format
    boards = prod(comb(len(form.deck), cards) for cards in form.deal[1:])
    if game.num_players != 2 or game.rules.rake.rate > 0 or len(form.hands) ** 2 * boards > MOST_ENTRIES:
        return None
    return HoldemTree(game)
