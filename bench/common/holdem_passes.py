"""The hand engine's kernels over all boards of a spot's last street, repeated inside one compiled call each; and plain loops.

Every function does its work ``times`` times for both players, tile by tile, as the engine does. ``rows`` and the other scratch
arrays of the engine are those of one thread here.
"""

import numpy as np
from numba import njit

from treeplex.holdem.engine.board_kernels import columns_to_rows, rows_to_columns
from treeplex.holdem.engine.form import ACTIONS, BOARDS, COUNT, FOLDS, HANDS, NODES, ROOTS, SHOWDOWNS, STORE
from treeplex.holdem.engine.node import TILE, accumulate, best, play, update
from treeplex.holdem.engine.showdowns.terminal import COLUMNS, PADDING, folds, showdowns

LAST = -1


@njit(nogil=True)
def reaches(times, form, source, rows, scratch):
    """Regret matching and reach, starting from rows of ones."""
    street = form.streets[LAST]
    for _ in range(times):
        for player in range(2):
            nodes = form.nodes[street[NODES + player] : street[NODES + player + 1]]
            rows[: street[ROOTS]] = 1.0
            for board in range(street[BOARDS], street[BOARDS + 1]):
                base, hands = form.boards[board, STORE + player], form.boards[board, COUNT + player]
                for low in range(0, hands, TILE):
                    play(nodes, street[ROOTS], source, base + low, hands, min(TILE, hands - low), rows, scratch)


@njit(nogil=True)
def averages(times, form, average, rows):
    """Average updates."""
    street = form.streets[LAST]
    for _ in range(times):
        for player in range(2):
            for board in range(street[BOARDS], street[BOARDS + 1]):
                base, hands = form.boards[board, STORE + player], form.boards[board, COUNT + player]
                actions = street[ACTIONS + player]
                for low in range(0, hands, TILE):
                    width = min(TILE, hands - low)
                    accumulate(actions, street[ROOTS], average, base + low, hands, width, rows, 0.5, 1.0)


@njit(nogil=True)
def refresh(fresh, rows):
    """Copy the gradient into the rows."""
    for q in range(rows.shape[0]):
        source, target = fresh[q], rows[q]
        for j in range(target.shape[0]):
            target[j] = source[j]


@njit(nogil=True)
def updates(times, form, regrets, weights, fresh, rows, scratch):
    """Backup and regret update, each from a copy of the gradient ``fresh``."""
    street = form.streets[LAST]
    for _ in range(times):
        for player in range(2):
            nodes = form.nodes[street[NODES + player] : street[NODES + player + 1]]
            for board in range(street[BOARDS], street[BOARDS + 1]):
                base, hands = form.boards[board, STORE + player], form.boards[board, COUNT + player]
                for low in range(0, hands, TILE):
                    width = min(TILE, hands - low)
                    refresh(fresh, rows)
                    update(nodes, street[ROOTS], regrets, regrets, False, base + low, hands, width, weights, rows, scratch)


@njit(nogil=True)
def bests(times, form, regrets, locked, fresh, rows, scratch):
    """Best-response sweeps, each from a copy of the gradient ``fresh``."""
    street = form.streets[LAST]
    for _ in range(times):
        for player in range(2):
            nodes = form.nodes[street[NODES + player] : street[NODES + player + 1]]
            for board in range(street[BOARDS], street[BOARDS + 1]):
                hands = form.boards[board, COUNT + player]
                for low in range(0, hands, TILE):
                    width = min(TILE, hands - low)
                    refresh(fresh, rows)
                    best(nodes, street[ROOTS], regrets, locked, low, hands, 0, hands, width, False, rows, scratch)


@njit(nogil=True)
def copies(times, form, fresh, rows):
    """Copies of the gradient alone, to be subtracted from the cost of :func:`updates` and :func:`bests`."""
    street = form.streets[LAST]
    for _ in range(times):
        for player in range(2):
            for board in range(street[BOARDS], street[BOARDS + 1]):
                for _low in range(0, form.boards[board, COUNT + player], TILE):
                    refresh(fresh, rows)


