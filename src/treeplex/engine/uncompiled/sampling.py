"""Monte Carlo CFR over rules given as functions: :func:`treeplex.engine.histories.walks.walk`, with tables that grow.

The random numbers, sums and their order are those of the walks over compiled games and over rules in Python; the tests ask
all three for equal tables.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from treeplex.engine.histories.lazy_tables import NO_PARENT, UNKNOWN_PARENT
from treeplex.engine.histories.streams import advanced, start, unit
from treeplex.engine.histories.walks import (
    AVERAGE,
    AVERAGE_WEIGHT,
    LEARNED,
    LOWEST,
    ONE,
    OPPONENT,
    POLICY,
    REGRET,
    REGRET_WEIGHT,
    Rules,
    Tables,
    catch_up,
    choose,
    match_regrets,
    picked,
)
from treeplex.engine.kernel import KERNEL
from treeplex.engine.tree.form import Floats, Ints, SmallInts
from treeplex.engine.uncompiled.discover import (
    ACTIONS,
    BAD_PAYOFF,
    FIRST,
    FORGETS,
    LEVEL,
    NO_FAULT,
    NUMBER,
    OTHER_ACTIONS,
    PARENT,
    PATH,
    PLAYER,
    VISITS,
    fault_of_actions,
    fault_of_node,
    grown,
    rehashed,
    slot_of,
)
from treeplex.engine.uncompiled.frames import (
    ABOUT,
    MOVER,
    NUMBERS,
    OWN,
    PLACE,
    STRIDE,
    Frames,
    enter_node,
    new_frames,
    step_down,
)
from treeplex.engine.uncompiled.frames import FIRST as FRAME_FIRST
from treeplex.engine.uncompiled.rules import CHANCE, COUNT, KEY, TERMINAL, Calls

INFOSETS, SLOTS, STEPS, HISTORIES, USED, FULL, WALKED, UNSTORED, COUNTS = range(9)
"""Of :attr:`RulesTables.counts`: infosets, slots, steps of paths and histories with baselines; bytes; whether the limit was
reached; histories walked; visits of infosets for which there was no memory."""
OUTSIDE = 0
"""The first slot of an infoset that is not in the tables: room for the uniform policy, which no infoset owns."""
NOWHERE = -1
"""In place of where baselines are, of histories and infosets that have none."""
ABOVE, EDGE, HISTORY, PLACES = range(4)
"""Columns of :attr:`Room.places`: the frame above of which several actions are followed, where the baselines of the node's
actions are, and the number of its history."""
WEIGHT, OWN_REACH, SAMPLE_REACH, REACHES = range(4)
"""Columns of :attr:`Room.numbers`, as of :class:`treeplex.engine.histories.walks.Scratch`."""
TOUCHED, DEPTH, TOP, COUNTERS = range(4)
"""What :attr:`Room.counters` count."""
NO_ROOM = -1
"""In place of what is wrong: there is too little room for the next node."""


class RulesTables(NamedTuple):
    """What a run knows; arrays may be longer than they are full, and infosets of all players stand in the order met.

    Attributes:
        infosets: [I, 8], as ``rows`` of :class:`treeplex.engine.uncompiled.discover.Found`; ``FIRST`` and ``PARENT`` are slots,
            ``PATH`` is where the actions of the history begin at which it was met, and ``LEVEL`` how many these are.
        places: hash table from infosets to their rows.
        action_ids: [S].
        paths: actions.
        held: as in compiled games; its baselines and quantiles are empty.
        children: [H], the first child of each history with baselines, as in
            :class:`treeplex.solvers.sampling.rules_tables.HistoryBaselines`.
        baselines: [H or S, N], for each traverser what histories, or actions, are thought to be worth; [0, N] without.
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


class Keeping(NamedTuple):
    """What is kept, and the memory that it may take.

    Attributes:
        everybody: the infosets of others than the traverser enter, too.
        by_history, by_slot: learned baselines belong to histories, or to actions of infosets.
        infoset_bytes, slot_bytes, step_bytes, history_bytes: what an entry of each kind takes.
        most_bytes: the limit.
    """

    everybody: bool
    by_history: bool
    by_slot: bool
    infoset_bytes: int
    slot_bytes: int
    step_bytes: int
    history_bytes: int
    most_bytes: int


