"""Limit hold'em in buckets as compact arrays, with repeated streets stored once; and tables over its sequences."""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from papers.cfr2007.street import END, FOLD, NODE, BettingArrays, Tables
from treeplex.errors import GameError, SpecError
from treeplex.games.registry import load
from treeplex.holdem.betting.tree import BettingTree, Decision, Fold, StreetEnd
from treeplex.holdem.buckets.game import BucketGame

MOST_ACTIONS = 3
NOT_ALIKE = (
    f"sampled chance needs streets that are the same for all ways of reaching them, with at most {MOST_ACTIONS} actions, as in "
    "fixed limit with stacks that never bind; solve this game with full sweeps, say dcfr"
)


class LimitGame(BucketGame):
    """A game of buckets with fixed limit."""

    @classmethod
    def of(cls, game: BucketGame) -> "LimitGame":
        """A :class:`LimitGame` from a bucketed game, for the solvers here."""
        return cls(
            game.spot,
            game.counts,
            lambda: game.tables,
            buckets=lambda: game.buckets,
            spec=game.spec,
            parameters=game.parameters(),
        )

    @classmethod
    def named(cls, spec: str) -> "LimitGame":
        """The game of a spec.

        Raises:
            SpecError: the game has no buckets.
        """
        game = load(spec)
        if not isinstance(game, BucketGame):
            raise SpecError(f"limit hold'em: the game is {spec}; give bucketed_holdem, say bucketed_holdem(buckets=5)")
        return cls.of(game)

    @cached_property
    def betting(self) -> BettingArrays:
        """The betting.

        Raises:
            GameError: it is not fixed limit.
        """
        return limit_betting(self.tree)

    @property
    def big_blind(self) -> float:
        """Big blind in chips; for spots without blinds the smallest bet."""
        return self.spot.blinds[1] if self.spot.blinds else self.spot.min_bet

    @cached_property
    def identity(self) -> str:
        """The SHA-256 of the tables and the betting."""
        digest = hashlib.sha256(repr((self.counts, self.big_blind)).encode())
        for array in (self.pairs, self.wins, *self.betting):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    @cached_property
    def infosets(self) -> int:
        """Infosets of both players, impossible sequences included."""
        return sum(self.sequences[self.dealt_at(number)] for number, _ in self.tree.decisions())

    @cached_property
    def states(self) -> int:
        """Nodes of the betting tree, each for all pairs of sequences of its street."""
        return sum(self.sequences[self.dealt_at(number)] ** 2 for number in range(len(self.tree)))

    @property
    def table_rows(self) -> list[int]:
        """Numbers in a table on each street."""
        return [count * width for count, width in zip(self.sequences, widths(self.betting), strict=True)]


def tables_of(game: LimitGame, early: NDArray[np.float64], late: NDArray[np.float32]) -> Tables:
    """Tables from flat arrays."""
    rows, sequences = game.table_rows, game.sequences
    offsets = [sum(rows[:street]) for street in range(len(rows) - 1)] + [0]
    tails = [sequences[-1] // count for count in sequences]
    return Tables(early, late, np.array(offsets, dtype=np.int64), np.array(tails, dtype=np.int64))


def empty_tables(game: LimitGame) -> Tables:
    """Zeros for every sequence, start and slot of a game."""
    *early, late = game.table_rows
    return tables_of(game, np.zeros(max(1, sum(early))), np.zeros(late, dtype=np.float32))


@dataclass
class StreetBetting:
    """The betting of one street from one start; :meth:`grow` fills it.

    Attributes:
        tree: the whole betting tree.
        level: chips of each player in the pot before the street.
        nodes: for each decision in preorder player, actions and first slot, then kind and target of each action.
        losses, ends: chips of this street lost by folding, and each player's chips at each end.
        below: for each end, the first node of the next street, or the showdown.
        slots: actions so far.
    """

    tree: BettingTree
    level: float
    nodes: list[list[int]] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    below: list[int] = field(default_factory=list)
    slots: int = 0

    def grow(self, number: int) -> int:
        """Add a decision and its street's subtree; returns its number within the street."""
        decision, own = self.tree.nodes[number], len(self.nodes)
        if not isinstance(decision, Decision) or len(decision.actions) > MOST_ACTIONS:
            raise GameError(NOT_ALIKE)
        row = [decision.player, len(decision.actions), self.slots, *[FOLD, 0] * MOST_ACTIONS]
        self.nodes.append(row)
        self.losses.append(0.0)
        self.slots += len(decision.actions)
        for action, child in enumerate(decision.children):
            below = self.tree.nodes[child]
            if isinstance(below, Fold):
                self.losses[own] = min(below.contributions) - self.level
                continue
            if isinstance(below, Decision):
                kind, target = NODE, self.grow(child)
            else:
                kind, target = END, len(self.ends)
                self.ends.append(min(below.contributions) - self.level)
                self.below.append(below.child if isinstance(below, StreetEnd) else child)
            row[3 + 2 * action : 5 + 2 * action] = kind, target
        return own


def limit_betting(tree: BettingTree) -> BettingArrays:
    """The compact arrays of a betting tree of fixed limit.

    Raises:
        GameError: a street's betting depends on how it is reached, or a node has more than three actions.
    """
    starts, levels = [0], [0.0]
    streets: list[list[int]] = []
    nodes, losses, ends, all_levels = list[list[int]](), list[float](), list[float](), list[float]()
    while isinstance(tree.nodes[starts[0]], Decision):
        plans = [StreetBetting(tree, level) for level in levels]
        for plan, start in zip(plans, starts, strict=True):
            plan.grow(start)
        one = plans[0]
        if any((plan.nodes, plan.losses, plan.ends) != (one.nodes, one.losses, one.ends) for plan in plans):
            raise GameError(NOT_ALIKE)
        streets.append([len(nodes), len(one.nodes), len(starts), one.slots, len(one.ends), len(ends), len(all_levels)])
        nodes += one.nodes
        losses += one.losses
        ends += one.ends
        all_levels += levels
        levels = [level + chips for chips in one.ends for level in levels]
        starts = [plan.below[end] for end in range(len(one.ends)) for plan in plans]
    table = np.array(nodes, dtype=np.int64)
    return BettingArrays(
        np.array(streets, dtype=np.int64),
        np.ascontiguousarray(table[:, :3]),
        np.ascontiguousarray(table[:, 3::2]),
        np.ascontiguousarray(table[:, 4::2]),
        np.array(losses),
        np.array(ends),
        np.array(all_levels),
    )


def widths(betting: BettingArrays) -> list[int]:
    """Numbers in a table's row on each street: slots times starts."""
    return [int(street[2] * street[3]) for street in betting.streets]


def decisions(betting: BettingArrays) -> list[int]:
    """Decisions of both players on each street, all starts together."""
    return [int(street[1] * street[2]) for street in betting.streets]
