"""Inputs of AlphaHoldem's network: planes of cards and planes of actions (Zhao et al. 2022).

*Cards*: one plane ``[suits, ranks]`` each for the hand, the cards of each later street, all board cards, and all cards
together, with a 1 at each card. *Actions*: one plane ``[4, columns]`` for each action of the hand so far, whose rows mark the
acting player's own action, the opponent's action, either player's action, and the columns that were legal. The last plane
encodes the seat in its first three rows and the currently legal columns in the fourth.

A *column* is an action type: fold, check or call, a bet near a given fraction of the pot, or the largest bet. If several bets
belong to one column, the network plays the bet nearest to the column's fraction, and all of them are encoded as that column.

If a street has more actions than planes, the extra actions share the last plane.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import GameError
from treeplex.games.base import CHANCE, TERMINAL, Game
from treeplex.games.card_game import CardGame
from treeplex.games.public import State
from treeplex.holdem.rules.card_rules import PokerCards
from treeplex.holdem.rules.rules import PokerGame

Planes = NDArray[np.uint8]
FOLD, PASS = 0, 1
"""Columns of fold and of check or call; bets follow."""
OWN, OTHER, BOTH, OFFERED, ROWS = 0, 1, 2, 3, 4
"""Rows of an action plane, and their number."""
POKER = "leduc_poker, big_leduc, no_limit_leduc, kuhn_poker, small_holdem, rhode_island, holdem"
"""The built-in two-player games that AlphaHoldem supports."""
KEPT = 100_000
"""Number of cached :class:`Offer` objects."""


class Offer(NamedTuple):
    """The legal actions of a player, as columns.

    Attributes:
        player: the acting player.
        street: the street, from 0.
        labels: labels of the legal actions.
        column: int64 [labels], column of each label.
        played: int64 [columns], index into ``labels`` of the action that a column plays; -1 for illegal columns.
    """

    player: int
    street: int
    labels: Sequence[int]
    column: NDArray[np.int64]
    played: NDArray[np.int64]

    @property
    def legal(self) -> NDArray[np.bool_]:
        """Mask of the legal columns, bool [columns]."""
        return self.played >= 0


class PastAction(NamedTuple):
    """An earlier action of the hand: the player, the street, the column and the legal columns."""

    player: int
    street: int
    column: int
    legal: NDArray[np.bool_]


class PlaneCoder:
    """Encodes public states, hands and actions of a two-player poker game as planes.

    Attributes:
        game: public states and hands.
        sizes: pot fractions of the bet columns, except the largest-bet column.
        slots: action planes per street.
        columns: number of columns.
        card_shape, action_shape: shapes of a decision's planes.
        most: chips that a player puts in if both always make the largest bet.
    """

    def __init__(self, game: CardGame, sizes: Sequence[float], slots: int) -> None:
        """Read the game's deck and streets.

        Raises:
            GameError: not a two-player poker game.
        """
        first = game.first_state()
        stakes = game.stakes_at(first)
        if game.players != 2 or stakes is None:
            raise GameError(f"AlphaHoldem plays two-player poker only; use one of {POKER}")
        self.game, self.sizes, self.slots = game, tuple(sizes), slots
        self.columns = 2 + len(sizes) + 1
        self._offers: dict[State, Offer] = {}
        self._middles = np.log(np.array([*sizes], np.float64))
        cards = np.unique(game.hands)
        self._suits, self._ranks = np.unique(cards % game.suits), np.unique(cards // game.suits)
        self._suit_of, self._rank_of = np.zeros((2, int(cards.max()) + 1), np.int64)
        self._suit_of[cards] = np.searchsorted(self._suits, cards % game.suits)
        self._rank_of[cards] = np.searchsorted(self._ranks, cards // game.suits)
        self._boards = self._board_sizes()
        self.most = self._most_chips()
        streets = len(self._boards)
        self.card_shape = (streets + 2, len(self._suits), len(self._ranks))
        self.action_shape = (streets * slots + 1, ROWS, self.columns)
        held = np.zeros((len(game.hands), *self.card_shape[1:]), np.uint8)
        for number, hand in enumerate(game.hands):
            held[number, self._suit_of[hand], self._rank_of[hand]] = 1
        self._held = held

    def _board_sizes(self) -> list[int]:
        """Number of board cards on each street, from a hand with only checks and calls."""
        sizes, state = dict[int, int](), self.game.first_state()
        while (options := self.game.options(state)).player != TERMINAL:
            if options.player == CHANCE:
                state = self.game.after(state, options.labels[0])
                continue
            offer = self.offer(state)
            sizes.setdefault(offer.street, len(self.game.shown(state)))
            state = self.game.after(state, offer.labels[int(offer.played[PASS])])
        return [sizes[street] for street in sorted(sizes)]

    def _most_chips(self) -> float:
        """The most chips a player can put in, from a hand with only the largest bets."""
        state = self.game.first_state()
        while (options := self.game.options(state)).player != TERMINAL:
            state = self.game.after(state, options.labels[-1])
        stakes = self.game.stakes_at(state)
        assert stakes is not None
        return max(stakes.paid)

    def offer(self, state: State) -> Offer:
        """The legal actions of the player to act at a state; results for recent states are cached."""
        if (known := self._offers.get(state)) is not None:
            return known
        if len(self._offers) == KEPT:
            self._offers.clear()
        return self._offers.setdefault(state, self._new_offer(state))

    def _new_offer(self, state: State) -> Offer:
        """Compute the legal actions at a state."""
        options, bets, stakes = self.game.options(state), self.game.bets(state), self.game.stakes_at(state)
        assert bets is not None
        assert stakes is not None
        column = np.full(len(bets.kinds), PASS)
        raises = np.array([number for number, kind in enumerate(bets.kinds) if kind == "bet"], np.int64)
        played = np.full(self.columns, -1)
        for number, kind in enumerate(bets.kinds[: len(bets.kinds) - len(raises)]):
            column[number] = FOLD if kind == "fold" else PASS
            played[column[number]] = number
        if len(raises):
            apart = np.abs(np.log(np.maximum(bets.sizes[raises], 1e-9))[:, None] - self._middles)
            near = apart.argmin(axis=1)
            column[raises] = 2 + near
            if len(raises) > 1:
                column[raises[-1]] = self.columns - 1
            for bet_column in np.unique(column[raises]).tolist():
                among = np.flatnonzero(column[raises] == bet_column)
                played[bet_column] = raises[among[apart[among, min(bet_column - 2, len(self.sizes) - 1)].argmin()]]
        return Offer(options.player, stakes.betting_round, options.labels, column, played)

    def cards(self, state: State, hands: Sequence[int]) -> Planes:
        """The card planes for hands at a state, uint8 [hands, *card_shape]."""
        board = np.array(self.game.shown(state), np.int64)
        planes = np.zeros((len(hands), *self.card_shape), np.uint8)
        planes[:, 0] = held = self._held[hands]
        for street in range(1, len(self._boards)):
            came = board[self._boards[street - 1] : self._boards[street]]
            planes[:, street, self._suit_of[came], self._rank_of[came]] = 1
        planes[:, -2, self._suit_of[board], self._rank_of[board]] = 1
        planes[:, -1] = np.maximum(held, planes[:, -2])
        return planes

    def actions(self, done: Sequence[PastAction], offer: Offer) -> Planes:
        """The action planes of the player to act, uint8 [*action_shape]."""
        planes = np.zeros(self.action_shape, np.uint8)
        count = [0] * len(self._boards)
        for player, street, column, legal in done:
            plane = planes[street * self.slots + min(count[street], self.slots - 1)]
            count[street] += 1
            plane[OWN if player == offer.player else OTHER, column] = 1
            plane[BOTH, column] = 1
            plane[OFFERED] = legal
        planes[-1, :OFFERED] = offer.player
        planes[-1, OFFERED] = offer.legal
        return planes


def poker_of(rules: Game) -> CardGame:
    """Public states and hands of a two-player poker game.

    Raises:
        GameError: not a two-player poker game.
    """
    game = rules.public_game()
    if isinstance(rules, PokerGame) and not rules.spot.board and all(np.ptp(weights) == 0.0 for weights in rules.spot.ranges):
        game = PokerCards(rules)
    if isinstance(game, CardGame) and game.players == 2 and game.stakes_at(game.first_state()) is not None:
        return game
    raise GameError(f"AlphaHoldem does not support {rules}; use one of {POKER}, with two players")
