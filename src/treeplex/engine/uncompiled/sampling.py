"""Monte Carlo CFR over rules given as functions: like :mod:`treeplex.engine.sampling.walks`, with growing tables.

Random numbers, sums and their order are identical to the walks over compiled games and over Python rules; the tests require
equal tables from all three. Action selection and infoset updates share the same functions. The walk itself is separate, since
its frames differ: each state is computed from its parent on entry, only frames with several actions are backtracked to, and a
walk pauses when arrays have to grow.
"""

import math

import numpy as np

from treeplex.base.arrays import Floats, Ints, SmallInts
from treeplex.engine.kernel import INLINED, NO_COUNTS, kernel
from treeplex.engine.sampling.choices import choose, picked, probability_of
from treeplex.engine.sampling.lazy_tables import UNKNOWN_PARENT
from treeplex.engine.sampling.sampled_tables import AVERAGE, POLICY, REGRET, add_regrets, catch_up, match_regrets
from treeplex.engine.sampling.schemes import (
    AVERAGE_WEIGHT,
    LEARNED,
    ONE,
    OPPONENT,
    REGRET_WEIGHT,
    Traversal,
    pruning,
)
from treeplex.engine.sampling.streams import advanced, start, unit
from treeplex.engine.uncompiled.discover import (
    ACTIONS,
    BAD_PAYOFF,
    FIRST,
    FORGETS,
    NO_FAULT,
    OTHER_ACTIONS,
    PARENT,
    TOO_LONG,
    fault_of_actions,
    fault_of_node,
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
    step_down,
)
from treeplex.engine.uncompiled.frames import FIRST as FRAME_FIRST
from treeplex.engine.uncompiled.rules import CHANCE, COUNT, KEY, TERMINAL, Calls
from treeplex.engine.uncompiled.sampled_tables import (
    ABOVE,
    DEPTH,
    EDGE,
    HISTORIES,
    HISTORY,
    INFOSETS,
    NO_ROOM,
    NOWHERE,
    OUTSIDE,
    OWN_REACH,
    SAMPLE_REACH,
    TOP,
    TOUCHED,
    UNSTORED,
    WALKED,
    WEIGHT,
    Room,
    RulesTables,
    Run,
    StorageRules,
    add_infoset,
    lacks_room,
    more_room,
    more_tables,
    new_room,
    take,
    write_path,
)

MOST_WALKED = 10_000_000
"""Maximum number of histories in one walk, about ten seconds: a walk follows all actions of its player, so in long games it may
not end. For why it is not a setting see ``solvers.sampling.rules_walk.MOST_WALKED``.
"""


@kernel()
def sample_rules(
    run: Run, begin: Ints, tables: RulesTables, stream_of: tuple[int, int], weights: Floats, pause: int
) -> tuple[RulesTables, int, int, Floats, SmallInts]:
    """Run iterations, one walk per player, until ``weights`` are used up or ``pause`` histories have been walked in total.

    Args:
        run: constants of the run.
        begin: the root state.
        tables: updated; use the returned tables.
        stream_of: the seed, and the iteration number of the first row of ``weights``.
        weights: [K, 4], see :func:`treeplex.engine.sampling.walks.iterate_sampled`.
        pause: number of histories after which to stop.

    Returns:
        The tables, iterations done, fault code (:data:`treeplex.engine.uncompiled.discover.NO_FAULT` for none), two numbers
        that describe the fault, and the actions that lead to it. If histories of an infoset differ, the numbers are the
        infoset's row.
    """
    room, rules, fault = new_room(run.calls, begin), run.rules, NO_FAULT
    for k in range(weights.shape[0]):
        for player in range(run.calls.players):
            tables.held.totals[player] += weights[k, AVERAGE_WEIGHT]
            stream = start(np.uint64(stream_of[0]), np.uint64(stream_of[1] + k), np.uint64(player))
            skipped, lowest, stream = pruning(rules, weights[k, REGRET_WEIGHT], stream_of[1] + k, stream)
            walk, until = Traversal(player, weights[k], skipped, lowest), tables.counts[WALKED] + MOST_WALKED
            begin_walk(room, stream)
            fault = walk_on(run, walk, until, tables, room)
            while fault == NO_ROOM:
                tables = more_tables(tables, run.calls.most_actions, room.counters[DEPTH])
                room = more_room(room)
                fault = walk_on(run, walk, until, tables, room)
            if fault != NO_FAULT:
                path = np.empty(room.counters[DEPTH], np.int32)
                write_path(room.frames, len(path), path)
                return tables, k, fault, room.detail, path
            match_regrets(rules.floor, tables.held.rows, room.touched, room.counters[TOUCHED])
        if tables.counts[WALKED] >= pause:
            return tables, k + 1, fault, room.detail, np.empty(0, np.int32)
    return tables, weights.shape[0], fault, room.detail, np.empty(0, np.int32)


