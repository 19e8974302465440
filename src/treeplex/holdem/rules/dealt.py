"""Hold'em spots with cards dealt one at a time, for sampling single histories in games of any size.

Chance deals each player's hole cards, player 0 first, then the board, street by street; a deal's id is its card.
Actions and infostates are those of :class:`treeplex.holdem.rules.rules.PokerGame`, which deals whole hands and streets at
once. Network inputs are those of :class:`treeplex.holdem.rules.looks.SpotLook`.
"""

from collections.abc import Hashable, Sequence
from functools import cached_property, lru_cache

import numpy as np

from treeplex.base.arrays import Singles
from treeplex.errors import GameError
from treeplex.games.base import CHANCE, TERMINAL, CheckedState, Game
from treeplex.games.parameters import observer
from treeplex.holdem.betting.tree import Decision, Fold, Showdown, StreetEnd, payoffs
from treeplex.holdem.cards.cards import card_to_string
from treeplex.holdem.rules.looks import SpotLook
from treeplex.holdem.rules.rules import PokerGame
from treeplex.holdem.spots.known import NAMED
from treeplex.holdem.spots.spot import Spot


class Deal:
    """The cards dealt so far, shared by all states after the same deal.

    Attributes:
        hole: hole cards in the order of the deal.
        board: board cards; each street's cards are sorted once it is complete.
    """

    __slots__ = ("_rows", "board", "game", "hole")

    def __init__(self, game: "DealtSpot", hole: tuple[int, ...], board: tuple[int, ...]) -> None:
        self.game, self.hole, self.board = game, hole, board
        self._rows: Singles | None = None

    def hand(self, player: int) -> int | None:
        """The index of a player's hand; None before it is dealt."""
        count = self.game.spot.format.hole
        cards = self.hole[count * player : count * (player + 1)]
        return int(self.game.look.place[cards[0], cards[-1]]) if len(cards) == count else None

    def row(self, player: int) -> Singles:
        """A player's network inputs about the cards."""
        look = self.game.look
        if self._rows is None:
            hands = [self.hand(player) for player in range(2)]
            if None in hands:
                return np.zeros(look.cards_width, np.float32)
            self._rows = look.cards(*look.alike(self.board, np.array(hands, np.int64)))
        row_of_player: Singles = self._rows[player]
        return row_of_player


class DealtState(CheckedState):
    """The cards dealt so far, and the node of the betting tree."""

    __slots__ = ("deal", "game", "node")

    def __init__(self, game: "DealtSpot", deal: Deal, node: int) -> None:
        self.game, self.deal, self.node = game, deal, node

    def current_player(self) -> int:
        return self.game.player_at(self.deal, self.node)

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        current = self.current_player()
        if current == CHANCE:
            return self.game.left(self.deal)
        return [] if current == TERMINAL else self.game.cards_aside.moves[self.node]

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        left = self.game.left(self.deal)
        chance = 1.0 / len(left)
        return [(card, chance) for card in left]

    def after(self, action: int) -> "DealtState":
        game, deal, event = self.game, self.deal, self.game.cards_aside.tree.nodes[self.node]
        if len(deal.hole) < game.hole_cards:
            return DealtState(game, Deal(game, (*deal.hole, action), deal.board), self.node)
        if isinstance(event, Decision):
            return DealtState(game, deal, event.children[game.cards_aside.moves[self.node].index(action)])
        board, sizes = (*deal.board, action), game.spot.format.board_sizes
        if len(board) not in sizes:
            return DealtState(game, Deal(game, deal.hole, board), self.node)
        before = sizes[sizes.index(len(board)) - 1]
        whole = Deal(game, deal.hole, (*board[:before], *sorted(board[before:])))
        return DealtState(game, whole, event.child if isinstance(event, StreetEnd) else self.node)

    def returns(self) -> Sequence[float]:
        event, game, deal = self.game.cards_aside.tree.nodes[self.node], self.game, self.deal
        assert isinstance(event, Fold | Showdown)
        paid = payoffs(event, game.spot.rake)
        if isinstance(event, Fold):
            return list(paid)
        win, lose, tie = paid
        board, (first, second) = game.look.alike(deal.board, np.array([deal.hand(0), deal.hand(1)], np.int64))
        strengths = game.look.strengths(board)
        if strengths[first] == strengths[second]:
            return [tie, tie]
        return [win, lose] if strengths[first] > strengths[second] else [lose, win]

    def information_state_string(self, player: int | None = None) -> str:
        player = observer(self, player)
        return self.game.cards_aside.infostate(
            player, self.deal.hand(player), self.current_player(), self.node, self.deal.board
        )

    def information_state_tensor(self, player: int | None = None) -> Singles:  # type: ignore[override]
        return np.concatenate((self.deal.row(observer(self, player)), self.game.look.betting[self.node]))

    def public_state(self) -> Hashable:
        return self.current_player(), self.node, self.deal.board, len(self.deal.hole)

    def knowledge(self, player: int) -> str:
        return self.game.cards_aside.knowledge(self.deal.hand(player), self.node, self.deal.board)

    def action_to_string(self, action: int) -> str:
        return f"Deal {card_to_string(action)}" if self.current_player() == CHANCE else self.game.cards_aside.names[action]


