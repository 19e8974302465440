"""Buckets as table rows: one row per bucket, or one per sequence of buckets so far."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Ints
from treeplex.engine.betting.sampling import BoardHands
from treeplex.holdem.buckets.buckets import Buckets, Places, boards_after, placed
from treeplex.holdem.cards.strength import River


@dataclass(frozen=True, eq=False)
class BucketRows:
    """A card abstraction, with or without perfect recall of buckets.

    Attributes:
        buckets: buckets of every hand.
        recall: whether players remember the buckets of earlier streets; if not, they know only the current one.
    """

    buckets: Buckets
    recall: bool

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of rows on each street."""
        return bucket_counts(self.buckets.plan.counts, self.recall)

    @property
    def about(self) -> Mapping[str, Any]:
        """How the rows were made; see :class:`treeplex.games.betting.hand_rows.CardRows`."""
        plan = self.buckets.plan
        return {"counts": plan.counts, "method": plan.method, "recall": self.recall}

    @property
    def identity(self) -> str:
        """Equal for equal abstractions; see :class:`treeplex.games.betting.hand_rows.CardRows`."""
        return self.buckets.identity

    @cached_property
    def _river(self) -> River:
        return River(self.buckets.strengths.format)

    @cached_property
    def _sequences(self) -> NDArray[np.int32]:
        return np.empty(len(self.buckets.strengths.format.hands), np.int32)

    def boards(self, start: tuple[int, ...], count: int, random: np.random.Generator) -> Places:
        """Sample boards; if there are at most ``count``, return each of them once."""
        return boards_after(self.buckets.strengths, start, count, random)

    def on_board(self, boards: Places, number: int) -> BoardHands:
        """The hands on one of the boards from :meth:`boards`."""
        counts, sequences = self.buckets.plan.counts, self._sequences
        keys, wins = self._river(boards.boards[number])
        self.buckets.sequences(boards, number, (keys, wins), sequences)
        tails = np.array([prod(counts[street + 1 :]) for street in range(len(counts))], np.int32)
        rows = sequences // tails[:, None]
        if not self.recall:
            rows %= np.array(counts, np.int32)[:, None]
        return BoardHands(np.where(sequences < 0, np.int32(-1), rows), keys.copy(), self._river.hands)

    def at(self, board: tuple[int, ...]) -> Ints:
        """The row of every hand on a board, int64 [H]."""
        buckets, format = self.buckets, self.buckets.strengths.format
        street = format.street(board)
        left = format.cards_left(board)
        whole = np.array([*board, *left][: format.board_size], np.int64)  # cards to come do not matter before the river
        places = placed(buckets.strengths, whole[None])
        wins = River(format)(whole)[1] if street == 3 else np.zeros(len(format.hands), np.uint16)
        rows = np.zeros(len(format.hands), np.int64)
        for past_street in range(street + 1) if self.recall else (street,):
            groups = rows if buckets.plan.nested else 0
            rows = (
                rows * buckets.plan.counts[past_street]
                + buckets.tables[past_street][groups, buckets.codes_on(past_street, places, 0, wins)]
            )
        return rows


def bucket_counts(counts: Sequence[int], recall: bool) -> tuple[int, ...]:
    """The number of rows on each street: its buckets or, with recall, the bucket sequences up to it."""
    return tuple(prod(counts[: street + 1]) if recall else count for street, count in enumerate(counts))
