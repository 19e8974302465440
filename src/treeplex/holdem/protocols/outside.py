"""A heads-up hold'em hand dealt by an external server and played by an agent."""

from collections.abc import Sequence
from math import gcd

import numpy as np

from treeplex.errors import GameError, SpecError
from treeplex.forms.sources.load import load
from treeplex.games.base import CHANCE, TERMINAL, Game
from treeplex.holdem.betting.rules import ACPC, CALL, FOLD, BettingState
from treeplex.holdem.cards.cards import cards_to_string
from treeplex.holdem.whole.game import Holdem
from treeplex.holdem.whole.hand import HandRules
from treeplex.holdem.whole.named import holdem
from treeplex.holdem.whole.public import PublicHoldem, hand_of
from treeplex.search.agents.agent import Agent

Action = tuple[str, int]
"""``f``, ``c`` (call or check) or ``r``; a raise is followed by the player's total chips in the hand, in the server's unit."""
DIGITS, MOST_DIGITS = "0123456789", 18
"""Digits of a chip amount, and the maximum number of digits."""


def table_at(stack: int, blinds: tuple[int, int]) -> tuple[Holdem, Game]:
    """The game that a server deals, and the same game in the largest possible chip unit, for agents.

    A finer unit would have more raises, and an agent computes its policy for each raise.

    Raises:
        SpecError: stacks and blinds are invalid.
    """
    unit = gcd(stack, *blinds)
    real = holdem(stack=stack, blinds=blinds, rules=ACPC)
    real.check_decisions()
    if len(real.rules.format.deck) != 52:
        raise SpecError("servers play with 52 cards; use the full deck")
    return real, load(f"holdem(stack={stack // unit},blinds=[{blinds[0] // unit};{blinds[1] // unit}])")


class OutsideHand:
    """One heads-up hand; player 0 has the big blind, player 1 the small blind and the button.

    Attributes:
        rules: the server's rules, in its chips.
        agent: the agent, in coarser chips.
        seat: the agent's seat.
        unit: the server's chips per chip of the agent.
        table: the betting so far, in the server's chips.
        cards: the agent's two cards.
    """

    def __init__(self, rules: HandRules, agent: Agent, seat: int, cards: Sequence[int], generator: np.random.Generator) -> None:
        """Start a hand.

        Raises:
            GameError: the agent's stacks are not a whole fraction of the server's, or the cards are not a hand.
        """
        self.rules, self.agent, self.seat, self.table = rules, agent, seat, rules.betting.root
        agent.begin(seat, generator)
        ours = hand_of(agent.state).table
        self.unit = rules.betting.root.faced // ours.faced
        if tuple(put * self.unit for put in ours.paid) != rules.betting.root.paid:
            assert isinstance(agent.game, PublicHoldem)
            raise GameError(
                f"the agent plays {agent.game.rules.stakes}, but the server plays {rules.stakes}; use an agent for these stakes"
            )
        if len(set(cards)) != 2:
            raise GameError(f"{cards_to_string(cards) or 'no cards'} is not a hold'em hand; the server must send two cards")
        self.cards, self._done = tuple(cards), 0
        self.hand = int(np.flatnonzero((rules.format.hands == sorted(cards)).all(axis=1))[0])

    def catch_up(self, actions: Sequence[Action], board: Sequence[int]) -> None:
        """Report all actions of the hand so far, and the board, to the agent.

        Raises:
            GameError: fewer actions than before, or a board with missing or repeated cards.
        """
        if len(actions) < self._done:
            raise GameError(f"the server sent {self._done} actions before, but only {len(actions)} now")
        if len({*board, *self.cards}) < len(board) + len(self.cards):
            raise GameError(f"a card appears twice: hand {cards_to_string(self.cards)}, board {cards_to_string(board)}")
        while True:
            self._deal(board)
            if self._done == len(actions) or self.table.player == TERMINAL:
                return
            if self.table.player == CHANCE:
                raise GameError(f"the betting continues after {self.table.line!r}, but the board has only {len(board)} cards")
            kind, chips = actions[self._done]
            self._done += 1
            self._acted({"f": FOLD, "c": CALL}.get(kind, chips))

    @property
    def to_act(self) -> bool:
        """Whether the agent is the player to act."""
        return self.table.player == self.seat

    def decide(self) -> Action:
        """The agent's action in the server's chips; :meth:`catch_up` reports it to the agent later."""
        if self.agent.game.options(self.agent.state).player != self.seat:  # the betting has ended in the agent's chips
            return "c", 0
        label = self.agent.act(self.hand)
        if label in (FOLD, CALL):
            return ("f" if label == FOLD else "c"), 0
        legal = self.rules.betting.legal_raises(self.table)
        if not legal:
            return "c", 0
        ours = hand_of(self.agent.state).table
        all_in = label >= min(self.rules.stacks) // self.unit
        chips = legal[-1] if all_in else label * self.unit + (self.table.faced - ours.faced * self.unit)
        return "r", min(max(chips, legal[0]), legal[-1])

    def _acted(self, action: int) -> None:
        """Report one action, given in the server's chips, to the agent."""
        following = self.rules.betting.after(self.table, action)
        ours, state = action, hand_of(self.agent.state)
        if action > CALL and state.table.player >= 0:
            labels = list(self.agent.game.options(state).labels)
            raises = [label for label in labels if label > CALL]
            if not raises:
                raise GameError(f"the server reports a raise to {action}, but the agent's game allows no raise here")
            if action == self.rules.stacks[self.table.player]:
                ours = raises[-1]
            else:
                below = [label for label in raises if label * self.unit < min(self.rules.stacks)] or raises
                ours = min(below, key=lambda label: abs(label * self.unit - action))
        if state.table.player >= 0:
            self.agent.see(ours)
        self.table = following

    def _deal(self, board: Sequence[int]) -> None:
        """Report newly dealt board cards to the agent."""
        while self.table.player == CHANCE:
            size = self.rules.format.board_sizes[self.table.street + 1]
            if len(board) < size:
                return
            for card in board[len(hand_of(self.agent.state).board) : size]:
                if hand_of(self.agent.state).table.player == CHANCE:
                    self.agent.see(card)
            self.table = self.rules.dealt(self.table, size)


