"""A table where a person plays full hands of hold'em; positions, cards and chips (in big blinds) are shown as text."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import final

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import GameError, TreeplexError
from treeplex.games.base import Game
from treeplex.holdem.betting.bet_plan import HOLDEM_STREETS, half_up
from treeplex.holdem.betting.rules import CALL, FOLD, BettingState
from treeplex.holdem.cards.cards import card_to_string
from treeplex.holdem.cards.evaluator import (
    CLASS_SHIFT,
    FIVE_CLASSES,
    MASKS,
    PRIMARY_SHIFT,
    hand_name,
    highest_rank,
    strengths,
)
from treeplex.holdem.search.whole import WholeHoldemAgent
from treeplex.holdem.tables.judging import charted, solved
from treeplex.holdem.whole.game import HoldemHistory
from treeplex.holdem.whole.hand import HandRules, position_names
from treeplex.holdem.whole.public import PublicHoldem, hand_of
from treeplex.search.agents.agent import Agent, Thought
from treeplex.search.evaluate.aivat import Aivat
from treeplex.search.named_agents.registry import agent as named_agent
from treeplex.search.tables.judging import DecisionReview, estimate
from treeplex.search.tables.listed import listed
from treeplex.search.tables.replies import AgentReply
from treeplex.search.tables.table import AgentTable, Options, Table, typed_bet

JUDGE = "resolver(think=4s,drop=0)"
"""Evaluates a person's decisions if the opponent solves no streets, or dropped the hand from its solve as too unlikely."""
MOST_LISTED = 10
"""Maximum number of actions in the menu; if there are more, a selection is listed and the rest can be typed."""
CENTS = 100
HIGH_CARDS = tuple(FIVE_CLASSES.index(name) for name in ("high card", "flush"))
"""Hand categories in which any of the five ranks can decide."""


def kicker_of(strength: int, others: Sequence[int]) -> str:
    """The kicker that decides between a hand and others of its category; empty if none does.

    Args:
        strength, others: by :func:`treeplex.holdem.cards.evaluator.strengths`.
    """
    high = strength >> CLASS_SHIFT in HIGH_CARDS
    name, cards = (CLASS_SHIFT, PRIMARY_SHIFT) if high else (PRIMARY_SHIFT, 0)
    alike = [other for other in others if other >> name == strength >> name]
    differ = max(((strength ^ other) >> cards & MASKS - 1 for other in alike), default=0)
    return highest_rank(strength >> cards & (1 << differ.bit_length()) - 1)


def in_blinds(chips: float, rules: HandRules) -> str:
    """Chips in big blinds, without the unit, to a hundredth."""
    cents = round(CENTS * chips / rules.betting.big_blind)
    return f"{cents / CENTS:,.2f}".rstrip("0").rstrip(".")


def pot_to_bet(rules: HandRules, table: BettingState) -> int:
    """The pot after calling the bet faced, on which pot-relative sizes are based."""
    return rules.pot(table) + min(table.faced, rules.stacks[table.player]) - table.paid[table.player]


def action_in_blinds(rules: HandRules, table: BettingState, label: int) -> str:
    """An action as readable text: ``call 1.5 bb``, ``bet 3 bb (50%)``, ``raise to 9 bb``, ``all-in 50 bb``."""
    stacks, player = rules.stacks, table.player
    if label == FOLD:
        return "fold"
    if label == CALL:
        owed = min(table.faced, stacks[player]) - table.paid[player]
        last = " (all-in)" if owed and table.faced >= stacks[player] else ""
        return f"call {in_blinds(owed, rules)} bb{last}" if owed else "check"
    if label == stacks[player]:
        return f"all-in {in_blinds(label - table.base, rules)} bb"
    word = "raise to" if table.faced > table.base else "bet"
    sized = table.street and not rules.betting.limits
    share = f" ({100 * (label - table.faced) / pot_to_bet(rules, table):.0f}%)" if sized else ""
    return f"{word} {in_blinds(label - table.base, rules)} bb{share}"