@njit(nogil=True)
def chunk(columns, hands, wide):
    """Columns of terminals as [hands, wide]."""
    return columns[: hands * wide].reshape((hands, wide))


@njit(nogil=True)
def whole(terminals):
    """The number of terminals, rounded up to full vectors."""
    return (terminals + PADDING - 1) // PADDING * PADDING


@njit(nogil=True)
def terminals_of(form, kind):
    """The last street's showdowns (kind 0) or folds."""
    street = form.streets[LAST]
    if kind == 0:
        return form.showdowns[street[SHOWDOWNS] : street[SHOWDOWNS + 1]]
    return form.folds[street[FOLDS] : street[FOLDS + 1]]


@njit(nogil=True)
def turns(times, form, outwards, chips, rows, turned, columns):
    """Copy rows of sequences to columns of terminals (``outwards``), or back."""
    street = form.streets[LAST]
    for _ in range(times):
        for player in range(2):
            for board in range(street[BOARDS], street[BOARDS + 1]):
                hands = form.boards[board, COUNT + player]
                for kind in range(2):
                    ends = terminals_of(form, kind)
                    for first in range(0, ends.shape[0], COLUMNS):
                        last = min(first + COLUMNS, ends.shape[0])
                        part = chunk(columns, hands + PADDING, whole(last - first))
                        for low in range(0, hands, TILE):
                            width = min(TILE, hands - low)
                            if outwards:
                                rows_to_columns(ends[first:last], chips[first:last], player, low, width, rows, turned, part)
                            else:
                                columns_to_rows(ends[first:last], player, low, width, part, turned, rows)


@njit(nogil=True)
def evaluations(times, form, kind, reached, valued, total, by_card):
    """Showdowns (kind 0) or folds at all boards."""
    street, ends = form.streets[LAST], terminals_of(form, kind)
    for _ in range(times):
        for player in range(2):
            for board in range(street[BOARDS], street[BOARDS + 1]):
                row = form.boards[board]
                mine = form.boards[board, HANDS + player], row[HANDS + player] + row[COUNT + player]
                theirs = row[HANDS + 1 - player], row[HANDS + 1 - player] + row[COUNT + 1 - player]
                cards, order, twin = form.cards[mine[0] : mine[1]], form.order[mine[0] : mine[1]], form.twin[mine[0] : mine[1]]
                others, levels = form.cards[theirs[0] : theirs[1]], form.order[theirs[0] : theirs[1]]
                for first in range(0, ends.shape[0], COLUMNS):
                    wide = whole(min(COLUMNS, ends.shape[0] - first))
                    seen, out = chunk(reached, others.shape[0] + 1, wide), chunk(valued, cards.shape[0], wide)
                    sums = chunk(by_card, 54, wide)
                    if kind == 0:
                        showdowns(cards, order, others, levels, seen, out, total[:wide], sums)
                    else:
                        folds(cards, twin, others, seen, out, total[:wide], sums)


@njit(nogil=True, fastmath=True)
def chains(times, values, factor, term):
    """Sixteen dependent multiply-adds on each number, in registers: the limit of arithmetic."""
    for _ in range(times):
        for k in range(values.shape[0]):
            v = values[k]
            for _step in range(16):
                v = v * factor + term
            values[k] = v


@njit(nogil=True)
def additions(times, source, target):
    """Two loads and a store per number, in the first-level cache: the limit of loads and stores."""
    for _ in range(times):
        for k in range(source.shape[0]):
            target[k] += source[k]


def machine_arrays(numbers: int) -> tuple[np.ndarray, np.ndarray]:
    """Two float32 arrays with the given number of elements."""
    return np.ones(numbers, np.float32), np.zeros(numbers, np.float32)
