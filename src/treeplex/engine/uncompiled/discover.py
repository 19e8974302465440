"""The first walk over rules: numbers infosets, validates the rules, and counts histories and sequences."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints, SmallInts
from treeplex.engine.kernel import kernel
from treeplex.engine.uncompiled.frames import (
    ABOUT,
    MOVER,
    NUMBERS,
    OWN,
    PLACE,
    PROBABILITY,
    Frames,
    enter_node,
    new_frames,
    step_down,
)
from treeplex.engine.uncompiled.frames import FIRST as FRAME_FIRST
from treeplex.engine.uncompiled.rules import CHANCE, COUNT, EVERYBODY, KEY, TERMINAL, Calls, mix

NUMBER, PLAYER, PARENT, FIRST, ACTIONS, LEVEL, PATH, VISITS = range(8)
"""Columns of a row: the infoset's number, player, parent sequence, first sequence, actions, own depth, path, histories."""
NO_PATH = -1
"""Code of a path that is too long for a 64-bit number."""
TOTAL, MAGNITUDE, UNEVEN = range(3)
"""Indices into ``paid``: the sum of payoffs at the terminal with the smallest payoffs, the largest of these, and 1 if the sum
differs between terminals by more than rounding."""
SUM_TOLERANCE = 1e-9
"""Largest difference between sums of payoffs that counts as rounding, relative to the payoffs."""
LARGEST_ROUNDED = 9e9
"""Payoff above which nine decimals do not fit into 64 bits."""
SEEN, STOP = range(2)
"""Indices into ``progress``: histories so far; a non-zero value that stops the walk."""
(
    NO_FAULT, BAD_ACTOR, BAD_COUNT, BAD_CHANCE, NEGATIVE_CHANCE, BAD_INFOSET, OTHER_ACTIONS, FORGETS, BAD_PAYOFF,
    REPEATED_ACTION, TOO_LARGE, TOO_DEEP, TOO_LONG,
) = range(13)  # fmt: skip
"""Fault codes."""
EVERY = 1 << 16
"""Histories between two progress checks."""
SURE = 1e-9
"""Tolerance for the sum of the probabilities at a chance node."""


class Discovery(NamedTuple):
    """Result of the first walk; sequences are provisionally numbered, contiguous per infoset, empty sequences first.

    Attributes:
        rows: [I, 8], one row per infoset in order of discovery. Paths are mixed-radix numbers with a leading 1, first action
            lowest; the radix of a node is its number of actions, at least 2.
        action_ids: [Q], -1 for the empty sequences.
        terminal_sequences, terminal_payoffs: [Z, N], sequences, and chance times payoff, of terminals with non-zero payoffs;
            empty if not requested or too many.
        histories, terminals, depth: number of nodes, of terminals, and of nodes on the longest path.
        paid: [3], indexed by :data:`TOTAL` and so on.
        digest: hash of all payoffs and probabilities.
        fault, detail: fault code, and two numbers that describe the fault.
        path: actions that lead to the fault.
    """

    rows: Ints
    action_ids: Ints
    terminal_sequences: SmallInts
    terminal_payoffs: Floats
    histories: int
    terminals: int
    depth: int
    paid: Floats
    digest: int
    fault: int
    detail: Floats
    path: Ints


@kernel()
def grown(array: NDArray[Any], needed: int) -> NDArray[Any]:
    """Return the array, or a longer copy if it has fewer than ``needed`` rows."""
    if needed <= len(array):
        return array
    longer = np.empty((max(needed, 2 * len(array)), *array.shape[1:]), array.dtype)
    for k in range(len(array)):
        longer[k] = array[k]
    return longer


@kernel()
def place_of(number: int, player: int, size: int) -> int:
    """Return the first slot to probe in a hash table of ``size`` slots."""
    mixed = np.uint64(mix(number, player)) >> np.uint64(31)
    slot: int = np.int64((mixed * np.uint64(size)) >> np.uint64(32))  # type: ignore[assignment]
    return slot


@kernel()
def slot_of(rows: Ints, slots: SmallInts, number: int, player: int) -> int:
    """Return the slot of an infoset's row, or the free slot (-1) where it belongs."""
    slot = place_of(number, player, len(slots))
    while slots[slot] >= 0 and (rows[slots[slot], NUMBER] != number or rows[slots[slot], PLAYER] != player):
        slot = slot + 1 if slot + 1 < len(slots) else 0
    return slot


@kernel()
def rehashed(rows: Ints, count: int, size: int) -> SmallInts:
    """Return a hash table of ``size`` slots with row numbers; -1 in free slots."""
    slots = np.full(size, -1, np.int32)
    for row in range(count):
        slots[slot_of(rows, slots, rows[row, NUMBER], rows[row, PLAYER])] = row
    return slots


