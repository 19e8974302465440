"""Passes: kernels over some boards of a street, and :class:`Crew`, which shares boards out to threads.

A pass for a player is: the opponent's reach downwards, terminals, the player's values upwards. The kernels release the GIL and
never allocate; whatever number of threads, every sum has one order, so results are the same bit for bit.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

from numba import njit

from treeplex.engine.hands.boards import (
    descend_board,
    gather_end,
    gradient_rows,
    reach_folds,
    reach_terminals,
    return_rows,
    value_terminals,
)
from treeplex.engine.hands.form import (
    ACTIONS,
    BOARDS,
    COUNT,
    ENDS,
    INFOSETS,
    NODES,
    REACH,
    ROOTS,
    STORE,
    Floats,
    HandForm,
    Store,
    Work,
)
from treeplex.engine.hands.local import TILE, best, expect, update, update_adaptively

BEST, REPLY, EXPECT = 0, 1, 2
"""What :func:`answer` does at own nodes: take the best action; also keep it (fictitious play); follow a policy."""

CHUNKS = 4
"""Pieces of work a thread, so that a slow one does not keep the others waiting."""


@njit(cache=True, nogil=True, error_model="numpy")
def descend(
    form: HandForm,
    street: int,
    first: int,
    last: int,
    player: int,
    source: Floats,
    store: Store,
    keep: float,
    add: float,
    optimism: float,
    work: Work,
    thread: int,
) -> None:
    """Own reach at boards ``first..last-1`` of a street: kept in ``work.reach`` and added to the average."""
    sequences = form.streets[street, ROOTS] + form.streets[street, ACTIONS + player]
    below = street + 1 < form.streets.shape[0]
    rows, scratch = work.rows[thread], work.scratch[thread]
    for board in range(first, last):
        hands, start = form.boards[board, COUNT + player], form.boards[board, REACH + player]
        for low in range(0, hands, TILE):
            width = min(TILE, hands - low)
            descend_board(
                form, street, board, player, source, store, keep, add, optimism, low, width, rows, scratch, work.reach
            )
            if below:
                for q in range(sequences):
                    row, kept = rows[q], work.reach[start + q * hands + low : start + q * hands + low + width]
                    for j in range(width):
                        kept[j] = row[j]


@njit(cache=True, nogil=True, error_model="numpy")
def improve(
    form: HandForm,
    street: int,
    first: int,
    last: int,
    player: int,
    store: Store,
    weights: Floats,
    keep: float,
    add: float,
    raked: bool,
    work: Work,
    thread: int,
) -> None:
    """Update the regrets of ``player`` at boards ``first..last-1`` of a street, whose boards below are done.

    In the last street the opponent's reach is found on the way, and added to his average with ``keep`` and ``add``.
    """
    streets = form.streets[street]
    nodes, roots = form.nodes[streets[NODES + player] : streets[NODES + player + 1]], streets[ROOTS]
    rows, scratch = work.rows[thread], work.scratch[thread]
    for board in range(first, last):
        if street + 1 == form.streets.shape[0]:
            reach_terminals(form, board, 1 - player, store.guesses, store, keep, add, work, thread)
        else:
            reach_folds(form, street, board, 1 - player, work, thread)
        value_terminals(form, street, board, player, raked, work, thread)
        base, hands = form.boards[board, STORE + player], form.boards[board, COUNT + player]
        for low in range(0, hands, TILE):
            width = min(TILE, hands - low)
            gradient_rows(form, street, board, player, low, width, work, thread)
            if store.previous.shape[0] > 0:
                update_adaptively(
                    nodes, roots, store.regrets, store.guesses, store.previous, store.changes,
                    base, form.boards[board, INFOSETS + player], hands, low, width, weights, rows, scratch,
                )  # fmt: skip
            else:
                update(nodes, roots, store.regrets, store.guesses, base, hands, low, width, weights, rows, scratch)
            return_rows(form, street, board, player, low, width, work, thread)


@njit(cache=True, nogil=True, error_model="numpy")
def answer(
    form: HandForm,
    street: int,
    first: int,
    last: int,
    player: int,
    mode: int,
    against: Floats,
    store: Store,
    raked: bool,
    work: Work,
    thread: int,
) -> None:
    """Best responses or expected values of ``player`` against ``against``, board by board as :func:`improve`."""
    streets = form.streets[street]
    nodes, roots = form.nodes[streets[NODES + player] : streets[NODES + player + 1]], streets[ROOTS]
    rows, scratch = work.rows[thread], work.scratch[thread]
    for board in range(first, last):
        if street + 1 == form.streets.shape[0]:
            reach_terminals(form, board, 1 - player, against, store, 1.0, 0.0, work, thread)
        else:
            reach_folds(form, street, board, 1 - player, work, thread)
        value_terminals(form, street, board, player, raked, work, thread)
        base, hands = form.boards[board, STORE + player], form.boards[board, COUNT + player]
        infosets = form.boards[board, INFOSETS + player]
        for low in range(0, hands, TILE):
            width = min(TILE, hands - low)
            gradient_rows(form, street, board, player, low, width, work, thread)
            if mode == EXPECT:
                expect(nodes, roots, against, base, hands, low, width, rows, scratch)
            else:
                keep = mode == REPLY
                best(nodes, roots, store.regrets, store.locked, base, infosets, hands, low, width, keep, rows, scratch)
            return_rows(form, street, board, player, low, width, work, thread)


@njit(cache=True, nogil=True, error_model="numpy")
def gather(form: HandForm, street: int, first: int, last: int, player: int, work: Work, thread: int) -> None:
    """Sum what came back for pairs of a board of a street and one of its ends, numbers ``first..last-1``."""
    ends = form.streets[street, ENDS + 1] - form.streets[street, ENDS]
    for pair in range(first, last):
        gather_end(form, street, form.streets[street, BOARDS] + pair // ends, player, pair % ends, work)


@njit(cache=True, nogil=True, error_model="numpy")
def hold(store: Store) -> None:
    """Put locked policies back in place."""
    for k in range(store.lock_places.shape[0]):
        store.regrets[store.lock_places[k]] = store.lock_values[k]
        store.guesses[store.lock_places[k]] = store.lock_values[k]


@njit(cache=True, nogil=True, error_model="numpy")
def iterate_board(form: HandForm, weights: Floats, raked: bool, store: Store, work: Work) -> None:
    """All iterations of a spot with one board, see :meth:`Crew.iterate`; no Python between them."""
    if weights.shape[0] > 0:
        descend(form, 0, 0, 1, 0, store.guesses, store, weights[0, 7], weights[0, 8], 0.0, work, 0)
    for k in range(weights.shape[0]):
        after = min(k + 1, weights.shape[0] - 1)
        for player in range(2):
            ahead = k if player == 0 else after
            add = 0.0 if player == 1 and after == k else weights[ahead, 8]
            improve(form, 0, 0, 1, player, store, weights[k], weights[ahead, 7], add, raked, work, 0)
            hold(store)


class Crew:
    """Threads that share the boards of a street, and the passes composed of them.

    Attributes:
        form: the public tree over hands.
        work: scratch space for as many threads.
        raked: whether showdowns pay the winner less than they cost the loser.
    """

    def __init__(self, form: HandForm, work: Work, *, raked: bool) -> None:
        self.form, self.work, self.raked = form, work, raked
        self.threads = work.rows.shape[0]
        self.pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None
        self.last = len(form.streets) - 1

    def share(self, kernel: Callable[..., None], street: int, first: int, last: int, *arguments: Any) -> None:
        """Run ``kernel(form, street, a, b, *arguments, thread)`` for pieces a..b-1 of a range."""
        size = last - first
        chunks = min(size, self.threads * CHUNKS)
        if self.pool is None or chunks < 2:
            kernel(self.form, street, first, last, *arguments, 0)
            return
        turns = count()

        def serve(thread: int) -> None:
            while (turn := next(turns)) < chunks:
                start, stop = first + size * turn // chunks, first + size * (turn + 1) // chunks
                kernel(self.form, street, start, stop, *arguments, thread)

        others = [self.pool.submit(serve, thread) for thread in range(1, self.threads)]
        serve(0)
        for other in others:
            other.result()

    def boards(self, street: int) -> tuple[int, int]:
        """The slice of boards of a street."""
        return int(self.form.streets[street, BOARDS]), int(self.form.streets[street, BOARDS + 1])

    def descend(
        self, player: int, source: Floats, store: Store, keep: float, add: float, optimism: float, streets: int
    ) -> None:
        """Own reach in the first ``streets`` streets; ``add`` it to the average unless that is 0."""
        for street in range(streets):
            first, last = self.boards(street)
            self.share(descend, street, first, last, player, source, store, keep, add, optimism, self.work)

    def ascend(self, kernel: Callable[..., None], player: int, *arguments: Any) -> None:
        """``kernel`` at all boards, streets from the last to the first."""
        for street in range(self.last, -1, -1):
            first, last = self.boards(street)
            if street < self.last:
                ends = int(self.form.streets[street, ENDS + 1] - self.form.streets[street, ENDS])
                self.share(gather, street, 0, (last - first) * ends, player, self.work)
            self.share(kernel, street, first, last, player, *arguments, self.raked, self.work)

    def answer(self, player: int, mode: int, against: Floats, store: Store) -> None:
        """A pass of best responses or expected values; ``work.returned`` at board 0 holds the values at the root."""
        self.descend(1 - player, against, store, 1.0, 0.0, 0.0, self.last)
        self.ascend(answer, player, mode, against, store)

    def iterate(self, weights: Floats, store: Store) -> None:
        """Run one alternating iteration for each row of ``weights`` (:class:`treeplex.engine.regret.Weights`).

        Player 0 updates against player 1's current policy, then player 1 against the new one; the strategy that enters an
        average is the one just played. Player 0's next strategy is added to his average when it is played against, a row ahead
        of time, so that no pass is needed for it; the first is added before the loop and none after the last.
        """
        if self.last == 0:
            iterate_board(self.form, weights, self.raked, store, self.work)
            return
        if len(weights):
            self.descend(0, store.guesses, store, weights[0, 7], weights[0, 8], 0.0, self.last + 1)
        for k, row in enumerate(weights):
            ahead = weights[min(k + 1, len(weights) - 1)]
            for player, keep, add in ((0, row[7], row[8]), (1, ahead[7], ahead[8] if k + 1 < len(weights) else 0.0)):
                self.descend(1 - player, store.guesses, store, keep, add, 0.0, self.last)
                self.ascend(improve, player, store, row, keep, add)
                hold(store)

    def iterate_replies(self, steps: Floats, optimism: Floats, following: float, store: Store) -> None:
        """Run one alternating iteration of fictitious play for each entry of ``steps`` and ``optimism``.

        The rule of :func:`treeplex.engine.best_reply.iterate_best_replies`. ``regrets`` holds the last replies; ``following`` is
        the optimism of the iteration after the last.
        """
        against = store.target if store.target.size else store.average
        for k, step in enumerate(steps):
            after = optimism[k + 1] if k + 1 < len(steps) else following
            for player, mix in ((0, optimism[k]), (1, after)):
                self.answer(player, REPLY, against, store)
                hold(store)
                self.descend(player, store.regrets, store, 1.0 - step, step, mix, self.last + 1)