class Walk(NamedTuple):
    """What does not change during a walk.

    Attributes:
        player: the traverser.
        weights: [4], the row of the iteration.
        skipped: the regret below which own actions are skipped.
        lowest: the least regret.
    """

    player: int
    weights: Floats
    skipped: float
    lowest: float


class Run(NamedTuple):
    """What does not change during a run: the game, the scheme, and what is kept."""

    calls: Calls
    rules: Rules
    keeping: Keeping


class Room(NamedTuple):
    """Scratch of a walk, by depth.

    Attributes:
        frames: the nodes on the path.
        places, numbers: [D, 3].
        sampled, chosen: [D, A], as in :class:`treeplex.engine.histories.walks.Scratch`.
        touched: [T, 2], first slot and number of actions of the traverser's infosets visited.
        detail: [2], numbers about a fault.
        counters: [3], how many are touched, the depth of the next node, and the lowest frame with several actions.
        reaches: [3], of the next node.
        stream: [1], the state of random numbers.
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


def new_tables(calls: Calls, rules: Rules) -> RulesTables:
    """Tables without infosets."""
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


@njit(cache=True, nogil=True)
def sample_rules(
    run: Run, begin: Ints, tables: RulesTables, stream_of: tuple[int, int], weights: Floats, pause: int
) -> tuple[RulesTables, int, int, Floats, SmallInts]:
    """Iterate, a walk for every player in turn, until rows of weights end or so many histories have been walked in all.

    Args:
        run: game, scheme, and what is kept.
        begin: the state at the root.
        tables: changed; use those that are returned.
        stream_of: the seed, and the iteration of the first row of ``weights``.
        weights: [K, 4], as of :func:`treeplex.engine.histories.walks.iterate_sampled`.
        pause: histories.

    Returns:
        The tables, iterations done, what is wrong (:data:`treeplex.engine.uncompiled.discover.NO_FAULT`), two numbers about
        that, and the actions that lead there. The numbers are of an infoset's row where histories of it differ.
    """
    room, rules, fault = new_room(run.calls, begin), run.rules, NO_FAULT
    for k in range(weights.shape[0]):
        for player in range(run.calls.players):
            tables.held.totals[player] += weights[k, AVERAGE_WEIGHT]
            stream = start(np.uint64(stream_of[0]), np.uint64(stream_of[1] + k), np.uint64(player))
            skipped, lowest = -math.inf, -math.inf
            if rules.prune > 0.0:
                lowest = -LOWEST * rules.prune_below * weights[k, REGRET_WEIGHT]
                if stream_of[1] + k > rules.prune_after:
                    stream = advanced(stream)
                    if unit(stream) < rules.prune:
                        skipped = -rules.prune_below * weights[k, REGRET_WEIGHT]
            walk = Walk(player, weights[k], skipped, lowest)
            begin_walk(room, stream)
            fault = walk_on(run, walk, tables, room)
            while fault == NO_ROOM:
                tables = more_tables(tables, run.calls.most_actions, room.counters[DEPTH])
                room = more_room(room)
                fault = walk_on(run, walk, tables, room)
            if fault != NO_FAULT:
                path = np.empty(room.counters[DEPTH], np.int32)
                write_path(room.frames, len(path), path)
                return tables, k, fault, room.detail, path
            match_regrets(rules.floor, tables.held.rows, room.touched, room.counters[TOUCHED])
        if tables.counts[WALKED] >= pause:
            return tables, k + 1, fault, room.detail, np.empty(0, np.int32)
    return tables, weights.shape[0], fault, room.detail, np.empty(0, np.int32)


@njit(**KERNEL)
def begin_walk(room: Room, stream: np.uint64) -> None:
    """Begin a walk at the root."""
    room.counters[TOUCHED], room.counters[DEPTH], room.counters[TOP] = 0, 0, -1
    room.reaches[:], room.stream[0] = 1.0, stream


@njit(**KERNEL)
def walk_on(run: Run, walk: Walk, tables: RulesTables, room: Room) -> int:
    """Go on with a walk, see :func:`treeplex.engine.histories.walks.walk`, to its end.

    Returns:
        :data:`NO_FAULT`, :data:`NO_ROOM`, from where it can be gone on, or what is wrong.
    """
    calls, rules, player, frames, rows = run.calls, run.rules, walk.player, room.frames, tables.held.rows
    learns, depth, top, stream = rules.baseline == LEARNED, room.counters[DEPTH], room.counters[TOP], room.stream[0]
    weight, own_reach, sample_reach = room.reaches[WEIGHT], room.reaches[OWN_REACH], room.reaches[SAMPLE_REACH]
    fault, value = NO_FAULT, 0.0
    while True:
        if lacks_room(tables, room, calls.most_actions, depth):
            fault = NO_ROOM
            break
        tables.counts[WALKED] += 1
        acts = enter_node(calls, frames, depth, player)
        ends = acts == TERMINAL
        if ends:
            value = frames.reals[depth, NUMBERS + player]
            if not math.isfinite(value):
                room.detail[0], room.detail[1], fault = value, player, BAD_PAYOFF
                break
        else:
            fault = fault_of_node(frames, depth, calls.players, calls.most_actions, room.detail)
            if fault == NO_FAULT and acts != CHANCE:
                fault = enter_infoset(run, walk, tables, room, depth, (own_reach, sample_reach))
            if fault != NO_FAULT:
                break
            children, key = frames.integers[depth, ABOUT + COUNT], key_of(frames, depth)
            if not learns and acts != player and (acts == CHANCE or rules.others == ONE):
                stream = advanced(stream)
                a, probability = picked(frames.reals[depth], rows, acts, key, children, unit(stream))
                frames.integers[depth, PLACE] = a + 1
                sample_reach *= probability
                step_down(calls, frames, depth, a)
                depth += 1
                continue
            room.places[depth, ABOVE], top, numbers = top, depth, room.numbers[depth]
            numbers[WEIGHT], numbers[OWN_REACH], numbers[SAMPLE_REACH] = weight, own_reach, sample_reach
            stream = choose(frames.reals[depth], rules, rows, acts, player, key, children, stream, room.chosen[depth])
            if acts == player and key != OUTSIDE and walk.skipped > -math.inf:
                skip(calls, walk, rows, room, depth)
            find_baselines(run.keeping, tables, room, depth, player)
        top = climb(run, walk, tables, room, top, value, ends)
        if top < 0:
            break
        a, numbers, edge = frames.integers[top, PLACE] - 1, room.numbers[top], room.places[top, EDGE]
        rho, probability = room.chosen[top, a], probability_of(frames, rows, top, a)
        if frames.integers[top, MOVER] == player:
            weight, own_reach = numbers[WEIGHT] / rho, numbers[OWN_REACH] * probability
        else:
            weight, own_reach = numbers[WEIGHT] * (probability / rho), numbers[OWN_REACH]
        sample_reach = numbers[SAMPLE_REACH] * rho
        step_down(calls, frames, top, a)
        depth = top + 1
        room.places[depth, HISTORY] = edge + a if edge != NOWHERE else NOWHERE
    room.counters[DEPTH], room.counters[TOP], room.stream[0] = depth, top, stream
    room.reaches[WEIGHT], room.reaches[OWN_REACH], room.reaches[SAMPLE_REACH] = weight, own_reach, sample_reach
    return int(fault)


@njit(**KERNEL)
def climb(run: Run, walk: Walk, tables: RulesTables, room: Room, top: int, value: float, ends: bool) -> int:
    """Climb from the frame ``top`` to one that has a next action to follow; add regrets on the way.

    Args:
        run, walk, tables, room: see :func:`walk_met`.
        top: the lowest frame of which several actions are followed.
        value: what the last of them was worth, if one ``ends`` here.
        ends: whether one was followed to the end.

    Returns:
        The frame, whose ``PLACE`` is now that of the action plus one; -1 at the end of the walk.
    """
    frames, rows, player = room.frames, tables.held.rows, walk.player
    while top >= 0:
        acts, children, key = frames.integers[top, MOVER], frames.integers[top, ABOUT + COUNT], key_of(frames, top)
        a = frames.integers[top, PLACE]
        if acts != CHANCE and key == OUTSIDE:
            write_uniform(rows, children)
        if ends:
            edge, baseline = room.places[top, EDGE], room.sampled[top, a - 1]
            room.sampled[top, a - 1] = baseline + (value - baseline) / room.chosen[top, a - 1]
            if edge != NOWHERE:
                tables.baselines[edge + a - 1, player] += run.rules.rate * (value - tables.baselines[edge + a - 1, player])
        while a < children and room.chosen[top, a] == 0.0:
            a += 1
        if a < children:
            frames.integers[top, PLACE] = a + 1
            return top
        value, ends = 0.0, True
        for a in range(children):
            value += probability_of(frames, rows, top, a) * room.sampled[top, a]
        if acts == player and key != OUTSIDE:
            scale = walk.weights[REGRET_WEIGHT] * room.numbers[top, WEIGHT]
            for a in range(children):
                if walk.skipped == -math.inf or room.chosen[top, a] > 0.0:
                    regret = rows[key + a, REGRET] + scale * (room.sampled[top, a] - value)
                    rows[key + a, REGRET] = max(regret, walk.lowest)
        top = room.places[top, ABOVE]
    return top


@njit(**KERNEL)
def skip(calls: Calls, walk: Walk, rows: Floats, room: Room, depth: int) -> None:
    """Do not follow own actions that are not played, have very negative regrets, and do not end the game."""
    key = key_of(room.frames, depth)
    for a in range(room.frames.integers[depth, ABOUT + COUNT]):
        if rows[key + a, REGRET] < walk.skipped and rows[key + a, POLICY] == 0.0:
            step_down(calls, room.frames, depth, a)
            if enter_node(calls, room.frames, depth + 1, walk.player) != TERMINAL:
                room.chosen[depth, a] = 0.0


@njit(**KERNEL)
def key_of(frames: Frames, depth: int) -> int:
    """The first slot of the infoset at ``depth``; of a chance node where its probabilities begin."""
    if frames.integers[depth, MOVER] == CHANCE:
        return NUMBERS
    return int(frames.integers[depth, FRAME_FIRST])


@njit(**KERNEL)
def probability_of(frames: Frames, rows: Floats, depth: int, a: int) -> float:
    """With which probability chance or the player takes action number ``a`` of the node at ``depth``."""
    if frames.integers[depth, MOVER] == CHANCE:
        return float(frames.reals[depth, NUMBERS + a])
    return float(rows[frames.integers[depth, FRAME_FIRST] + a, POLICY])


@njit(**KERNEL)
def write_uniform(rows: Floats, actions: int) -> None:
    """Write the uniform policy of an infoset that is not in the tables."""
    for a in range(actions):
        rows[OUTSIDE + a, POLICY] = 1.0 / actions


@njit(**KERNEL)
def enter_infoset(run: Run, walk: Walk, tables: RulesTables, room: Room, depth: int, reaches: tuple[float, float]) -> int:
    """Find the infoset of the node at ``depth``, or let it in; bring the traverser's up to date.

    Args:
        run, walk, tables, room, depth: see :func:`walk_met`.
        reaches: the traverser's reach, and the probability that the walk comes here.

    Returns:
        What is wrong.
    """
    keeping, player = run.keeping, walk.player
    frames, counts, held = room.frames, tables.counts, tables.held
    frame, actions = frames.integers[depth], frames.integers[depth, ABOUT + COUNT]
    acts, number = frame[MOVER], frame[ABOUT + KEY]
    place = slot_of(tables.infosets, tables.places, number, acts)
    row = tables.places[place]
    if row >= 0:
        first = tables.infosets[row, FIRST]
        same = tables.infosets[row, ACTIONS] == actions
        for a in range(actions if same else 0):
            same &= tables.action_ids[first + a] == frame[frames.actions + a]
        if not same:
            room.detail[0] = row
            return OTHER_ACTIONS
    elif acts == player or keeping.everybody:
        fault = fault_of_actions(frame[frames.actions : frames.actions + actions], room.detail)
        if fault != NO_FAULT:
            return fault
        size = keeping.infoset_bytes + actions * keeping.slot_bytes + depth * keeping.step_bytes
        if take(keeping, counts, size):
            row = counts[INFOSETS]
            tables.places[place] = row
            add_infoset(tables, frames, depth, row)
        else:
            counts[UNSTORED] += 1
    key = tables.infosets[row, FIRST] if row >= 0 else OUTSIDE
    frame[FRAME_FIRST], frame[STRIDE] = key, 1
    if row < 0:
        write_uniform(held.rows, actions)
    elif acts == player:
        before = frame[OWN + player]
        if tables.infosets[row, PARENT] == UNKNOWN_PARENT:
            tables.infosets[row, PARENT] = before
        elif tables.infosets[row, PARENT] != before:
            room.detail[0] = row
            return FORGETS
        room.touched[room.counters[TOUCHED], 0], room.touched[room.counters[TOUCHED], 1] = key, actions
        room.counters[TOUCHED] += 1
        catch_up(run.rules, held, player, key, actions, before, reaches[0], reaches[1], walk.weights)
    elif run.rules.averaging == OPPONENT:
        for a in range(actions):
            held.rows[key + a, AVERAGE] += walk.weights[AVERAGE_WEIGHT] * held.rows[key + a, POLICY]
    return NO_FAULT


@njit(**KERNEL)
def add_infoset(tables: RulesTables, frames: Frames, depth: int, row: int) -> None:
    """A new infoset with the uniform policy, of the node at ``depth``; there is room."""
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


@njit(**KERNEL)
def write_path(frames: Frames, depth: int, path: SmallInts) -> None:
    """Write the actions on the way to the node at ``depth``."""
    for step in range(depth):
        path[step] = frames.integers[step, frames.actions + frames.integers[step, PLACE] - 1]


@njit(**KERNEL)
def take(keeping: Keeping, counts: Ints, size: int) -> bool:
    """Whether so many more bytes may be taken; they are then counted. Once they may not, nothing more is."""
    if counts[FULL] or counts[USED] + size > keeping.most_bytes:
        counts[FULL] = 1
        return False
    counts[USED] += size
    return True


@njit(**KERNEL)
def find_baselines(keeping: Keeping, tables: RulesTables, room: Room, depth: int, player: int) -> None:
    """Set the values of the actions at ``depth`` before any is followed, and say where they are learned."""
    actions, edge = room.frames.integers[depth, ABOUT + COUNT], NOWHERE
    if keeping.by_history:
        history, counts = room.places[depth, HISTORY], tables.counts
        if history != NOWHERE:
            if tables.children[history] == 0 and take(keeping, counts, actions * keeping.history_bytes):
                tables.children[history] = counts[HISTORIES]
                counts[HISTORIES] += actions
            edge = tables.children[history] if tables.children[history] > 0 else NOWHERE
    elif keeping.by_slot and room.frames.integers[depth, MOVER] != CHANCE:
        edge = room.frames.integers[depth, FRAME_FIRST]
        edge = NOWHERE if edge == OUTSIDE else edge
    room.places[depth, EDGE] = edge
    for a in range(actions):
        room.sampled[depth, a] = tables.baselines[edge + a, player] if edge != NOWHERE else 0.0


@njit(cache=True, nogil=True)
def new_room(calls: Calls, begin: Ints) -> Room:
    """Scratch for walks from a state."""
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


@njit(cache=True, nogil=True)
def more_room(room: Room) -> Room:
    """The scratch, longer where the walk needs it."""
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


@njit(**KERNEL)
def lacks_room(tables: RulesTables, room: Room, most_actions: int, depth: int) -> bool:
    """Whether tables or scratch have too little room for the node at ``depth``."""
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


@njit(cache=True, nogil=True)
def more_tables(tables: RulesTables, most_actions: int, depth: int) -> RulesTables:
    """Tables with room for what the node at ``depth`` may add."""
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


@njit(cache=True, nogil=True)
def blank(array: Floats, needed: int) -> Floats:
    """The array, or a copy with room for more and zeros there, if it is too short."""
    longer, rows = grown(array, needed), len(array)
    longer[rows:] = 0.0
    return longer


@njit(cache=True, nogil=True)
def blank_row(array: Ints, needed: int) -> Ints:
    """:func:`blank` of whole numbers."""
    longer, rows = grown(array, needed), len(array)
    longer[rows:] = 0
    return longer
