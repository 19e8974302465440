"""A table where a person plays a hold'em spot against an agent."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.base.digits import three_digits
from treeplex.errors import GameError, SpecError
from treeplex.holdem.betting.added import action_to
from treeplex.holdem.betting.bet_plan import half_up
from treeplex.holdem.betting.tree import Action, Decision, Fold, Node, Showdown, StreetEnd, payoffs
from treeplex.holdem.cards.cards import card_to_string, cards_to_string, parse_cards
from treeplex.holdem.cards.evaluator import format_strengths, hand_name, strengths
from treeplex.holdem.policies.line import action_text
from treeplex.holdem.rules.public import holdem_state
from treeplex.holdem.rules.rules import number_of_deal
from treeplex.holdem.search.agent import agent_game, start_of
from treeplex.holdem.search.spot_agent import SpotAgent
from treeplex.holdem.spots.spot import CHIPS, Spot
from treeplex.search.agents.agent import Agent, Thought
from treeplex.search.agents.searching import SearchAgent
from treeplex.search.subgames.beliefs import Belief
from treeplex.search.tables.replies import AgentReply, Ranges, reply_of
from treeplex.search.tables.table import Table, Thoughts, typed_bet

NAMES = ("OOP", "IP")
OnBoard = Callable[[tuple[int, ...]], Spot]
TRIES = 100
"""Maximum number of boards to try until the ranges have a compatible pair of hands."""


@dataclass(frozen=True)
class SpotDecision:
    """A decision of a person.

    Attributes:
        street: ``turn``, ``river`` and so on.
        action: the action, as text.
        values: EV of each action, in chips; NaN where the agent does not know it.
        chosen: index of the action.
        best: the action of the highest value, as text.
        policy: the agent's probability of each action with that hand.
        options: all actions, as text.
        paid: chips lost by folding there: half of the starting pot, and the player's bets.
    """

    street: str
    action: str
    values: tuple[float, ...]
    chosen: int
    best: str

    policy: tuple[float, ...] = ()
    options: tuple[str, ...] = ()
    paid: float = 0.0

    @property
    def lost(self) -> float:
        """EV loss against the best action in chips; NaN where the agent does not know it."""
        return max(self.values) - self.values[self.chosen]


@final
class HoldemTable(Table):
    """A hold'em spot with hands dealt from its ranges; player 0 is out of position (OOP), player 1 in position (IP).

    A person may bet sizes that the spot lacks if the opponent can add them (:meth:`SearchAgent.add`).
    """

    players = 2

    def __init__(self, agent: Agent, generator: np.random.Generator, *, on: OnBoard | None = None) -> None:
        """Create the table.

        Args:
            agent: the opponent.
            generator: random generator for the deals.
            on: function that returns the spot on another board; each game then uses a uniformly random board. None for the
                agent's board.
        """
        self._agent, self._generator, self._on = agent, generator, on
        self._spot, self._thoughts = agent_game(agent).spot, Thoughts(agent)
        self._root = Belief.root(agent_game(agent))
        self._hands: tuple[int, ...] = (0, 0)
        self._board = self._begun = self._spot.board
        self._decided: dict[int, list[SpotDecision]] = {}
        self._story: list[str] = []
        self._ranges = Ranges(self._root)
        self._policy: Floats | None = None
        self._replied: AgentReply | None = None
        self._path: list[int] = []

    def start_at(self, line: str) -> None:
        """Start each later game at a node, with hands from the ranges that the agent's policy leaves there.

        Args:
            line: the line to a decision or to the end of a street, such as ``x,b120,c``.

        Raises:
            SpecError: there is no such line, the hand is over there, or the agent's games are on random boards.
        """
        if self._on is not None:
            raise SpecError("games on random boards start at the root; leave the line out")
        game, path = agent_game(self._agent), list[int]()
        state = holdem_state(game.first_state())
        for step in filter(None, (step.strip() for step in line.split(","))):
            event = game.event(state)
            steps = [action_text(action) for action in event.actions] if isinstance(event, Decision) else []
            if step in steps:
                path.append(steps.index(step))
            elif isinstance(event, StreetEnd) and len(step) == 2 * game.cards_due(state):
                path.append(number_of_deal(parse_cards(step)))
            else:
                raise SpecError(f"no step {step!r} in the line {line!r}; choose from {', '.join(steps) or 'the cards'}")
            state = game.after(state, path[-1])
        if not isinstance(game.event(state), Decision | StreetEnd):
            raise SpecError(f"the hand is over after {line!r}; choose an earlier node")
        self._path = path

    def _follow(self, root: Belief) -> Belief:
        """Move the agent along the path to the start node; returns the belief there."""
        belief = root
        for event in self._path:
            acts = belief.game.options(belief.state).player >= 0
            belief = belief.after(event, np.asarray(self._agent.policy(), np.float64) if acts else None)
            self._agent.see(event)
        return belief

    def begin(self, person: int = 0, generator: np.random.Generator | None = None) -> None:
        self._generator = generator or self._generator
        root = self._dealt()
        self._agent.begin(at=root)
        root = self._follow(root)
        self._decided, self._story = {0: [], 1: []}, []
        self._ranges, self._policy, self._replied = Ranges(root), None, None
        self._hands = root.draw(self._generator)
        self._board = self._begun = holdem_state(root.state).board
        if isinstance(self._event, StreetEnd):
            self._agent.see(number_of_deal(self._come(agent_game(self._agent).cards_due(self._agent.state))))

    @property
    def actor(self) -> int | None:
        event = self._event
        return event.player if isinstance(event, Decision) else None

    def seat(self, player: int) -> str:
        return NAMES[player]

    def view(self, player: int) -> str:
        return self._text(player)

    def picture(self) -> str | None:
        event = self._event
        paid = event.contributions
        whole = self._spot.pot / 2 + self._spot.stack
        behind = ", ".join(f"{name} {self._chips(whole - put_in)}" for name, put_in in zip(NAMES, paid, strict=True))
        return f"board {' '.join(map(card_to_string, self._board))}   pot {self._chips(sum(paid))}   behind {behind}\n"

    def options(self) -> dict[int, str]:
        event = self._event
        assert isinstance(event, Decision)
        unit = "" if self.unit == CHIPS else f" {self.unit}"
        return {number: named(action, event, unit) for number, action in enumerate(event.actions)}

    def named(self, text: str) -> int | None:
        """The bet or raise that a person typed: chips or big blinds put in on this street, or percent of the pot.

        Raises:
            GameError: the rules allow no such bet.
        """
        event, bet = self._event, typed_bet(text)
        if bet is None or not isinstance(event, Decision):
            return None
        number = bet.amount
        if bet.unit == "bb":
            if self.blind is None:
                raise GameError("this spot has no blinds; give total chips, b1500, or a share of the pot, bet 75%")
            number *= self.blind
        if bet.unit == "%":
            chip = self._spot.chip
            number = max(event.street_bets) + half_up(pot_to_bet(event) * number / 100 / chip) * chip
        if isinstance(self._agent, SearchAgent):
            return self._agent.add(number)
        offered = action_to(event, number)
        if offered is None:
            raise GameError(
                f"a bet to a total of {number:,.12g} chips is not allowed here; this opponent supports only the spot's sizes"
            )
        return offered

    def reply(self) -> int:
        actor = self.actor
        assert actor is not None
        hand, names = self._hands[actor], (*self.options().values(),)
        self._policy, action = reply_of(self._agent, hand)
        self._replied = AgentReply(actor, hand, action, names, self._policy, self._reach(actor))
        return action

    def thought(self) -> Thought | None:
        return self._thoughts.new()

    def replied(self) -> AgentReply | None:
        return self._replied

    def seen_by(self, player: int) -> bool:
        return True

    def play(self, action: int) -> None:
        event, street, options = self._event, self._street(), self.options()
        assert isinstance(event, Decision)
        if self._policy is None and isinstance(self._agent, SearchAgent | SpotAgent):
            hand = self._hands[event.player]
            values = tuple(float(value) for value in self._agent.action_values(hand))
            policy = tuple(float(chance) for chance in self._agent.policy()[:, hand])
            best = options[max(options, key=lambda number: values[number])]
            names, paid = (*options.values(),), event.contributions[event.player]
            made = SpotDecision(street, options[action], values, action, best, policy, names, paid)
            self._decided[event.player].append(made)
        self._ranges.move(event.player, self._policy, action, len(options))
        self._policy = None
        self._story.append(f"{street}   {NAMES[event.player]}   {options[action]}")
        self._agent.see(action)
        event = self._event
        if isinstance(event, StreetEnd):
            self._agent.see(number_of_deal(self._come(agent_game(self._agent).cards_due(self._agent.state))))
        elif isinstance(event, Showdown) and len(self._board) < sum(self._spot.format.deal):
            self._come(sum(self._spot.format.deal) - len(self._board))

    def returns(self) -> list[float]:
        event = self._event
        assert isinstance(event, Fold | Showdown)
        paid = payoffs(event, self._spot.rake)
        if isinstance(event, Fold):
            return list(paid)
        form = self._spot.format
        first, second = format_strengths(form, self._board, form.hands[list(self._hands)])
        win, lose, tie = paid
        return [tie, tie] if first == second else [win, lose] if first > second else [lose, win]

    def outcome(self, player: int) -> str:
        event, result = self._event, self.returns()[player]
        pot = self._chips(2 * min(event.contributions))
        net = f"net {'+' if result >= 0 else '-'}{self._chips(abs(result))}"
        if result == self.returns()[1 - player]:  # with rake, both lose
            return f"the pot of {pot} is split, {net}"
        how = "" if isinstance(event, Fold) else " at showdown"
        who = "you win" if result > 0 else f"{NAMES[1 - player]} wins"
        return f"{who} the pot of {pot}{how}, {net}"

    def shown(self) -> list[str]:
        return [self._text(player) for player in (0, 1)]

    def review(self, player: int) -> list[str]:
        lines = []
        for made in self._decided[player]:
            verdict = "the best action" if made.action == made.best else f"EV lost {three_digits(made.lost)}; best: {made.best}"
            lines.append(f"{made.street}   {made.action}   {'EV not known' if math.isnan(made.lost) else verdict}")
        if lines:
            lost = sum(made.lost for made in self._decided[player] if not math.isnan(made.lost))
            lines.insert(0, f"your decisions, as the agent values them: EV lost {three_digits(lost)} chips in total")
        return lines

    def decided(self, player: int) -> list[SpotDecision]:
        """A player's decisions so far; empty if the opponent has no action values."""
        return self._decided[player]

    @property
    def street(self) -> str:
        """The current street."""
        return self._street()

    @property
    def exact(self) -> bool:
        """Whether action values are from a solution of the whole spot."""
        return isinstance(self._agent, SpotAgent)

    def _reach(self, player: int) -> Floats:
        """A player's reach by hand, float64 [H], unnormalised; for a person, the dealt range."""
        return self._ranges.at(agent_game(self._agent), self._agent.state)[player]

    def range_against(self, player: int, other: int) -> Floats:
        """See :meth:`AgentTable.range_against`."""
        weights = self._reach(player)
        seen = np.isin(self._spot.format.hands, [*self._board, *self.cards(other)]).any(axis=1)
        belief = np.where(seen, 0.0, weights)
        total = float(belief.sum())
        return belief / total if total > 0 else belief

    def hand_names(self, player: int) -> Callable[[int], str]:
        """See :meth:`AgentTable.hand_names`: the cards, the higher one first."""
        hands = self._spot.format.hands
        return lambda hand: cards_to_string(sorted(map(int, hands[hand]), reverse=True))

    @property
    def board(self) -> tuple[int, ...]:
        """The board cards."""
        return self._board

    def cards(self, player: int) -> tuple[int, ...]:
        """A player's hand, the higher card first."""
        hand = self._spot.format.hands[self._hands[player]]
        return tuple(sorted(map(int, hand), reverse=True))

    def hand_of(self, player: int) -> int:
        """The index of a player's hand."""
        return self._hands[player]

    @property
    def chips(self) -> tuple[tuple[float, float], tuple[float, float], float]:
        """Each player's chips on this street, chips behind, and the pot with the bets of this street."""
        event = self._event
        whole, paid = self._spot.pot / 2 + self._spot.stack, event.contributions
        if not isinstance(event, Decision | StreetEnd):  # what nobody called is returned
            paid = (min(paid), min(paid))
        bets = event.street_bets if isinstance(event, Decision) else (0.0, 0.0)
        return bets, (whole - paid[0], whole - paid[1]), sum(paid)

    @property
    def whole_board(self) -> int:
        """The number of cards of a complete board."""
        return sum(self._spot.format.deal)

    @property
    def blind(self) -> float | None:
        """The big blind, if it is known."""
        return self._spot.big_blind

    @property
    def unit(self) -> str:
        """The unit of amounts: ``chips`` or ``bb``."""
        return self._spot.unit

    def log(self, number: int, player: int) -> str:
        """A finished game as text for the log; ``player`` is the person's player number."""
        begun = " ".join(map(card_to_string, self._begun))
        pot, stack = self._chips(self._spot.pot), self._chips(self._spot.stack)
        lines = [f"Hand {number}: {begun}, pot {pot}, stacks {stack}, you are {NAMES[player]}"]
        lines += [f"{NAMES[seat]} holds {text}" for seat, text in enumerate(self.shown())]
        lines += [*self._story, self.outcome(player), *self.review(player)]
        return "\n".join(lines) + "\n\n"

    def _street(self) -> str:
        """Name of the current street."""
        return street_name(len(self._board), sum(self._spot.format.deal))

    def _come(self, count: int) -> tuple[int, ...]:
        """Draw ``count`` cards that are neither on the board nor in a hand."""
        form = self._spot.format
        gone = {*self._board, *(int(card) for hand in self._hands for card in form.hands[hand])}
        left = form.cards_left(gone)
        if count == 1:
            cards: tuple[int, ...] = (int(self._generator.choice(left)),)
        else:
            cards = tuple(map(int, self._generator.choice(left, count, replace=False)))
        self._board = (*self._board, *cards)
        self._story.append(f"{self._street()}   {' '.join(map(card_to_string, cards))}")
        return cards

    def _chips(self, amount: float) -> str:
        """An amount as text, rounded to the spot's chips, with its unit unless that is chips."""
        unit = "" if self.unit == CHIPS else f" {self.unit}"
        return f"{round(amount / self._spot.chip) * self._spot.chip:,.12g}{unit}"

    def _text(self, player: int) -> str:
        """A player's cards as text, the higher one first, with their category on the board."""
        form = self._spot.format
        hand = form.hands[[self._hands[player]]]
        cards = " ".join(card_to_string(int(card)) for card in sorted(hand[0], reverse=True))
        if form.ranking != "five":
            return cards
        return f"{cards} ({hand_name(int(strengths(self._board, hand)[0]))})"

    @property
    def _event(self) -> Node:
        """The betting-tree node of the table."""
        return agent_game(self._agent).event(self._agent.state)

    def _dealt(self) -> Belief:
        """The start of the next game, on a new board if boards are random."""
        if self._on is None:
            return self._root
        deck, count = self._spot.format.deck, len(self._spot.board)
        for _ in range(TRIES):
            board = tuple(int(card) for card in self._generator.choice(deck, count, replace=False))
            try:
                return start_of(self._on(board))
            except (GameError, SpecError):
                continue
        raise GameError(f"the ranges have no compatible pair of hands on any of {TRIES} random boards; widen a range")


def street_name(board: int, whole: int) -> str:
    """The name of the street with ``board`` board cards, if the last street has ``whole``."""
    names = {0: "preflop", 3: "flop", 4: "turn"} if whole == 5 else {}
    return "river" if board == whole else names.get(board, f"{board} cards")


def pot_to_bet(event: Decision) -> float:
    """The pot after calling the bet faced, on which pot-relative sizes are based."""
    return sum(event.contributions) + max(event.street_bets) - event.street_bets[event.player]


def named(action: Action, event: Decision, unit: str = "") -> str:
    """An action as readable text: ``bet 1,500 (75%)``, ``raise to 4,000``, ``all-in 19,000``, with ``unit`` after amounts."""
    if action.kind == "call":
        return f"call {action.amount - event.street_bets[event.player]:,.12g}{unit}"
    if action.kind not in ("bet", "raise", "allin"):
        return action.kind
    word = {"bet": "bet", "raise": "raise to", "allin": "all-in"}[action.kind]
    share = 100 * (action.amount - max(event.street_bets)) / pot_to_bet(event)
    return f"{word} {action.amount:,.12g}{unit}" + ("" if action.kind == "allin" else f" ({share:.0f}%)")
