"""Assembly of a :class:`~treeplex.engine.tree.form.Tree` from discovered infosets."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.tree.form import Sparse, Tree

PROBABILITY_TOLERANCE = 1e-9
"""Tolerance for the sum of probabilities at a chance node."""


@dataclass
class Discovery:
    """Infosets in the order of discovery, with provisional sequence numbers.

    Provisionally the players' empty sequences are ``0..N-1``; the sequences of an infoset are contiguous, in the order of its
    actions, starting at ``first[infoset]``.

    Attributes:
        players: N.
        player, parent, level, actions, first: for each infoset its player, parent sequence, own depth, number of actions and
            first sequence.
        infostates: their strings.
        action_ids: for each provisional sequence its action id; -1 for the empty ones.
        sequence_level: for each provisional sequence the own depth of infosets right below it.
    """

    players: int
    player: "array[int]" = field(default_factory=lambda: array("b"))
    parent: "array[int]" = field(default_factory=lambda: array("q"))
    level: "array[int]" = field(default_factory=lambda: array("i"))
    actions: "array[int]" = field(default_factory=lambda: array("i"))
    first: "array[int]" = field(default_factory=lambda: array("q"))
    infostates: list[str] = field(default_factory=list)
    action_ids: "array[int]" = field(default_factory=lambda: array("q"))
    sequence_level: "array[int]" = field(default_factory=lambda: array("i"))

    def __post_init__(self) -> None:
        self.action_ids.extend([-1] * self.players)
        self.sequence_level.extend([0] * self.players)

    def add(self, player: int, parent: int, infostate: str, actions: Sequence[int]) -> int:
        """Register an infoset below the sequence ``parent``; return its number."""
        infoset = len(self.player)
        level = self.sequence_level[parent]
        self.player.append(player)
        self.parent.append(parent)
        self.level.append(level)
        self.actions.append(len(actions))
        self.first.append(len(self.action_ids))
        self.infostates.append(infostate)
        self.action_ids.extend(actions)
        self.sequence_level.extend([level + 1] * len(actions))
        return infoset

    def add_all(self, player: int, parents: Ints, actions: Sequence[int]) -> None:
        """Register infosets below ``parents``, int64 [n], all at the same own depth, without infostate strings."""
        count, level, first = len(parents), self.sequence_level[int(parents[0])], len(self.action_ids)
        self.player.frombytes(bytes([player]) * count)
        self.parent.frombytes(parents.tobytes())
        self.level.extend(array("i", [level]) * count)
        self.actions.extend(array("i", [len(actions)]) * count)
        self.first.frombytes(np.arange(first, first + count * len(actions), len(actions)).tobytes())
        self.action_ids.extend(array("q", actions) * count)
        self.sequence_level.extend(array("i", [level + 1]) * (count * len(actions)))


@dataclass(frozen=True)
class Layout:
    """A tree and the mapping from provisional to final sequences.

    Attributes:
        tree: the finished treeplexes.
        final: int64 [Q], the final number of each provisional sequence.
        infostates: the infostate strings in final order; empty if they are not stored.
        action_ids: int64 [Q], in final order.
        order: see :class:`TreeNumbering`.
    """

    tree: Tree
    final: Ints
    infostates: tuple[str, ...]
    action_ids: Ints
    order: Ints


class TreeNumbering(NamedTuple):
    """A tree, the mapping from provisional to final sequences, and the new order of infosets.

    Attributes:
        tree: the finished treeplexes.
        final: int64 [Q], the final number of each provisional sequence.
        order: int64 [I], the provisional number of each infoset of the tree.
    """

    tree: Tree
    final: Ints
    order: Ints


def lay_out(discovery: Discovery) -> Layout:
    """Assign final numbers to all discovered infosets and sequences."""
    ids = np.frombuffer(discovery.action_ids, np.int64)
    numbering = numbered(
        player=np.frombuffer(discovery.player, np.int8).astype(np.int32),
        level=np.frombuffer(discovery.level, np.int32),
        actions=np.frombuffer(discovery.actions, np.int32),
        first=np.frombuffer(discovery.first, np.int64),
        parent=np.frombuffer(discovery.parent, np.int64),
        root_player=np.arange(discovery.players),
        root_sequence=np.arange(discovery.players),
        sequences=len(ids),
    )
    action_ids = np.empty_like(ids)
    action_ids[numbering.final] = ids
    infostates = discovery.infostates
    texts = tuple(infostates[i] for i in numbering.order) if len(infostates) == len(numbering.order) else ()
    return Layout(numbering.tree, numbering.final, texts, action_ids, numbering.order)


def numbered(
    *,
    player: Ints,
    level: Ints,
    actions: Ints,
    first: Ints,
    parent: Ints,
    root_player: Ints,
    root_sequence: Ints,
    sequences: int,
) -> TreeNumbering:
    """Group infosets into blocks by player, own depth and number of actions, and assign final numbers top-down.

    Args:
        player, level, actions, first, parent: int32 or int64 [I], for each infoset its player, own depth, number of actions,
            first provisional sequence and the provisional sequence that leads to it.
        root_player, root_sequence: int64 [R], for each root its player and provisional number; a player's empty sequence first.
        sequences: Q.

    Returns:
        The tree, the final number of each provisional sequence, and the order of infosets.
    """
    players = int(root_player.max()) + 1
    order = np.lexsort((actions, level, player))
    keys = np.stack((player[order], level[order], actions[order]), axis=1)
    starts_block = np.ones(len(order), bool)
    starts_block[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    block_start = np.flatnonzero(starts_block)
    block_size = np.diff(np.append(block_start, len(order)))
    block_player, block_actions = (keys[block_start, column].astype(np.int64) for column in (0, 2))
    del keys, starts_block

    # The empty sequence and further roots stand before each player's first block.
    roots = np.bincount(root_player, minlength=players)
    block_sequences = block_size * block_actions
    before = np.concatenate(([0], np.cumsum(block_sequences)))[:-1]
    block_first = before + np.cumsum(roots)[block_player]
    sequence_offsets = np.zeros(players + 1, np.int64)
    np.cumsum(np.bincount(block_player, block_sequences, players).astype(np.int64) + roots, out=sequence_offsets[1:])
    infoset_offsets = np.zeros(players + 1, np.int64)
    np.cumsum(np.bincount(player, minlength=players), out=infoset_offsets[1:])
    block_offsets = np.zeros(players + 1, np.int64)
    np.cumsum(np.bincount(block_player, minlength=players), out=block_offsets[1:])

    block_of = np.repeat(np.arange(len(block_start)), block_size)
    position = np.arange(len(order)) - block_start[block_of]
    layout = np.stack((block_first[block_of] + position, block_size[block_of], block_actions[block_of]), axis=1)

    final = np.empty(sequences, np.int64)
    for owner in range(players):
        root_sequences = root_sequence[root_player == owner]
        final[root_sequences] = sequence_offsets[owner] + np.arange(len(root_sequences))
    sequence_infoset = np.full(sequences, -1, np.int64)
    widest = int(actions.max(initial=0))
    for a in range(widest):
        has = layout[:, 2] > a
        target = layout[has, 0] + a * layout[has, 1]
        final[first[order[has]] + a] = target
        sequence_infoset[target] = np.flatnonzero(has)
    tree = Tree(
        sequence_offsets=sequence_offsets,
        infoset_offsets=infoset_offsets,
        block_offsets=block_offsets,
        blocks=np.stack((block_first, block_start, block_size, block_actions), axis=1),
        infoset_parent=final[parent[order]],
        infoset_layout=np.ascontiguousarray(layout),
        sequence_infoset=sequence_infoset,
    )
    return TreeNumbering(tree, final, order)


def sparse_operator(tree: Tree, sequences: NDArray[np.int32], payoffs: Floats) -> Sparse:
    """Merge terminals with the same sequences and sort them into rows of every player.

    Args:
        tree: the treeplexes.
        sequences: int32 [Z, N], final sequence of each player at each terminal.
        payoffs: float64 [Z, N], chance probability times payoff.

    Returns:
        The operator, with one entry per tuple of sequences with a non-zero payoff.
    """
    players = sequences.shape[1]
    pointers = np.zeros(int(tree.sequence_offsets[-1]) + 1, np.int64)
    others: list[NDArray[np.int32]] = []
    values: list[Floats] = []
    for player in range(players):
        rest = [other for other in range(players) if other != player]
        rows, merged = merged_rows(sequences[:, [player, *rest]], payoffs[:, player])
        others.append(rows[:, 1:])
        values.append(merged)
        pointers[1:] += np.bincount(rows[:, 0], minlength=len(pointers) - 1)
    np.cumsum(pointers, out=pointers)
    return Sparse(pointers, np.concatenate(others), np.concatenate(values))


def merged_rows(sequences: NDArray[np.int32], payoffs: Floats) -> tuple[NDArray[np.int32], Floats]:
    """Sort rows lexicographically, sum duplicates and drop zeros."""
    order = np.lexsort(sequences.T[::-1]).astype(np.int32 if len(sequences) < 2**31 else np.int64)
    rows = sequences[order]
    starts = np.flatnonzero(np.append(True, (rows[1:] != rows[:-1]).any(axis=1))) if len(rows) else np.empty(0, np.int64)
    merged = np.add.reduceat(payoffs[order], starts) if len(starts) else np.empty(0)
    nonzero = merged != 0.0
    return rows[starts[nonzero]], merged[nonzero]
