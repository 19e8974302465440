"""The histories of public-tree rules as arrays: every public node times every pair of hands, without walking the rules."""

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.histories.form import CHANCE, TERMINAL, Histories
from treeplex.errors import GameError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.games.public import Chance, Decision, PublicTree, Terminal


@dataclass(frozen=True)
class NodeHistories:
    """The histories at one public node.

    Attributes:
        numbers: int64 [D], their numbers.
        hands: int64 [D, 2], the hands of both players.
    """

    numbers: Ints
    hands: Ints

    def where(self, chosen: NDArray[np.bool_], numbers: Ints) -> "NodeHistories":
        """Return the children ``numbers`` of the selected histories."""
        return NodeHistories(numbers, self.hands[chosen])


@dataclass
class Rows:
    """Rows of histories, collected in parts: number, actor, first child, number of children and key of each history."""

    numbers: list[Ints] = field(default_factory=list)
    actors: list[Ints] = field(default_factory=list)
    children: list[Ints] = field(default_factory=list)
    counts: list[Ints] = field(default_factory=list)
    keys: list[Ints] = field(default_factory=list)
    chance: list[Floats] = field(default_factory=list)
    payoffs: list[Floats] = field(default_factory=list)
    size: int = 1
    chances: int = 0
    terminals: int = 0

    def add(self, numbers: Ints, actor: int, counts: Ints, keys: Ints) -> Ints:
        """Record histories and allocate their children; return each one's first child, int64 [D]."""
        first = self.size + np.cumsum(counts) - counts
        self.size += int(counts.sum())
        self.numbers.append(numbers)
        self.actors.append(np.full(len(numbers), actor))
        self.children.append(first)
        self.counts.append(counts)
        self.keys.append(keys)
        return first

    def add_chance(self, numbers: Ints, weights: Floats) -> Ints:
        """Record chance histories with probabilities [D, outcomes], zero for impossible ones; return first children."""
        possible = weights > 0
        counts = possible.sum(axis=1)
        keys = self.chances + np.cumsum(counts) - counts
        self.chance.append(weights[possible])
        self.chances += int(counts.sum())
        return self.add(numbers, CHANCE, counts, keys)

    def add_terminals(self, numbers: Ints, payoffs: Floats) -> None:
        """Record terminal histories with player 0's payoffs [D]."""
        keys = np.arange(self.terminals, self.terminals + len(numbers))
        self.payoffs.append(payoffs)
        self.terminals += len(numbers)
        self.add(numbers, TERMINAL, np.zeros(len(numbers), np.int64), keys)

    def harvested(self) -> Histories:
        """Return the finished arrays."""
        nodes = np.empty((self.size, 4), np.int32)
        columns = zip(self.actors, self.children, self.counts, self.keys, strict=True)
        for numbers, parts in zip(self.numbers, columns, strict=True):
            nodes[numbers] = np.stack(parts, axis=1)
        payoffs = np.concatenate(self.payoffs)
        return Histories(nodes, np.concatenate(self.chance), np.stack((payoffs, -payoffs), axis=1))


def public_histories(game: CompiledGame, tree: PublicTree) -> Histories | None:
    """Return the histories of a game compiled from public-tree rules that deal whole hands (``tree.deals_hands``).

    Returns:
        The histories, equal to those of a walk except for their order; None if the rules deal the public cards of an event one
        by one.

    Raises:
        GameError: the game was compiled from other rules.
    """
    rows = Rows()
    stack: list[tuple[Hashable, NodeHistories]] = [(tree.root, deal(rows, np.asarray(tree.prior, np.float64)))]
    while stack:
        node, reached = stack.pop()
        visited = tree.visit(node)
        if isinstance(visited, Terminal):
            matrix = visited.scale * np.asarray(visited.matrix, np.float64)
            rows.add_terminals(reached.numbers, matrix[tuple(reached.hands.T)])
        elif isinstance(visited, Chance):
            if visited.steps > 1:
                return None
            weights = np.stack([weight[tuple(reached.hands.T)] for _, weight in visited.outcomes], axis=1)
            possible = weights > 0
            children = rows.add_chance(reached.numbers, weights)[:, None] + np.cumsum(possible, axis=1) - 1
            for number, (label, _) in enumerate(visited.outcomes):
                chosen = possible[:, number]
                if chosen.any():
                    stack.append((tree.child(node, label), reached.where(chosen, children[chosen, number])))
        else:
            infosets = infosets_at(game, tree, node, visited, reached)
            first = rows.add(reached.numbers, visited.player, np.full(len(infosets), len(visited.actions)), infosets)
            for number, action in enumerate(visited.actions):
                stack.append((tree.child(node, action), NodeHistories(first + number, reached.hands)))
    return rows.harvested()


def deal(rows: Rows, prior: Floats) -> NodeHistories:
    """Record the deal of player 0's hand, then of player 1's; return the histories after both."""
    marginal = prior.sum(axis=1)
    hands = np.flatnonzero(marginal)
    first = rows.add_chance(np.zeros(1, np.int64), (marginal / marginal.sum())[None])
    weights = prior[hands] / prior[hands].sum(axis=1, keepdims=True)
    below = rows.add_chance(first[0] + np.arange(len(hands)), weights)
    dealt, others = np.nonzero(weights)
    rank = (np.cumsum(weights > 0, axis=1) - 1)[dealt, others]
    return NodeHistories(below[dealt] + rank, np.stack((hands[dealt], others), axis=1))


def infosets_at(game: CompiledGame, tree: PublicTree, node: Hashable, decision: Decision, reached: NodeHistories) -> Ints:
    """Return the infoset of each history at a decision node, int64 [D]."""
    held, inverse = np.unique(reached.hands[:, decision.player], return_inverse=True)
    numbers = [game.lookup.get((decision.player, tree.infostate(node, decision.player, hand))) for hand in held.tolist()]
    if None in numbers:
        raise GameError(f"the rules of {game} have changed since it was compiled (public node {node!r})")
    return np.array(numbers, np.int64)[inverse]
