"""Allocation of scratch space for passes."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from treeplex.base.arrays import Ints
from treeplex.holdem.engine.form import ACTIONS, BOARDS, COUNT, FOLDS, REACH, RETURN, ROOTS, SHOWDOWNS, HoldemForm, Workspace
from treeplex.holdem.engine.node import TILE
from treeplex.holdem.engine.showdowns.terminal import CARDS, COLUMNS, PADDING
from treeplex.holdem.engine.transpose import BLOCK

LINE = 64
"""Bytes of a cache line."""


def padded_columns(terminals: int) -> int:
    """The number of terminals rounded up to whole vectors."""
    return -(-terminals // PADDING) * PADDING


class Extent(NamedTuple):
    """Sizes that determine the shapes of scratch space.

    Attributes:
        streets: int64 [S, 14], as in :class:`HoldemForm`.
        hands: the largest number of hands of a player on a board.
        returned: size of a slot of ``Workspace.returned``.
        kept: size of ``Workspace.reach``.
    """

    streets: Ints
    hands: int
    returned: int
    kept: int


def extent_of(form: HoldemForm) -> Extent:
    """The sizes of scratch space that a compiled spot needs."""
    streets, reach_size = form.streets, 0
    roots = np.repeat(streets[:, ROOTS], streets[:, BOARDS + 1] - streets[:, BOARDS])
    returned = int((form.boards[:, RETURN + 1] + form.boards[:, COUNT + 1] * roots).max())
    if len(streets) > 1:
        before = form.boards[int(streets[-1, BOARDS]) - 1]
        reach_size = int(before[REACH + 1] + before[COUNT + 1] * (streets[-2, ROOTS] + streets[-2, ACTIONS + 1]))
    return Extent(streets, int(form.boards[:, COUNT : COUNT + 2].max()), returned, reach_size)


def columns_of_street(row: Ints) -> int:
    """Number of columns of a street, from its row of ``HoldemForm.streets``: showdowns, then folds, each padded."""
    return padded_columns(int(row[SHOWDOWNS + 1] - row[SHOWDOWNS])) + padded_columns(int(row[FOLDS + 1] - row[FOLDS]))


def slots_of(streets: Ints, threads: int) -> int:
    """Number of slots in ``Workspace.returned``: one per thread if threads take whole groups of boards, else one."""
    parents = int(streets[-2, BOARDS + 1] - streets[-2, BOARDS]) if len(streets) > 1 else 0
    return threads if parents >= 2 * threads else 1


def workspace_sizes(extent: Extent, threads: int, *, packed: bool = False) -> dict[str, tuple[int, ...]]:
    """The shape of every array in :class:`Workspace`; set ``packed`` for 16-bit storage."""
    streets, hands = extent.streets, extent.hands
    actions = int(streets[:, ACTIONS : ACTIONS + 2].max())
    sequences = int((streets[:, ROOTS, None] + streets[:, ACTIONS : ACTIONS + 2]).max())
    columns = max(map(columns_of_street, streets))
    return {
        "rows": (threads, sequences, TILE),
        "scratch": (threads, 4, TILE),
        "turned": (threads, COLUMNS, TILE),
        "unpacked": (threads, 2, actions * TILE if packed else 0),
        "reached": (threads, (hands + 1 + BLOCK) * columns),
        "valued": (threads, (hands + 1 + BLOCK) * columns),
        "total": (threads, COLUMNS),
        "by_card": (threads, CARDS * COLUMNS),
        "chips": (len(streets), 2, 4, columns),
        "reach": (extent.kept,),
        "returned": (slots_of(streets, threads), extent.returned),
        "gathered": (extent.kept,),
    }


def aligned_zeros(shape: tuple[int, ...], kind: np.dtype[Any]) -> NDArray[Any]:
    """An array of zeros aligned to a cache line."""
    size = math.prod(shape) * kind.itemsize
    space = np.zeros(size + LINE, np.uint8)
    start = -space.ctypes.data % LINE
    return space[start : start + size].view(kind).reshape(shape)


def make_workspace(
    form: HoldemForm,
    threads: int,
    kind: DTypeLike,
    *,
    raked: bool = False,
    packed: bool = False,
    extent: Extent | None = None,
) -> Workspace:
    """Scratch space for ``threads`` threads, of dtype ``kind``; sums over chance are float64.

    An ``extent`` larger than the form's makes it usable for other forms with the same betting.
    """
    sizes = workspace_sizes(extent or extent_of(form), threads, packed=packed)
    arrays: dict[str, NDArray[Any]] = {
        name: aligned_zeros(shape, np.dtype(np.float64 if name == "gathered" else kind)) for name, shape in sizes.items()
    }
    for street, row in enumerate(form.streets):
        shown = slice(row[SHOWDOWNS], row[SHOWDOWNS + 1])
        folded = slice(row[FOLDS], row[FOLDS + 1])
        count, first = (shown.stop - shown.start, padded_columns(int(shown.stop - shown.start)))
        for player in (0, 1):
            chips = arrays["chips"][street, player]
            chips[1:4, :count] = form.showdown_values[shown].T
            chips[0, :count] = 1.0 if raked else form.showdown_values[shown, 0]
            chips[0, first : first + folded.stop - folded.start] = form.fold_values[folded, player]
    return Workspace(**arrays)
