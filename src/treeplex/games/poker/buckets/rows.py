"""What players tell apart: their bucket of a street, or all buckets so far."""

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.buckets.sampling import BoardHands
from treeplex.games.poker.buckets.buckets import Buckets, Places, placed
from treeplex.games.poker.cards.strength import River


@dataclass(frozen=True, eq=False)
class BucketRows:
    """Buckets, and whether earlier ones are remembered.

    Attributes:
        buckets: of every hand.
        recall: whether players remember the buckets of earlier streets; else only the present one is known.
    """

    buckets: Buckets
    recall: bool

    @property
    def counts(self) -> tuple[int, ...]:
        """How many rows there are on each street."""
        counts = self.buckets.plan.counts
        return tuple(prod(counts[: street + 1]) if self.recall else counts[street] for street in range(len(counts)))

    def on_board(self, river: River, places: Places, number: int, sequences: NDArray[np.int32]) -> BoardHands:
        """The hands on one of some complete boards; ``sequences`` int32 [H] is written to."""
        counts = self.buckets.plan.counts
        keys, wins = river(places.boards[number])
        self.buckets.sequences(places, number, (keys, wins), sequences)
        tails = np.array([prod(counts[street + 1 :]) for street in range(len(counts))], np.int64)
        return BoardHands(sequences, keys, river.hands, tails, np.array([0] * len(counts) if self.recall else counts, np.int64))

    def at(self, board: tuple[int, ...]) -> NDArray[np.int64]:
        """The row of every hand on a board of any street, int64 [H]; any for hands that the board blocks."""
        buckets, format = self.buckets, self.buckets.strengths.format
        street = format.street(board)
        left = [card for card in format.deck if card not in board]
        whole = np.array([*board, *left][: format.board_size], np.int64)  # cards to come do not matter before the river
        places = placed(buckets.strengths, whole[None])
        wins = River(format)(whole)[1] if street == 3 else np.zeros(len(format.hands), np.uint16)
        rows = np.zeros(len(format.hands), np.int64)
        for each in range(street + 1) if self.recall else (street,):
            groups = rows if buckets.plan.nested else 0
            rows = rows * buckets.plan.counts[each] + buckets.tables[each][groups, buckets.codes_on(each, places, 0, wins)]
        return rows