@kernel()
def fault_of_node(frames: Frames, depth: int, players: int, most: int, detail: Floats) -> int:
    """Return the fault code for a node's actor, number of actions and chance probabilities."""
    player, count = frames.integers[depth, MOVER], frames.integers[depth, ABOUT + COUNT]
    if player != CHANCE and not 0 <= player < players:
        detail[0] = player
        return BAD_ACTOR
    if not 1 <= count <= most:
        detail[0] = count
        return BAD_COUNT
    if player != CHANCE:
        detail[0] = frames.integers[depth, ABOUT + KEY]
        return BAD_INFOSET if frames.integers[depth, ABOUT + KEY] < 0 else NO_FAULT
    total = 0.0
    for a in range(count):
        total += frames.reals[depth, NUMBERS + a]
        if not frames.reals[depth, NUMBERS + a] >= 0.0:
            detail[0], detail[1] = frames.reals[depth, NUMBERS + a], frames.integers[depth, frames.actions + a]
            return NEGATIVE_CHANCE
    detail[0] = total
    return NO_FAULT if abs(total - 1.0) <= SURE else BAD_CHANCE


@kernel()
def fault_of_visit(frames: Frames, depth: int, row: Ints, action_ids: Ints) -> int:
    """Return the fault code for a history that reaches a known infoset."""
    same = row[ACTIONS] == frames.integers[depth, ABOUT + COUNT]
    if same:
        for a in range(row[ACTIONS]):
            same &= action_ids[row[FIRST] + a] == frames.integers[depth, frames.actions + a]
    if not same:
        return OTHER_ACTIONS
    return NO_FAULT if row[PARENT] == frames.integers[depth, OWN + row[PLAYER]] else FORGETS


@kernel()
def add_terminal(payoffs: Floats, chance: float, paid: Floats, digest: int, detail: Floats) -> tuple[int, int, bool]:
    """Count a terminal's ``payoffs`` [N]; return the new digest, the fault code, and whether any payoff is non-zero."""
    total, magnitude, fault, pays = 0.0, 0.0, NO_FAULT, False
    for player in range(len(payoffs)):
        payoff = payoffs[player]
        if not np.isfinite(payoff):
            detail[0], detail[1] = payoff, player
            return digest, BAD_PAYOFF, False
        total += payoff
        pays |= payoff != 0.0
        magnitude = max(magnitude, abs(payoff))
        share, power = chance * payoff, 0
        if abs(share) > LARGEST_ROUNDED:
            share, power = math.frexp(share)
            digest = mix(digest, int(power))
        rounded: int = np.int64(round(share * 1e9))  # type: ignore[assignment]
        digest = mix(digest, rounded)
    if paid[MAGNITUDE] < np.inf and abs(total - paid[TOTAL]) > SUM_TOLERANCE * max(magnitude, paid[MAGNITUDE]):
        paid[UNEVEN] = 1.0
    if magnitude < paid[MAGNITUDE]:
        paid[TOTAL], paid[MAGNITUDE] = total, magnitude
    return digest, fault, pays


@kernel()
def write_row(row: Ints, frames: Frames, depth: int, first: int, level: int, path: int) -> None:
    """Register the infoset of the node at ``depth``."""
    player = frames.integers[depth, MOVER]
    row[NUMBER], row[PLAYER], row[PARENT] = frames.integers[depth, ABOUT + KEY], player, frames.integers[depth, OWN + player]
    row[FIRST], row[ACTIONS], row[LEVEL] = first, frames.integers[depth, ABOUT + COUNT], level
    row[PATH], row[VISITS] = path, 0


@kernel()
def fault_of_actions(actions: Ints, detail: Floats) -> int:
    """Return the fault code for duplicate or negative actions."""
    for a in range(len(actions)):
        if actions[a] < 0 or actions[a] in actions[:a]:
            detail[0] = actions[a]
            return REPEATED_ACTION
    return NO_FAULT


@kernel()
def register(
    rows: Ints, slots: SmallInts, action_ids: Ints, frames: Frames, depth: int, count: int, first: int, where: tuple[int, int]
) -> tuple[Ints, SmallInts, Ints]:
    """Register the infoset of the node at ``depth`` as number ``count``, with level and path ``where``; arrays may grow."""
    actions, player = frames.integers[depth, ABOUT + COUNT], frames.integers[depth, MOVER]
    rows, action_ids = grown(rows, count + 1), grown(action_ids, first + actions)
    write_row(rows[count], frames, depth, first, where[0], where[1])
    for k in range(actions):
        action_ids[first + k] = frames.integers[depth, frames.actions + k]
    slots[slot_of(rows, slots, frames.integers[depth, ABOUT + KEY], player)] = count
    if 2 * (count + 1) > len(slots):
        slots = rehashed(rows, count + 1, 4 * (count + 1))
    return rows, slots, action_ids


