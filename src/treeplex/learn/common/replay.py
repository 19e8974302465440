"""The newest rows of a training, in circular arrays."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = NDArray[Any]


class Replay:
    """Rows with several parts each; the oldest go as new ones come, and nothing else is moved.

    Row k, counted from the oldest, is at ``(start + k) % capacity`` of every array. The arrays double as rows come, up to
    ``room``.

    Attributes:
        room: rows beyond which the arrays do not double.
        arrays: one array a part, [capacity, *shape of the part].
        start: where the oldest row is.
        size: rows kept.
    """

    def __init__(self, *empty: Column, room: int) -> None:
        """Begin without rows.

        Args:
            empty: for each part an array [0, ...], which says its shape and type.
            room: the most rows that are to be kept.
        """
        self.room = room
        self.arrays = tuple(np.empty((0, *part.shape[1:]), part.dtype) for part in empty)
        self.start = self.size = 0

    def __len__(self) -> int:
        return self.size

    @property
    def row(self) -> int:
        """Bytes of a row."""
        return sum(array.dtype.itemsize * math.prod(array.shape[1:]) for array in self.arrays)

    def add(self, parts: Sequence[Column], most: int) -> None:
        """Add rows as the newest, and keep the newest ``most`` of all.

        Args:
            parts: for each part its new rows, oldest first.
            most: rows to keep, at least 1.
        """
        new = len(parts[0])
        kept = min(self.size + new, most)
        stays = max(kept - new, 0)
        self.start, self.size = self._at(self.size - stays), stays
        if kept > len(self.arrays[0]):
            self._grow(max(kept, min(2 * len(self.arrays[0]), self.room)))
        taken = kept - stays
        begin = self._at(stays)
        first = min(taken, len(self.arrays[0]) - begin)
        for array, part in zip(self.arrays, parts, strict=True):
            rows = part[new - taken :]
            array[begin : begin + first], array[: taken - first] = rows[:first], rows[first:]
        self.size = kept

    def take(self, chosen: NDArray[np.int64]) -> tuple[Column, ...]:
        """Copies of some rows, counted from the oldest."""
        where = self._at(chosen)
        return tuple(array[where] for array in self.arrays)

    def ordered(self) -> tuple[Column, ...]:
        """Copies of all rows, oldest first."""
        return self.take(np.arange(self.size))

    def restore(self, *parts: Column) -> None:
        """Put the rows that :meth:`ordered` gave in place of all others.

        Raises:
            ValueError: parts of another shape, or of different lengths.
        """
        for array, part in zip(self.arrays, parts, strict=True):
            if part.shape[1:] != array.shape[1:] or len(part) != len(parts[0]):
                raise ValueError(f"rows of shape {part.shape[1:]}, not {array.shape[1:]}, or not the same number of each part")
        self.arrays = tuple(np.array(part, array.dtype) for array, part in zip(self.arrays, parts, strict=True))
        self.start, self.size = 0, len(parts[0])

    def _at(self, row: Any) -> Any:
        """The position of a row, counted from the oldest."""
        return (self.start + row) % max(len(self.arrays[0]), 1)

    def _grow(self, capacity: int) -> None:
        """Longer arrays, with the rows kept at their beginning."""
        kept = self.ordered()
        self.arrays = tuple(np.empty((capacity, *part.shape[1:]), part.dtype) for part in kept)
        for array, part in zip(self.arrays, kept, strict=True):
            array[: self.size] = part
        self.start = 0
