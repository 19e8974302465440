"""Each player's own histories in a phantom game, and lists of those compatible with that player's side of a timeline.

With symmetry, an own history represents all its images. Infosets and sequences belong to one representative; any other image is
stored as its number and the group element that maps the representative to it, packed in one integer. Without symmetry the group
has one element.

A *step* leads to an infoset: twice the last sequence, plus one if the stone was placed rather than rejected. The empty sequence
counts as placed.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Ints, SmallInts
from treeplex.engine.kernel import NO_COUNTS, kernel
from treeplex.engine.phantom.symmetry import Group, least_board

Bytes = NDArray[np.int8]
NONE, NO_ROOM = -1, -2
BOARD, STABILISER = (1 << 16) - 1, 16
"""Packing of :attr:`Histories.about`: mask of the lowest 16 bits, and shift of the next 8."""
FIRST = 24
INFOSETS, SEQUENCES = 0, 1
NODES, POOL, CHILDREN, EDGES, LISTS, ENTRIES = range(6)


class Histories(NamedTuple):
    """Both players' own histories, provisionally numbered, empty sequences first. Arrays have spare capacity.

    Attributes:
        player, step: [I], player of each infoset and the step that leads to it.
        about: [I], packed: first sequence (one per cell not known to be taken, up to symmetry), the group elements that fix the
            infoset, and the cells that its player knows to be taken.
        visits: [I], number of histories in each infoset.
        owner, cell: [Q], infoset and cell of each sequence; -1 for empty ones.
        after: [2 Q], infoset after each step; -1 for none so far.
        filled, wanted: [2], number of infosets and of sequences, and the capacity needed to continue.
    """

    player: Bytes
    step: SmallInts
    about: Ints
    visits: Ints
    owner: SmallInts
    cell: Bytes
    after: SmallInts
    filled: Ints
    wanted: Ints


class Side(NamedTuple):
    """Nodes of a player: lists of own histories compatible with a timeline, up to the player's next turn or latest step.

    Attributes:
        begin, size: [nodes], start and number of the node's own histories in the pool.
        stones, fixing, tries: [nodes], the player's stones, the group elements that fix this side, and the maximum number of
            tries.
        opened: [nodes], 1 if the pool holds infosets, 0 if it holds steps.
        visits: [nodes], number of histories at the player's turn.
        waiting: [nodes], list of the sequences that lead here; -1 for none so far.
        first_child: [nodes], first child, one for each cell without an own stone.
        pool: packed steps or infosets.
        children: packed nodes or, after a winning stone, lists; -1 for none so far.
        keys, values: hash table from a node and the opponent's stones to the packed node after a failed try.
        lengths: [lists], number of entries of each list of sequences.
        entries: sequences, list by list.
        filled, wanted: [6], as in :class:`Histories`.
    """

    begin: Ints
    size: SmallInts
    stones: SmallInts
    fixing: NDArray[np.uint8]
    tries: Bytes
    opened: Bytes
    visits: Ints
    waiting: SmallInts
    first_child: Ints
    pool: SmallInts
    children: SmallInts
    keys: Ints
    values: SmallInts
    lengths: SmallInts
    entries: SmallInts
    filled: Ints
    wanted: Ints


@kernel(**NO_COUNTS)
def fits(filled: Ints, wanted: Ints, table: int, more: int, room: int) -> bool:
    """Return whether a table has room for ``more`` entries; if not, record the required size."""
    if filled[table] + more <= room:
        return True
    wanted[table] = max(wanted[table], filled[table] + more)
    return False


@kernel(**NO_COUNTS)
def step_of(histories: Histories, group: Group, entry: int, cell: int, put: int) -> int:
    """Return the packed step for a try on a cell at a packed infoset."""
    order = len(group.images)
    about, element = histories.about[entry // order], entry % order
    known, fixing = about & BOARD, about >> STABILISER & 255
    local = group.images[group.inverse[element], cell]
    least = group.least[fixing, local]
    before = ~known & group.first[fixing] & ((1 << least) - 1)
    sequence = (about >> FIRST) + group.counts[before]
    turned = group.compose[element, group.inverse[group.toward[fixing, local]]]
    return int((2 * sequence + put) * order + turned)


@kernel(**NO_COUNTS)
def arrive(histories: Histories, group: Group, packed: int, player: int) -> int:
    """Return the packed infoset after a packed step, adding it if new; there must be room."""
    order = len(group.images)
    step = packed // order
    infoset = histories.after[step]
    if infoset == NONE:
        infoset = histories.filled[INFOSETS]
        histories.filled[INFOSETS] += 1
        before = histories.owner[step >> 1]
        known, fixing = 0, (1 << order) - 1
        if before != NONE:
            cell = histories.cell[step >> 1]
            known = histories.about[before] & BOARD | 1 << cell
            fixing = (histories.about[before] >> STABILISER & 255) & group.fixing[cell]
        first = histories.filled[SEQUENCES]
        histories.player[infoset], histories.step[infoset], histories.visits[infoset] = player, step, 0
        histories.about[infoset] = first << FIRST | fixing << STABILISER | known
        histories.after[step] = infoset
        number = first
        for cell in range(group.images.shape[1]):
            if group.first[fixing] & ~known & 1 << cell:
                histories.owner[number], histories.cell[number] = infoset, cell
                histories.after[2 * number], histories.after[2 * number + 1] = NONE, NONE
                number += 1
        histories.filled[SEQUENCES] = number
    return int(infoset * order + packed % order)


@kernel(**NO_COUNTS)
def room_to_arrive(histories: Histories, group: Group, many: int) -> bool:
    """Return whether the tables have room for ``many`` new infosets and their sequences."""
    cells = group.images.shape[1]
    infosets = fits(histories.filled, histories.wanted, INFOSETS, many, len(histories.player))
    return bool(fits(histories.filled, histories.wanted, SEQUENCES, many * cells, len(histories.owner)) and infosets)


@kernel(**NO_COUNTS)
def add_node(side: Side, begin: int, stones: int, fixing: int, tries: int, opened: int) -> int:
    """Add a node whose own histories start at ``begin`` in the pool; there must be room."""
    node = side.filled[NODES]
    side.filled[NODES] += 1
    side.begin[node], side.size[node] = begin, side.filled[POOL] - begin
    side.stones[node], side.fixing[node], side.tries[node], side.opened[node] = stones, fixing, tries, opened
    side.visits[node], side.waiting[node], side.first_child[node] = 0, NONE, NONE
    return int(node)


@kernel(**NO_COUNTS)
def open_node(histories: Histories, group: Group, side: Side, node: int, player: int) -> bool:
    """Convert a node's steps to infosets in place; return False if a table is full."""
    if side.opened[node] == 0:
        if not room_to_arrive(histories, group, side.size[node]):
            return False
        for index in range(side.begin[node], side.begin[node] + side.size[node]):
            side.pool[index] = arrive(histories, group, side.pool[index], player)
        side.opened[node] = 1
    return True