@kernel()
def walk_rules(
    calls: Calls, start: Ints, frame_count: int, most_infosets: int, most_terminals: int, progress: Ints
) -> Discovery:
    """Walk all histories depth first.

    Args:
        calls: the rules.
        start: [words], root state.
        frame_count: maximum number of nodes on a path.
        most_infosets: maximum number of infosets; exceeding it is a fault, as are deeper paths.
        most_terminals: maximum number of stored terminals; if there are more, none are stored.
        progress: [2], indexed by :data:`SEEN` and so on.

    Returns:
        The infosets, sizes and any fault; see :class:`Discovery`.
    """
    players = calls.players
    frames = new_frames(calls, start, np.arange(players), frame_count)
    levels = np.zeros((frame_count, players), np.int64)
    path, radix = np.zeros(frame_count, np.int64), np.ones(frame_count, np.int64)
    rows, count, slots = np.empty((1024, 8), np.int64), 0, np.full(2048, -1, np.int32)
    action_ids, sequences = np.full(4096, -1, np.int64), players
    kept_sequences, kept_payoffs, stored = np.empty((1024, players), np.int32), np.empty((1024, players)), 0
    keeps, paid, detail = most_terminals > 0, np.array([0.0, np.inf, 0.0]), np.zeros(2)
    histories, terminals, longest, digest, fault = 0, 0, 0, 0, NO_FAULT
    depth, entered = 0, False
    while depth >= 0 and fault == NO_FAULT:
        if not entered:
            entered = True
            histories += 1
            longest = max(longest, depth + 1)
            if histories % EVERY == 0:
                progress[SEEN] = histories
                if progress[STOP] != 0:
                    break
            player = enter_node(calls, frames, depth, EVERYBODY)
            if player == TERMINAL:
                terminals += 1
                digest, fault, pays = add_terminal(
                    frames.reals[depth, NUMBERS : NUMBERS + players], frames.reals[depth, PROBABILITY], paid, digest, detail
                )
                if keeps and pays:
                    keeps = stored < most_terminals
                    kept_sequences, kept_payoffs = grown(kept_sequences, stored + 1), grown(kept_payoffs, stored + 1)
                    for other in range(players):
                        kept_sequences[stored, other] = frames.integers[depth, OWN + other]
                        kept_payoffs[stored, other] = frames.reals[depth, PROBABILITY] * frames.reals[depth, NUMBERS + other]
                    stored += 1
                    if not keeps:
                        stored, kept_sequences, kept_payoffs = 0, kept_sequences[:1].copy(), kept_payoffs[:1].copy()
                depth -= 1 if fault == NO_FAULT else 0
                continue
            fault = fault_of_node(frames, depth, players, calls.most_actions, detail)
            if player != CHANCE and fault == NO_FAULT:
                row = slots[slot_of(rows, slots, frames.integers[depth, ABOUT + KEY], player)]
                if row < 0:
                    row, actions = count, frames.integers[depth, ABOUT + COUNT]
                    where = levels[depth, player], path[depth] + radix[depth] if radix[depth] > 0 else NO_PATH
                    fault = fault_of_actions(frames.integers[depth, frames.actions : frames.actions + actions], detail)
                    rows, slots, action_ids = register(rows, slots, action_ids, frames, depth, count, sequences, where)
                    sequences, count = sequences + actions, count + 1
                    fault = TOO_LARGE if count > most_infosets else fault
                else:
                    fault, detail[0] = fault_of_visit(frames, depth, rows[row], action_ids), row
                rows[row, VISITS] += 1
                frames.integers[depth, FRAME_FIRST] = rows[row, FIRST]
            continue
        a, actions = frames.integers[depth, PLACE], frames.integers[depth, ABOUT + COUNT]
        if a == actions:
            depth -= 1
            continue
        frames.integers[depth, PLACE] += 1
        player, below = frames.integers[depth, MOVER], depth + 1
        if player == CHANCE and frames.reals[depth, NUMBERS + a] == 0.0:
            continue
        if below == frame_count:
            fault = TOO_DEEP
            break
        step_down(calls, frames, depth, a)
        levels[below] = levels[depth]
        if player != CHANCE:
            levels[below, player] += 1
        base = max(actions, 2)
        path[below] = path[depth] + radix[depth] * a
        radix[below] = radix[depth] * base if radix[depth] < (1 << 61) // base else 0
        depth, entered = below, False
    progress[SEEN] = histories
    steps = np.empty(max(depth, 0), np.int64)
    for step in range(len(steps)):
        steps[step] = frames.integers[step, frames.actions + frames.integers[step, PLACE] - 1]
    return Discovery(
        rows[:count].copy(), action_ids[:sequences].copy(), kept_sequences[:stored].copy(), kept_payoffs[:stored].copy(),
        histories, terminals, longest, paid, digest, fault, detail, steps,
    )  # fmt: skip
