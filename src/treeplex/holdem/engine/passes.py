"""Passes: kernels over some boards of a street, and :class:`BoardPool`, which distributes the boards among threads.

A pass for a player is the four operations of ``docs/design.md``: the opponent's reach, downwards (:func:`descend`, on the
last street :func:`reach_terminals`); the gradient, from values of folds and showdowns (:func:`value_terminals`); then,
upwards, backup and local update in one, tile by tile (:func:`improve`), or backup alone (:func:`answer`). The kernels
release the GIL and never allocate. Every sum has a fixed order for any number of threads, so results are the same bit for
bit.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.barrier import wait_at_barrier
from treeplex.engine.kernel import kernel
from treeplex.engine.tree.regret import AVERAGE, AVERAGE_DISCOUNT, Weights
from treeplex.holdem.engine.board_kernels import (
    descend_board,
    gather_end,
    gradient_rows,
    reach_folds,
    reach_terminals,
    return_rows,
    value_terminals,
)
from treeplex.holdem.engine.form import (
    ACTIONS,
    BOARDS,
    CHILDREN,
    COUNT,
    ENDS,
    INFOSETS,
    NODES,
    REACH,
    RETURN,
    ROOTS,
    STORE,
    HoldemForm,
    Store,
    Workspace,
)
from treeplex.holdem.engine.node import TILE, best, expect
from treeplex.holdem.engine.storage import close_tile, open_tile, tile_of
from treeplex.holdem.engine.update_by_rule import update_by_rule

BEST, REPLY, EXPECT = 0, 1, 2
"""Modes of :func:`answer` at own nodes: take the best action, take and store it (fictitious play), or follow a policy."""

NUMBERS_A_THREAD = 150_000
"""Stored numbers (actions times hands) per thread above which multithreading a single board is faster."""

NUMBERS_A_STREET = 100_000
"""Stored numbers, for each street after the first, from which threads that share boards pay; they start and wait for each other
several times per street and iteration."""

COLUMNS = len(Weights._fields)

CHUNKS = 4
"""Minimum number of work pieces per thread, so that one slow piece does not delay the whole pass."""

NUMBERS_A_PIECE = 4_000_000
"""Maximum stored numbers per work piece, if boards are small enough; Ctrl-C is handled between pieces."""


@kernel(error_model="numpy", ahead="treeplex.holdem.search.ahead:judge_or_search")
def descend(
    form: HoldemForm,
    street: int,
    first: int,
    last: int,
    player: int,
    source: Floats,
    scales: Floats,
    store: Store,
    keep: float,
    add: float,
    optimism: float,
    work: Workspace,
    thread: int,
) -> None:
    """Compute own reach on boards ``first..last-1`` of a street, store it in ``work.reach`` and add it to the average."""
    sequences = form.streets[street, ROOTS] + form.streets[street, ACTIONS + player]
    below = street + 1 < form.streets.shape[0]
    rows = work.rows[thread]
    for board in range(first, last):
        hands, start = (form.boards[board, COUNT + player], form.boards[board, REACH + player])
        for low in range(0, hands, TILE):
            width = min(TILE, hands - low)
            descend_board(form, street, board, player, source, scales, store, keep, add, optimism, low, work, thread)
            if below:
                for q in range(sequences):
                    row, stored_row = (rows[q], work.reach[start + q * hands + low : start + q * hands + low + width])
                    for j in range(width):
                        stored_row[j] = row[j]


@kernel(error_model="numpy")
def improve_board(
    form: HoldemForm,
    street: int,
    board: int,
    player: int,
    store: Store,
    weights: Floats,
    work: Workspace,
    thread: int,
    slot: int,
    space: int,
    share: int,
    shares: int,
) -> None:
    """Update a player's regrets on one board from the values in ``work.valued[space]``; threads share the tiles."""
    streets = form.streets[street]
    nodes, roots = form.nodes[streets[NODES + player] : streets[NODES + player + 1]], streets[ROOTS]
    rows, scratch, hands = work.rows[thread], work.scratch[thread], form.boards[board, COUNT + player]
    unpacked, more_unpacked = work.unpacked[thread, 0], work.unpacked[thread, 1]
    predicts = store.guesses.ctypes.data != store.regrets.ctypes.data
    infosets = form.boards[board, INFOSETS + player]
    for low in range(share * TILE, hands, shares * TILE):
        tile = tile_of(form, street, board, player, low)
        width = tile.width
        gradient_rows(form, street, board, player, low, width, work, thread, space)
        regrets, start, stride = open_tile(store.regrets, store.regret_scales, tile, unpacked)
        guesses = regrets
        if predicts:
            guesses, start, stride = open_tile(store.guesses, store.guess_scales, tile, more_unpacked)
        update_by_rule(
            nodes, roots, regrets, guesses, store.previous, store.changes, predicts,
            start, stride, infosets + low, hands, width, weights, rows, scratch
        )  # fmt: skip
        close_tile(store.regrets, store.regret_scales, tile, unpacked)
        if predicts:
            close_tile(store.guesses, store.guess_scales, tile, more_unpacked)
        return_rows(form, street, board, player, low, width, work, thread, slot)


