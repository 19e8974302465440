"""Rules of a hold'em hand apart from the dealing of cards: legal actions, payoffs and their text."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from treeplex.games.base import TERMINAL
from treeplex.games.betting.settlement import Settlement
from treeplex.holdem.betting.pots import side_pots, uncalled, won
from treeplex.holdem.betting.rules import CALL, TDA, BettingRules, BettingState
from treeplex.holdem.cards.cards import cards_to_string
from treeplex.holdem.cards.format import HOLDEM, Format
from treeplex.holdem.spots.spot import Rake


@dataclass(frozen=True)
class HandRules:
    """The rules of a hand, apart from the dealing of cards.

    Attributes:
        format: the cards in play.
        betting: the betting rules.
        rake: the rake from matched chips, in equal shares of every pot.
    """

    format: Format
    betting: BettingRules
    rake: Rake = field(default_factory=Rake)

    @property
    def stakes(self) -> str:
        """Cards, stacks, blinds and antes as text, such as ``stack=100 and blinds of 1/2``."""
        antes = f", antes of {'/'.join(map(str, self.antes))}" if any(self.antes) else ""
        cards = "" if self.format == HOLDEM else f" with {len(self.format.deck)} cards"
        return f"{self.stack_text}{antes} and blinds of {self.blinds_text}{cards}"

    @property
    def stack_text(self) -> str:
        """The stacks before antes in the syntax of a spec, such as ``stack=[100;80]``."""
        stacks = self.betting.stacks
        return f"stack={stacks[0]}" if len(set(stacks)) == 1 else f"stack=[{';'.join(map(str, stacks))}]"

    @property
    def blinds_text(self) -> str:
        """The blinds as text, such as ``1/2``."""
        return "/".join(map(str, self.betting.blinds))

    @property
    def antes(self) -> tuple[int, ...]:
        """The ante that each player has posted."""
        return self.betting.posted

    @property
    def stacks(self) -> tuple[int, ...]:
        """Each player's chips after the ante."""
        return self.betting.behind

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The players in the order in which odd chips are awarded, from the dealer's left."""
        players = self.betting.players
        return tuple((self.betting.dealer + 1 + step) % players for step in range(players))

    def dealt(self, state: BettingState, board: int) -> BettingState:
        """The betting after ``board`` cards are dealt, on the next street if they complete it."""
        return self.betting.next_street(state) if board == self.format.board_sizes[state.street + 1] else state

    def pot(self, table: BettingState) -> int:
        """The chips in the pot, bets of this street included."""
        return sum(table.paid) + self.betting.dead

    def matched(self, table: BettingState) -> tuple[int, ...]:
        """Each player's chips in the pot, antes included, excluding chips that no other player has matched or can match."""
        bounds = [put if out else stack for put, out, stack in zip(table.paid, table.folded, self.stacks, strict=True)]
        live = (0,) * len(bounds) if self.betting.big_blind_ante else self.antes
        matched = []
        for player, put in enumerate(table.paid):
            most = max(bound + ante for seat, (bound, ante) in enumerate(zip(bounds, live, strict=True)) if seat != player)
            matched.append(min(put + live[player], most) + self.antes[player] - live[player])
        return tuple(matched)

    def checked_down(self, table: BettingState) -> BettingState:
        """The final betting state if all remaining players check and call to the end."""
        paid = tuple(
            put if out else max(put, min(table.faced, stack))
            for put, out, stack in zip(table.paid, table.folded, self.stacks, strict=True)
        )
        return table._replace(paid=paid, player=TERMINAL)

    def payoffs(self, table: BettingState, board: Sequence[int], hands: Sequence[Sequence[int]]) -> list[float]:
        """Each player's payoff at the end of a hand, in chips.

        Args:
            table: the end of the betting.
            board: the board cards; complete at a showdown.
            hands: each player's hole cards.
        """
        showdown = table.folded.count(False) > 1
        return self.paid_out(table, self.strengths(table, board, hands) if showdown else [0] * len(hands), dealt=bool(board))

    def paid_out(self, table: BettingState, strengths: Sequence[int], *, dealt: bool) -> list[float]:
        """Each player's payoff at the end of the betting.

        Args:
            table: the end of the betting.
            strengths: strength of each player's hand, higher is better.
            dealt: whether there is any board card.
        """
        settled = self.settlement(table, dealt=dealt)
        taken = won([(int(chips), list(able)) for chips, able in settled.pots], strengths, settled.order or None)
        return [settled.kept * gain - put for gain, put in zip(taken, settled.put, strict=True)]

    def settlement(self, table: BettingState, *, dealt: bool) -> Settlement:
        """The pots at the end of the betting, and who can win them.

        Args:
            table: the end of the betting.
            dealt: whether there is any board card; ignored at a showdown, where the board is always dealt.
        """
        dead, paid = 0, list(table.paid)
        if self.betting.big_blind_ante:
            dead = sum(self.antes)
        else:
            paid = [put + ante for put, ante in zip(paid, self.antes, strict=True)]
        player, back = uncalled(paid)
        paid[player] -= back
        pots = tuple((float(chips), tuple(able)) for chips, able in side_pots(paid, table.folded, dead))
        total = sum(paid) + dead
        rake = self.rake.of(total, dealt=dealt or table.folded.count(False) > 1)
        antes = self.antes if dead else (0,) * len(paid)
        put = tuple(float(bet + ante) for bet, ante in zip(paid, antes, strict=True))
        return Settlement(put, pots, 1.0 - rake / total if rake else 1.0, self.order if self.betting.rules == TDA else ())

    def strengths(self, table: BettingState, board: Sequence[int], hands: Sequence[Sequence[int]]) -> list[int]:
        """The strength of each remaining hand on a complete board; 0 for folded hands."""
        from treeplex.holdem.cards.evaluator import (
            format_strengths,
        )  # imported here because it loads Numba, which most games do not need

        shown = [player for player, out in enumerate(table.folded) if not out]
        cards = np.array([hands[player] for player in shown], np.uint8)
        by_player = [0] * len(hands)
        for player, strength in zip(shown, format_strengths(self.format, board, cards).tolist(), strict=True):
            by_player[player] = strength
        return by_player

    def action_name(self, table: BettingState, action: int) -> str:
        """The name of an action, with bets and raises as the player's chips on this street."""
        kind, amount = self.betting.action_kind(table, action), action - table.base
        return kind if action <= CALL else f"allin {amount}" if action == self.stacks[table.player] else f"{kind} {amount}"

    def shown_board(self, board: Sequence[int]) -> str:
        """The board as text, street by street; the cards of a street are sorted, highest first."""
        ends = [0, *(size for size in self.format.board_sizes if 0 < size < len(board)), len(board)]
        return " ".join(cards_to_string(sorted(board[start:end], reverse=True)) for start, end in pairwise(ends) if end > start)

    def infostate(self, table: BettingState, board: Sequence[int], player: int, cards: Sequence[int], acting: int) -> str:
        """The infostate of a player with these hole cards; ``acting`` is the player to act, or chance."""
        private = cards_to_string(sorted(cards, reverse=True))
        shown = self.shown_board(board)
        return f"[Observer: {player}][Private: {private}][Player: {acting}][Board: {shown}][Actions: {table.line}]"

    def knowledge(self, table: BettingState, board: Sequence[int], player: int, cards: Sequence[int]) -> str:
        """A player's information with these hole cards, as readable text."""
        parts = [cards_to_string(sorted(cards, reverse=True)) or "no cards yet"]
        parts += [f"board {self.shown_board(board)}"] if board else []
        parts.append(f"pot {self.pot(table)}")
        if table.player == player and table.faced > table.paid[player]:
            parts.append(f"{min(table.faced, self.stacks[player]) - table.paid[player]} to call")
        behind = [stack - put for stack, put in zip(self.stacks, table.paid, strict=True)]
        left = ("folded" if out else f"{chips}" for chips, out in zip(behind, table.folded, strict=True))
        return ", ".join([*parts, f"stacks {' '.join(left)}"])


def position_names(players: int) -> tuple[str, ...]:
    """The position of each player from the first after the button; heads-up the big blind, then the button."""
    if players == 2:
        return ("BB", "BTN")
    early = ("UTG",) * max(players - 5, 0)
    middle = ("HJ", "CO")[max(0, 5 - players) :]
    return ("SB", "BB", *early, *middle, "BTN")
