"""Public belief states of hold'em: a board, a betting line and two ranges over single hands; pairs are never enumerated.

The general :class:`~treeplex.search.beliefs.PublicBelief` keeps a weight for each pair of hands. In hold'em two hands exclude
each other only by a shared card, and each card to come is as likely as any other given both hands, so the joint distribution is
``r0(h) r1(g)`` over pairs without a shared card, up to a factor. Sums over a player's compatible hands follow by inclusion and
exclusion: all, less those with the first card, less those with the second, plus the one with both.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import GameError
from treeplex.games.poker.betting.tree import BettingTree, Decision, Fold, Node, StreetEnd, betting_tree
from treeplex.games.poker.cards.cards import cards_to_string
from treeplex.games.poker.spots.spot import Spot
from treeplex.search.beliefs import normalised_range

Floats = NDArray[np.float64]
ROUNDING = 1e-13
"""Sums of compatible reach below this part of all reach are differences of rounded numbers, and count as nothing."""


@dataclass(frozen=True, eq=False)
class HoldemRules:
    """A spot and its betting tree; cards and hands are those of its format (H hands: 1,326 with 52 cards).

    Attributes:
        spot: the spot; its ranges are those with which it begins.
        tree: its betting tree.
    """

    spot: Spot
    tree: BettingTree

    @classmethod
    def of(cls, spot: Spot) -> "HoldemRules":
        """The rules of a spot."""
        return cls(spot, betting_tree(spot))

    @cached_property
    def incidence(self) -> Floats:
        """Which hand has which card, float64 [H, 52], 1 or 0."""
        hands = self.spot.format.hands
        held = np.zeros((len(hands), 52))
        for column in range(hands.shape[1]):
            held[np.arange(len(hands)), hands[:, column]] = 1.0
        return held

    @cached_property
    def parents(self) -> list[tuple[int, int]]:
        """For each node of the betting tree the one before and the number of the action taken there; (-1, -1) at the root."""
        found = [(-1, -1)] * len(self.tree)
        for number, node in enumerate(self.tree.nodes):
            children = node.children if isinstance(node, Decision) else (node.child,) if isinstance(node, StreetEnd) else ()
            for action, child in enumerate(children):
                found[child] = number, action
        return found

    def free(self, cards: Sequence[int]) -> NDArray[np.bool_]:
        """The hands without any of these cards, bool [H]."""
        return np.asarray(self.incidence[:, list(cards)].sum(axis=1) == 0)

    def possible(self, board: Sequence[int]) -> tuple[Floats, Floats]:
        """1 for the hands of each player that its range at the beginning and the board allow, else 0; float64 [H]."""
        first, second = ((weights > 0) & self.free(board) for weights in self.spot.ranges)
        return first.astype(np.float64), second.astype(np.float64)

    def compatible(self, reached: Floats) -> Floats:
        """For each hand the sum of ``reached`` over hands that share no card with it, both float64 [..., H]; O(H)."""
        total = reached.sum(axis=-1, keepdims=True)
        mass = total - (reached @ self.incidence) @ self.incidence.T
        if self.spot.format.hole == 2:
            mass += reached
        return np.where(mass > ROUNDING * total, mass, 0.0)


@dataclass(frozen=True, eq=False)
class HoldemBelief:
    """A public belief state of hold'em.

    Attributes:
        rules: the spot and its betting.
        node: the node of the betting tree.
        board: the cards on the table.
        ranges: for each player float64 [H], how likely its range at the beginning and its own play have made each hand, summing
            to one over hands that the board allows.
    """

    rules: HoldemRules
    node: int
    board: tuple[int, ...]
    ranges: tuple[Floats, Floats]

    @classmethod
    def of(cls, rules: HoldemRules, node: int, board: Sequence[int], ranges: Sequence[Floats] | None) -> "HoldemBelief":
        """A public belief state from ranges up to a factor; None for those with which the spot begins.

        Raises:
            GameError: no such node or board, ranges of another length, negative or not finite, or no pair of hands is possible.
        """
        board = tuple(map(int, board))
        check_place(rules, node, board)
        given = rules.spot.ranges if ranges is None else ranges
        found = []
        for own, can in zip(given, rules.possible(board), strict=True):
            own = np.asarray(own, np.float64)
            if own.shape != can.shape or not (np.isfinite(own) & (own >= 0)).all():
                raise GameError(f"a range must be {len(can)} numbers >= 0, not {own!r}")
            found.append(normalised_range(own, can) if can.any() else can)
        belief = cls(rules, node, board, (found[0], found[1]))
        if not belief.pairs > 0:
            raise GameError(f"no pair of hands of these ranges is possible on {cards_to_string(board)}; widen a range")
        return belief

    @classmethod
    def root(cls, rules: HoldemRules) -> "HoldemBelief":
        """Where the spot begins."""
        return cls.of(rules, 0, rules.spot.board, None)

    @classmethod
    def at(
        cls, rules: HoldemRules, node: int, board: Sequence[int], policy: Callable[["HoldemBelief"], Floats]
    ) -> "HoldemBelief":
        """From the discrete representation: what a node and a board, so the public history, say if all know how all play.

        Args:
            rules: the spot and its betting.
            node, board: where the history leads; the betting line and the order of the cards make it unique.
            policy: for a public belief state where a player acts, float64 [A, H], how each hand plays.
        """
        board = tuple(map(int, board))
        check_place(rules, node, board)
        path, place = [], node
        while rules.parents[place][0] >= 0:
            place, action = rules.parents[place]
            path.append(action)
        belief = cls.root(rules)
        for action in reversed(path):
            if isinstance(belief.event, Decision):
                belief = belief.acted(action, policy(belief))
            else:
                belief = belief.dealt(board[len(belief.board) : len(belief.board) + belief.cards_due])
        while len(belief.board) < len(board):
            belief = belief.dealt(board[len(belief.board) : len(belief.board) + belief.cards_due])
        return belief

    @property
    def event(self) -> Node:
        """What happens here."""
        return self.rules.tree.nodes[self.node]

    @property
    def player(self) -> int | None:
        """Who acts; None where cards come or the game is over."""
        return self.event.player if isinstance(self.event, Decision) else None

    @property
    def cards_due(self) -> int:
        """The number of cards dealt next; 0 where somebody acts or the game is over."""
        form = self.rules.spot.format
        street = form.board_sizes.index(len(self.board)) + 1
        over = isinstance(self.event, Decision | Fold) or street == form.streets
        return 0 if over else form.deal[street]

    @property
    def pot(self) -> float:
        """Chips in the pot."""
        return sum(self.event.contributions)

    @property
    def stacks(self) -> tuple[float, float]:
        """Chips behind, of each player."""
        whole = self.rules.spot.pot / 2 + self.rules.spot.stack
        first, second = self.event.contributions
        return whole - first, whole - second

    @cached_property
    def opposing_mass(self) -> tuple[Floats, Floats]:
        """For each hand of a player the other's range over hands that share no card with it, float64 [H]."""
        first, second = self.rules.compatible(np.stack(self.ranges[::-1]))
        return first, second

    @cached_property
    def pairs(self) -> float:
        """The sum of products of both ranges over pairs of hands that share no card."""
        return float(self.ranges[0] @ self.opposing_mass[0])

    @property
    def beliefs(self) -> tuple[Floats, Floats]:
        """What is believed about each player's hand, float64 [H]: the marginals of the joint distribution."""
        first, second = (own * mass for own, mass in zip(self.ranges, self.opposing_mass, strict=True))
        return first / first.sum(), second / second.sum()

    def joint(self, first: int, second: int) -> float:
        """The probability that player 0 holds one hand and player 1 another."""
        shared = self.rules.incidence[first] @ self.rules.incidence[second]
        return 0.0 if shared else float(self.ranges[0][first] * self.ranges[1][second]) / self.pairs

    def given(self, player: int, hand: int) -> Floats:
        """What a player who holds a hand believes about the other's, float64 [H]; zeros if nothing fits it."""
        cards = self.rules.spot.format.hands[hand]
        other = self.ranges[1 - player] * (self.rules.free(cards) & bool(self.rules.possible(self.board)[player][hand]))
        total = other.sum()
        share: Floats = other / total if total > 0 else other
        return share

    def draw(self, generator: np.random.Generator) -> tuple[int, int]:
        """To the discrete representation: both hands, drawn from the joint distribution."""
        first = int(generator.choice(len(self.ranges[0]), p=self.beliefs[0]))
        return first, int(generator.choice(len(self.ranges[1]), p=self.given(0, first)))

    def acted(self, action: int, policy: Floats) -> "HoldemBelief":
        """The public belief state after an action, by Bayes.

        Args:
            action: its number at the node.
            policy: float64 [A, H], how the player to act plays each hand.

        Raises:
            GameError: nobody acts here, there is no such action, or the policy has another shape.
        """
        event = self.event
        if not isinstance(event, Decision) or not 0 <= action < len(event.actions):
            raise GameError(f"no action number {action} at node {self.node} of the betting")
        expected = len(event.actions), len(self.ranges[0])
        if policy.shape != expected:
            raise GameError(f"a policy at node {self.node} of the betting must be {expected}, not {policy.shape}")
        ranges = list(self.ranges)
        ranges[event.player] = ranges[event.player] * policy[action]
        return HoldemBelief.of(self.rules, event.children[action], self.board, ranges)

    def dealt(self, cards: Sequence[int]) -> "HoldemBelief":
        """The public belief state after cards came: hands that have one of them are out.

        Raises:
            GameError: another number of cards is due, or one lies there already.
        """
        if not cards or len(cards) != self.cards_due:
            raise GameError(f"{self.cards_due} cards are due on {cards_to_string(self.board)}, not {len(cards)}")
        node = self.event.child if isinstance(self.event, StreetEnd) else self.node
        return HoldemBelief.of(self.rules, node, (*self.board, *cards), self.ranges)

    def deal_probability(self, cards: Sequence[int]) -> float:
        """How likely these cards are to come next, as a set."""
        form = self.rules.spot.format
        free = self.rules.free(cards)
        left = float((self.ranges[0] * free) @ self.rules.compatible(self.ranges[1] * free)) / self.pairs
        return left / comb(len(form.deck) - len(self.board) - 2 * form.hole, len(cards))


def check_place(rules: HoldemRules, node: int, board: Sequence[int]) -> None:
    """Refuse a node that the betting tree has not, and a board on which the betting cannot be there."""
    if not 0 <= node < len(rules.tree):
        raise GameError(f"no node {node} in a betting tree of {len(rules.tree)}")
    spot, event = rules.spot, rules.tree.nodes[node]
    street = spot.format.street(board)
    runs_out = not isinstance(event, Decision | StreetEnd | Fold)
    if tuple(board[: len(spot.board)]) != spot.board or not (street == event.street or (runs_out and street > event.street)):
        raise GameError(f"the betting is not at node {node} on the board {cards_to_string(board)}")
