"""Kernels for one board: own reach, copies between rows and terminals, and values from the boards below."""

from treeplex.base.arrays import Floats, Ints, Shorts
from treeplex.engine.kernel import kernel
from treeplex.holdem.engine.form import (
    ACTIONS,
    CHILDREN,
    COPIES,
    COUNT,
    ENDS,
    FOLDS,
    HANDS,
    NODES,
    PARENT,
    REACH,
    RETURN,
    ROOTS,
    SHOWDOWNS,
    HoldemForm,
    Store,
    Workspace,
)
from treeplex.holdem.engine.node import TILE, accumulate, blend_target, play
from treeplex.holdem.engine.row_view import row_view
from treeplex.holdem.engine.showdowns.terminal import CARDS, COLUMNS, PADDING, folds, raked_showdowns, showdowns
from treeplex.holdem.engine.storage import close_tile, open_tile, tile_of
from treeplex.holdem.engine.transpose import BLOCK, transpose_block


@kernel(error_model="numpy")
def enter(form: HoldemForm, street: int, board: int, player: int, low: int, width: int, reach: Floats, rows: Floats) -> None:
    """Write the root rows of a street: range weights on the first street, otherwise the reach at the end of the previous
    street.
    """
    boards, first = form.boards, form.boards[board, HANDS + player] + low
    if street == 0:
        for j in range(width):
            rows[0, j] = form.weights[first + j]
        return
    parent, ends = boards[board, PARENT], form.streets[street - 1, ENDS]
    hands, start = boards[parent, COUNT + player], boards[parent, REACH + player]
    source = form.source[first : first + width]
    for k in range(form.streets[street, ROOTS]):
        row, above = rows[k], reach[start + form.ends[ends + k, player] * hands :]
        for j in range(width):
            row[j] = above[source[j]]


@kernel(error_model="numpy")
def descend_board(
    form: HoldemForm,
    street: int,
    board: int,
    player: int,
    source: Floats,
    scales: Floats,
    store: Store,
    keep: float,
    add: float,
    optimism: float,
    low: int,
    work: Workspace,
    thread: int,
) -> None:
    """Compute own reach for a tile of hands on one board in ``work.rows``; add it to the average with weight ``add``.

    If the store has a ``target``, set it to the average mixed with this reach, which has weight ``optimism``.
    """
    streets, tile = form.streets[street], tile_of(form, street, board, player, low)
    rows, scratch, unpacked = (work.rows[thread], work.scratch[thread], work.unpacked[thread, 0])
    roots, actions, width = streets[ROOTS], tile.actions, tile.width
    nodes = form.nodes[streets[NODES + player] : streets[NODES + player + 1]]
    enter(form, street, board, player, low, width, work.reach, rows)
    numbers, start, stride = open_tile(source, scales, tile, unpacked)
    play(nodes, roots, numbers, start, stride, width, rows, scratch)
    if add != 0.0:
        average = store.average
        numbers, start, stride = open_tile(average, store.average_scales, tile, unpacked)
        accumulate(actions, roots, numbers, start, stride, width, rows, keep, add)
        close_tile(average, store.average_scales, tile, unpacked)
        blend_target(actions, roots, numbers, store.target, start, stride, width, rows, optimism)


@kernel(error_model="numpy")
def padded(terminals: int) -> int:
    """The number of terminals rounded up to whole vectors."""
    return (terminals + PADDING - 1) // PADDING * PADDING


@kernel(error_model="numpy")
def columns_of(columns: Floats, hands: int, first: int, wide: int) -> Floats:
    """A chunk of ``wide`` columns as [hands, wide]; earlier chunks hold ``first`` columns."""
    return columns[hands * first : hands * (first + wide)].reshape((hands, wide))


@kernel(error_model="numpy")
def slice_of(form: HoldemForm, board: int, player: int) -> tuple[int, int]:
    """The slice of a player's hands on a board."""
    first = form.boards[board, HANDS + player]
    return first, first + form.boards[board, COUNT + player]


@kernel(error_model="numpy")
def rows_to_columns(
    terminals: Ints, chips: Floats, player: int, low: int, width: int, rows: Floats, turned: Floats, columns: Floats
) -> None:
    """Copy sequence rows to terminal columns, in chips: column k of hand ``low + j`` gets ``chips[k]`` times its row.

    ``turned`` is [COLUMNS, TILE], scratch from which blocks are transposed.
    """
    count = terminals.shape[0]
    for k in range(count):
        row, out, factor = row_view(rows, terminals[k, player] * TILE, TILE), row_view(turned, k * TILE, TILE), chips[k]
        for j in range(TILE):
            out[j] = factor * row[j]
    whole = width - width % BLOCK
    for top in range(0, count, BLOCK):
        for left in range(0, whole, BLOCK):
            transpose_block(turned, top, left, columns, low + left, top)
        for j in range(whole, width):  # a whole block would overwrite other rows
            out = columns[low + j]
            for k in range(top, top + BLOCK):
                out[k] = turned[k, j]


