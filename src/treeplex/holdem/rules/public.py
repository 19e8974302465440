"""Hold'em as a public game: a public state is a betting node and a board; pairs of hands are never enumerated.

Two hands are incompatible only if they share a card, and each card to come is equally likely given both hands, so the joint
distribution is proportional to ``r0(h) r1(g)`` over pairs without a shared card. Sums over a player's compatible hands
follow by inclusion and exclusion: all, minus those with the first card, minus those with the second, plus the one with both.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.base.wings import named
from treeplex.errors import GameError
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.betting.stakes import Stakes
from treeplex.games.public import BETTING, Bets, Options, PublicGame, State
from treeplex.holdem.betting.added import action_to, offered, with_bet
from treeplex.holdem.betting.bet_plan import FixedLimit
from treeplex.holdem.betting.tree import (
    BettingTree,
    Decision,
    Fold,
    Node,
    Showdown,
    StreetEnd,
    betting_tree,
    payoffs,
    stakes_of,
)
from treeplex.holdem.cards.cards import cards_to_string
from treeplex.holdem.cards.evaluator import format_strengths
from treeplex.holdem.rules.features import features_of_betting, features_of_board
from treeplex.holdem.rules.rules import cards_of_deal, number_of_deal
from treeplex.holdem.rules.run_outs import few_run_outs, pot_shares
from treeplex.holdem.spots.spot import Spot

ROUNDING = 1e-13
"""Share of the total reach below which sums of compatible reach are set to zero as rounding errors."""
SEARCH = "treeplex.holdem.search"
"""Name of the module that searches spots; it is imported by name because it belongs to a higher layer."""


class HoldemState(NamedTuple):
    """A public state of hold'em: a node of the betting tree and the board cards."""

    node: int
    board: tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class HoldemGame(PublicGame):
    """A spot as a public game; cards and hands are those of its format (H hands: 1,326 with 52 cards).

    An action's label is its index at the node, a deal's label :func:`treeplex.holdem.rules.rules.number_of_deal` of its
    cards; a single card is its own label. Ranges include the spot's starting weights.

    Attributes:
        spot: the spot, with its starting ranges.
        tree: its betting tree.
    """

    cut_after = BETTING
    has_tables = False
    spot: Spot
    tree: BettingTree

    @classmethod
    def of(cls, spot: Spot) -> "HoldemGame":
        """The game of a spot.

        Raises:
            GameError: the spot deals only a subset of boards.
        """
        if spot.runouts:
            raise GameError("a spot with a subset of boards cannot be searched; leave out 'runouts', or solve the spot")
        return cls(spot, betting_tree(spot))

    @cached_property
    def incidence(self) -> Floats:
        """Which hands have which cards, float64 [H, 52], 1 or 0."""
        hands = self.spot.format.hands
        held = np.zeros((len(hands), 52))
        for column in range(hands.shape[1]):
            held[np.arange(len(hands)), hands[:, column]] = 1.0
        return held

    @cached_property
    def parents(self) -> list[tuple[int, int]]:
        """For each node of the betting tree, its parent and the index of the action that leads to it; (-1, -1) at the root."""
        parents = [(-1, -1)] * len(self.tree)
        for number, node in enumerate(self.tree.nodes):
            children = node.children if isinstance(node, Decision) else (node.child,) if isinstance(node, StreetEnd) else ()
            for action, child in enumerate(children):
                parents[child] = number, action
        return parents

    def event(self, state: State) -> Node:
        """The betting-tree node of a state."""
        return self.tree.nodes[holdem_state(state).node]

    def pot(self, state: State) -> float:
        """Chips in the pot."""
        return sum(self.event(state).contributions)

    def stacks(self, state: State) -> tuple[float, float]:
        """Each player's chips behind."""
        whole = self.spot.pot / 2 + self.spot.stack
        first, second = self.event(state).contributions
        return whole - first, whole - second

    def cards_due(self, state: State) -> int:
        """The number of cards dealt next; 0 if a player acts or the game is over."""
        form = self.spot.format
        street = form.board_sizes.index(len(holdem_state(state).board)) + 1
        over = isinstance(self.event(state), Decision | Fold) or street == form.streets
        return 0 if over else form.deal[street]

    def free(self, cards: Sequence[int]) -> NDArray[np.bool_]:
        """Whether each hand contains none of these cards, bool [H]."""
        return np.asarray(self.incidence[:, list(cards)].sum(axis=1) == 0)

    def compatible(self, reached: Floats) -> Floats:
        """For each hand, the sum of ``reached`` over all hands that share no card with it, both float64 [..., H]; O(H)."""
        return compatible(reached, self.incidence, self.spot.format.hole)

    def state(self, node: int, board: Sequence[int]) -> HoldemState:
        """The state of a betting-tree node on a board.

        Raises:
            GameError: no such node, or the node's street does not match the board.
        """
        if not 0 <= node < len(self.tree):
            raise GameError(f"no node {node} in a betting tree of {len(self.tree)} nodes")
        board, event = tuple(map(int, board)), self.tree.nodes[node]
        street = self.spot.format.street(board)
        runs_out = not isinstance(event, Decision | StreetEnd | Fold)
        begins = board[: len(self.spot.board)] == self.spot.board
        if not begins or not (street == event.street or (runs_out and street > event.street)):
            raise GameError(f"betting node {node} cannot be reached on the board {cards_to_string(board)}")
        return HoldemState(node, board)

    def path_to(self, state: State) -> list[int]:
        """The labels of all actions and deals from the start of the game to a state."""
        node, board = holdem_state(state)
        path: list[int] = []
        actions, ancestor = [], node
        while self.parents[ancestor][0] >= 0:
            ancestor, action = self.parents[ancestor]
            actions.append((ancestor, action))
        dealt, deals = len(self.spot.board), iter(self.spot.format.deal[self.spot.street + 1 :])

        def deal() -> int:
            nonlocal dealt
            dealt += (count := next(deals))
            return number_of_deal(board[dealt - count : dealt])

        for ancestor, action in reversed(actions):
            path.append(action if isinstance(self.tree.nodes[ancestor], Decision) else deal())
        while dealt < len(board):
            path.append(deal())
        return path

    def first_state(self) -> HoldemState:
        return HoldemState(0, self.spot.board)

    def first_ranges(self) -> tuple[Floats, ...]:
        return self.spot.ranges

    def options(self, state: State) -> Options:
        event, due = self.event(state), self.cards_due(state)
        if isinstance(event, Decision):
            return Options(event.player, range(len(event.actions)))
        if not due:
            return Options(TERMINAL, ())
        left = self.spot.format.cards_left(holdem_state(state).board)
        return Options(CHANCE, left if due == 1 else [number_of_deal(cards) for cards in combinations(left, due)])

    def after(self, state: State, label: int) -> HoldemState:
        (node, board), event, due = holdem_state(state), self.event(state), self.cards_due(state)
        if isinstance(event, Decision):
            if not 0 <= label < len(event.actions):
                raise GameError(f"no action number {label} at {self.name_of(state)}")
            return HoldemState(event.children[label], board)
        if not due:
            raise GameError(f"no card is dealt next on the board {cards_to_string(board)}")
        cards = cards_of_deal(label, due)
        if len({*cards, *board}) < due + len(board) or not {*cards} <= {*self.spot.format.deck}:
            raise GameError(
                f"{cards_to_string(cards)} cannot be dealt on {cards_to_string(board)}: a card is on the board, "
                "appears twice or is not in the deck"
            )
        return HoldemState(event.child if isinstance(event, StreetEnd) else node, (*board, *cards))

    def possible(self, state: State) -> tuple[Floats, ...]:
        return self.possible_on(holdem_state(state).board)

    def possible_on(self, board: Sequence[int]) -> tuple[Floats, Floats]:
        """For each player, 1 for hands that its starting range and the board allow, else 0; float64 [H]."""
        first, second = ((weights > 0) & self.free(board) for weights in self.spot.ranges)
        return first.astype(np.float64), second.astype(np.float64)

    def dealt(self, state: State) -> tuple[Floats, ...]:
        return self.possible(state)

    def opposing(self, state: State, reached: Sequence[Floats], player: int) -> Floats:
        return self.compatible(reached[1 - player])

    def joint(self, state: State, ranges: Sequence[Floats]) -> Floats:
        return np.where(self.incidence @ self.incidence.T > 0, 0.0, np.outer(*ranges))

    def given(self, state: State, ranges: Sequence[Floats], player: int, hand: int) -> Floats:
        """A player's belief about the opponent's hand given its own, float64 [H]; zeros if no hand is compatible."""
        held = bool(self.possible(state)[player][hand])
        other = ranges[1 - player] * (self.free(self.spot.format.hands[hand]) & held)
        total = other.sum()
        share: Floats = other / total if total > 0 else other
        return share

    def draw(self, state: State, ranges: Sequence[Floats], generator: np.random.Generator) -> tuple[int, ...]:
        weights = ranges[0] * self.opposing(state, ranges, 0)
        if not weights.sum() > 0:
            raise GameError(f"no hands in these ranges are compatible at {self.name_of(state)}; widen a range")
        first = int(generator.choice(len(weights), p=weights / weights.sum()))
        return first, int(generator.choice(len(weights), p=self.given(state, ranges, 0, first)))

    def payoffs(self, state: State, hands: Sequence[int]) -> tuple[float, ...]:
        event = self.event(state)
        assert isinstance(event, Fold | Showdown)
        paid = payoffs(event, self.spot.rake)
        if isinstance(event, Fold):
            return paid
        if self.spot.strengths is not None:
            first, second = self.spot.strengths[list(hands)]
        else:
            form = self.spot.format
            first, second = format_strengths(form, holdem_state(state).board, form.hands[list(hands)])
        win, lose, tie = paid
        return (tie, tie) if first == second else (win, lose) if first > second else (lose, win)

    def chances(self, state: State, hands: Sequence[int]) -> Floats:
        due, form = self.cards_due(state), self.spot.format
        gone = {int(card) for hand in hands for card in form.hands[hand]}
        possible = np.array([not gone & {*cards_of_deal(label, due)} for label in self.options(state).labels], np.float64)
        return np.asarray(possible / possible.sum())

    def terminal_values(self, state: State, reached: Sequence[Floats], player: int) -> Floats:
        event, met = self.event(state), self.opposing(state, reached, player)
        assert isinstance(event, Fold | Showdown)
        win, lose = self.showdown_payoffs(state, player)
        if isinstance(event, Fold):
            return np.asarray(win * met)
        return np.asarray(met * (lose + (win - lose) * self.pot_shares(state, reached, player)))

    def showdown_payoffs(self, state: State, player: int) -> tuple[float, float]:
        event, street = self.event(state), len(self.spot.format.deal) - 1
        if isinstance(event, Fold):
            paid = payoffs(event, self.spot.rake)[player]
            return paid, paid
        most = max(event.contributions)
        win, lose, _ = payoffs(Showdown(street, (most, most)), self.spot.rake)
        return win, lose

    def stakes_at(self, state: State) -> Stakes:
        event = self.event(state)
        stakes = stakes_of(event)
        few = isinstance(event, Fold) or few_run_outs(self.spot.format, holdem_state(state).board)
        return stakes._replace(settled=stakes.settled and few)

    def pot_shares(self, state: State, reached: Sequence[Floats], player: int) -> Floats:
        other, board = reached[1 - player], holdem_state(state).board
        free = self.free(board)
        shares = pot_shares(self.spot.format, board, np.atleast_2d(other * free), self.spot.strengths)
        return shares.reshape(other.shape)

    def features_at(self, state: State) -> Floats:
        board = holdem_state(state).board
        return np.concatenate((features_of_betting(self.event(state), self.spot), features_of_board(self.spot.format, board)))

    def bets(self, state: State) -> Bets | None:
        event = self.event(state)
        return event.bets() if isinstance(event, Decision) else None

    @property
    def title(self) -> str:
        return str(self.spot)

    def name_of(self, state: State) -> str:
        node, board = holdem_state(state)
        return f"node {node} of the betting on {cards_to_string(board)}"

    def action_name(self, state: State, label: int) -> str:
        event = self.event(state)
        return (
            str(event.actions[label])
            if isinstance(event, Decision)
            else cards_to_string(cards_of_deal(label, self.cards_due(state)))
        )

    def hand_name(self, state: State, player: int, hand: int) -> str:
        return cards_to_string(sorted(map(int, self.spot.format.hands[hand]), reverse=True))

    def knowledge_at(self, state: State, player: int, hand: int) -> str:
        return cards_to_string(self.spot.format.hands[hand])

    @property
    def key(self) -> str:
        return self.spot.identity

    def rest(self, state: State, ranges: Sequence[Floats]) -> "HoldemGame":
        board, spot = holdem_state(state).board, self.spot
        if spot.blinds is not None and board:  # the blinds are in the pot, and the smallest bet is still a big blind
            bets = spot.bets if isinstance(spot.bets, FixedLimit) else replace(spot.bets, min_bet=spot.min_bet, limps=True)
            spot = replace(spot, blinds=None, bets=bets)
        pot, stack = (self.pot(state), min(self.stacks(state))) if board else (spot.pot, spot.stack)
        return HoldemGame.of(replace(spot, board=board, pot=pot, stack=stack, ranges=(ranges[0], ranges[1])))

    def cut(self, beliefs: Sequence[Any], horizon: Any, gadget: Any = None) -> Any:
        if len(beliefs) != 1:
            raise GameError(f"hold'em subgames are cut one at a time; give one belief, not {len(beliefs)}")
        return named(f"{SEARCH}.subgames.subgame:cut_holdem")(self, beliefs[0], horizon, gadget)

    def continuations(self, policies: Sequence[Sequence[Any]], boards: int) -> Any:
        return named(f"{SEARCH}.leaves.walk:HoldemWalk")(policies, boards)

    def policy_agent(self, policy: Any, generator: np.random.Generator | None) -> Any:
        return named(f"{SEARCH}.spot_agent:spot_agent")(self, policy, generator)

    def with_action(self, state: State, action: float) -> "tuple[HoldemGame, int]":
        """The game with one more bet or raise for the player to act, to ``action`` total chips on this street.

        A size that the spot does not offer is added for that player on that street.

        Raises:
            GameError: the state is no decision, or the rules allow no such bet.
        """
        event, spot = self.event(state), self.spot
        if not isinstance(event, Decision):
            raise GameError(f"no player acts at {self.name_of(state)}")
        index = action_to(event, action)
        if index is not None:
            return self, index
        game = HoldemGame.of(with_bet(spot, event, action))
        there: HoldemState = game.first_state()
        here: State = self.first_state()
        for label in self.path_to(state):
            there, here = game.after(there, self.label_in(here, label, game, there)), self.after(here, label)
        after = game.event(there)
        assert isinstance(after, Decision)
        number = offered(after, action, spot)
        return game, number

    def label_in(self, state: State, label: int, other: PublicGame, there: State) -> int:
        event = self.event(state)
        if not isinstance(event, Decision):
            return label
        assert isinstance(other, HoldemGame)
        after, action = other.event(there), event.actions[label]
        assert isinstance(after, Decision)
        if action not in after.actions:
            raise GameError(f"with that size, the spot's setting 'merge' drops {action}, which was played; give another size")
        return after.actions.index(action)


def holdem_state(state: State) -> HoldemState:
    """Check that a state is a hold'em state and return it."""
    assert isinstance(state, HoldemState)
    return state


def compatible(reached: Floats, incidence: Floats, hole: int) -> Floats:
    """For each hand, the sum of ``reached`` over all hands that share no card with it, both float64 [..., H]; O(H).

    Args:
        reached: as above.
        incidence: whether each hand has each card, float64 [H, cards].
        hole: number of cards of a hand, one or two.
    """
    total = reached.sum(axis=-1, keepdims=True)
    mass = total - (reached @ incidence) @ incidence.T
    if hole == 2:
        mass += reached
    return np.where(mass > ROUNDING * total, mass, 0.0)