@kernel(error_model="numpy")
def improve(
    form: HoldemForm,
    street: int,
    first: int,
    last: int,
    player: int,
    store: Store,
    weights: Floats,
    keep: float,
    add: float,
    raked: bool | None,
    work: Workspace,
    thread: int,
    slot: int,
) -> None:
    """Update a player's regrets on boards ``first..last-1`` of a street, after the boards below.

    On the last street, the opponent's reach is computed here and added to the opponent's average with ``keep`` and ``add``.
    """
    zero, one = int(np.int64(0)), int(np.int64(1))  # as in iterate_board
    for board in range(first, last):
        if street + 1 == form.streets.shape[0]:
            guesses, scales = store.guesses, store.guess_scales
            reach_terminals(form, board, 1 - player, guesses, scales, store, keep, add, work, thread, thread, zero, one)
        else:
            reach_folds(form, street, board, 1 - player, work, thread)
        value_terminals(form, street, board, player, raked, work, thread, thread, zero, one)
        improve_board(form, street, board, player, store, weights, work, thread, slot, thread, zero, one)


@kernel(error_model="numpy")
def answer(
    form: HoldemForm,
    street: int,
    first: int,
    last: int,
    player: int,
    mode: int,
    against: Floats,
    scales: Floats,
    store: Store,
    raked: bool | None,
    work: Workspace,
    thread: int,
    slot: int,
) -> None:
    """Compute a player's best responses or expected values against ``against``, board by board as in :func:`improve`."""
    streets = form.streets[street]
    nodes, roots = (form.nodes[streets[NODES + player] : streets[NODES + player + 1]], streets[ROOTS])
    rows, scratch, unpacked = work.rows[thread], work.scratch[thread], work.unpacked[thread, 0]
    zero, one = int(np.int64(0)), int(np.int64(1))  # as in iterate_board
    for board in range(first, last):
        if street + 1 == form.streets.shape[0]:
            reach_terminals(form, board, 1 - player, against, scales, store, 1.0, 0.0, work, thread, thread, zero, one)
        else:
            reach_folds(form, street, board, 1 - player, work, thread)
        value_terminals(form, street, board, player, raked, work, thread, thread, zero, one)
        hands, infosets = form.boards[board, COUNT + player], form.boards[board, INFOSETS + player]
        for low in range(0, hands, TILE):
            tile = tile_of(form, street, board, player, low)
            width = tile.width
            gradient_rows(form, street, board, player, low, width, work, thread, thread)
            if mode == EXPECT:
                policy, start, stride = open_tile(against, scales, tile, unpacked)
                expect(nodes, roots, policy, start, stride, width, rows, scratch)
            else:
                best(
                    nodes, roots, store.regrets, store.locked, tile.base + low, hands, infosets + low, hands,
                    width, mode == REPLY, rows, scratch
                )  # fmt: skip
            return_rows(form, street, board, player, low, width, work, thread, slot)


