"""Growing infoset tables, and scratch by depth, for sampled walks over rules."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints, SmallInts
from treeplex.engine.kernel import NO_COUNTS, kernel
from treeplex.engine.sampling.lazy_tables import NO_PARENT, UNKNOWN_PARENT
from treeplex.engine.sampling.sampled_tables import POLICY, Tables
from treeplex.engine.sampling.schemes import LEARNED, SchemeCodes
from treeplex.engine.uncompiled.discover import (
    ACTIONS,
    FIRST,
    LEVEL,
    NUMBER,
    PARENT,
    PATH,
    PLAYER,
    VISITS,
    grown,
    rehashed,
)
from treeplex.engine.uncompiled.frames import ABOUT, MOVER, PLACE, Frames, new_frames
from treeplex.engine.uncompiled.rules import COUNT, KEY, Calls

INFOSETS, SLOTS, STEPS, HISTORIES, USED, FULL, WALKED, UNSTORED, COUNTS = range(9)
"""Indices into :attr:`RulesTables.counts`: infosets, slots, steps of paths and histories with baselines; bytes; whether the
limit was reached; histories walked; visits of infosets for which there was no memory.
"""
OUTSIDE = 0
"""First slot used for infosets outside the tables: scratch for the uniform policy."""
NOWHERE = -1
"""Code of histories and infosets without baselines."""
ABOVE, EDGE, HISTORY, PLACES = range(4)
"""Columns of :attr:`Room.places`: the nearest frame above with several followed actions, the start of the node's baselines, and
the number of its history.
"""
WEIGHT, OWN_REACH, SAMPLE_REACH, REACHES = range(4)
"""Columns of :attr:`Room.numbers`, as in :class:`treeplex.engine.sampling.walks.Scratch`."""
TOUCHED, DEPTH, TOP, COUNTERS = range(4)
"""Indices into :attr:`Room.counters`."""
NO_ROOM = -1
"""Fault code for a lack of room for the next node."""


class RulesTables(NamedTuple):
    """Tables of a run with spare capacity, with the infosets of all players in order of discovery.

    Attributes:
        infosets: [I, 8], as ``rows`` of :class:`treeplex.engine.uncompiled.discover.Discovery`; ``FIRST`` and ``PARENT`` are
            slots, ``PATH`` is the start, in ``paths``, of the actions of its first history, and ``LEVEL`` their number.
        places: hash table from infosets to their rows.
        action_ids: [S].
        paths: actions of these histories.
        held: tables as in compiled games, with empty baselines and quantiles.
        children: [H], first child of each history with baselines, as in
            :class:`treeplex.solvers.sampling.rules_tables.HistoryBaselines`.
        baselines: [H or S, N], estimated values of histories or actions for each traverser; [0, N] without baselines.
        counts: [8], see :data:`INFOSETS`.
    """

    infosets: Ints
    places: SmallInts
    action_ids: Ints
    paths: SmallInts
    held: Tables
    children: Ints
    baselines: Floats
    counts: Ints


class StorageRules(NamedTuple):
    """The quantities to store, and the memory limit.

    Attributes:
        everybody: whether infosets of all players are stored, not only the traverser's.
        by_history, by_slot: whether learned baselines belong to histories, or to actions of infosets.
        infoset_bytes, slot_bytes, step_bytes, history_bytes: bytes per entry of each kind.
        most_bytes: memory limit in bytes.
    """

    everybody: bool
    by_history: bool
    by_slot: bool
    infoset_bytes: int
    slot_bytes: int
    step_bytes: int
    history_bytes: int
    most_bytes: int


class Run(NamedTuple):
    """Constants of a run: the game, the scheme, and what is stored."""

    calls: Calls
    rules: SchemeCodes
    keeping: StorageRules


class Room(NamedTuple):
    """Scratch space for a walk, indexed by depth.

    Attributes:
        frames: the nodes on the path.
        places, numbers: [D, 3].
        sampled, chosen: [D, A], as in :class:`treeplex.engine.sampling.walks.Scratch`.
        touched: [T, 2], first slot and number of actions of the visited infosets of the traverser.
        detail: [2], two numbers that describe a fault.
        counters: [3], number of touched infosets, depth of the next node, and deepest frame with several actions.
        reaches: [3], reach values of the next node.
        stream: [1], state of the random stream.
    """

    frames: Frames
    places: Ints
    numbers: Floats
    sampled: Floats
    chosen: Floats
    touched: Ints
    detail: Floats
    counters: Ints
    reaches: Floats
    stream: NDArray[np.uint64]


def new_tables(calls: Calls, rules: SchemeCodes) -> RulesTables:
    """Allocate empty tables."""
    counts = np.zeros(COUNTS, np.int64)
    counts[SLOTS], counts[HISTORIES] = calls.most_actions, 1
    players, rows = calls.players, 4 * calls.most_actions
    nothing = np.zeros((players, 0))
    return RulesTables(
        infosets=np.zeros((16, 8), np.int64),
        places=np.full(64, -1, np.int32),
        action_ids=np.zeros(rows, np.int64),
        paths=np.zeros(64, np.int32),
        held=Tables(np.zeros((rows, 4)), np.zeros((rows if rules.discounts else 0, 2)), np.zeros(players), nothing, nothing),
        children=np.zeros(rows, np.int64),
        baselines=np.zeros((rows if rules.baseline == LEARNED else 0, players)),
        counts=counts,
    )


@kernel(**NO_COUNTS)
def add_infoset(tables: RulesTables, frames: Frames, depth: int, row: int) -> None:
    """Add the infoset of the node at ``depth`` with the uniform policy; there must be room."""
    counts, frame = tables.counts, frames.integers[depth]
    first, actions, infoset = counts[SLOTS], frame[ABOUT + COUNT], tables.infosets[row]
    infoset[NUMBER], infoset[PLAYER], infoset[PARENT] = frame[ABOUT + KEY], frame[MOVER], UNKNOWN_PARENT
    infoset[FIRST], infoset[ACTIONS], infoset[VISITS] = first, actions, 0
    infoset[PATH], infoset[LEVEL] = counts[STEPS], depth
    write_path(frames, depth, tables.paths[counts[STEPS] : counts[STEPS] + depth])
    for a in range(actions):
        tables.action_ids[first + a] = frame[frames.actions + a]
        tables.held.rows[first + a, :] = 0.0
        tables.held.rows[first + a, POLICY] = 1.0 / actions
    counts[INFOSETS] += 1
    counts[SLOTS] += actions
    counts[STEPS] += depth


@kernel(**NO_COUNTS)
def write_path(frames: Frames, depth: int, path: SmallInts) -> None:
    """Write the action indices that lead to the node at ``depth``."""
    for step in range(depth):
        path[step] = frames.integers[step, frames.actions + frames.integers[step, PLACE] - 1]


@kernel(**NO_COUNTS)
def take(keeping: StorageRules, counts: Ints, size: int) -> bool:
    """Reserve ``size`` bytes; return False from the moment the memory limit is reached."""
    if counts[FULL] or counts[USED] + size > keeping.most_bytes:
        counts[FULL] = 1
        return False
    counts[USED] += size
    return True


@kernel()
def new_room(calls: Calls, begin: Ints) -> Room:
    """Allocate scratch for walks from a state."""
    empty, depth, widest = np.full(calls.players, NO_PARENT), 64, calls.most_actions
    return Room(
        new_frames(calls, begin, empty, depth),
        np.zeros((depth, PLACES), np.int64),
        np.zeros((depth, REACHES)),
        np.zeros((depth, widest)),
        np.zeros((depth, widest)),
        np.zeros((1024, 2), np.int64),
        np.zeros(2),
        np.zeros(COUNTERS, np.int64),
        np.ones(REACHES),
        np.zeros(1, np.uint64),
    )


@kernel()
def more_room(room: Room) -> Room:
    """Return the scratch space, enlarged if necessary."""
    frames, depth = room.frames, room.counters[DEPTH] + 2
    return Room(
        Frames(grown(frames.integers, depth), grown(frames.reals, depth), frames.actions, frames.state),
        grown(room.places, depth),
        grown(room.numbers, depth),
        grown(room.sampled, depth),
        grown(room.chosen, depth),
        grown(room.touched, room.counters[TOUCHED] + 1),
        room.detail,
        room.counters,
        room.reaches,
        room.stream,
    )


@kernel(**NO_COUNTS)
def lacks_room(tables: RulesTables, room: Room, most_actions: int, depth: int) -> bool:
    """Return whether tables or scratch lack room for the node at ``depth``."""
    counts = tables.counts
    return bool(
        depth + 1 >= len(room.places)
        or room.counters[TOUCHED] == len(room.touched)
        or 2 * counts[INFOSETS] >= len(tables.places)
        or counts[INFOSETS] >= len(tables.infosets)
        or counts[SLOTS] + most_actions > len(tables.action_ids)
        or counts[STEPS] + depth > len(tables.paths)
        or counts[HISTORIES] + most_actions > len(tables.children)
    )


@kernel()
def more_tables(tables: RulesTables, most_actions: int, depth: int) -> RulesTables:
    """Return tables with room for everything that the node at ``depth`` may add."""
    counts, held = tables.counts, tables.held
    infosets, places = grown(tables.infosets, counts[INFOSETS] + 1), tables.places
    if 2 * counts[INFOSETS] >= len(places):
        places = rehashed(infosets, counts[INFOSETS], 4 * (counts[INFOSETS] + 1))
    slots, histories = counts[SLOTS] + most_actions, counts[HISTORIES] + most_actions
    logs = blank(held.logs, slots) if len(held.logs) else held.logs
    return RulesTables(
        infosets,
        places,
        grown(tables.action_ids, slots),
        grown(tables.paths, counts[STEPS] + depth),
        Tables(grown(held.rows, slots), logs, held.totals, held.baselines, held.quantiles),
        blank_row(tables.children, histories),
        blank(tables.baselines, max(slots, histories)) if len(tables.baselines) else tables.baselines,
        counts,
    )


@kernel()
def blank(array: Floats, needed: int) -> Floats:
    """Return the array, or a longer zero-padded copy if it is too short."""
    longer, rows = grown(array, needed), len(array)
    longer[rows:] = 0.0
    return longer


@kernel()
def blank_row(array: Ints, needed: int) -> Ints:
    """Apply :func:`blank` to an integer array."""
    longer, rows = grown(array, needed), len(array)
    longer[rows:] = 0
    return longer