@kernel(error_model="numpy")
def columns_to_rows(terminals: Ints, player: int, low: int, width: int, columns: Floats, turned: Floats, rows: Floats) -> None:
    """Add terminal columns to sequence rows, the inverse of :func:`rows_to_columns`."""
    count = terminals.shape[0]
    for left in range(0, width, BLOCK):  # the last block may read past the hands; those rows are unused
        for top in range(0, count, BLOCK):
            transpose_block(columns, low + left, top, turned, top, left)
    for k in range(count):
        row, values = row_view(rows, terminals[k, player] * TILE, TILE), row_view(turned, k * TILE, TILE)
        for j in range(TILE):
            row[j] += values[j]


@kernel(error_model="numpy")
def reach_terminals(
    form: HoldemForm,
    board: int,
    other: int,
    against: Floats,
    scales: Floats,
    store: Store,
    keep: float,
    add: float,
    work: Workspace,
    thread: int,
    space: int,
    share: int,
    shares: int,
) -> None:
    """Fill ``work.reached[space]``, in chips, with reach under ``against`` on a last-street board; update the average.

    If the work is split into several ``shares``, this call does every ``shares``-th tile.
    """
    street = form.streets.shape[0] - 1
    streets, others = form.streets[street], form.boards[board, COUNT + other]
    lasts = form.showdowns[streets[SHOWDOWNS] : streets[SHOWDOWNS + 1]]
    folded = form.folds[streets[FOLDS] : streets[FOLDS + 1]]
    rows, turned, reached = work.rows[thread], work.turned[thread], work.reached[space]
    chips, first_fold = work.chips[street, 1 - other, 0], padded(lasts.shape[0])
    for low in range(share * TILE, others, shares * TILE):
        width = min(TILE, others - low)
        descend_board(form, street, board, other, against, scales, store, keep, add, 0.0, low, work, thread)
        for first in range(0, lasts.shape[0], COLUMNS):
            last = min(first + COLUMNS, lasts.shape[0])
            seen = columns_of(reached, others + 1, first, padded(last - first))
            rows_to_columns(lasts[first:last], chips[first:last], other, low, width, rows, turned, seen)
        for first in range(0, folded.shape[0], COLUMNS):
            last, start = min(first + COLUMNS, folded.shape[0]), first_fold + first
            seen = columns_of(reached, others + 1, start, padded(last - first))
            rows_to_columns(folded[first:last], chips[start : start + last - first], other, low, width, rows, turned, seen)


@kernel(error_model="numpy")
def reach_folds(form: HoldemForm, street: int, board: int, other: int, work: Workspace, thread: int) -> None:
    """Fill ``work.reached`` with the folds of a street before the last, from the reach rows stored for its board."""
    streets, others = form.streets[street], form.boards[board, COUNT + other]
    folded, stored_start = (form.folds[streets[FOLDS] : streets[FOLDS + 1]], form.boards[board, REACH + other])
    reached, chips = work.reached[thread], work.chips[street, 1 - other, 0]
    for first in range(0, folded.shape[0], COLUMNS):
        last = min(first + COLUMNS, folded.shape[0])
        seen = columns_of(reached, others + 1, first, padded(last - first))
        for k in range(last - first):
            row, factor = (work.reach[stored_start + folded[first + k, other] * others :], chips[first + k])
            for j in range(others):
                seen[j, k] = factor * row[j]


@kernel(error_model="numpy")
def copy_mirrored(mirror: Shorts, values: Floats) -> None:
    """Copy values between hands that are mirror images; ``values`` is [hands, columns]."""
    for hand in range(mirror.shape[0]):
        if mirror[hand] != hand:
            row, image = values[mirror[hand]], values[hand]
            for k in range(row.shape[0]):
                image[k] = row[k]