@kernel(error_model="numpy")
def gather(form: HoldemForm, street: int, first: int, last: int, player: int, work: Workspace, slot: int) -> None:
    """Sum the returned values for pairs (board, end) of a street with numbers ``first..last-1``."""
    ends = form.streets[street, ENDS + 1] - form.streets[street, ENDS]
    for pair in range(first, last):
        gather_end(form, street, form.streets[street, BOARDS] + pair // ends, player, pair % ends, work, slot)


@kernel(error_model="numpy")
def apply_locks(store: Store) -> None:
    """Reset locked hands to their locked policies."""
    for k in range(store.lock_places.shape[0]):
        store.regrets[store.lock_places[k]] = store.lock_values[k]
        store.guesses[store.lock_places[k]] = store.lock_values[k]


@kernel(error_model="numpy", ahead="treeplex.holdem.search.ahead:judge_turn")
def iterate_board(
    form: HoldemForm, weights: Floats, raked: bool | None, store: Store, work: Workspace, thread: int, threads: int, gate: Ints
) -> None:
    """Run all iterations of a one-board spot; see :meth:`BoardPool.iterate`. Threads share the board's hands and terminals."""
    guesses, scales = store.guesses, store.guess_scales
    zero, one = int(np.int64(0)), int(np.int64(1))  # not literals, for which Numba would compile specialised callees
    if weights.shape[0] > 0 and thread == 0:
        keep, add = weights[0, AVERAGE_DISCOUNT], weights[0, AVERAGE]
        descend(form, zero, zero, one, zero, guesses, scales, store, keep, add, 0.0, work, zero)
    wait_at_barrier(gate, threads)
    for k in range(weights.shape[0]):
        after = min(k + 1, weights.shape[0] - 1)
        for player in range(2):
            ahead = k if player == 0 else after
            keep = weights[ahead, AVERAGE_DISCOUNT]
            add = 0.0 if player == 1 and after == k else weights[ahead, AVERAGE]
            reach_terminals(form, zero, 1 - player, guesses, scales, store, keep, add, work, thread, zero, thread, threads)
            wait_at_barrier(gate, threads)
            value_terminals(form, zero, zero, player, raked, work, thread, zero, thread, threads)
            wait_at_barrier(gate, threads)
            improve_board(form, zero, zero, player, store, weights[k], work, thread, zero, zero, thread, threads)
            wait_at_barrier(gate, threads)
            if store.lock_places.shape[0] > 0:
                if thread == 0:
                    apply_locks(store)
                wait_at_barrier(gate, threads)


class BoardPool:
    """A pool of threads that share the boards of a street, and the passes that they run.

    Attributes:
        form: the public tree over hands.
        work: scratch space for the threads.
        raked: True if a showdown pays the winner less than it costs the loser, else None (:func:`value_terminals`).
        threads: number of threads; results do not depend on it.
    """

    def __init__(self, form: HoldemForm, work: Workspace, *, raked: bool, if_useful: bool = False) -> None:
        """Create a pool with a thread for each part of the scratch space; with ``if_useful``, one thread for small spots."""
        self.form, self.work, self.raked = form, work, True if raked else None
        self.last = len(form.streets) - 1
        last = form.boards[-1]
        numbers = int(last[STORE + 1] + last[COUNT + 1] * form.streets[-1, ACTIONS + 1])
        self.threads = 1 if if_useful and numbers < NUMBERS_A_STREET * self.last else work.rows.shape[0]
        self.pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None
        self.pieces = numbers // NUMBERS_A_PIECE

    def share(self, piece: Callable[[int, int, int], None], size: int) -> None:
        """Run ``piece(first, last, thread)`` on pieces of ``range(size)``; Ctrl-C is handled between pieces."""
        chunks = min(size, max(self.threads * CHUNKS if self.pool else 1, self.pieces))
        if chunks < 2:
            piece(0, size, 0)
            return
        turns, left = count(), chunks

        def serve(thread: int) -> None:
            while (turn := next(turns)) < left:
                piece(size * turn // chunks, size * (turn + 1) // chunks, thread)

        others = [self.pool.submit(serve, thread) for thread in range(1, self.threads)] if self.pool else []
        try:
            serve(0)
        finally:
            left = 0
            for other in others:
                other.result()

    def boards(self, street: int) -> tuple[int, int]:
        """The slice of boards on a street."""
        return int(self.form.streets[street, BOARDS]), int(self.form.streets[street, BOARDS + 1])

    def descend(
        self,
        player: int,
        source: NDArray[Any],
        scales: NDArray[Any],
        store: Store,
        *,
        keep: float = 1.0,
        add: float = 0.0,
        optimism: float = 0.0,
        first: int = 0,
        streets: int,
    ) -> None:
        """Compute own reach on streets ``first..streets-1`` and add it to the average with weight ``add``."""
        form, work = self.form, self.work
        for street in range(first, streets):
            start, end = self.boards(street)

            def piece(first: int, last: int, thread: int, street: int = street, start: int = start) -> None:
                first, last = start + first, start + last
                descend(form, street, first, last, player, source, scales, store, keep, add, optimism, work, thread)

            self.share(piece, end - start)

    def ascend(
        self, kernel: Callable[..., None], player: int, *arguments: Any, first: int = 0, streets: int | None = None
    ) -> None:
        """Run ``kernel`` on all boards of streets ``first..streets-1``, last street first; ``streets=None`` includes all
        streets.

        The values that each street returns are gathered at the ends of the street above.
        """
        form, work, raked = self.form, self.work, self.raked
        for street in range(self.last if streets is None else streets - 1, first - 1, -1):
            if street == self.last > 0:
                self.ascend_groups(kernel, player, *arguments)
                continue
            start, end = self.boards(street)

            def piece(first: int, last: int, thread: int, street: int = street, start: int = start) -> None:
                kernel(form, street, start + first, start + last, player, *arguments, raked, work, thread, 0)

            self.share(piece, end - start)
            if street == 0:
                continue
            above, below = self.boards(street - 1)
            ends = int(form.streets[street - 1, ENDS + 1] - form.streets[street - 1, ENDS])

            def gathering(first: int, last: int, thread: int, street: int = street) -> None:
                gather(form, street - 1, first, last, player, work, 0)

            self.share(gathering, (below - above) * ends)

    def ascend_groups(self, kernel: Callable[..., None], player: int, *arguments: Any) -> None:
        """Run ``kernel`` on the last street, in groups of boards with the same parent; each group is gathered at once.

        Returned rows are numbered from 0 in each group. Every thread takes groups and has its own slot; with few groups,
        all threads work on one group at a time and share its boards.
        """
        form, work, raked, street = self.form, self.work, self.raked, self.last
        start, end = self.boards(street - 1)
        ends = int(form.streets[street - 1, ENDS + 1] - form.streets[street - 1, ENDS])

        if work.returned.shape[0] < self.threads:
            for parent in range(end - start):
                low, high = (int(number) for number in form.boards[start + parent, CHILDREN : CHILDREN + 2])

                def share(first: int, last: int, thread: int, low: int = low) -> None:
                    kernel(form, street, low + first, low + last, player, *arguments, raked, work, thread, 0)

                def gathering(first: int, last: int, thread: int, before: int = parent * ends) -> None:
                    gather(form, street - 1, before + first, before + last, player, work, 0)

                self.share(share, high - low)
                self.share(gathering, ends)
            return

        def piece(first: int, last: int, thread: int) -> None:
            for parent in range(first, last):
                low, high = form.boards[start + parent, CHILDREN : CHILDREN + 2]
                kernel(form, street, low, high, player, *arguments, raked, work, thread, thread)
                gather(form, street - 1, parent * ends, (parent + 1) * ends, player, work, thread)

        self.share(piece, end - start)

    def answer(self, player: int, mode: int, against: Floats, scales: Floats, store: Store) -> None:
        """Run a pass that computes best responses or expected values; :meth:`root_values` returns the result."""
        self.descend(1 - player, against, scales, store, streets=self.last)
        self.ascend(answer, player, mode, against, scales, store)

    def root_values(self, player: int) -> Floats:
        """Values of a player's hands at the root after a pass, in chips times the compatible weight of the opponent's range."""
        row = self.form.boards[0]
        return self.work.returned[0, row[RETURN + player] : row[RETURN + player] + row[COUNT + player]]

    def iterate(self, weights: Floats, store: Store, entering: Callable[[int, Floats], None] | None = None) -> None:
        """Run one alternating iteration for each row of ``weights`` (:class:`treeplex.engine.tree.regret.Weights`).

        Value-tested CFR+ has three more columns (:mod:`treeplex.holdem.engine.value_tested`).

        Player 0 updates against player 1's current policy, then player 1 against the new one; the strategy that enters an
        average is the one just played. To save a pass, player 0's next strategy is added to its average when player 1
        responds to it, one row early; the first is added before the loop and none after the last.

        ``entering`` is called with a player and the row after each of its updates. It may read :meth:`root_values` and
        change the starting weights of the player in ``form``.
        """
        if not len(weights):
            self.prepare(store)
            return
        if self.last == 0 and entering is None:
            self.iterate_board(weights, store)
            return
        guesses, scales, first = store.guesses, store.guess_scales, weights[0]
        self.descend(0, guesses, scales, store, keep=first[AVERAGE_DISCOUNT], add=first[AVERAGE], streets=self.last + 1)
        for k, row in enumerate(weights):
            following = weights[min(k + 1, len(weights) - 1)]
            for player, against in ((0, row), (1, following)):
                keep = against[AVERAGE_DISCOUNT]
                add = 0.0 if player == 1 and k + 1 == len(weights) else against[AVERAGE]
                self.descend(1 - player, guesses, scales, store, keep=keep, add=add, streets=self.last)
                self.ascend(improve, player, store, row, keep, add)
                apply_locks(store)
                if entering is not None:
                    entering(player, row)

    def iterate_board(self, weights: Floats, store: Store) -> None:
        """Run :meth:`iterate` for a one-board spot; uses several threads only if there is enough work for them."""
        actions, hands = self.form.streets[0, ACTIONS : ACTIONS + 2], self.form.boards[0, COUNT : COUNT + 2]
        threads = min(self.threads, int(actions @ hands) // NUMBERS_A_THREAD) or 1
        gate = np.zeros(2, np.int64)

        def serve(thread: int) -> None:
            iterate_board(self.form, weights, self.raked, store, self.work, thread, threads, gate)

        others = [self.pool.submit(serve, thread) for thread in range(1, threads)] if self.pool else []
        serve(0)
        for other in others:
            other.result()

    def prepare(self, store: Store) -> None:
        """Compile the kernels of :meth:`iterate`, or load them from the cache."""
        form, work, row = self.form, self.work, np.zeros(COLUMNS)
        if self.last == 0:
            iterate_board(form, np.zeros((0, COLUMNS)), self.raked, store, work, 0, 1, np.zeros(2, np.int64))
            return
        descend(form, 0, 0, 0, 0, store.guesses, store.guess_scales, store, 1.0, 0.0, 0.0, work, 0)
        improve(form, 0, 0, 0, 0, store, row, 1.0, 0.0, self.raked, work, 0, 0)
        gather(form, 0, 0, 0, 0, work, 0)

    def iterate_replies(self, steps: Floats, optimism: Floats, following: Floats, store: Store) -> None:
        """Run one alternating iteration of fictitious play for each entry of ``steps``, ``optimism`` and ``following``, [K].

        Same rule as ``engine.tree.fictitious.iterate_best_replies``. ``regrets`` holds the last best responses;
        ``following`` is the optimism of the next iteration.
        """
        against, scales = (store.average if store.target is None else store.target, store.average_scales)
        for k, step in enumerate(steps):
            for player, mix in ((0, optimism[k]), (1, following[k])):
                self.answer(player, REPLY, against, scales, store)
                apply_locks(store)
                replies, keep = store.regrets, 1.0 - step
                self.descend(player, replies, scales, store, keep=keep, add=step, optimism=mix, streets=self.last + 1)
