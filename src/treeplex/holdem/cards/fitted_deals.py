"""Fitted subsets of flops, turns and rivers, weighted so that equities between hand classes match those over all boards.

They ship with the library; ``bench/fitted_deals.py`` selects them. They apply to spots that begin preflop with ranges
that are not suit-specific.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.spec import shown
from treeplex.errors import SpecError

FILE = Path(__file__).with_name("fitted_deals.npz")
SETS = {
    "48x2x2": (48, 2, 2),
    "48x2x2b": (48, 2, 2),
}
"""Numbers of flops, turns per flop and rivers per turn. A set ending in ``b`` shares no flop with the set before it."""


class DealSet(NamedTuple):
    """A weighted set of boards.

    Attributes:
        boards: uint8 [B, 5], complete boards as flop, turn, river; the first of each class of isomorphic boards.
        shares: float32 [B, 3], number of deals that each copy of the flop, the turn and the river represents.
    """

    boards: NDArray[np.uint8]
    shares: NDArray[np.float32]

    @classmethod
    def of(cls, rows: Sequence[tuple[tuple[int, ...], NDArray[np.floating]]]) -> "DealSet":
        """Build a set from pairs (board, shares)."""
        ordered = sorted(rows, key=lambda row: row[0])
        return cls(np.array([board for board, _ in ordered], np.uint8), np.array([shares for _, shares in ordered], np.float32))

    def below(self, board: Sequence[int]) -> dict[tuple[int, ...], float]:
        """The deals that follow a board, each with the number of deals that it represents."""
        known = len(board)
        rows = (self.boards[:, :known] == np.array(board, np.uint8)).all(axis=1)
        street, cards = max(0, known - 2), slice(0, 3) if known == 0 else slice(known, known + 1)
        return {
            tuple(map(int, dealt)): float(share)
            for dealt, share in zip(self.boards[rows, cards], self.shares[rows, street], strict=True)
        }


@cache
def fitted_deals(name: str) -> DealSet:
    """A set by name, read from the file that ships with the library.

    Raises:
        SpecError: there is no such set.
    """
    check_set(name)
    with np.load(FILE, allow_pickle=False) as file:
        return DealSet(file[f"{name}.boards"], file[f"{name}.shares"])


def check_set(name: str) -> tuple[int, int, int]:
    """The number of flops, of turns per flop and of rivers per turn of a set.

    Raises:
        SpecError: there is no such set.
    """
    if name not in SETS:
        raise SpecError(
            f"{shown(name)} is not a shipped set of boards; write {' or '.join(SETS)}, or the number of boards per "
            "street, such as {flop: 100, turn: 3, river: 3}"
        )
    return SETS[name]
