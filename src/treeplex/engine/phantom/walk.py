"""Run a walk over timelines: make room as it grows, and hand out what it found."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from treeplex.engine.phantom.histories import (
    CHILDREN,
    EDGES,
    ENTRIES,
    INFOSETS,
    LISTS,
    NODES,
    NONE,
    POOL,
    SEQUENCES,
    Histories,
    Side,
    SmallInts,
    count_draws,
    finish_visits,
    rehashed,
)
from treeplex.engine.phantom.symmetry import Group, Ints
from treeplex.engine.phantom.timelines import (
    FIELDS,
    HISTORIES,
    OTHERS,
    PAIRS,
    PAIRS_END,
    STAGE,
    TURN,
    Floats,
    Walk,
    Won,
    advance,
)

FRAMES_AT_ONCE = 1 << 18


class Found(NamedTuple):
    """What a walk found; provisional numbers, the empty sequences first.

    Attributes:
        own: own histories of both players; arrays are full.
        lengths, entries: for each player how many sequences each of its lists has, and these, list by list.
        ends, others, values: the terms, as in :class:`Walk`.
        sizes: [3], as in :class:`Walk`.
    """

    own: Histories
    lengths: tuple[SmallInts, SmallInts]
    entries: tuple[SmallInts, SmallInts]
    ends: Ints
    others: SmallInts
    values: Floats
    sizes: Ints


def walk_timelines(
    group: Group, won: Won, *, abrupt: bool, most: int, watch: Callable[[int], None] | None = None
) -> Found | None:
    """Walk all timelines.

    Args:
        group: symmetries up to which own histories are counted; of one element for none.
        won: [2, 2**n], whether each player has won with each set of stones.
        abrupt: whether a turn is over when the cell was taken.
        most: entries of lists and terms, beyond which the walk stops.
        watch: called now and then with the number of histories so far.

    Returns:
        What was found; None where that was more than ``most``.
    """
    walk = new_walk(group)
    while walk.depth[0] >= 0:
        if not advance(walk, group, won, abrupt, FRAMES_AT_ONCE):
            walk = with_room(walk)
        if watch is not None:
            watch(int(walk.sizes[HISTORIES]))
        kept = walk.filled[OTHERS] + walk.first.filled[ENTRIES] + walk.second.filled[ENTRIES]
        if kept > most or 2 * walk.own.filled[SEQUENCES] * len(group.images) >= 2**31:
            return None
    finish_visits(walk.own, len(group.images), walk.second)
    walk.sizes[HISTORIES] += count_draws(walk.own, group)
    infosets, sequences = (int(each) for each in walk.own.filled)
    own, sides = walk.own, (walk.first, walk.second)
    lists = int(walk.first.filled[LISTS])
    return Found(
        own._replace(
            player=own.player[:infosets],
            step=own.step[:infosets],
            about=own.about[:infosets],
            visits=own.visits[:infosets],
            owner=own.owner[:sequences],
            cell=own.cell[:sequences],
            after=own.after[: 2 * sequences],
        ),
        (sides[0].lengths[: sides[0].filled[LISTS]], sides[1].lengths[: sides[1].filled[LISTS]]),
        (sides[0].entries[: sides[0].filled[ENTRIES]], sides[1].entries[: sides[1].filled[ENTRIES]]),
        walk.ends[:lists],
        walk.others[: walk.filled[OTHERS]],
        walk.values[:lists],
        walk.sizes,
    )


def new_walk(group: Group, room: int = 1024) -> Walk:
    """The state at the start."""
    order, cells = group.images.shape

    def side(player: int) -> Side:
        small = [np.empty(room, np.int32) for _ in range(8)]
        found = Side(
            begin=np.zeros(room, np.int64),
            size=small[0],
            stones=small[1],
            fixing=np.empty(room, np.uint8),
            tries=np.empty(room, np.int8),
            opened=np.empty(room, np.int8),
            visits=np.zeros(room, np.int64),
            waiting=small[2],
            first_child=np.empty(room, np.int64),
            pool=small[3],
            children=small[4],
            keys=np.full(room, NONE, np.int64),
            values=small[5],
            lengths=small[6],
            entries=small[7],
            filled=np.zeros(6, np.int64),
            wanted=np.zeros(6, np.int64),
        )
        found.pool[0] = (2 * player + 1) * order
        found.size[0], found.stones[0], found.fixing[0], found.tries[0], found.opened[0] = 1, 0, (1 << order) - 1, 0, 0
        found.waiting[0], found.first_child[0] = NONE, NONE
        found.filled[[NODES, POOL]] = 1
        return found

    owner, after, cell = np.empty(room, np.int32), np.empty(2 * room, np.int32), np.empty(room, np.int8)
    owner[:2], after[:4], cell[:2] = NONE, NONE, NONE
    own = Histories(
        player=np.empty(room, np.int8),
        step=np.empty(room, np.int32),
        about=np.empty(room, np.int64),
        visits=np.zeros(room, np.int64),
        owner=owner,
        cell=cell,
        after=after,
        filled=np.array([0, 2]),
        wanted=np.zeros(2, np.int64),
    )
    walk = Walk(
        own=own,
        first=side(0),
        second=side(1),
        ends=np.empty(room, np.int64),
        values=np.empty(room),
        others=np.empty(room, np.int32),
        pairs=np.zeros(room, np.int32),
        frames=np.zeros((cells + 2, FIELDS), np.int64),
        depth=np.zeros(1, np.int64),
        tally=np.zeros(1 << cells, np.int64),
        boards=np.zeros(1 << cells, np.int64),
        found=np.zeros(cells, np.int64),
        filled=np.array([0, 1]),
        wanted=np.zeros(2, np.int64),
        sizes=np.zeros(3, np.int64),
    )
    walk.frames[0, [STAGE, PAIRS_END]] = TURN, 1
    return walk


def with_room(walk: Walk) -> Walk:
    """The walk with room where it wants some, twice what there was or more."""

    def roomy(table: Any, number: int, columns: tuple[str, ...]) -> Any:
        wanted, old = int(table.wanted[number]), len(getattr(table, columns[0]))
        if wanted <= old:
            return table
        room = max(wanted, 2 * old)
        return table._replace(**{name: longer(getattr(table, name), room) for name in columns})

    def roomy_side(side: Side) -> Side:
        columns = ("begin", "size", "stones", "fixing", "tries", "opened", "visits", "waiting", "first_child")
        side = roomy(side, NODES, columns)
        for number, name in ((POOL, "pool"), (CHILDREN, "children"), (LISTS, "lengths"), (ENTRIES, "entries")):
            side = roomy(side, number, (name,))
        if side.wanted[EDGES] > len(side.keys) // 2:
            keys, values = rehashed(side.keys, side.values, 2 * len(side.keys))
            side = side._replace(keys=keys, values=values)
        return side

    own = roomy(walk.own, INFOSETS, ("player", "step", "about", "visits"))
    if own.wanted[SEQUENCES] > len(own.owner):
        room = max(int(own.wanted[SEQUENCES]), 2 * len(own.owner))
        own = own._replace(owner=longer(own.owner, room), cell=longer(own.cell, room), after=longer(own.after, 2 * room))
    walk = walk._replace(own=own, first=roomy_side(walk.first), second=roomy_side(walk.second))
    if len(walk.ends) < len(walk.first.lengths):
        room = len(walk.first.lengths)
        walk = walk._replace(ends=longer(walk.ends, room), values=longer(walk.values, room))
    for number, name in ((OTHERS, "others"), (PAIRS, "pairs")):
        walk = roomy(walk, number, (name,))
    return walk


@njit(cache=True, nogil=True)
def by_sequence(
    lengths: tuple[SmallInts, SmallInts], entries: tuple[SmallInts, SmallInts], final: Ints
) -> tuple[Ints, SmallInts]:
    """The lists that each sequence is in, by final numbers: pointers [Q+1] and lists [entries], in ascending order."""
    pointers = np.zeros(len(final) + 1, np.int64)
    for player in range(2):
        for sequence in entries[player]:
            pointers[final[sequence] + 1] += 1
    for q in range(len(final)):
        pointers[q + 1] += pointers[q]
    lists = np.empty(pointers[-1], np.int32)
    for player in range(2):
        entry = 0
        for number in range(len(lengths[player])):
            for _ in range(lengths[player][number]):
                q = final[entries[player][entry]]
                lists[pointers[q]] = number
                pointers[q] += 1
                entry += 1
    for q in range(len(final), 0, -1):
        pointers[q] = pointers[q - 1]
    pointers[0] = 0
    return pointers, lists


def longer(array: NDArray[Any], room: int) -> NDArray[Any]:
    """A copy with more room."""
    found = np.empty(room, array.dtype)
    found[: len(array)] = array
    return found
