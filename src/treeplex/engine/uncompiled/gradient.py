"""Gradients from depth-first traversals of the rules, which store only a table of infosets."""

from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.kernel import kernel
from treeplex.engine.tree.form import Tree
from treeplex.engine.uncompiled.discover import EVERY, SEEN, STOP, place_of
from treeplex.engine.uncompiled.frames import (
    ABOUT,
    FIRST,
    MOVER,
    NUMBERS,
    OWN,
    PLACE,
    PROBABILITY,
    STRIDE,
    enter_node,
    new_frames,
    step_down,
)
from treeplex.engine.uncompiled.rules import CHANCE, COUNT, KEY, TERMINAL, Calls

FREE = -1
"""Value of a free slot."""
BLOCK = 1 << 40
"""Radix, larger than the number of sequences, that packs a block and one of its sequences into one number."""
ROOM = 1.5
"""Hash slots per infoset."""


class InfosetTable(NamedTuple):
    """Hash table from an infoset's number to its sequences.

    Attributes:
        slots: [S, 2], the infoset's number, and its block times :data:`BLOCK` plus its first sequence; :data:`FREE` if unused.
        owners: [B], player of each block.
        strides: [B], stride between sequences of one infoset.
    """

    slots: Ints
    owners: Ints
    strides: Ints


class Part(NamedTuple):
    """One part of a gradient walk: the subtrees of nodes ``number``, ``number + parts``, ... at depth ``frontier``.

    Terminals above the frontier belong to the part, too. ``player`` owns the gradient, and ``frames`` is the number of nodes on
    the longest path. One of every ``shares`` nodes is walked; it is 1 except for timing measurements.
    """

    number: int
    parts: int
    frontier: int
    frames: int
    shares: int
    player: int = 0


@kernel()
def filled(keys: Ints, tree: Tree, owners: Ints, slots: Ints) -> None:
    """Fill the slots of a table with infoset numbers ``keys`` [I]."""
    slots[:] = FREE
    for block in range(tree.blocks.shape[0]):
        first_sequence, first_infoset = tree.blocks[block, 0], tree.blocks[block, 1]
        for j in range(tree.blocks[block, 2]):
            key = keys[first_infoset + j]
            slot = place_of(key, owners[block], len(slots))
            while slots[slot, 1] != FREE:
                slot = slot + 1 if slot + 1 < len(slots) else 0
            slots[slot, 0], slots[slot, 1] = key, block * BLOCK + first_sequence + j


def table_of(keys: Ints, tree: Tree) -> InfosetTable:
    """Build the table of a game with infoset numbers ``keys`` [I]."""
    owners = np.repeat(np.arange(len(tree.block_offsets) - 1), np.diff(tree.block_offsets))
    slots = np.empty((int(ROOM * len(keys)) + 2, 2), np.int64)
    filled(keys, tree, owners, slots)
    return InfosetTable(slots, owners, np.ascontiguousarray(tree.blocks[:, 2]))


@kernel(inline="always")
def enter_infoset(slots: Ints, owners: Ints, strides: Ints, frame: Ints) -> None:
    """Write the first sequence and the stride of a frame's infoset."""
    number, player = frame[ABOUT + KEY], frame[MOVER]
    slot = place_of(number, player, len(slots))
    while slots[slot, 0] != number or owners[slots[slot, 1] // BLOCK] != player:
        slot = slot + 1 if slot + 1 < len(slots) else 0
    block = slots[slot, 1] // BLOCK
    frame[FIRST], frame[STRIDE] = slots[slot, 1] - block * BLOCK, strides[block]


@kernel()
def add_part_of_gradient(
    calls: Calls, start: Ints, table: InfosetTable, empty: Ints, part: Part, strategy: Floats, values: Floats, progress: Ints
) -> None:
    """Add one part of a player's gradient to ``values``.

    Subtrees with zero reach of the others are skipped.

    Args:
        calls, start, table: the rules, the root state, and the infosets.
        empty: [N], empty sequence of each player.
        part: the player and the nodes of this part.
        strategy: [Q], sequence-form strategies of all players.
        values: [sequences of the player], updated in place.
        progress: [2], see :data:`treeplex.engine.uncompiled.discover.SEEN`; an interrupted walk leaves incomplete sums.
    """
    player = part.player
    slots, owners, strides = table.slots, table.owners, table.strides
    frames = new_frames(calls, start, empty, part.frames)
    integers, reals = frames.integers, frames.reals
    offset, depth, entered, met, histories = empty[player], 0, False, 0, 0
    while depth >= 0:
        if not entered:
            entered = True
            histories += 1
            if histories % EVERY == 0:
                progress[SEEN] = histories
                if progress[STOP] != 0:
                    return
            acts = enter_node(calls, frames, depth, player)
            if depth == part.frontier or (depth < part.frontier and acts == TERMINAL):
                met += 1
                if (met - 1) % (part.parts * part.shares) != part.number:
                    depth -= 1
                    continue
            if acts == TERMINAL:
                weight = reals[depth, PROBABILITY] * reals[depth, NUMBERS + player]
                for other in range(calls.players):
                    if other != player:
                        weight *= strategy[integers[depth, OWN + other]]
                values[integers[depth, OWN + player] - offset] += weight
                depth -= 1
                continue
            if acts != CHANCE:
                enter_infoset(slots, owners, strides, integers[depth])
        a = integers[depth, PLACE]
        if a == integers[depth, ABOUT + COUNT]:
            depth -= 1
            continue
        integers[depth, PLACE] += 1
        acts = integers[depth, MOVER]
        if acts == CHANCE:
            if reals[depth, NUMBERS + a] == 0.0:
                continue
        elif (
            acts != player and depth >= part.frontier and strategy[integers[depth, FIRST] + a * integers[depth, STRIDE]] == 0.0
        ):
            continue
        step_down(calls, frames, depth, a)
        depth, entered = depth + 1, False
