"""Own histories of a phantom game, and the lists of them that fit one player's side of a timeline.

Up to symmetry, own histories stand for all their images: infosets and sequences are those of one of them, and one of the
others is written as a number and the element of the group that takes the one there, packed in one integer. Without symmetry
the group has one element.

A *step* is what leads to an infoset: twice the sequence played last, plus one if the stone was put, not refused; an empty
sequence counts as put.
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
"""Of what is known about an infoset: the lowest 16 bits, and where the next 8 begin."""
FIRST = 24
INFOSETS, SEQUENCES = 0, 1
NODES, POOL, CHILDREN, EDGES, LISTS, ENTRIES = range(6)


class Histories(NamedTuple):
    """Own histories of both players; provisional numbers, the empty sequences first. Arrays may be longer than they are full.

    Attributes:
        player, step: [I], of each infoset its player and the step that leads to it.
        about: [I], its first sequence (others follow by cell, those not known to be taken and none the image of another), the
            elements that fix it and the cells that its player knows to be taken, packed.
        visits: [I], the histories in it.
        owner, cell: [Q], infoset and cell of each sequence; -1 for empty ones.
        after: [2 Q], the infoset after each step; -1 for none so far.
        filled, wanted: [2], how many infosets and sequences there are, and for how many there must be room to go on.
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
    """Nodes: the lists of a player's own histories that fit a timeline, up to a turn or a step of the player.

    Attributes:
        begin, size: [nodes], where the node's own histories lie in the pool, and how many there are.
        stones, fixing, tries: [nodes], the player's stones, the elements that fix the timeline's side, and the most tries.
        opened: [nodes], 1 where the pool has infosets, 0 where it has steps.
        visits: [nodes], histories at the player's turn.
        waiting: [nodes], the list of the sequences that lead here; -1 for none so far.
        first_child: [nodes], where its children begin, one for each cell without an own stone.
        pool: packed steps or infosets.
        children: packed nodes or, of a last stone, lists; -1 for none so far.
        keys, values: a hash table from a node and the other's stones to the packed node after a failed try.
        lengths: [lists], how many entries each list of sequences has.
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
    """Whether a table has room for ``more`` entries; if not, record the size wanted."""
    if filled[table] + more <= room:
        return True
    wanted[table] = max(wanted[table], filled[table] + more)
    return False


@kernel(**NO_COUNTS)
def step_of(own: Histories, group: Group, entry: int, cell: int, put: int) -> int:
    """The packed step from a packed infoset by a try on a cell."""
    order = len(group.images)
    about, element = own.about[entry // order], entry % order
    known, fixing = about & BOARD, about >> STABILISER & 255
    local = group.images[group.inverse[element], cell]
    least = group.least[fixing, local]
    before = ~known & group.first[fixing] & ((1 << least) - 1)
    sequence = (about >> FIRST) + group.counts[before]
    turned = group.compose[element, group.inverse[group.toward[fixing, local]]]
    return int((2 * sequence + put) * order + turned)


@kernel(**NO_COUNTS)
def arrive(own: Histories, group: Group, packed: int, player: int) -> int:
    """The packed infoset after a packed step; there must be room for a new one."""
    order = len(group.images)
    step = packed // order
    found = own.after[step]
    if found == NONE:
        found = own.filled[INFOSETS]
        own.filled[INFOSETS] += 1
        before = own.owner[step >> 1]
        known, fixing = 0, (1 << order) - 1
        if before != NONE:
            cell = own.cell[step >> 1]
            known = own.about[before] & BOARD | 1 << cell
            fixing = (own.about[before] >> STABILISER & 255) & group.fixing[cell]
        first = own.filled[SEQUENCES]
        own.player[found], own.step[found], own.visits[found] = player, step, 0
        own.about[found] = first << FIRST | fixing << STABILISER | known
        own.after[step] = found
        number = first
        for cell in range(group.images.shape[1]):
            if group.first[fixing] & ~known & 1 << cell:
                own.owner[number], own.cell[number] = found, cell
                own.after[2 * number], own.after[2 * number + 1] = NONE, NONE
                number += 1
        own.filled[SEQUENCES] = number
    return int(found * order + packed % order)


@kernel(**NO_COUNTS)
def room_to_arrive(own: Histories, group: Group, many: int) -> bool:
    """Whether ``many`` new infosets and their sequences fit into the tables."""
    cells = group.images.shape[1]
    infosets = fits(own.filled, own.wanted, INFOSETS, many, len(own.player))
    return bool(fits(own.filled, own.wanted, SEQUENCES, many * cells, len(own.owner)) and infosets)


@kernel(**NO_COUNTS)
def add_node(side: Side, begin: int, stones: int, fixing: int, tries: int, opened: int) -> int:
    """A new node whose own histories lie in the pool from ``begin`` on; there must be room."""
    node = side.filled[NODES]
    side.filled[NODES] += 1
    side.begin[node], side.size[node] = begin, side.filled[POOL] - begin
    side.stones[node], side.fixing[node], side.tries[node], side.opened[node] = stones, fixing, tries, opened
    side.visits[node], side.waiting[node], side.first_child[node] = 0, NONE, NONE
    return int(node)


@kernel(**NO_COUNTS)
def open_node(own: Histories, group: Group, side: Side, node: int, player: int) -> bool:
    """Turn the steps of a node into infosets, in place; False for no room."""
    if side.opened[node] == 0:
        if not room_to_arrive(own, group, side.size[node]):
            return False
        for place in range(side.begin[node], side.begin[node] + side.size[node]):
            side.pool[place] = arrive(own, group, side.pool[place], player)
        side.opened[node] = 1
    return True


@kernel(**NO_COUNTS)
def add_placed(own: Histories, group: Group, side: Side, node: int, cell: int) -> int:
    """A new node: a stone on a cell, first of its images; ``NO_ROOM`` for no room."""
    size, begin = side.size[node], side.filled[POOL]
    if not (
        fits(side.filled, side.wanted, NODES, 1, len(side.begin)) and fits(side.filled, side.wanted, POOL, size, len(side.pool))
    ):
        return NO_ROOM
    for place in range(side.begin[node], side.begin[node] + size):
        side.pool[side.filled[POOL]] = step_of(own, group, side.pool[place], cell, 1)
        side.filled[POOL] += 1
    fixing = side.fixing[node] & group.fixing[cell]
    return int(add_node(side, begin, side.stones[node] | 1 << cell, fixing, side.tries[node] + 1, 0))


@kernel(**NO_COUNTS)
def known_at(own: Histories, group: Group, entry: int) -> int:
    """The cells that the player knows to be taken at a packed infoset."""
    order = len(group.images)
    return int(group.boards[entry % order, own.about[entry // order] & BOARD])


@kernel(**NO_COUNTS)
def add_failed(own: Histories, group: Group, side: Side, node: int, board: int, fixing: int) -> int:
    """A new node: a try, in an abrupt game, that failed on one of these stones.

    Returns:
        The node; ``NONE`` where all these stones are known, ``NO_ROOM`` for no room.
    """
    begin, end, top = side.begin[node], side.begin[node] + side.size[node], side.filled[POOL]
    most = side.size[node] * group.counts[board]
    if not (
        fits(side.filled, side.wanted, NODES, 1, len(side.begin)) and fits(side.filled, side.wanted, POOL, most, len(side.pool))
    ):
        return NO_ROOM
    for place in range(begin, end):
        entry = side.pool[place]
        unseen = board & ~known_at(own, group, entry)
        for cell in range(group.images.shape[1]):
            if unseen >> cell & 1:
                side.pool[side.filled[POOL]] = step_of(own, group, entry, cell, 0)
                side.filled[POOL] += 1
    if side.filled[POOL] == top:
        return NONE
    return int(add_node(side, top, side.stones[node], fixing, side.tries[node] + 1, 0))


@kernel(**NO_COUNTS)
def add_closure(own: Histories, group: Group, side: Side, node: int, board: int, fixing: int, player: int) -> int:
    """A new node: the infosets of a turn of a classical game, in which tries on these stones may have failed before.

    Returns:
        The node; ``NO_ROOM`` for no room.
    """
    cells, top = group.images.shape[1], side.filled[POOL]
    if not room_to_arrive(own, group, side.size[node]):
        return NO_ROOM
    many = 0
    for place in range(side.begin[node], side.begin[node] + side.size[node]):
        tries, ways = group.counts[board & ~known_at(own, group, arrive(own, group, side.pool[place], player))], 1
        for each in range(tries + 1):
            many += ways
            ways *= tries - each
    nodes = fits(side.filled, side.wanted, NODES, 1, len(side.begin))
    pool = fits(side.filled, side.wanted, POOL, many, len(side.pool))
    if not (room_to_arrive(own, group, many) and nodes and pool):
        return NO_ROOM
    for place in range(side.begin[node], side.begin[node] + side.size[node]):
        side.pool[side.filled[POOL]] = arrive(own, group, side.pool[place], player)
        side.filled[POOL] += 1
    asked = top
    while asked < side.filled[POOL]:
        entry = side.pool[asked]
        unseen = board & ~known_at(own, group, entry)
        for cell in range(cells):
            if unseen >> cell & 1:
                side.pool[side.filled[POOL]] = arrive(own, group, step_of(own, group, entry, cell, 0), player)
                side.filled[POOL] += 1
        asked += 1
    return int(add_node(side, top, side.stones[node], fixing, group.counts[side.stones[node] | board], 1))


@kernel(**NO_COUNTS)
def add_list(own: Histories, group: Group, side: Side, node: int, cell: int) -> int:
    """A new list: the sequences of a node's infosets with this cell, or those that lead to the node for ``NONE``.

    Returns:
        The list; ``NO_ROOM`` for no room.
    """
    order, size = len(group.images), side.size[node]
    lists = fits(side.filled, side.wanted, LISTS, 1, len(side.lengths))
    if not (fits(side.filled, side.wanted, ENTRIES, size, len(side.entries)) and lists):
        return NO_ROOM
    entry = side.filled[ENTRIES]
    for place in range(side.begin[node], side.begin[node] + size):
        packed = side.pool[place]
        if cell != NONE:
            step = step_of(own, group, packed, cell, 1) // order
        else:
            step = own.step[packed // order] if side.opened[node] else packed // order
        side.entries[entry] = step >> 1
        entry += 1
    number = side.filled[LISTS]
    side.lengths[number] = size
    side.filled[ENTRIES], side.filled[LISTS] = entry, number + 1
    return int(number)


@kernel(**NO_COUNTS)
def waiting_list(own: Histories, group: Group, side: Side, node: int) -> int:
    """The list of the sequences that lead to a node; ``NO_ROOM`` for no room."""
    if side.waiting[node] == NONE:
        number = add_list(own, group, side, node, NONE)
        if number == NO_ROOM:
            return NO_ROOM
        side.waiting[node] = number
    return int(side.waiting[node])


@kernel(**NO_COUNTS)
def placed(own: Histories, group: Group, side: Side, node: int, cell: int, won: "NDArray[np.bool_]") -> int:
    """After a stone on a cell: the packed node, or the list of the last sequences where that wins; ``NO_ROOM`` for no room."""
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
            found = add_list(own, group, side, node, least) if wins else add_placed(own, group, side, node, least)
            if found == NO_ROOM:
                return NO_ROOM
            side.children[least_slot] = found if wins else found * order
        turned = 0 if wins else group.inverse[group.toward[fixing, cell]]
        side.children[slot] = side.children[least_slot] + turned
    return int(side.children[slot])


@kernel(**NO_COUNTS)
def edges_that_fit(slots: int) -> int:
    """The largest number of entries of a hash table with ``slots`` slots."""
    return slots // 4 * 3


@kernel(**NO_COUNTS)
def edge_place(keys: Ints, key: int) -> int:
    """Where a key stands in a hash table, or would."""
    mask = len(keys) - 1
    mixed = (key ^ key >> 29) * 0x1E3779B97F4A7C15
    place = (mixed ^ mixed >> 32) & mask
    while keys[place] != NONE and keys[place] != key:
        place = (place + 1) & mask
    return place


@kernel(**NO_COUNTS)
def failed(own: Histories, group: Group, side: Side, node: int, board: int, player: int, abrupt: bool) -> int:
    """The packed node after a failed try of an abrupt game, or at a turn of a classical one, against these stones.

    Returns:
        The node; ``NONE`` where no try can fail, ``NO_ROOM`` for no room.
    """
    order, fixing = len(group.images), int(side.fixing[node])
    least, toward = board, 0
    if fixing != 1:
        least, toward, fixing = least_board(group, fixing, board)
    key = node << STABILISER | least
    place = edge_place(side.keys, key)
    if side.keys[place] == NONE:
        if not fits(side.filled, side.wanted, EDGES, 1, edges_that_fit(len(side.keys))):
            return NO_ROOM
        found = (
            add_failed(own, group, side, node, least, fixing)
            if abrupt
            else add_closure(own, group, side, node, least, fixing, player)
        )
        if found == NO_ROOM:
            return NO_ROOM
        side.keys[place], side.values[place] = key, found
        side.filled[EDGES] += 1
    found = side.values[place]
    return NONE if found == NONE else found * order + group.inverse[toward]


@kernel()
def rehashed(keys: Ints, values: SmallInts, room: int) -> tuple[Ints, SmallInts]:
    """A hash table with more room, a power of two."""
    more_keys, more_values = np.full(room, NONE, np.int64), np.empty(room, np.int32)
    for place in range(len(keys)):
        if keys[place] != NONE:
            target = edge_place(more_keys, keys[place])
            more_keys[target], more_values[target] = keys[place], values[place]
    return more_keys, more_values


@kernel()
def finish_visits(own: Histories, order: int, side: Side) -> None:
    """Give the histories counted at nodes to the infosets there."""
    visits, counted, pool = own.visits, side.visits, side.pool
    for node in range(side.filled[NODES]):
        if counted[node]:
            for place in range(side.begin[node], side.begin[node] + side.size[node]):
                visits[pool[place] // order] += counted[node]


@kernel()
def count_draws(own: Histories, group: Group) -> int:
    """The histories in which chance says which of several equal cells it was."""
    total = 0
    for infoset in range(own.filled[INFOSETS]):
        known, fixing = own.about[infoset] & BOARD, own.about[infoset] >> STABILISER & 255
        for cell in range(group.images.shape[1]):
            if group.first[fixing] & ~known & 1 << cell and group.fixing[cell] & fixing != fixing:
                total += own.visits[infoset]
    return total