@kernel(**NO_COUNTS)
def add_placed(histories: Histories, group: Group, side: Side, node: int, cell: int) -> int:
    """Add the node after a stone is placed on a cell, the first of its symmetric images; ``NO_ROOM`` if a table is full."""
    size, begin = side.size[node], side.filled[POOL]
    if not (
        fits(side.filled, side.wanted, NODES, 1, len(side.begin)) and fits(side.filled, side.wanted, POOL, size, len(side.pool))
    ):
        return NO_ROOM
    for index in range(side.begin[node], side.begin[node] + size):
        side.pool[side.filled[POOL]] = step_of(histories, group, side.pool[index], cell, 1)
        side.filled[POOL] += 1
    fixing = side.fixing[node] & group.fixing[cell]
    return int(add_node(side, begin, side.stones[node] | 1 << cell, fixing, side.tries[node] + 1, 0))


@kernel(**NO_COUNTS)
def known_at(histories: Histories, group: Group, entry: int) -> int:
    """Return the cells that the player knows to be taken at a packed infoset."""
    order = len(group.images)
    return int(group.boards[entry % order, histories.about[entry // order] & BOARD])


@kernel(**NO_COUNTS)
def add_failed(histories: Histories, group: Group, side: Side, node: int, board: int, fixing: int) -> int:
    """Add the node reached by a failed try on one of these stones in an abrupt game.

    Returns:
        The node; ``NONE`` if all these stones are known, ``NO_ROOM`` if a table is full.
    """
    begin, end, top = side.begin[node], side.begin[node] + side.size[node], side.filled[POOL]
    most = side.size[node] * group.counts[board]
    if not (
        fits(side.filled, side.wanted, NODES, 1, len(side.begin)) and fits(side.filled, side.wanted, POOL, most, len(side.pool))
    ):
        return NO_ROOM
    for index in range(begin, end):
        entry = side.pool[index]
        unseen = board & ~known_at(histories, group, entry)
        for cell in range(group.images.shape[1]):
            if unseen >> cell & 1:
                side.pool[side.filled[POOL]] = step_of(histories, group, entry, cell, 0)
                side.filled[POOL] += 1
    if side.filled[POOL] == top:
        return NONE
    return int(add_node(side, top, side.stones[node], fixing, side.tries[node] + 1, 0))


@kernel(**NO_COUNTS)
def add_closure(histories: Histories, group: Group, side: Side, node: int, board: int, fixing: int, player: int) -> int:
    """Add the node for a turn in a classical game, where tries on these stones may have failed before.

    Returns:
        The node; ``NO_ROOM`` if a table is full.
    """
    cells, top = group.images.shape[1], side.filled[POOL]
    if not room_to_arrive(histories, group, side.size[node]):
        return NO_ROOM
    many = 0
    for index in range(side.begin[node], side.begin[node] + side.size[node]):
        tries, ways = group.counts[board & ~known_at(histories, group, arrive(histories, group, side.pool[index], player))], 1
        for failures in range(tries + 1):
            many += ways
            ways *= tries - failures
    nodes = fits(side.filled, side.wanted, NODES, 1, len(side.begin))
    pool = fits(side.filled, side.wanted, POOL, many, len(side.pool))
    if not (room_to_arrive(histories, group, many) and nodes and pool):
        return NO_ROOM
    for index in range(side.begin[node], side.begin[node] + side.size[node]):
        side.pool[side.filled[POOL]] = arrive(histories, group, side.pool[index], player)
        side.filled[POOL] += 1
    next_entry = top
    while next_entry < side.filled[POOL]:
        entry = side.pool[next_entry]
        unseen = board & ~known_at(histories, group, entry)
        for cell in range(cells):
            if unseen >> cell & 1:
                side.pool[side.filled[POOL]] = arrive(histories, group, step_of(histories, group, entry, cell, 0), player)
                side.filled[POOL] += 1
        next_entry += 1
    return int(add_node(side, top, side.stones[node], fixing, group.counts[side.stones[node] | board], 1))


@kernel(**NO_COUNTS)
def add_list(histories: Histories, group: Group, side: Side, node: int, cell: int) -> int:
    """Add a list: the sequences of a node's infosets at this cell, or (``NONE``) those that lead to the node.

    Returns:
        The list; ``NO_ROOM`` if a table is full.
    """
    order, size = len(group.images), side.size[node]
    lists = fits(side.filled, side.wanted, LISTS, 1, len(side.lengths))
    if not (fits(side.filled, side.wanted, ENTRIES, size, len(side.entries)) and lists):
        return NO_ROOM
    entry = side.filled[ENTRIES]
    for index in range(side.begin[node], side.begin[node] + size):
        packed = side.pool[index]
        if cell != NONE:
            step = step_of(histories, group, packed, cell, 1) // order
        else:
            step = histories.step[packed // order] if side.opened[node] else packed // order
        side.entries[entry] = step >> 1
        entry += 1
    number = side.filled[LISTS]
    side.lengths[number] = size
    side.filled[ENTRIES], side.filled[LISTS] = entry, number + 1
    return int(number)


@kernel(**NO_COUNTS)
def waiting_list(histories: Histories, group: Group, side: Side, node: int) -> int:
    """Return the list of the sequences that lead to a node; ``NO_ROOM`` if a table is full."""
    if side.waiting[node] == NONE:
        number = add_list(histories, group, side, node, NONE)
        if number == NO_ROOM:
            return NO_ROOM
        side.waiting[node] = number
    return int(side.waiting[node])


@kernel(**NO_COUNTS)
def placed(histories: Histories, group: Group, side: Side, node: int, cell: int, won: "NDArray[np.bool_]") -> int:
    """Return the packed node after a stone, or the list of last sequences if the stone wins; ``NO_ROOM`` if a table is full."""
    order, cells, stones = len(group.images), group.images.shape[1], side.stones[node]
    if side.first_child[node] == NONE:
        many = cells - group.counts[stones]
        if not fits(side.filled, side.wanted, CHILDREN, many, len(side.children)):
            return NO_ROOM
        side.first_child[node] = side.filled[CHILDREN]
        side.children[side.filled[CHILDREN] : side.filled[CHILDREN] + many] = NONE
        side.filled[CHILDREN] += many
    first, fixing = side.first_child[node], side.fixing[node]
    slot = first + group.counts[~stones & ((1 << cell) - 1)]
    if side.children[slot] == NONE:
        least = group.least[fixing, cell]
        wins = won[stones | 1 << least]
        least_slot = first + group.counts[~stones & ((1 << least) - 1)]
        if side.children[least_slot] == NONE:
            child = add_list(histories, group, side, node, least) if wins else add_placed(histories, group, side, node, least)
            if child == NO_ROOM:
                return NO_ROOM
            side.children[least_slot] = child if wins else child * order
        turned = 0 if wins else group.inverse[group.toward[fixing, cell]]
        side.children[slot] = side.children[least_slot] + turned
    return int(side.children[slot])


@kernel(**NO_COUNTS)
def edges_that_fit(slots: int) -> int:
    """Return the maximum number of entries of a hash table with ``slots`` slots."""
    return slots // 4 * 3


@kernel(**NO_COUNTS)
def edge_place(keys: Ints, key: int) -> int:
    """Return the slot of a key in a hash table, or the free slot for it."""
    mask = len(keys) - 1
    mixed = (key ^ key >> 29) * 0x1E3779B97F4A7C15
    slot = (mixed ^ mixed >> 32) & mask
    while keys[slot] != NONE and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


@kernel(**NO_COUNTS)
def failed(histories: Histories, group: Group, side: Side, node: int, board: int, player: int, abrupt: bool) -> int:
    """Return the packed node against the opponent's stones: after a failed try (abrupt), or at a turn (classical).

    Returns:
        The node; ``NONE`` if no try can fail, ``NO_ROOM`` if a table is full.
    """
    order, fixing = len(group.images), int(side.fixing[node])
    least, toward = board, 0
    if fixing != 1:
        least, toward, fixing = least_board(group, fixing, board)
    key = node << STABILISER | least
    slot = edge_place(side.keys, key)
    if side.keys[slot] == NONE:
        if not fits(side.filled, side.wanted, EDGES, 1, edges_that_fit(len(side.keys))):
            return NO_ROOM
        child = (
            add_failed(histories, group, side, node, least, fixing)
            if abrupt
            else add_closure(histories, group, side, node, least, fixing, player)
        )
        if child == NO_ROOM:
            return NO_ROOM
        side.keys[slot], side.values[slot] = key, child
        side.filled[EDGES] += 1
    child = side.values[slot]
    return NONE if child == NONE else child * order + group.inverse[toward]


@kernel()
def rehashed(keys: Ints, values: SmallInts, room: int) -> tuple[Ints, SmallInts]:
    """Return a copy of a hash table with ``room`` slots, a power of two."""
    more_keys, more_values = np.full(room, NONE, np.int64), np.empty(room, np.int32)
    for slot in range(len(keys)):
        if keys[slot] != NONE:
            target = edge_place(more_keys, keys[slot])
            more_keys[target], more_values[target] = keys[slot], values[slot]
    return more_keys, more_values


@kernel()
def finish_visits(histories: Histories, order: int, side: Side) -> None:
    """Add the histories counted at nodes to their infosets."""
    visits, counted, pool = histories.visits, side.visits, side.pool
    for node in range(side.filled[NODES]):
        if counted[node]:
            for index in range(side.begin[node], side.begin[node] + side.size[node]):
                visits[pool[index] // order] += counted[node]


@kernel()
def count_draws(histories: Histories, group: Group) -> int:
    """Count the histories in which chance picks among equivalent cells."""
    total = 0
    for infoset in range(histories.filled[INFOSETS]):
        known, fixing = histories.about[infoset] & BOARD, histories.about[infoset] >> STABILISER & 255
        for cell in range(group.images.shape[1]):
            if group.first[fixing] & ~known & 1 << cell and group.fixing[cell] & fixing != fixing:
                total += histories.visits[infoset]
    return total
