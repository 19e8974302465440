"""The rows of a player's sequences on one street, arranged so that nodes alike in depth and number of actions are adjacent.

Every tensor over sequences is [rows, boards, hands]: first the street's roots, then the actions. All nodes of a group are then
one view [nodes, actions, boards, hands], and a pass over a street takes a few operations per group, however many nodes it has.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from treeplex.base.arrays import Ints
from treeplex.learn.torch.kernels import Placement, Tensor

Round = tuple[slice, Tensor]


def occurrences(targets: Ints) -> Ints:
    """For each entry the number of equal entries before it, int64 [n]."""
    order = np.argsort(targets, kind="stable")
    ordered = targets[order]
    first = np.searchsorted(ordered, ordered)
    counted = np.empty(len(targets), np.int64)
    counted[order] = np.arange(len(targets)) - first
    return counted


def rounds_of(counted: Ints, targets: Ints, at: Placement) -> tuple[Round, ...]:
    """Split entries, sorted by ``counted``, into slices with distinct targets, which a GPU can add in any order."""
    bounds = np.flatnonzero(np.diff(counted, prepend=-1, append=np.iinfo(np.int64).max))
    return tuple((slice(int(start), int(stop)), at.places(targets[start:stop])) for start, stop in pairwise(bounds))


def add_rows(values: Tensor, rounds: Sequence[Round], rows: Tensor) -> None:
    """Add rows [n, boards, hands] to the rows of ``values`` that the rounds name."""
    for part, targets in rounds:
        values.index_add_(0, targets, rows[part])


@dataclass(frozen=True, eq=False)
class Group:
    """Adjacent nodes of one depth with the same number of actions.

    Attributes:
        start, nodes, actions: the first of their actions' rows, counted without the roots, and the shape of these rows.
        parents: int64 [nodes], the row above each node.
        rounds: the same rows in rounds; see :func:`rounds_of`.
    """

    start: int
    nodes: int
    actions: int
    parents: Tensor
    rounds: tuple[Round, ...]

    def view(self, rows: Tensor) -> Tensor:
        """The group's part of [actions, boards, hands], as [nodes, actions, boards, hands]."""
        part = rows[self.start : self.start + self.nodes * self.actions]
        return part.view(self.nodes, self.actions, *rows.shape[1:])


@dataclass(frozen=True, eq=False)
class Side:
    """A player's sequences on one street.

    Attributes:
        roots, actions: numbers of rows.
        order: int64 [actions], the action in the form's order that each row holds.
        rows: int64 [roots + actions], the row of each sequence of the form.
        groups: the groups, parents first.
    """

    roots: int
    actions: int
    order: Ints
    rows: Ints
    groups: tuple[Group, ...]

    @classmethod
    def of(cls, roots: int, nodes: Sequence[tuple[int, int, int]], at: Placement) -> "Side":
        """Arrange nodes, given as (parent sequence, first action, actions), parents first."""
        table = np.array(nodes, np.int64).reshape(-1, 3)
        parent, first, count = table.T
        actions = int(count.sum())
        depth_of, depth = np.zeros(roots + actions, np.int64), np.zeros(len(table), np.int64)
        for k, (above, start, number) in enumerate(table.tolist()):
            depth[k] = depth_of[above]
            depth_of[roots + start : roots + start + number] = depth[k] + 1
        kinds = depth * (int(count.max(initial=0)) + 1) + count
        counted = occurrences(kinds * (roots + actions) + parent)
        by_kind = np.lexsort((counted, kinds))
        order = np.concatenate([np.empty(0, np.int64), *(np.arange(first[k], first[k] + count[k]) for k in by_kind)])
        rows = np.arange(roots + actions)
        rows[roots + order] = roots + np.arange(actions)
        groups, start = [], 0
        for members in np.split(by_kind, np.flatnonzero(np.diff(kinds[by_kind])) + 1) if len(table) else ():
            parents, width = rows[parent[members]], int(count[members[0]])
            rounds = rounds_of(counted[members], parents, at)
            groups.append(Group(start, len(members), width, at.places(parents), rounds))
            start += len(members) * width
        return cls(roots, actions, order, rows, tuple(groups))

    def views(self, *tensors: Tensor) -> Iterator[tuple[Group, list[Tensor]]]:
        """Each group, parents first, with its view of each tensor [actions, boards, hands]."""
        for group in self.groups:
            yield group, [group.view(tensor) for tensor in tensors]


@dataclass(frozen=True, eq=False)
class Leaves:
    """Terminals, or ends of a street, from one player's side.

    Attributes:
        order: int64 [T], the terminals of the form in the order used here.
        faced: int64 [T], the other player's row at each.
        own: int64 [T], the player's row at each terminal, in the form's order.
        sorting: int64 [T], ``order`` on the device.
        rounds: the player's rows in the order used here, in rounds.
    """

    order: Ints
    faced: Tensor
    own: Tensor
    sorting: Tensor
    rounds: tuple[Round, ...]

    @classmethod
    def of(cls, pairs: Sequence[tuple[int, int]], player: int, sides: Sequence[Side], at: Placement) -> "Leaves":
        """Terminals given as both players' sequences of the form."""
        table = np.array(pairs, np.int64).reshape(-1, 2)
        own, faced = (sides[seat].rows[table[:, seat]] for seat in (player, 1 - player))
        counted = occurrences(own)
        order = np.argsort(counted, kind="stable")
        rounds = rounds_of(counted[order], own[order], at)
        return cls(order, at.places(faced[order]), at.places(own), at.places(order), rounds)

    def __len__(self) -> int:
        return len(self.order)
