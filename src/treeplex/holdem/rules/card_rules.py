"""Named poker games as card games with public states and hands, for agents that play actual hands."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.betting.settlement import Settlement
from treeplex.games.betting.stakes import Stakes
from treeplex.games.card_game import CardGame
from treeplex.games.public import Bets, Options, State
from treeplex.holdem.betting.tree import Decision, Fold, Showdown, rake_taken, stakes_of
from treeplex.holdem.rules.rules import PokerGame, PokerState, cards_of_deal, node_and_board, number_of_deal

SUITS = 4
"""Number of suits in card numbers, for any deck."""


class PokerCards(CardGame):
    """A poker game from the deal on, in which all hands are equally likely.

    A public state is a node of the betting tree and a board. Actions and deals are those of the rules; the cards of a street
    are dealt together.
    """

    def __init__(self, game: PokerGame) -> None:
        form = game.spot.format
        super().__init__(2, form.hands.astype(np.int64), suits=SUITS, deal=form.deal)
        self.game = game

    def first_state(self) -> State:
        return 0, self.game.spot.board

    def shown(self, state: State) -> Sequence[int]:
        return node_and_board(state)[1]

    def mover(self, state: State) -> int:
        return self.game.player_at(*node_and_board(state))

    def actions(self, state: State) -> Sequence[int]:
        return self.game.moves[node_and_board(state)[0]]

    def options(self, state: State) -> Options:
        player, (_, board) = self.mover(state), node_and_board(state)
        if player == CHANCE:
            return Options(CHANCE, [number_of_deal(cards) for cards in self.game.board_deals(board, ())])
        return Options(player, () if player == TERMINAL else self.actions(state))

    def moved(self, state: State, label: int) -> State:
        node, board = node_and_board(state)
        following = PokerState(self.game, (0, 0), node, board).after(label)
        return following.node, following.board

    def chances_of(self, state: State, deals: NDArray[np.int64]) -> Floats:
        count = self.game.next_deal(node_and_board(state)[1])
        cards = np.array([cards_of_deal(label, count) for label in self.options(state).labels])
        left = 1.0 - self._has[deals].max(axis=1)
        free = left[:, cards].prod(axis=2)
        return np.asarray(free / free.sum(axis=1, keepdims=True))

    def settlement(self, state: State) -> Settlement:
        node = self.game.tree.nodes[node_and_board(state)[0]]
        assert isinstance(node, Fold | Showdown)
        matched = float(min(node.contributions))
        unraked = 1.0 - rake_taken(node, self.game.spot.rake) / (2 * matched) if matched else 1.0
        able = (0, 1) if isinstance(node, Showdown) else (1 - node.loser,)
        return Settlement((matched, matched), ((2 * matched, able),), unraked)

    def strengths_on(self, board: Sequence[int]) -> NDArray[np.int64]:
        return np.asarray(self.game.strengths(tuple(board)), np.int64)

    def line_of(self, state: State) -> Hashable:
        return node_and_board(state)[0]

    def stakes_at(self, state: State) -> Stakes:
        return stakes_of(self.game.tree.nodes[node_and_board(state)[0]])

    def bets(self, state: State) -> Bets | None:
        node = self.game.tree.nodes[node_and_board(state)[0]]
        return node.bets() if isinstance(node, Decision) else None

    def infostate_at(self, state: State, player: int, hand: int) -> str:
        return self.game.infostate(player, hand, player, *node_and_board(state))

    def knowledge_at(self, state: State, player: int, hand: int) -> str:
        return self.game.knowledge(hand, *node_and_board(state))

    def action_name(self, state: State, label: int) -> str:
        return self.game.action_text(*node_and_board(state), label)