@lru_cache(maxsize=4)
def dealt_spot(spot: Spot) -> "DealtSpot":
    """The rules of a spot; their spec is the spot's own, or that of an equal named spot.

    Raises:
        GameError: as for :class:`DealtSpot`.
    """
    return DealtSpot(spot, spot.spec or next((name for name, make in NAMED.items() if make().identity == spot.identity), ""))


class DealtSpot(Game):
    """A spot with cards dealt one at a time; see the module docstring.

    Attributes:
        spot: the spot; every hand that the board does not block has weight 1.
        cards_aside: the same game with whole hands dealt at once; provides the betting tree, names and texts.
        hole_cards: number of cards dealt to players.
    """

    def __init__(self, spot: Spot, spec: str = "") -> None:
        """Wrap a spot; ``spec`` is the text that names it.

        Raises:
            GameError: hands have different weights, suits are not interchangeable, or only some boards are dealt.
        """
        form, board = spot.format, np.array(spot.board, np.int64)
        possible = ~np.isin(form.hands, board).any(axis=1)
        suits = {frozenset(card >> 2 for card in form.deck if card & 3 == suit) for suit in {card & 3 for card in form.deck}}
        unlike = any((weights[possible] != 1.0).any() for weights in spot.ranges) or len(suits) > 1
        if unlike or spot.runouts or spot.strengths is not None:
            raise GameError(
                f"{spec or spot} cannot be dealt card by card; use a spot in which all hands are possible and equally "
                "likely, all boards are dealt, and suits are interchangeable, such as flop_holdem"
            )
        self.spot, self.spec, self.cards_aside = spot, spec, PokerGame(spot)
        self.hole_cards = 2 * form.hole

    @property
    def identity(self) -> str:
        """The spot's identity, which networks record."""
        return self.spot.identity

    @cached_property
    def look(self) -> SpotLook:
        """The encoding of network inputs."""
        return SpotLook(self.spot, self.cards_aside.tree)

    @property
    def num_distinct_actions(self) -> int:
        return len(self.cards_aside.names)

    def new_initial_state(self) -> DealtState:
        return DealtState(self, Deal(self, (), self.spot.board), 0)

    def left(self, deal: Deal) -> list[int]:
        """The cards not yet dealt."""
        return [card for card in self.spot.format.deck if card not in deal.hole and card not in deal.board]

    def player_at(self, deal: Deal, node: int) -> int:
        """The player to act at this state."""
        if len(deal.hole) < self.hole_cards or len(deal.board) not in self.spot.format.board_sizes:
            return CHANCE
        return self.cards_aside.player_at(node, deal.board)

    def __str__(self) -> str:
        return self.spec or str(self.spot)
