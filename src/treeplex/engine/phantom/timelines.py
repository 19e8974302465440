"""A walk over the timelines of a phantom game: who put which stone when, but not what else was tried.

A player's failed tries depend on the other's stones alone. So given a timeline, the own histories of the two players that fit
it form a full product, and a terminal timeline is one number times two lists of sequences. In abrupt versions, where a failed
try costs the turn, a timeline also says in which turns players failed.

Own histories are numbered as they are met. A *step* is what leads to one: twice the sequence played last, plus one if the stone
was put, not refused; an empty sequence counts as put.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
SmallInts = NDArray[np.int32]
Bytes = NDArray[np.int8]
NONE = -1
BOARDS = 1 << 16
"""More than there are sets of cells."""


class Walk(NamedTuple):
    """What the walk found; provisional numbers, the empty sequences first.

    Attributes:
        player, step: [I], of each infoset its player and the step that leads to it.
        about: [I, 2], of each infoset its first sequence (others follow by cell, those not known to be taken) times
            :data:`BOARDS`, plus the bit set of the cells that the player knows to be taken; and the histories in it. Side by
            side, since infosets are met one by one.
        cells: [Q], the cell of each sequence's last action; -1 for empty sequences.
        entry_sequences, entry_lists: [entries], which sequences are in which list, list by list; those of each player are
            numbered by themselves.
        terms, values: [K, 2] and [K], the lists of each terminal timeline that pays, and what player 0 gets.
        counts: [2], lists of each player.
        sizes: histories, terminal histories and the nodes on the longest path.
    """

    player: Bytes
    step: Ints
    about: Ints
    cells: Bytes
    entry_sequences: SmallInts
    entry_lists: SmallInts
    terms: SmallInts
    values: NDArray[np.float64]
    counts: Ints
    sizes: Ints


@njit(cache=True, nogil=True)
def grown(array: NDArray[Any], needed: int) -> NDArray[Any]:
    """The array, or a copy with room for more, if it is too short."""
    if needed <= len(array):
        return array
    longer = np.empty((max(needed, 2 * len(array)), *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


@njit(cache=True, nogil=True)
def lowest_cell(board: int) -> int:
    """The first cell of a set that is not empty."""
    cell = 0
    while not board >> cell & 1:
        cell += 1
    return cell


@njit(cache=True, nogil=True)
def walk_timelines(cells: int, won: NDArray[np.bool_], abrupt: bool, most: int) -> Walk:
    """Walk all timelines, depth first.

    Args:
        cells: of the board, n.
        won: [2, 2**n], whether each player has won with each set of stones.
        abrupt: whether a turn is over when the cell was taken.
        most: entries of lists, beyond which the walk stops; ``sizes`` are 0 then.
    """
    full = (1 << cells) - 1
    sizes_of = np.zeros(full + 1, np.int64)
    for board in range(1, full + 1):
        sizes_of[board] = sizes_of[board >> 1] + (board & 1)
    player, step, about = np.empty(1024, np.int8), np.empty(1024, np.int64), np.empty((1024, 2), np.int64)
    infosets = 0
    owner, cell_of = np.full(4096, NONE, np.int32), np.full(4096, NONE, np.int8)
    after = np.full(8192, NONE, np.int32)
    # Infoset and cell of each sequence; the infoset after each step.
    sequences = 2
    entry_sequences, entry_lists = np.empty(4096, np.int32), np.empty(4096, np.int32)
    entries, counts = 0, np.zeros(2, np.int64)
    first_list, second_list, values = np.empty(1024, np.int32), np.empty(1024, np.int32), np.empty(1024)
    terms = 0
    sizes = np.zeros(3, np.int64)

    # A frame for each step of the timeline: who moves, the stones, where the steps of each player lie and the most that it
    # tried, the infosets of the mover, what comes next, and the list of the one who waits.
    frames = 2 * cells + 2
    mover, option, waiting = np.zeros(frames, np.int64), np.zeros(frames, np.int64), np.full(frames, NONE, np.int64)
    stones = np.zeros((frames, 2), np.int64)
    begin, end, tried = np.zeros((frames, 2), np.int64), np.zeros((frames, 2), np.int64), np.zeros((frames, 2), np.int64)
    here_begin, here_end = np.zeros(frames, np.int64), np.zeros(frames, np.int64)
    steps, here = np.empty((1024, 2), np.int64), np.empty(1024, np.int32)
    steps[0, 0], steps[0, 1] = 1, 3
    end[0] = 1
    depth, entered = 0, False
    while depth >= 0:
        own = mover[depth]
        other = 1 - own
        if not entered:
            # The infosets in which the mover may be.
            top = here_end[depth - 1] if depth else 0
            here_begin[depth] = top
            place = begin[depth, own]
            opposing = stones[depth, other]
            asked, asking, untried = top, 0, 0
            while True:
                if untried:  # after a failed try the mover tries again
                    cell = lowest_cell(untried)
                    untried ^= 1 << cell
                    way = 2 * (asking // BOARDS + sizes_of[~asking & ((1 << cell) - 1)])
                elif place < end[depth, own]:
                    way = steps[place, own]
                    place += 1
                elif not abrupt and asked < top:
                    asking = about[here[asked], 0]
                    untried = opposing & ~asking
                    asked += 1
                    continue
                else:
                    break
                found = after[way]
                if found == NONE:
                    if infosets == len(player):
                        player, step = grown(player, infosets + 1), grown(step, infosets + 1)
                        about = grown(about, infosets + 1)
                    found = infosets
                    before = owner[way >> 1]
                    known = 0 if before == NONE else (about[before, 0] & full) | 1 << cell_of[way >> 1]
                    player[found], step[found] = own, way
                    about[found, 0], about[found, 1] = sequences * BOARDS | known, 0
                    after[way] = found
                    infosets += 1
                    number = sequences
                    sequences += cells - sizes_of[known]
                    if sequences > len(owner):
                        size = len(owner)
                        owner, cell_of = grown(owner, sequences), grown(cell_of, sequences)
                        after = grown(after, 2 * len(owner))
                        owner[size:], cell_of[size:], after[2 * size :] = NONE, NONE, NONE
                    for each in range(cells):
                        if not known >> each & 1:
                            owner[number], cell_of[number] = found, each
                            number += 1
                if top == len(here):
                    here = grown(here, top + 1)
                here[top] = found
                top += 1
            here_end[depth] = top
            others = end[depth, other] - begin[depth, other]
            for place in range(here_begin[depth], top):
                about[here[place], 1] += others
                tried[depth, own] = max(tried[depth, own], sizes_of[about[here[place], 0] & full])
            sizes[0] += (top - here_begin[depth]) * others
            option[depth], waiting[depth], entered = 0, NONE, True
        chosen = option[depth]
        option[depth] += 1
        if chosen > cells or (chosen == cells and not abrupt):
            depth -= 1
            continue
        taken = stones[depth, 0] | stones[depth, 1]
        if chosen < cells and taken >> chosen & 1:
            continue
        low, high = here_begin[depth], here_end[depth]
        if chosen < cells:
            board = stones[depth, own] | 1 << chosen
            wins = won[own, board]
            if wins or taken | 1 << chosen == full:
                others = end[depth, other] - begin[depth, other]
                sizes[0] += (high - low) * others
                sizes[1] += (high - low) * others
                sizes[2] = max(sizes[2], tried[depth, 0] + tried[depth, 1] + 2)
                if not wins:
                    continue  # a draw pays nothing
                needed = entries + (high - low) + (others if waiting[depth] == NONE else 0)
                if needed > most:
                    sizes[:] = 0
                    break
                entry_sequences, entry_lists = grown(entry_sequences, needed), grown(entry_lists, needed)
                if waiting[depth] == NONE:
                    waiting[depth] = counts[other]
                    counts[other] += 1
                    for place in range(begin[depth, other], end[depth, other]):
                        entry_sequences[entries], entry_lists[entries] = steps[place, other] >> 1, waiting[depth]
                        entries += 1
                for place in range(low, high):
                    own_about = about[here[place], 0]
                    entry_sequences[entries] = own_about // BOARDS + sizes_of[~own_about & ((1 << chosen) - 1)]
                    entry_lists[entries] = counts[own]
                    entries += 1
                if terms == len(values):
                    first_list, second_list = grown(first_list, terms + 1), grown(second_list, terms + 1)
                    values = grown(values, terms + 1)
                first_list[terms] = counts[0] if own == 0 else waiting[depth]
                second_list[terms] = waiting[depth] if own == 0 else counts[1]
                values[terms] = 1.0 if own == 0 else -1.0
                counts[own] += 1
                terms += 1
                continue
        # The steps of the mover after this: a stone on the cell, or a failed try.
        top = end[depth, own]
        begin[depth + 1, own] = top
        opposing = stones[depth, other]
        for place in range(low, high):
            own_about = about[here[place], 0]
            unseen = 1 << chosen if chosen < cells else opposing & ~own_about
            while unseen:
                cell = lowest_cell(unseen)
                unseen ^= 1 << cell
                way = 2 * (own_about // BOARDS + sizes_of[~own_about & ((1 << cell) - 1)]) + (1 if chosen < cells else 0)
                if top == len(steps):
                    steps = grown(steps, top + 1)
                steps[top, own] = way
                top += 1
        if top == begin[depth + 1, own]:
            continue  # nobody can fail here
        end[depth + 1, own] = top
        begin[depth + 1, other], end[depth + 1, other] = begin[depth, other], end[depth, other]
        stones[depth + 1] = stones[depth]
        if chosen < cells:
            stones[depth + 1, own] |= 1 << chosen
        tried[depth + 1, own], tried[depth + 1, other] = tried[depth, own] + 1, tried[depth, other]
        mover[depth + 1] = other
        depth += 1
        entered = False
    kept = np.empty((terms, 2), np.int32)
    kept[:, 0], kept[:, 1] = first_list[:terms], second_list[:terms]
    return Walk(
        player[:infosets],
        step[:infosets],
        about[:infosets],
        cell_of[:sequences],
        entry_sequences[:entries],
        entry_lists[:entries],
        kept,
        values[:terms],
        counts,
        sizes,
    )


@njit(cache=True, nogil=True)
def by_sequence(walk: Walk, final: Ints) -> tuple[Ints, SmallInts]:
    """The lists that each sequence is in, by final numbers: pointers [Q+1] and lists [entries], in ascending order."""
    pointers = np.zeros(len(final) + 1, np.int64)
    for sequence in walk.entry_sequences:
        pointers[final[sequence] + 1] += 1
    for q in range(len(final)):
        pointers[q + 1] += pointers[q]
    lists = np.empty(len(walk.entry_lists), np.int32)
    places = pointers[:-1].copy()
    for entry in range(len(lists)):
        q = final[walk.entry_sequences[entry]]
        lists[places[q]] = walk.entry_lists[entry]
        places[q] += 1
    return pointers, lists
