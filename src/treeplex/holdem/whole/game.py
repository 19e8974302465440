"""Hold'em from the blinds to the showdown: two or more players, any stacks, and bets of any integer number of chips.

Chance deals card by card: each player's hole cards, player 0 first, then the board, street by street; a deal's id is its card.
An action is ``FOLD``, ``CALL`` (a check where there is nothing to call), or the total chips raised to in the hand, antes
aside. These are also the ids of OpenSpiel's ``universal_poker`` with ``bettingAbstraction=fullgame``.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

from treeplex.base.wings import named
from treeplex.errors import GameError
from treeplex.games.base import CHANCE, TERMINAL, Game, State, check_legal
from treeplex.games.parameters import observer
from treeplex.holdem.betting.rules import BettingState
from treeplex.holdem.cards.cards import card_to_string, cards_to_string
from treeplex.holdem.whole.hand import HandRules

if TYPE_CHECKING:
    from treeplex.games.public import PublicTree
    from treeplex.holdem.whole.public import PublicHoldem


class HoldemHistory(State):
    """The hole cards and board dealt so far, and the betting."""

    __slots__ = ("board", "cards", "game", "table")

    def __init__(self, game: "Holdem", cards: tuple[int, ...], table: BettingState, board: tuple[int, ...]) -> None:
        self.game = game
        self.cards = cards
        self.table = table
        self.board = board

    def current_player(self) -> int:
        return CHANCE if len(self.cards) < self.game.hole_cards else self.table.player

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        current = self.current_player()
        if current == TERMINAL:
            return []
        return self.game.left(self.cards, self.board) if current == CHANCE else self.game.rules.betting.actions(self.table)

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        left = self.game.left(self.cards, self.board)
        chance = 1.0 / len(left)
        return [(card, chance) for card in left]

    def child(self, action: int) -> "HoldemHistory":
        """The state after a card of the deck, or after any legal action, offered or not.

        Raises:
            GameError: the card is already dealt or not in the deck, or the action is illegal.
        """
        game = self.game
        if self.current_player() < 0:
            check_legal(self, action)
        if len(self.cards) < game.hole_cards:
            return HoldemHistory(game, (*self.cards, action), self.table, self.board)
        if self.table.player == CHANCE:
            board = (*self.board, action)
            return HoldemHistory(game, self.cards, game.rules.dealt(self.table, len(board)), board)
        return HoldemHistory(game, self.cards, game.rules.betting.after(self.table, action), self.board)

    @property
    def hands(self) -> list[tuple[int, ...]]:
        """Each player's hole cards dealt so far."""
        hole = self.game.rules.format.hole
        return [self.cards[hole * player : hole * (player + 1)] for player in range(self.game.num_players)]

    def returns(self) -> Sequence[float]:
        return self.game.rules.payoffs(self.table, self.board, self.hands)

    def information_state_string(self, player: int | None = None) -> str:
        player = observer(self, player)
        return self.game.rules.infostate(self.table, self.board, player, self.hands[player], self.current_player())

    def public_state(self) -> Hashable:
        return self.current_player(), self.game.rules.shown_board(self.board), self.table.line

    def action_to_string(self, action: int) -> str:
        if self.current_player() == CHANCE:
            return f"Deal {card_to_string(action)}"
        return self.game.rules.action_name(self.table, action)

    def hand_name(self, player: int) -> str:
        return cards_to_string(sorted(self.hands[player], reverse=True))

    def knowledge(self, player: int) -> str:
        return self.game.rules.knowledge(self.table, self.board, player, self.hands[player])


class Holdem(Game):
    """The game of hold'em; see the module docstring.

    Attributes:
        rules: everything that defines a hand.
        hole_cards: number of cards dealt to players.
        public: its public states and hands.
    """

    public: "PublicHoldem"
    terminal = "treeplex.holdem.cli.shared.hands:play_whole"

    def __init__(self, rules: HandRules, spec: str = "", parameters: Mapping[str, object] | None = None) -> None:
        """Wrap the rules; ``spec`` and ``parameters`` are for games with a name.

        Raises:
            GameError: the deck has too few cards for the players.
        """
        self.rules, self.spec, self._parameters = rules, spec, dict(parameters or {})
        self.num_players = rules.betting.players
        self.hole_cards = self.num_players * rules.format.hole
        needed = self.hole_cards + rules.format.board_size
        if len(rules.format.deck) < needed:
            raise GameError(
                f"{self.num_players} hands and the board need {needed} cards, but the deck has {len(rules.format.deck)}; "
                "add ranks or suits, or use fewer players"
            )

    def new_initial_state(self) -> HoldemHistory:
        return HoldemHistory(self, (), self.rules.betting.root, ())

    def parameters(self) -> Mapping[str, object]:
        return self._parameters

    @property
    def big_blind(self) -> float:
        """The big blind."""
        return float(self.rules.betting.big_blind)

    def check_decisions(self) -> None:
        """Reject stacks that leave no decision; see :func:`treeplex.holdem.whole.nodes.check_table`."""
        named("treeplex.holdem.whole.nodes:check_table")(self.rules)

    def public_game(self) -> "PublicHoldem":
        """The game as public states and hands, see :class:`treeplex.holdem.whole.public.PublicHoldem`."""
        game: PublicHoldem = named("treeplex.holdem.whole.public:PublicHoldem")(self.rules)
        return game

    def compilation_tree(self) -> "PublicTree | None":
        """See :mod:`treeplex.holdem.whole.public_tree`; None with rake, more than two players or a large deck."""
        tree: PublicTree | None = named("treeplex.holdem.whole.public_tree:small_tree")(self)
        return tree

    def left(self, cards: tuple[int, ...], board: tuple[int, ...]) -> list[int]:
        """The cards not yet dealt."""
        return [card for card in self.rules.format.deck if card not in cards and card not in board]
