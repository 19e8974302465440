"""Run a walk over timelines, growing its tables as needed."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints, SmallInts
from treeplex.base.storage.memory import available_memory
from treeplex.engine.kernel import kernel
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
    count_draws,
    edges_that_fit,
    finish_visits,
    rehashed,
)
from treeplex.engine.phantom.symmetry import Group
from treeplex.engine.phantom.timelines import (
    FIELDS,
    HISTORIES,
    OTHERS,
    PAIRS,
    PAIRS_END,
    STAGE,
    TURN,
    TimelineWalk,
    Won,
    advance,
)

FRAMES_AT_ONCE = 1 << 18
LONG = 1 << 22
"""Number of rows above which a table grows by an eighth."""
MOST_PACKED = 1 << 31
"""Exclusive bound of packed 32-bit numbers: steps (two per sequence) and nodes, times symmetries."""


class TimelineResult(NamedTuple):
    """Result of a walk, provisionally numbered, empty sequences first.

    Attributes:
        own: own histories of both players, without spare capacity.
        lengths, entries: for each player the length of its lists, and their sequences, list by list.
        ends, others, values: the terms, as in :class:`TimelineWalk`.
        sizes: [3], as in :class:`TimelineWalk`.
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
) -> TimelineResult | None:
    """Walk all timelines.

    Args:
        group: symmetries of own histories; the trivial group for none.
        won: [2, 2**n], whether each player wins with each set of stones.
        abrupt: whether a failed try ends the turn.
        most: maximum number of entries of lists and terms.
        watch: called periodically with the number of histories so far.

    Returns:
        The result; None if it exceeds ``most`` entries or 32-bit numbering.
    """
    walk, packed = new_walk(group), MOST_PACKED // len(group.images)
    while walk.depth[0] >= 0:
        if not advance(walk, group, won, abrupt, FRAMES_AT_ONCE):
            if max(2 * walk.own.wanted[SEQUENCES], walk.first.wanted[NODES], walk.second.wanted[NODES]) > packed:
                return None
            walk = with_room(walk, packed)
        if watch is not None:
            watch(int(walk.sizes[HISTORIES]))
        entries = walk.filled[OTHERS] + walk.first.filled[ENTRIES] + walk.second.filled[ENTRIES]
        if entries > most:
            return None
    finish_visits(walk.own, len(group.images), walk.second)
    walk.sizes[HISTORIES] += count_draws(walk.own, group)
    infosets, sequences = (int(filled) for filled in walk.own.filled)
    histories, sides = walk.own, (walk.first, walk.second)
    lists = int(walk.first.filled[LISTS])
    return TimelineResult(
        histories._replace(
            player=histories.player[:infosets],
            step=histories.step[:infosets],
            about=histories.about[:infosets],
            visits=histories.visits[:infosets],
            owner=histories.owner[:sequences],
            cell=histories.cell[:sequences],
            after=histories.after[: 2 * sequences],
        ),
        (sides[0].lengths[: sides[0].filled[LISTS]], sides[1].lengths[: sides[1].filled[LISTS]]),
        (sides[0].entries[: sides[0].filled[ENTRIES]], sides[1].entries[: sides[1].filled[ENTRIES]]),
        walk.ends[:lists],
        walk.others[: walk.filled[OTHERS]],
        walk.values[:lists],
        walk.sizes,
    )


def new_walk(group: Group, room: int = 1024) -> TimelineWalk:
    """Return the initial state."""
    order, cells = group.images.shape

    def side(player: int) -> Side:
        small = [np.empty(room, np.int32) for _ in range(8)]
        nodes = Side(
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
        nodes.pool[0] = (2 * player + 1) * order
        nodes.size[0], nodes.stones[0], nodes.fixing[0], nodes.tries[0], nodes.opened[0] = 1, 0, (1 << order) - 1, 0, 0
        nodes.waiting[0], nodes.first_child[0] = NONE, NONE
        nodes.filled[[NODES, POOL]] = 1
        return nodes

    owner, after, cell = np.empty(room, np.int32), np.empty(2 * room, np.int32), np.empty(room, np.int8)
    owner[:2], after[:4], cell[:2] = NONE, NONE, NONE
    histories = Histories(
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
    walk = TimelineWalk(
        own=histories,
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


def with_room(walk: TimelineWalk, packed: int) -> TimelineWalk:
    """Grow the tables that need room, in place; return the walk.

    Args:
        walk: the walk.
        packed: maximum number of steps, and of nodes per player.

    Raises:
        MemoryError: there is not enough memory.
    """

    def roomy(table: Any, number: int, columns: tuple[str, ...], times: int = 1, most: int | None = None) -> None:
        lengthen([getattr(table, name) for name in columns], int(table.wanted[number]), times, most)

    def roomy_side(side: Side) -> Side:
        columns = ("begin", "size", "stones", "fixing", "tries", "opened", "visits", "waiting", "first_child")
        roomy(side, NODES, columns, most=packed)
        for number, name in ((POOL, "pool"), (CHILDREN, "children"), (LISTS, "lengths"), (ENTRIES, "entries")):
            roomy(side, number, (name,))
        if side.wanted[EDGES] > edges_that_fit(len(side.keys)):
            check_room(2 * (side.keys.nbytes + side.values.nbytes))
            keys, values = rehashed(side.keys, side.values, 2 * len(side.keys))
            side = side._replace(keys=keys, values=values)
        return side

    roomy(walk.own, INFOSETS, ("player", "step", "about", "visits"))
    roomy(walk.own, SEQUENCES, ("owner", "cell"), most=packed // 2)
    roomy(walk.own, SEQUENCES, ("after",), 2, packed // 2)
    walk = walk._replace(first=roomy_side(walk.first), second=roomy_side(walk.second))
    lengthen([walk.ends, walk.values], len(walk.first.lengths))
    for number, name in ((OTHERS, "others"), (PAIRS, "pairs")):
        roomy(walk, number, (name,))
    return walk


def lengthen(columns: list[NDArray[Any]], wanted: int, times: int = 1, most: int | None = None) -> None:
    """Lengthen arrays in place to at least ``times * wanted`` rows; short arrays grow by half, long ones by an eighth, or more.

    They never exceed ``most * times`` rows.

    The operating system remaps the pages of a long array, so nothing is copied and memory never holds both arrays.

    Raises:
        MemoryError: there is not enough memory.
    """
    rows = len(columns[0]) // times
    if wanted <= rows:
        return
    room = max(wanted, rows + rows // (2 if rows < LONG else 8))
    room = times * (room if most is None else min(room, most))
    check_room(sum((room - len(column)) * column.itemsize for column in columns))
    for array in columns:
        array.resize(room, refcheck=False)


def check_room(more: int) -> None:
    """Raise :class:`MemoryError` unless ``more`` bytes are free."""
    free = available_memory()
    if free is not None and more > free:
        raise MemoryError


@kernel()
def by_sequence(
    lengths: tuple[SmallInts, SmallInts], entries: tuple[SmallInts, SmallInts], final: Ints
) -> tuple[Ints, SmallInts]:
    """Return the lists that contain each sequence, by final number: pointers [Q+1] and sorted lists [entries]."""
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