@kernel(error_model="numpy")
def value_terminals(
    form: HoldemForm,
    street: int,
    board: int,
    player: int,
    raked: bool | None,
    work: Workspace,
    thread: int,
    space: int,
    share: int,
    shares: int,
) -> None:
    """Compute the values of a board's showdowns and folds, from ``work.reached[space]`` to ``work.valued[space]``.

    Threads share the chunks. ``raked`` is None without rake: Numba then compiles no showdowns with rake.
    """
    streets, boards, other = form.streets[street], form.boards, 1 - player
    hands, others = boards[board, COUNT + player], boards[board, COUNT + other]
    reached, valued, total, by_card = (work.reached[space], work.valued[space], work.total[thread], work.by_card[thread])
    mine, theirs = slice_of(form, board, player), slice_of(form, board, other)
    cards, order, twin = (form.cards[mine[0] : mine[1]], form.order[mine[0] : mine[1]], form.twin[mine[0] : mine[1]])
    mirror = form.mirror[mine[0] : mine[1]]
    other_cards, other_order = (form.cards[theirs[0] : theirs[1]], form.order[theirs[0] : theirs[1]])
    lasts, folded = (streets[SHOWDOWNS + 1] - streets[SHOWDOWNS], streets[FOLDS + 1] - streets[FOLDS])
    turn = 0
    for first in range(0, lasts, COLUMNS):
        turn += 1
        if turn % shares != share:
            continue
        wide = padded(min(COLUMNS, lasts - first))
        seen, out = (columns_of(reached, others + 1, first, wide), columns_of(valued, hands, first, wide))
        seen[others] = 0.0
        sums, card_sums = total[:wide], by_card[: CARDS * wide].reshape((CARDS, wide))
        if raked is not None:
            paid = work.chips[street, player, 1:4, first : first + wide]
            raked_showdowns(cards, order, twin, other_cards, other_order, seen, paid, out, sums, card_sums)
        else:
            showdowns(cards, order, other_cards, other_order, seen, out, sums, card_sums)
        copy_mirrored(mirror, out)
    for first in range(0, folded, COLUMNS):
        turn += 1
        if turn % shares != share:
            continue
        wide, start = padded(min(COLUMNS, folded - first)), padded(lasts) + first
        seen, out = (columns_of(reached, others + 1, start, wide), columns_of(valued, hands, start, wide))
        seen[others] = 0.0
        folds(cards, twin, other_cards, seen, out, total[:wide], by_card[: CARDS * wide].reshape((CARDS, wide)))
        copy_mirrored(mirror, out)


@kernel(error_model="numpy")
def gradient_rows(
    form: HoldemForm, street: int, board: int, player: int, low: int, width: int, work: Workspace, thread: int, space: int
) -> None:
    """Compute the gradient of a tile of hands: values of the board's terminals, and values returned to the street's ends."""
    streets, hands = form.streets[street], form.boards[board, COUNT + player]
    rows, turned, valued = work.rows[thread], work.turned[thread], work.valued[space]
    lasts = form.showdowns[streets[SHOWDOWNS] : streets[SHOWDOWNS + 1]]
    folded = form.folds[streets[FOLDS] : streets[FOLDS + 1]]
    for q in range(streets[ROOTS] + streets[ACTIONS + player]):
        row = rows[q]
        for j in range(TILE):
            row[j] = 0.0
    for first in range(0, lasts.shape[0], COLUMNS):
        last = min(first + COLUMNS, lasts.shape[0])
        values = columns_of(valued, hands, first, padded(last - first))
        columns_to_rows(lasts[first:last], player, low, width, values, turned, rows)
    for first in range(0, folded.shape[0], COLUMNS):
        last, start = (min(first + COLUMNS, folded.shape[0]), padded(lasts.shape[0]) + first)
        values = columns_of(valued, hands, start, padded(last - first))
        columns_to_rows(folded[first:last], player, low, width, values, turned, rows)
    if street + 1 < form.streets.shape[0]:
        ends, gathered = (form.ends[streets[ENDS] : streets[ENDS + 1]], form.boards[board, REACH + player])
        for k in range(ends.shape[0]):
            row, below = (rows[ends[k, player]], work.gathered[gathered + k * hands + low :])
            for j in range(width):
                row[j] += below[j]


@kernel(error_model="numpy")
def return_rows(
    form: HoldemForm, street: int, board: int, player: int, low: int, width: int, work: Workspace, thread: int, slot: int
) -> None:
    """Return the values at a board's roots to the previous street."""
    hands, start, rows = (form.boards[board, COUNT + player], form.boards[board, RETURN + player], work.rows[thread])
    for k in range(form.streets[street, ROOTS]):
        row, out = (rows[k], work.returned[slot, start + k * hands + low : start + k * hands + low + width])
        for j in range(width):
            out[j] = row[j]


@kernel(error_model="numpy")
def gather_end(form: HoldemForm, street: int, board: int, player: int, end: int, work: Workspace, slot: int) -> None:
    """Sum the values returned by the boards below a street's end and by their isomorphic copies, times the deal's
    probability.
    """
    boards, first_child = form.boards, form.boards[board, CHILDREN]
    hands, start = boards[board, COUNT + player], boards[board, REACH + player]
    total, factor = (work.gathered[start + end * hands : start + (end + 1) * hands], form.factors[first_child])
    for j in range(hands):
        total[j] = 0.0
    returned = work.returned[slot]
    for child in range(boards[board, CHILDREN], boards[board, CHILDREN + 1]):
        below, first = boards[child, COUNT + player], boards[child, RETURN + player]
        values, share = returned[first + end * below : first + (end + 1) * below], form.factors[child] / factor
        for copy in range(boards[child, COPIES], boards[child, COPIES + 1]):
            target = form.targets[form.copies[copy, player] : form.copies[copy, player] + below]
            for j in range(below):
                total[target[j]] += share * values[j]
    for j in range(hands):
        total[j] *= factor
    mirror = form.mirror[boards[board, HANDS + player] : boards[board, HANDS + player] + hands]
    for j in range(hands):
        total[j] = total[mirror[j]]