@kernel(**NO_COUNTS)
def begin_walk(room: Room, stream: np.uint64) -> None:
    """Start a walk at the root."""
    room.counters[TOUCHED], room.counters[DEPTH], room.counters[TOP] = 0, 0, -1
    room.reaches[:], room.stream[0] = 1.0, stream


@kernel(**NO_COUNTS)
def walk_on(run: Run, walk: Traversal, until: int, tables: RulesTables, room: Room) -> int:
    """Continue a walk to its end, or until ``until`` histories have been walked in total.

    See :func:`treeplex.engine.sampling.walks.walk`.

    Returns:
        :data:`NO_FAULT`; :data:`NO_ROOM`, after which the walk can be resumed; or the fault.
    """
    calls, rules, player, frames, rows = run.calls, run.rules, walk.player, room.frames, tables.held.rows
    learns, depth, top, stream = rules.baseline == LEARNED, room.counters[DEPTH], room.counters[TOP], room.stream[0]
    weight, own_reach, sample_reach = room.reaches[WEIGHT], room.reaches[OWN_REACH], room.reaches[SAMPLE_REACH]
    fault, value = NO_FAULT, 0.0
    while True:
        if lacks_room(tables, room, calls.most_actions, depth):
            fault = NO_ROOM
            break
        if tables.counts[WALKED] >= until:
            fault = TOO_LONG
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
        rho, acts = room.chosen[top, a], frames.integers[top, MOVER]
        probability = probability_of(frames.reals[top], rows, acts, key_of(frames, top) + a)
        if acts == player:
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


@kernel(**INLINED)
def climb(run: Run, walk: Traversal, tables: RulesTables, room: Room, top: int, value: float, ends: bool) -> int:
    """Backtrack from the frame ``top`` to one with another action to follow, adding regrets.

    Args:
        run, walk, tables, room: see :func:`walk_on`.
        top: the deepest frame with several followed actions.
        value: value of its last action, if ``ends``.
        ends: whether an action was followed to a terminal.

    Returns:
        The frame, with ``PLACE`` set to the action's index plus one; -1 at the end of the walk.
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
            value += probability_of(frames.reals[top], rows, acts, key + a) * room.sampled[top, a]
        if acts == player and key != OUTSIDE:
            scale = walk.weights[REGRET_WEIGHT] * room.numbers[top, WEIGHT]
            add_regrets(rows, key, children, walk, scale, room.sampled[top], room.chosen[top], value)
        top = room.places[top, ABOVE]
    return top


@kernel(**INLINED)
def skip(calls: Calls, walk: Traversal, rows: Floats, room: Room, depth: int) -> None:
    """Skip the traverser's actions with zero probability and very negative regret, unless they end the game."""
    key = key_of(room.frames, depth)
    for a in range(room.frames.integers[depth, ABOUT + COUNT]):
        if rows[key + a, REGRET] < walk.skipped and rows[key + a, POLICY] == 0.0:
            step_down(calls, room.frames, depth, a)
            if enter_node(calls, room.frames, depth + 1, walk.player) != TERMINAL:
                room.chosen[depth, a] = 0.0


@kernel(**NO_COUNTS)
def key_of(frames: Frames, depth: int) -> int:
    """Return the first slot of the infoset at ``depth``, or where the probabilities begin at a chance node."""
    if frames.integers[depth, MOVER] == CHANCE:
        return NUMBERS
    return int(frames.integers[depth, FRAME_FIRST])


@kernel(**NO_COUNTS)
def write_uniform(rows: Floats, actions: int) -> None:
    """Write the uniform policy for an infoset that is not in the tables."""
    for a in range(actions):
        rows[OUTSIDE + a, POLICY] = 1.0 / actions


@kernel(**INLINED)
def enter_infoset(run: Run, walk: Traversal, tables: RulesTables, room: Room, depth: int, reaches: tuple[float, float]) -> int:
    """Look up or add the infoset of the node at ``depth``, and bring the traverser's infosets up to date.

    Args:
        run, walk, tables, room, depth: see :func:`walk_on`.
        reaches: the traverser's reach and the sampling reach.

    Returns:
        The fault code.
    """
    keeping, player = run.keeping, walk.player
    frames, counts, held = room.frames, tables.counts, tables.held
    frame, actions = frames.integers[depth], frames.integers[depth, ABOUT + COUNT]
    acts, number = frame[MOVER], frame[ABOUT + KEY]
    slot = slot_of(tables.infosets, tables.places, number, acts)
    row = tables.places[slot]
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
            tables.places[slot] = row
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


@kernel(**INLINED)
def find_baselines(keeping: StorageRules, tables: RulesTables, room: Room, depth: int, player: int) -> None:
    """Set the baseline values of the actions at ``depth``, and record which baselines to update."""
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