@final
class WholeTable(Table):
    """Full hands of hold'em against an agent in all other seats; amounts are shown in big blinds.

    Attributes:
        decided: the person's decisions in this hand.
        judge: :data:`JUDGE`, whose charts and solves evaluate the person's decisions where the opponent does not; None if it
            cannot play the game.
    """

    def __init__(
        self, agent: Agent, opponent: str, generator: np.random.Generator, *, game: Game | None = None, judges: bool = True
    ) -> None:
        """Create the table.

        Args:
            agent: the opponent.
            opponent: its display name.
            generator: random generator for the deals.
            game: the game, for which :data:`JUDGE` is created when it is needed; None: it is not.
            judges: whether to evaluate the person's decisions as they are played.

        Raises:
            GameError: the agent plays a different game.
        """
        if not isinstance(agent.game, PublicHoldem):
            raise GameError("this table needs an agent for full-game hold'em")
        self._table = AgentTable(agent, generator)
        self._first, self._opponent = agent.game, opponent
        self.players = agent.game.players
        self.decided: list[DecisionReview] = []
        self._person, self._replying, self._judges = 0, False, judges
        self._replied: AgentReply | None = None
        self._game, self._followed = game, -1

    def begin(self, person: int = 0, generator: np.random.Generator | None = None) -> None:
        self._table.begin(person, generator)
        self.decided, self._person, self._replying = [], person, False
        self._followed = -1

    @cached_property
    def judge(self) -> WholeHoldemAgent | None:
        if self._game is not None and self.players == 2:
            with suppress(TreeplexError):
                made = named_agent(JUDGE, self._game)
                return made if isinstance(made, WholeHoldemAgent) else None
        return None

    @property
    def judged_by_solves(self) -> bool:
        """Whether charts and solves evaluate the person's decisions."""
        return isinstance(self.agent, WholeHoldemAgent) or self.judge is not None

    @property
    def agent(self) -> Agent:
        """The opponent."""
        return self._table.agent

    @property
    def inner(self) -> AgentTable:
        """The table with amounts in chips."""
        return self._table

    @property
    def rules(self) -> HandRules:
        """The rules of a hand."""
        return self._first.rules

    @property
    def actor(self) -> int | None:
        return self._table.actor

    @property
    def board(self) -> tuple[int, ...]:
        """The board cards."""
        return hand_of(self._table.public()[1]).board

    @property
    def betting(self) -> BettingState:
        """The betting so far."""
        return hand_of(self._table.public()[1]).table

    @property
    def street(self) -> str:
        """The current street."""
        return self.street_of(len(self.board))

    def street_of(self, cards: int) -> str:
        """The name of the street with ``cards`` board cards."""
        sizes = self.rules.format.board_sizes
        return HOLDEM_STREETS[sizes.index(cards)] if len(sizes) == len(HOLDEM_STREETS) else f"street {sizes.index(cards) + 1}"

    def position(self, player: int) -> str:
        """The name of a player's position."""
        name = position_names(self.players)[self.rules.order.index(player)]
        return {"BTN": "the button (small blind)", "BB": "the big blind"}[name] if self.players == 2 else name

    def seats(self) -> dict[str, int]:
        """Players by the names of their positions, in lower case."""
        by_name = {name.lower(): player for name, player in zip(position_names(self.players), self.rules.order, strict=True)}
        by_name["button"] = self.rules.betting.dealer
        if self.players == 2:
            by_name["sb"] = by_name["button"]
        return by_name

    def seat(self, player: int) -> str:
        """The display name of a seat."""
        if player == self._person:
            return "you"
        return self._opponent if self.players == 2 else position_names(self.players)[self.rules.order.index(player)]

    def big_blinds(self, chips: float) -> str:
        """Chips in big blinds, without the unit, to a hundredth."""
        return in_blinds(chips, self.rules)

    def amount(self, chips: float) -> str:
        """Chips in big blinds, as text."""
        return f"{self.big_blinds(chips)} bb"

    def signed(self, chips: float) -> str:
        """Chips won or lost, in big blinds, as text."""
        return f"{'+' if chips >= 0 else '-'}{self.amount(abs(chips))}"

    def view(self, player: int) -> str:
        """A player's cards, the higher one first, with their category on the board."""
        text = " ".join(map(card_to_string, sorted(self._cards(player), reverse=True)))
        if not self.board or self.rules.format.ranking != "five":
            return text
        return f"{text}   {hand_name(self._strength(player))}"

    def picture(self) -> str:
        """The pot, and every player's chips behind and bets on this street, as text."""
        table, rules = self.betting, self.rules
        parts = [f"pot {self.amount(rules.pot(table))}"]
        for player in self._around():
            if table.folded[player]:
                continue
            bet = max(table.paid[player] - table.base, 0)
            behind = rules.stacks[player] - table.paid[player]
            bets = f" ({self.big_blinds(bet)} in)" if bet else ""
            parts.append(f"{self.seat(player)} {self.amount(behind) if behind else 'all-in'}{bets}")
        return "   ".join(parts)

    def options(self) -> Options:
        return {label: self.action_name(label) for label in self._table.options()}

    def menu(self) -> Options:
        """The actions to list: all, or a selection if there are very many."""
        return listed(self.options(), self._table.public(), most=MOST_LISTED)

    def action_name(self, label: int) -> str:
        """An action as readable text: ``call 1.5 bb``, ``bet 3 bb (50%)``, ``raise to 9 bb``, ``all-in 50 bb``."""
        return action_in_blinds(self.rules, self.betting, label)

    def named(self, text: str) -> int | None:
        """The bet or raise that a person typed: big blinds or chips put in on this street, or percent of the pot.

        Raises:
            GameError: the rules allow no such bet; the message lists the legal ones.
        """
        table, rules = self.betting, self.rules
        labels = self._table.options()
        raises = [label for label in labels if label > CALL]
        bet = typed_bet(text.replace("-", " "))
        if text in ("all-in", "all in", "allin", "shove", "jam"):
            if rules.stacks[table.player] in labels:
                return rules.stacks[table.player]
            if CALL in labels and table.faced >= rules.stacks[table.player]:
                return CALL
            raise GameError(f"all-in is not allowed here; {self._allowed(raises)}")
        if text in ("bet", "raise") and len(raises) == 1:
            return raises[0]
        if bet is None or bet.bare:
            return None
        if bet.unit == "%":
            label = table.faced + half_up(pot_to_bet(self.rules, table) * bet.amount / 100)
        else:
            chips = bet.amount * (1 if bet.unit == "chips" else rules.betting.big_blind)
            if abs(chips - round(chips)) > 1e-6:
                raise GameError(f"{self.amount(chips)} is not a whole number of chips; write a multiple of {self.amount(1)}")
            label = table.base + round(chips)
        if label in labels and label > CALL:
            return label
        raise GameError(f"a bet to {self.amount(label - table.base)} on this street is not allowed; {self._allowed(raises)}")

    def reply(self) -> int:
        self._replying = True
        options = self.options()
        action = self._table.reply()
        reply = self._table.replied()
        self._replied = None if reply is None else replace(reply, options=(*options.values(),))
        return action

    def thought(self) -> Thought | None:
        return self._table.thought()

    def replied(self) -> AgentReply | None:
        return self._replied

    def seen_by(self, player: int) -> bool:
        return True

    def history(self) -> HoldemHistory:
        """The hand as a game history, with all cards."""
        history = self._table.history()
        assert isinstance(history, HoldemHistory)
        return history

    def play(self, action: int) -> None:
        if self._judges and not self._replying:
            self._judge(action)
        self._replying = False
        self._table.play(action)

    def returns(self) -> list[float]:
        return self._table.returns()

    def outcome(self, player: int) -> str:
        """Who wins the pot, and a player's result, as text."""
        gains, table = self.returns(), self.betting
        winners = [winner for winner in range(self.players) if gains[winner] > 0]
        won = gains[player]
        net = f"you win {self.amount(won)}" if won > 0 else f"you lose {self.amount(-won)}" if won < 0 else "you are even"
        if table.folded.count(False) == 1:
            return f"everybody else folded: {net}" if self.players > 2 and won > 0 else net
        if not winners:
            return f"the pot of {self.amount(sum(self.rules.matched(table)))} is split: {net}"
        who = " and ".join("you" if winner == player else self.seat(winner) for winner in winners)
        return net if winners == [player] else f"the pot goes to {who}: {net}"

    @property
    def showdown(self) -> bool:
        """Whether the hand is over with more than one player still in."""
        return self.actor is None and self.betting.folded.count(False) > 1

    def shown(self) -> list[str]:
        """Every player's cards and hand category; at a showdown, with the kicker if it decides the pot."""
        views = [self.view(player) for player in range(self.players)]
        if not self.showdown or self.rules.format.ranking != "five":
            return views
        strongest = {seat: self._strength(seat) for seat, out in enumerate(self.betting.folded) if not out}
        words = [views[seat].partition("   ")[2] for seat in strongest]
        for seat, strength in strongest.items():
            kicker = kicker_of(strength, [other for other in strongest.values() if other != strength])
            if kicker and words.count(views[seat].partition("   ")[2]) > 1:
                views[seat] += f", {kicker} kicker"
        return views

    def luckless(self) -> list[float] | None:
        """Each player's luck-adjusted payoffs (AIVAT), averaged over the hands that the agent may have held; None if
        unavailable."""
        played = self._table.played() if self.players == 2 else None
        if played is None:
            return None
        try:
            return list(map(float, Aivat(self._first)(played)))
        except GameError:
            return None

    def range_against(self, player: int, other: int) -> Floats:
        """See :meth:`AgentTable.range_against`."""
        return self._table.range_against(player, other)

    def _cards(self, player: int) -> Sequence[int]:
        return tuple(map(int, self.rules.format.hands[self._table.hand_of(player)]))

    def _strength(self, player: int) -> int:
        """The strength of a player's hand on the board."""
        return int(strengths(self.board, np.array([sorted(self._cards(player))], np.uint8))[0])

    def _around(self) -> list[int]:
        """The players, the person first."""
        return [(self._person + step) % self.players for step in range(self.players)]

    def _allowed(self, raises: list[int]) -> str:
        """The legal bets and raises, as text."""
        if not raises:
            return "there is no raise here"
        base = self.betting.base
        low, high = (self.amount(raised - base) for raised in (raises[0], raises[-1]))
        if len(raises) == 1:
            return f"the only one is {low}"
        if raises[-1] - raises[0] == len(raises) - 1:
            return f"from {low} to {high} in steps of {self.amount(1)}"
        if len(raises) <= MOST_LISTED:
            return f"choose from {', '.join(self.amount(raised - base) for raised in raises)}"
        return f"some sizes from {low} to {high} are allowed"

    def judged(self, action: int) -> DecisionReview | None:
        """Evaluate the person's next action, before it is played.

        Heads-up, charts and solves of the street do, by the opponent or :attr:`judge`; in games that these cannot play, an
        estimate. An action that they cannot evaluate gets unknown values.
        """
        if self.players > 2:
            return None
        state, hand, pot = self._table.public()[1], self._table.hand_of(self._person), self.rules.pot(self.betting)
        if not self.judged_by_solves:
            options = listed(self.options(), self._table.public(), action, most=MOST_LISTED)
            return estimate(self.agent, state, self._table.ranges(), hand, self.street, options, action)
        for judge in self._judges_here():
            by_chart = charted(judge, hand, self.street, self.options(), action)
            found = by_chart or solved(judge, hand, self.street, self.action_name, action, pot)
            if found is not None:
                return found
        return DecisionReview(self.street, (self.action_name(action),), 0, (float("nan"),), (), "")

    def _judges_here(self) -> Iterator[WholeHoldemAgent]:
        """The opponent if it solves streets, then :attr:`judge`, having observed the hand."""
        if isinstance(self.agent, WholeHoldemAgent):
            yield self.agent
        judge, steps = self.judge, self._table.steps
        if judge is None:
            return
        if self._followed < 0:
            judge.begin(1 - self._person)
            self._followed = 0
        for step in steps[self._followed :]:
            judge.see(judge.game.options(judge.state).labels[step.number])
        self._followed = len(steps)
        yield judge

    def _judge(self, action: int) -> None:
        """Evaluate the person's decision before it is played."""
        decision = self.judged(action)
        if decision is not None:
            self.decided.append(decision)
