"""Kernels for many rivers side by side, as one board whose hands are those of all rivers.

A river with narrow ranges fills a fraction of a tile. Here tiles hold the hands of several rivers, so reach, update and backup
take the time of one; only folds and showdowns are evaluated river by river. Every number equals that of a solve of its own, bit
for bit. Each river's hands are followed by an empty one with weight 0, which the operators read as the missing hand.
"""

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.kernel import kernel
from treeplex.engine.tree.regret import AVERAGE, AVERAGE_DISCOUNT
from treeplex.holdem.engine.board_kernels import (
    columns_of,
    descend_board,
    gradient_rows,
    padded,
    reach_terminals,
    return_rows,
    slice_of,
)
from treeplex.holdem.engine.form import (
    COUNT,
    FOLDS,
    NODES,
    ROOTS,
    SHOWDOWNS,
    HoldemForm,
    Store,
    Workspace,
)
from treeplex.holdem.engine.node import TILE, expect
from treeplex.holdem.engine.passes import improve_board
from treeplex.holdem.engine.showdowns.terminal import CARDS, COLUMNS, folds, showdowns
from treeplex.holdem.engine.storage import open_tile, tile_of


@kernel(error_model="numpy")
def scale_columns(seen: Floats, chips: Floats) -> None:
    """Multiply the columns of all hands, [hands, columns], by the chips of each column."""
    for hand in range(seen.shape[0]):
        row = seen[hand]
        for k in range(chips.shape[0]):
            row[k] *= chips[k]


@kernel(error_model="numpy")
def value_rivers(form: HoldemForm, player: int, rivers: Ints, chips: Floats, work: Workspace) -> None:
    """Compute the values of all rivers' folds and showdowns, from ``work.reached[0]`` to ``work.valued[0]``.

    Args:
        form: all rivers as one board.
        player: the player whose hands are valued.
        rivers: int64 [R, 2, 2], for each river and player the first hand and the number of hands without the empty one.
        chips: [R, 2, columns], of each player, as the first row of ``Workspace.chips``.
        work: scratch space.
    """
    streets, other = form.streets[0], 1 - player
    hands, others = form.boards[0, COUNT + player], form.boards[0, COUNT + other]
    mine, theirs = slice_of(form, 0, player), slice_of(form, 0, other)
    reached, valued, total, by_card = work.reached[0], work.valued[0], work.total[0], work.by_card[0]
    lasts, folded = (streets[SHOWDOWNS + 1] - streets[SHOWDOWNS], streets[FOLDS + 1] - streets[FOLDS])
    for r in range(rivers.shape[0]):
        low, other_low = rivers[r, player, 0], rivers[r, other, 0]
        high, other_high = low + rivers[r, player, 1], other_low + rivers[r, other, 1]
        cards = form.cards[mine[0] + low : mine[0] + high]
        order, twin = form.order[mine[0] + low : mine[0] + high], form.twin[mine[0] + low : mine[0] + high]
        other_cards = form.cards[theirs[0] + other_low : theirs[0] + other_high]
        other_order = form.order[theirs[0] + other_low : theirs[0] + other_high]
        for first in range(0, lasts, COLUMNS):
            last = min(first + COLUMNS, lasts)
            wide = padded(last - first)
            seen = columns_of(reached, others + 1, first, wide)[other_low : other_high + 1]
            out = columns_of(valued, hands, first, wide)[low:high]
            scale_columns(seen, chips[r, player, first:last])
            sums, card_sums = total[:wide], by_card[: CARDS * wide].reshape((CARDS, wide))
            showdowns(cards, order, other_cards, other_order, seen, out, sums, card_sums)
        for first in range(0, folded, COLUMNS):
            last, start = min(first + COLUMNS, folded), padded(lasts) + first
            wide = padded(last - first)
            seen = columns_of(reached, others + 1, start, wide)[other_low : other_high + 1]
            out = columns_of(valued, hands, start, wide)[low:high]
            scale_columns(seen, chips[r, player, start : start + last - first])
            sums, card_sums = total[:wide], by_card[: CARDS * wide].reshape((CARDS, wide))
            folds(cards, twin, other_cards, seen, out, sums, card_sums)


@kernel(error_model="numpy")
def iterate_rivers(form: HoldemForm, weights: Floats, rivers: Ints, chips: Floats, store: Store, work: Workspace) -> None:
    """Run an iteration of all rivers for each row of ``weights``, as :func:`treeplex.holdem.engine.passes.iterate_board`."""
    guesses, scales, hands = store.guesses, store.guess_scales, form.boards[0, COUNT]
    keep, add = weights[0, AVERAGE_DISCOUNT], weights[0, AVERAGE]
    for low in range(0, hands, TILE):
        descend_board(form, 0, 0, 0, guesses, scales, store, keep, add, 0.0, low, work, 0)
    for k in range(weights.shape[0]):
        after = min(k + 1, weights.shape[0] - 1)
        for player in range(2):
            ahead = k if player == 0 else after
            keep = weights[ahead, AVERAGE_DISCOUNT]
            add = 0.0 if player == 1 and after == k else weights[ahead, AVERAGE]
            reach_terminals(form, 0, 1 - player, guesses, scales, store, keep, add, work, 0, 0, 0, 1)
            value_rivers(form, player, rivers, chips, work)
            improve_board(form, 0, 0, player, store, weights[k], work, 0, 0, 0, 0, 1)


@kernel(error_model="numpy")
def expect_rivers(form: HoldemForm, player: int, rivers: Ints, chips: Floats, store: Store, work: Workspace) -> None:
    """Compute a player's expected values under the average policies, in ``work.returned[0]``."""
    streets, average, scales = form.streets[0], store.average, store.average_scales
    nodes, roots = form.nodes[streets[NODES + player] : streets[NODES + player + 1]], streets[ROOTS]
    reach_terminals(form, 0, 1 - player, average, scales, store, 1.0, 0.0, work, 0, 0, 0, 1)
    value_rivers(form, player, rivers, chips, work)
    for low in range(0, form.boards[0, COUNT + player], TILE):
        tile = tile_of(form, 0, 0, player, low)
        gradient_rows(form, 0, 0, player, low, tile.width, work, 0, 0)
        policy, start, stride = open_tile(average, scales, tile, work.unpacked[0, 0])
        expect(nodes, roots, policy, start, stride, tile.width, work.rows[0], work.scratch[0])
        return_rows(form, 0, 0, player, low, tile.width, work, 0, 0)
