"""Replay buffer of the newest training rows, in circular arrays."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = NDArray[Any]


class Replay:
    """A buffer of rows with several parts each; new rows overwrite the oldest, and other rows stay in place.

    Row k, counted from the oldest, is at ``(start + k) % capacity`` of every array. The arrays grow by doubling, up to
    ``room``.

    Attributes:
        room: number of rows at which the arrays stop growing.
        arrays: one array per part, [capacity, *shape of the part].
        start: index of the oldest row.
        size: number of rows.
    """

    def __init__(self, *empty: Column, room: int) -> None:
        """Create an empty buffer.

        Args:
            empty: an array [0, ...] for each part, with its shape and type.
            room: maximum number of rows.
        """
        self.room = room
        self.arrays = tuple(np.empty((0, *part.shape[1:]), part.dtype) for part in empty)
        self.start = self.size = 0

    def __len__(self) -> int:
        return self.size

    @property
    def row(self) -> int:
        """Size of one row in bytes."""
        return sum(array.dtype.itemsize * math.prod(array.shape[1:]) for array in self.arrays)

    def add(self, parts: Sequence[Column], most: int) -> None:
        """Add rows, then keep only the newest ``most``.

        Args:
            parts: the new rows' parts, oldest row first.
            most: number of rows to keep, at least 1.
        """
        new = len(parts[0])
        size_after = min(self.size + new, most)
        stays = max(size_after - new, 0)
        self.start, self.size = self._at(self.size - stays), stays
        if size_after > len(self.arrays[0]):
            self._grow(max(size_after, min(2 * len(self.arrays[0]), self.room)))
        taken = size_after - stays
        begin = self._at(stays)
        first = min(taken, len(self.arrays[0]) - begin)
        for array, part in zip(self.arrays, parts, strict=True):
            rows = part[new - taken :]
            array[begin : begin + first], array[: taken - first] = rows[:first], rows[first:]
        self.size = size_after

    def take(self, chosen: NDArray[np.int64]) -> tuple[Column, ...]:
        """Copies of selected rows, which are numbered from the oldest."""
        where = self._at(chosen)
        return tuple(array[where] for array in self.arrays)

    def ordered(self) -> tuple[Column, ...]:
        """Copies of all rows, oldest first."""
        return self.take(np.arange(self.size))

    def restore(self, *parts: Column) -> None:
        """Replace all rows with those that :meth:`ordered` returned.

        Raises:
            ValueError: a part has another shape, or the lengths differ.
        """
        for array, part in zip(self.arrays, parts, strict=True):
            if part.shape[1:] != array.shape[1:] or len(part) != len(parts[0]):
                raise ValueError(f"rows have shape {part.shape[1:]} instead of {array.shape[1:]}, or parts differ in length")
        self.arrays = tuple(np.array(part, array.dtype) for array, part in zip(self.arrays, parts, strict=True))
        self.start, self.size = 0, len(parts[0])

    def _at(self, row: Any) -> Any:
        """Array index of a row, given its number from the oldest."""
        return (self.start + row) % max(len(self.arrays[0]), 1)

    def _grow(self, capacity: int) -> None:
        """Enlarge the arrays; the rows move to the start."""
        parts = self.ordered()
        self.arrays = tuple(np.empty((capacity, *part.shape[1:]), part.dtype) for part in parts)
        for array, part in zip(self.arrays, parts, strict=True):
            array[: self.size] = part
        self.start = 0
