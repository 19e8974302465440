"""Traversals of limit hold'em in buckets, street by street, for one player against all sequences of the other at once.

Betting is traversed once. A terminal's value for all of a player's bucket sequences is one product of the joint table with the
opponent's reach; terminals of many betting lines are columns of one matrix. The last street, which has nearly all entries, is
traversed in blocks of its starts, to limit memory.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from papers.cfr2007.game import LimitGame
from papers.cfr2007.street import END, FOLD, NODE, Tables

Array = NDArray[np.float32]
COLUMNS = 63
"""Starts of the last street per block."""


class Reach(NamedTuple):
    """Reach probabilities of both players at a decision, float32 [sequences, starts]; None if not requested."""

    own: Array | None
    other: Array


class StreetWalk(ABC):
    """A traversal for one player, the hero.

    Attributes:
        game: the game.
        hero: the player.
        sums: both players act in proportion to their positive part, or uniformly if that is zero.
        last: the last street.
    """

    def __init__(self, game: LimitGame, hero: int, sums: Tables) -> None:
        self.game, self.hero, self.sums = game, hero, sums
        self.last = len(game.counts) - 1

    @abstractmethod
    def decide(self, place: "Place", values: Sequence[Array], reach: Reach) -> Array:
        """The value of a decision of the hero from those of its actions, each float32 [sequences, starts].

        Args:
            place: the decision and its policy.
            values: of the actions.
            reach: of the decision.
        """

    def value(self, *, own: bool = False) -> float:
        """Expected winnings of the hero, in chips; the hero's reach is computed only if :meth:`decide` needs it."""
        start = np.ones((self.game.counts[0], 1), dtype=np.float32)
        return float(self.street(0, Reach(start if own else None, start), slice(0, 1)).sum(dtype=np.float64))

    def street(self, street: int, start: Reach, starts: slice) -> Array:
        """Counterfactual values of the hero at starts of a street: float32 [sequences, starts].

        Args:
            street: which.
            start: the players' reach of them.
            starts: which starts.
        """
        policy = self.policy(street, starts)
        reaches, ends = self.spread(street, policy, start)
        values = self.showdowns(street, ends, starts) if street == self.last else self.next_street(street, ends)
        return self.collect(street, policy, reaches, values, starts)

    def next_street(self, street: int, ends: Sequence[Reach]) -> list[Array]:
        """Values at the ends of a street, from the next one."""
        count, columns = self.game.counts[street + 1], ends[0].other.shape[1]

        def dealt(parts: Sequence[Array]) -> Array:
            return np.repeat(np.concatenate(parts, axis=1), count, axis=0)

        other = dealt([end.other for end in ends])
        own = dealt([end.own for end in ends if end.own is not None]) if ends[0].own is not None else None
        total = other.shape[1]
        step = COLUMNS if street + 1 == self.last else total
        found = []
        for first in range(0, total, step):
            part = slice(first, min(first + step, total))
            values = self.street(street + 1, Reach(None if own is None else own[:, part], other[:, part]), part)
            found.append(values.reshape(-1, count, values.shape[1]).sum(axis=1))
        return np.split(np.concatenate(found, axis=1), total // columns, axis=1)

    def block(self, tables: Tables, street: int, starts: slice) -> NDArray[np.floating]:
        """Entries of a street's starts in a table, as a view [sequences, slots, starts]."""
        _, _, n, slots = self.game.betting.streets[street, :4]
        size, offset = self.game.sequences[street], tables.offsets[street]
        table: NDArray[np.floating] = tables.late if street == self.last else tables.early
        return table[offset : offset + size * slots * n].reshape(size, slots, n)[:, :, starts]

    def policy(self, street: int, starts: slice) -> Array:
        """Strategies of both players: float32 [sequences, slots, starts]."""
        sums = self.block(self.sums, street, starts)
        policy = np.empty(sums.shape, dtype=np.float32)
        for _, actions, slot in self.nodes(street):
            positive = np.maximum(sums[:, slot : slot + actions], 0)
            total = positive.sum(axis=1, keepdims=True)
            shares = policy[:, slot : slot + actions]
            shares[...] = 1.0 / actions
            np.divide(positive, total, out=shares, where=total > 0, casting="same_kind")
        return policy

    def nodes(self, street: int) -> list[tuple[int, int, int]]:
        """Player, number of actions and first slot of each node of a street."""
        first, count = self.game.betting.streets[street, :2]
        return [(int(p), int(a), int(s)) for p, a, s in self.game.betting.nodes[first : first + count]]

    def targets(self, street: int, node: int) -> list[tuple[int, int]]:
        """Kind and child of each action of a node."""
        number = self.game.betting.streets[street, 0] + node
        actions = self.game.betting.nodes[number, 1]
        kinds, children = self.game.betting.kinds[number, :actions], self.game.betting.children[number, :actions]
        return [(int(kind), int(child)) for kind, child in zip(kinds, children, strict=True)]

    def spread(self, street: int, policy: Array, start: Reach) -> tuple[list[Reach], list[Reach]]:
        """The players' reach of every node and of every end of a street."""
        nodes = self.nodes(street)
        reaches, ends = [start] * len(nodes), [start] * int(self.game.betting.streets[street, 4])
        for node, (player, _, slot) in enumerate(nodes):
            own, other = reaches[node]
            for action, (kind, child) in enumerate(self.targets(street, node)):
                if kind == FOLD:
                    continue
                share = policy[:, slot + action]
                mine = own if own is None or player != self.hero else own * share
                reach = Reach(mine, other if player == self.hero else other * share)
                if kind == NODE:
                    reaches[child] = reach
                elif kind == END:
                    ends[child] = reach
        return reaches, ends

    def showdowns(self, street: int, ends: Sequence[Reach], starts: slice) -> list[Array]:
        """Values of showdowns: the table of wins times the opponent's reach, times the chips."""
        wins = self.game.wins if self.hero == 0 else -self.game.wins.T
        values = np.split(wins @ np.concatenate([end.other for end in ends], axis=1), len(ends), axis=1)
        first = self.game.betting.streets[street, 5]
        return [value * self.chips(street, starts, self.game.betting.ends[first + end]) for end, value in enumerate(values)]

    def chips(self, street: int, starts: slice, extra: float) -> Array:
        """Chips of each player at these starts, plus ``extra``."""
        first = self.game.betting.streets[street, 6]
        width = self.game.betting.streets[street, 2]
        chips: Array = (self.game.betting.levels[first : first + width][starts] + extra).astype(np.float32)
        return chips

    def collect(self, street: int, policy: Array, reaches: Sequence[Reach], ends: Sequence[Array], starts: slice) -> Array:
        """Values of the first node of a street, bottom up."""
        nodes = self.nodes(street)
        folds = self.folds(street, policy, reaches, starts)
        values: list[Array] = [ends[0]] * len(nodes)
        for node in range(len(nodes) - 1, -1, -1):
            player, actions, slot = nodes[node]
            below = [
                folds[node] if kind == FOLD else values[child] if kind == NODE else ends[child]
                for kind, child in self.targets(street, node)
            ]
            if player == self.hero:
                shares = policy[:, slot : slot + actions]
                values[node] = self.decide(Place(street, starts, slice(slot, slot + actions), shares), below, reaches[node])
            else:
                values[node] = sum(below[1:], start=below[0])
        return values[0]

    def folds(self, street: int, policy: Array, reaches: Sequence[Reach], starts: slice) -> dict[int, Array]:
        """For each node where folding is possible, the hero's value of that fold."""
        nodes = self.nodes(street)
        where = [node for node in range(len(nodes)) if self.targets(street, node)[0][0] == FOLD]
        columns = [
            reaches[node].other if nodes[node][0] == self.hero else reaches[node].other * policy[:, nodes[node][2]]
            for node in where
        ]
        pairs = self.pairs(street)
        products = np.split((pairs if self.hero == 0 else pairs.T) @ np.concatenate(columns, axis=1), len(where), axis=1)
        first = self.game.betting.streets[street, 0]
        values = {}
        for node, product in zip(where, products, strict=True):
            chips = self.chips(street, starts, self.game.betting.losses[first + node])
            values[node] = product * (-chips if nodes[node][0] == self.hero else chips)
        return values

    def pairs(self, street: int) -> Array:
        """Probabilities of the pairs of sequences of a street."""
        size = self.game.sequences[street]
        if street == self.last:
            return self.game.pairs
        shape = (size, self.game.sequences[-1] // size) * 2
        marginal: Array = self.game.pairs.reshape(shape).sum(axis=(1, 3), dtype=np.float64).astype(np.float32)
        return marginal


class Place(NamedTuple):
    """A decision: its street, starts and slots, and its policy, float32 [sequences, actions, starts]."""

    street: int
    starts: slice
    slots: slice
    policy: Array


class BestResponse(StreetWalk):
    """The best response of the hero to the other's strategy."""

    def decide(self, place: Place, values: Sequence[Array], reach: Reach) -> Array:
        best = values[0]
        for value in values[1:]:
            best = np.maximum(best, value)
        return best


class OwnPolicy(StreetWalk):
    """The hero plays the strategy given by the sums."""

    def decide(self, place: Place, values: Sequence[Array], reach: Reach) -> Array:
        parts = [place.policy[:, action] * value for action, value in enumerate(values)]
        return sum(parts[1:], start=parts[0])


@dataclass(frozen=True)
class LimitJudgement:
    """Best-response gains against a pair of strategies in the abstract game.

    Attributes:
        best_responses: winnings of each player's best response against the other's strategy, in mbb/hand.
    """

    best_responses: tuple[float, float]

    @property
    def exploitability(self) -> float:
        """Mean over players of the best-response gain, in mbb/hand."""
        return sum(self.best_responses) / 2

    @property
    def bounds(self) -> tuple[float, float]:
        """Lower and upper bound of the game's value for player 0, the big blind, in mbb/hand."""
        return -self.best_responses[1], self.best_responses[0]


def judge_limit(game: LimitGame, average: Tables) -> LimitJudgement:
    """Evaluate both players' strategies from an average table.

    Args:
        game: the abstract game.
        average: own-reach-weighted sums of policies of both players; strategies are in proportion to them.
    """
    milli = 1000.0 / game.big_blind
    first, second = (BestResponse(game, player, average).value() * milli for player in (0, 1))
    return LimitJudgement((first, second))
