"""Cut a game tree into pieces that can be solved one after another, starting from the last moves.

A subtree is closed if every infoset that intersects it lies entirely within it. Below the root of a closed subtree, branches
that share no infoset can be solved separately (the sub-extensive forms of Basar and Olsder 1999, definition 3.16, without their
restrictions on the order of moves); branches tied by infosets form a piece. Lower closed subtrees are solved first and replaced
by their equilibrium payoffs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from math import prod

import numpy as np

from treeplex.base.arrays import SmallInts
from treeplex.engine.histories.form import ACTOR, CHANCE, CHILD, CHILDREN, KEY, TERMINAL, Histories
from treeplex.engine.histories.subtrees import Outline, closed_subtrees, edges, outline, ties


@dataclass(frozen=True, eq=False)
class Decomposition:
    """Decomposition of a tree into closed subtrees and groups of tied branches.

    Attributes:
        tree: the histories.
        lines: the histories' parents, positions and subtree sizes.
        ends: int32 [I, 2], the first and the last history of each infoset.
        closed: int32 [H], 1 where a subtree is closed.
        tied: int32 [H], the first sibling that each history is tied to, or itself.
    """

    tree: Histories
    lines: Outline
    ends: SmallInts
    closed: SmallInts
    tied: SmallInts

    def roots(self) -> list[int]:
        """Return the roots of closed subtrees with tied branches, in descending order, so that deeper ones come first."""
        tied = np.flatnonzero(self.tied != np.arange(len(self.tied)))
        above = np.unique(self.lines.parent[tied])
        return [int(root) for root in above[self.closed[above] == 1][::-1]]

    def groups(self, root: int) -> list[tuple[int, ...]]:
        """Return a root's branches in groups of tied branches."""
        first, count = (int(n) for n in self.tree.nodes[root, [CHILD, CHILDREN]])
        branches = sorted(range(first, first + count), key=lambda child: (int(self.tied[child]), child))
        return [tuple(group) for _, group in groupby(branches, key=lambda child: int(self.tied[child]))]

    def pieces(self) -> Iterator["StaticPart"]:
        """Yield all pieces of tied branches, lower pieces first."""
        for root in self.roots():
            for branches in self.groups(root):
                if len(branches) > 1:
                    yield self.piece(root, branches)

    def piece(self, root: int, branches: tuple[int, ...]) -> "StaticPart":
        """Return the piece that consists of some branches of a root."""
        tree = self.tree
        actor = int(tree.nodes[root, ACTOR])
        part = StaticPart(self, root, branches, {}, {}, [])
        if actor >= 0:
            part.actions[int(tree.nodes[root, KEY])] = len(branches)
            part.players[int(tree.nodes[root, KEY])] = actor
        stack: list[tuple[int, float, Moves]] = [(root, 1.0, ())]
        while stack:
            history, chance, moves = stack.pop()
            if history != root and self.closed[history]:
                part.leaves.append((history, chance, moves))
                continue
            for number, (child, probability) in enumerate(part.children(history)):
                player, infoset = (int(n) for n in tree.nodes[history, [ACTOR, KEY]])
                if player >= 0:
                    part.players.setdefault(infoset, player)
                    part.actions.setdefault(infoset, int(tree.nodes[history, CHILDREN]))
                    stack.append((child, chance, (*moves, (infoset, number))))
                else:
                    stack.append((child, chance * probability, moves))
        return part


Moves = tuple[tuple[int, int], ...]
"""Players' moves on a path: pairs of infoset and number of the action."""


@dataclass(frozen=True, eq=False)
class StaticPart:
    """A piece of a tree: players know all moves before it, but not necessarily those within it.

    Attributes:
        cut: the tree.
        root: the history where it starts; the player to act knows the whole past.
        branches: the branches of the root that belong to it.
        actions: number of actions of each infoset; at the root, the number of branches.
        players: the player to act at each infoset.
        leaves: closed subtrees (or terminals) where it ends, with chance's probability and the players' moves from the root.
    """

    cut: Decomposition
    root: int
    branches: tuple[int, ...]
    actions: dict[int, int]
    players: dict[int, int]
    leaves: list[tuple[int, float, Moves]]

    @property
    def choosers(self) -> tuple[int, ...]:
        """The players who have a choice."""
        return tuple(sorted({self.players[infoset] for infoset, count in self.actions.items() if count > 1}))

    @property
    def choices(self) -> dict[int, list[int]]:
        """The infosets with a choice of each player who has one."""
        return {
            player: [infoset for infoset, count in self.actions.items() if count > 1 and self.players[infoset] == player]
            for player in self.choosers
        }

    @property
    def static(self) -> bool:
        """Whether every player has at most one infoset with a choice, as in a matrix game."""
        return all(len(infosets) == 1 for infosets in self.choices.values())

    def plans(self) -> tuple[int, ...]:
        """The number of pure plans of each player with a choice (one action per infoset)."""
        return tuple(prod(self.actions[infoset] for infoset in infosets) for infosets in self.choices.values())

    def children(self, history: int) -> list[tuple[int, float]]:
        """Return a history's children in the piece with their chance probabilities; 1 after a player's move."""
        actor, first, count, key = (int(n) for n in self.cut.tree.nodes[history])
        if actor == TERMINAL:
            return []
        below = self.branches if history == self.root else range(first, first + count)
        if actor != CHANCE:
            return [(child, 1.0) for child in below]
        chances = [float(self.cut.tree.chance[key + child - first]) for child in below]
        return [(child, chance / sum(chances)) for child, chance in zip(below, chances, strict=True)]


def cut(tree: Histories, infosets: int) -> Decomposition:
    """Decompose a tree with ``infosets`` infosets; it may lack perfect recall."""
    lines = outline(tree.nodes)
    ends = edges(tree.nodes, lines, infosets)
    return Decomposition(tree, lines, ends, closed_subtrees(tree.nodes, lines, ends), ties(tree.nodes, lines, infosets))
