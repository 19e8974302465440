"""Hold'em from the blinds to the showdown by its rules: two players and more, any stacks, any whole number of chips.

Chance deals card by card: each player's hole cards, player 0 first, then the board, street by street; the id of a deal is its
card. An action is ``FOLD``, ``CALL`` (a check where there is nothing to call), or the chips to raise to, counted from the start
of the hand, antes aside. So the ids are those of OpenSpiel's ``universal_poker`` with ``bettingAbstraction=fullgame``.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from treeplex.errors import GameError
from treeplex.games.base import CHANCE, TERMINAL, Game, State
from treeplex.games.parameters import observer
from treeplex.games.poker.cards.cards import card_to_string, cards_to_string
from treeplex.games.poker.cards.format import Format
from treeplex.games.poker.spots.spot import Rake
from treeplex.games.poker.whole.betting import CALL, FOLD, TDA, Actions, Betting, Table
from treeplex.games.poker.whole.plan import RaisePlan
from treeplex.games.poker.whole.pots import side_pots, uncalled, won

STREETS = ("preflop", "flop", "turn", "river")


@dataclass(frozen=True)
class HandRules:
    """Everything that defines a hand but the cards that come.

    Attributes:
        format: cards in play.
        betting: the betting.
        plan: which raises are on offer.
        rake: what the house takes from the matched chips, in equal parts of every pot.
        no_flop_no_drop: it takes nothing from a hand that ends before any card is on the board.
    """

    format: Format
    betting: Betting
    plan: RaisePlan
    rake: Rake = field(default_factory=Rake)
    no_flop_no_drop: bool = False

    @cached_property
    def antes(self) -> tuple[int, ...]:
        """The ante each player has posted."""
        return self.betting.posted_antes()

    @cached_property
    def stacks(self) -> tuple[int, ...]:
        """Each player's chips after the ante."""
        return self.betting.playing_stacks()

    @cached_property
    def first_table(self) -> Table:
        """The table after the blinds."""
        return self.betting.first_table(self.stacks)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The players from the dealer's left on: who gets odd chips first."""
        players = self.betting.players
        return tuple((self.betting.dealer + 1 + step) % players for step in range(players))

    def actions(self, table: Table) -> Actions:
        """The actions on offer to the player to act."""
        put = table.paid[table.player]
        legal = self.betting.raise_sizes(table, self.stacks)
        raises = self.plan.offered(table, self.betting, self.stacks, legal, sum(self.antes)) if legal else legal
        if put == table.faced:
            return Actions((CALL,), raises)
        limps = self.plan.limps or table.street or table.raises or not raises
        return Actions((FOLD, CALL) if limps else (FOLD,), raises)

    def after(self, table: Table, action: int) -> Table:
        """The table after an action, on offer or only allowed by the rules.

        Raises:
            GameError: the rules do not allow it.
        """
        return self.betting.play(table, self.stacks, action)

    def dealt(self, table: Table, board: int) -> Table:
        """The table when so many cards lie on the board: on the next street if they complete it."""
        complete = board == self.format.board_sizes[table.street + 1]
        return self.betting.next_street(table, self.stacks) if complete else table

    def pot(self, table: Table) -> int:
        """The chips in the middle, bets of this street included."""
        return sum(table.paid) + sum(self.antes)

    def payoffs(self, table: Table, board: Sequence[int], hands: Sequence[Sequence[int]]) -> list[float]:
        """What each player wins or loses where the hand is over.

        Args:
            table: the end of the betting.
            board: the cards on the table; of a showdown complete.
            hands: each player's hole cards.
        """
        dead, paid = 0, list(table.paid)
        if self.betting.big_blind_ante:
            dead = sum(self.antes)
        else:
            paid = [put + ante for put, ante in zip(paid, self.antes, strict=True)]
        player, back = uncalled(paid)
        paid[player] -= back
        strengths = [0] * len(paid)
        if table.folded.count(False) > 1:
            strengths = self.strengths(table, board, hands)
        pots = side_pots(paid, table.folded, dead)
        taken = won(pots, strengths, self.order if self.betting.rules == TDA else None)
        total = sum(paid) + dead
        rake = 0.0 if self.no_flop_no_drop and not board else self.rake.of(total)
        kept = 1.0 - rake / total if rake else 1.0
        antes = self.antes if dead else (0,) * len(paid)
        return [kept * gain - put - ante for gain, put, ante in zip(taken, paid, antes, strict=True)]

    def strengths(self, table: Table, board: Sequence[int], hands: Sequence[Sequence[int]]) -> list[int]:
        """The strength of each hand still in on a complete board; 0 for those who folded."""
        from treeplex.games.poker.cards.evaluator import format_strengths  # it loads Numba, which most games do without

        shown = [player for player, out in enumerate(table.folded) if not out]
        cards = np.array([hands[player] for player in shown], np.uint8)
        found = [0] * len(hands)
        for player, strength in zip(shown, format_strengths(self.format, board, cards).tolist(), strict=True):
            found[player] = strength
        return found

    def action_name(self, table: Table, action: int) -> str:
        """What an action is called: bets and raises by the player's chips on this street."""
        if action == FOLD:
            return "fold"
        if action == CALL:
            return "call" if table.faced > table.paid[table.player] else "check"
        if action == self.stacks[table.player]:
            return f"allin {action - table.base}"
        return f"{'raise' if table.faced > table.base else 'bet'} {action - table.base}"

    def shown_board(self, board: Sequence[int]) -> str:
        """The board street by street; the cards of a street, which came in no order that matters, highest first."""
        ends = [0, *(size for size in self.format.board_sizes if 0 < size < len(board)), len(board)]
        return " ".join(cards_to_string(sorted(board[start:end], reverse=True)) for start, end in pairwise(ends) if end > start)