def parse_line(line: str, start: BettingState, rules: HandRules, letter: str) -> list[Action]:
    """The actions in a text: ``b200c/kb300``, with bets per street, or ``r200c/cr500``, with bets per hand.

    Args:
        line: ``f``, ``c`` or ``k``, and bets marked by ``letter``.
        start: the betting after the blinds.
        rules: rules of the game.
        letter: ``b``, with the chips on the street, or ``r``, with the chips in the hand.

    Raises:
        GameError: the text is not a line of actions.
    """
    actions, table, index = list[Action](), start, 0
    while index < len(line):
        word, index = line[index], index + 1
        if word in "/_":
            continue
        while table.player == CHANCE:
            table = rules.dealt(table, rules.format.board_sizes[table.street + 1])
        if table.player < 0:
            raise GameError(f"line {line!r}: the hand is over before {word!r}")
        if word in "fck":
            actions.append(("f" if word == "f" else "c", 0))
        elif word == letter:
            end = index
            while end < len(line) and line[end] in DIGITS:
                end += 1
            if end == index:
                raise GameError(f"line {line!r}: a bet has no amount")
            if end - index > MOST_DIGITS:
                raise GameError(f"line {line[:80]!r}: a bet has {end - index} digits")
            chips = int(line[index:end]) + (table.base if letter == "b" else 0)
            if chips <= CALL:  # these numbers stand for fold and call
                raise GameError(
                    f"line {line!r}: {letter}{line[index:end]} is not a bet; the smallest bet is two chips in the hand"
                )
            actions.append(("r", chips))
            index = end
        else:
            raise GameError(f"line {line!r}: {word!r} is not an action; expected f, c, k or {letter}")
        kind, chips = actions[-1]
        table = rules.betting.after(table, {"f": FOLD, "c": CALL}.get(kind, chips))
    return actions
