"""Exploitability inside an abstract limit game, exactly: best responses by matrix products over bucket sequences.

Betting is walked once for each player. A terminal's value for all of a player's bucket sequences is one product of the
joint table with the opponent's reach; terminals of many betting lines are columns of one matrix.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.buckets.street import END, FOLD, NODE, Tables
from treeplex.games.poker.buckets.game import BucketGame

Array = NDArray[np.float32]
COLUMNS = 63
"""Starts of the last street that are handled at a time."""


@dataclass(frozen=True)
class LimitJudgement:
    """What best responses gain against a pair of strategies in the abstract game.

    Attributes:
        best_responses: what a best response of each player wins against the other's strategy, in thousandths of a big blind per
            hand.
    """

    best_responses: tuple[float, float]

    @property
    def exploitability(self) -> float:
        """Mean over players of a best response's gain, in thousandths of a big blind per hand."""
        return sum(self.best_responses) / 2

    @property
    def bounds(self) -> tuple[float, float]:
        """What the game is worth to player 0, the big blind, lies between these, in the same unit."""
        return -self.best_responses[1], self.best_responses[0]


def judge_limit(game: BucketGame, average: Tables) -> LimitJudgement:
    """Judge the strategies of both players that an average table holds.

    Args:
        game: the abstract game.
        average: own-reach-weighted sums of policies of both players; strategies are in proportion to them.
    """
    milli = 1000.0 / game.big_blind
    first, second = (BestResponse(game, average, player).value() * milli for player in (0, 1))
    return LimitJudgement((first, second))


class BestResponse:
    """The best response of one player, ``hero``, to the other's strategy."""

    def __init__(self, game: BucketGame, average: Tables, hero: int) -> None:
        self.game = game
        self.average = average
        self.hero = hero
        self.last = len(game.counts) - 1

    def value(self) -> float:
        """What the hero wins on average, in chips."""
        start = np.ones((self.game.counts[0], 1), dtype=np.float32)
        return float(self.street(0, start, slice(0, 1)).sum(dtype=np.float64))

    def street(self, street: int, start: Array, starts: slice) -> Array:
        """Counterfactual values of the hero at starts of a street: float32 [sequences, starts].

        Args:
            street: which.
            start: float32 [sequences, starts], the opponent's reach.
            starts: which starts.
        """
        policy = self.policy(street, starts)
        reaches, ends = self.spread(street, policy, start)
        ends = self.showdowns(street, ends, starts) if street == self.last else self.next_street(street, ends)
        return self.collect(street, policy, reaches, ends, starts)

    def next_street(self, street: int, ends: Sequence[Array]) -> list[Array]:
        """Values at the ends of a street, from the next one."""
        count, columns = self.game.counts[street + 1], ends[0].shape[1]
        start = np.repeat(np.concatenate(ends, axis=1), count, axis=0)
        total = start.shape[1]
        step = COLUMNS if street + 1 == self.last else total
        parts = []
        for first in range(0, total, step):
            part = slice(first, min(first + step, total))
            values = self.street(street + 1, start[:, part], part)
            parts.append(values.reshape(-1, count, values.shape[1]).sum(axis=1))
        return np.split(np.concatenate(parts, axis=1), total // columns, axis=1)

    def policy(self, street: int, starts: slice) -> Array:
        """Strategies of both players: float32 [sequences, slots, starts]."""
        _, _, n, slots = self.game.betting.streets[street, :4]
        size, offset = self.game.sequences[street], self.average.offsets[street]
        table: NDArray[np.floating] = self.average.late if street == self.last else self.average.early
        sums = table[offset : offset + size * slots * n].reshape(size, slots, n)[:, :, starts]
        policy = np.empty(sums.shape, dtype=np.float32)
        for _, actions, slot in self.nodes(street):
            block = sums[:, slot : slot + actions]
            total = block.sum(axis=1, keepdims=True)
            uniform = np.full(block.shape, 1.0 / actions, dtype=np.float32)
            policy[:, slot : slot + actions] = np.divide(block, total, out=uniform, where=total > 0, casting="same_kind")
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

    def spread(self, street: int, policy: Array, start: Array) -> tuple[list[Array], list[Array]]:
        """The opponent's reach of every node and of every end of a street, [sequences, starts] each."""
        nodes = self.nodes(street)
        reaches, ends = [start] * len(nodes), [start] * int(self.game.betting.streets[street, 4])
        for node, (player, _, slot) in enumerate(nodes):
            for action, (kind, child) in enumerate(self.targets(street, node)):
                reach = reaches[node] if player == self.hero else reaches[node] * policy[:, slot + action]
                if kind == NODE:
                    reaches[child] = reach
                elif kind == END:
                    ends[child] = reach
        return reaches, ends

    def showdowns(self, street: int, ends: Sequence[Array], starts: slice) -> list[Array]:
        """Values of showdowns: the table of wins times the opponent's reach, times the chips."""
        wins = self.game.wins if self.hero == 0 else -self.game.wins.T
        values = np.split(wins @ np.concatenate(ends, axis=1), len(ends), axis=1)
        first = self.game.betting.streets[street, 5]
        return [value * self.chips(street, starts, self.game.betting.ends[first + end]) for end, value in enumerate(values)]

    def chips(self, street: int, starts: slice, extra: float) -> Array:
        """Chips of each player at these starts, plus ``extra``."""
        first = self.game.betting.streets[street, 6]
        width = self.game.betting.streets[street, 2]
        chips: Array = (self.game.betting.levels[first : first + width][starts] + extra).astype(np.float32)
        return chips

    def collect(self, street: int, policy: Array, reaches: Sequence[Array], ends: Sequence[Array], starts: slice) -> Array:
        """Values of the first node of a street, bottom up."""
        nodes = self.nodes(street)
        folds = self.folds(street, policy, reaches, starts)
        values: list[Array] = [ends[0]] * len(nodes)
        for node in range(len(nodes) - 1, -1, -1):
            own = nodes[node][0] == self.hero
            total: Array | None = None
            for kind, child in self.targets(street, node):
                value = folds[node] if kind == FOLD else values[child] if kind == NODE else ends[child]
                total = value if total is None else np.maximum(total, value) if own else total + value
            assert total is not None
            values[node] = total
        return values[0]

    def folds(self, street: int, policy: Array, reaches: Sequence[Array], starts: slice) -> dict[int, Array]:
        """For each node where folding is possible, the hero's value of that fold."""
        nodes = self.nodes(street)
        where = [node for node in range(len(nodes)) if self.targets(street, node)[0][0] == FOLD]
        columns = [
            reaches[node] if nodes[node][0] == self.hero else reaches[node] * policy[:, nodes[node][2]] for node in where
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