class HoldemHistory(State):
    """The hole cards and the board dealt so far, and the table."""

    __slots__ = ("board", "cards", "game", "table")

    def __init__(self, game: "Holdem", cards: tuple[int, ...], table: Table, board: tuple[int, ...]) -> None:
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
        return self.game.left(self.cards, self.board) if current == CHANCE else self.game.rules.actions(self.table)

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        left = self.game.left(self.cards, self.board)
        chance = 1.0 / len(left)
        return [(card, chance) for card in left]

    def child(self, action: int) -> "HoldemHistory":
        game = self.game
        if len(self.cards) < game.hole_cards:
            return HoldemHistory(game, (*self.cards, action), self.table, self.board)
        if self.table.player == CHANCE:
            board = (*self.board, action)
            return HoldemHistory(game, self.cards, game.rules.dealt(self.table, len(board)), board)
        return HoldemHistory(game, self.cards, game.rules.after(self.table, action), self.board)

    @property
    def hands(self) -> list[tuple[int, ...]]:
        """Each player's hole cards, as far as they are dealt."""
        hole = self.game.rules.format.hole
        return [self.cards[hole * player : hole * (player + 1)] for player in range(self.game.num_players)]

    def returns(self) -> Sequence[float]:
        return self.game.rules.payoffs(self.table, self.board, self.hands)

    def information_state_string(self, player: int | None = None) -> str:
        player = observer(self, player)
        private = cards_to_string(sorted(self.hands[player], reverse=True))
        return (
            f"[Observer: {player}][Private: {private}][Player: {self.current_player()}]"
            f"[Board: {self.game.rules.shown_board(self.board)}][Actions: {self.table.line}]"
        )

    def public_state(self) -> Hashable:
        return self.current_player(), self.game.rules.shown_board(self.board), self.table.line

    def action_to_string(self, action: int) -> str:
        if self.current_player() == CHANCE:
            return f"Deal {card_to_string(action)}"
        return self.game.rules.action_name(self.table, action)

    def knowledge(self, player: int) -> str:
        rules, table = self.game.rules, self.table
        parts = [cards_to_string(sorted(self.hands[player], reverse=True)) or "no cards yet"]
        parts += [f"board {rules.shown_board(self.board)}"] if self.board else []
        parts.append(f"pot {rules.pot(table)}")
        if table.player == player and table.faced > table.paid[player]:
            parts.append(f"{min(table.faced, rules.stacks[player]) - table.paid[player]} to call")
        behind = [stack - put for stack, put in zip(rules.stacks, table.paid, strict=True)]
        parts.append(
            "stacks " + " ".join("folded" if out else f"{each}" for each, out in zip(behind, table.folded, strict=True))
        )
        return ", ".join(parts)


class Holdem(Game):
    """Hold'em by its rules; see the module.

    Attributes:
        rules: everything that defines a hand.
        hole_cards: how many cards are dealt to players.
    """

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
                "add ranks or suits, or take fewer players"
            )

    def new_initial_state(self) -> HoldemHistory:
        return HoldemHistory(self, (), self.rules.first_table, ())

    def parameters(self) -> Mapping[str, object]:
        return self._parameters

    def left(self, cards: tuple[int, ...], board: tuple[int, ...]) -> list[int]:
        """The cards not dealt yet."""
        return [card for card in self.rules.format.deck if card not in cards and card not in board]
