"""Training rows for networks (an infoset or history, one number per action, and a weight), and buffers for such rows.

In compiled games a row stores the number of its infoset or history, in uncompiled games its features and legal actions
(:meth:`treeplex.learn.neural.fitting.infosets.Infosets.rows`). Learners that would clear a buffer at each step use the step's
rows directly.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Bools, Floats
from treeplex.base.storage.memory import available_memory, megabytes
from treeplex.errors import AlgorithmError
from treeplex.learn.common.replay import Replay


class Rows(NamedTuple):
    """Rows on which an approximator is trained.

    Attributes:
        places: int32 [n], numbers of infosets or histories; or float32 [n, W], their features and legal actions.
        values: float32 [n, A], targets of the actions in order; undefined beyond the infoset's last action.
        weights: float32 [n], weights of the squared errors.
    """

    places: NDArray[Any]
    values: NDArray[np.float32]
    weights: NDArray[np.float32]

    @classmethod
    def empty(cls, actions: int, width: int = 0) -> "Rows":
        """An empty batch for infosets with at most ``actions`` actions, given by number or by rows of ``width`` features."""
        places = np.empty((0, width), np.float32) if width else np.empty(0, np.int32)
        return cls(places, np.empty((0, actions), np.float32), np.empty(0, np.float32))

    @classmethod
    def joined(cls, parts: "list[Rows]") -> "Rows":
        """Concatenate batches of rows."""
        places, values, weights = zip(*parts, strict=True)
        return cls(np.concatenate(places), np.concatenate(values), np.concatenate(weights))


def check_room(most: int, row: int, setting: str = "memory") -> None:
    """Check that a buffer of ``most`` rows of ``row`` bytes fits in memory; the error names the setting.

    Raises:
        AlgorithmError: there is too little memory.
    """
    size, free = most * row, available_memory()
    if free is not None and size > free:
        raise AlgorithmError(
            f"a buffer of {most:,} rows needs {megabytes(size)}, but {megabytes(free)} are free; keep "
            f"fewer rows (--set {setting}={free // (4 * row)})"
        )


class Window:
    """A buffer that keeps the newest rows."""

    def __init__(self, empty: Rows, room: int) -> None:
        """Create an empty buffer; memory for up to ``room`` rows is allocated as they arrive."""
        self._rows = Replay(*empty, room=room)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def row(self) -> int:
        """Size of one row in bytes."""
        return self._rows.row

    @property
    def rows(self) -> Rows:
        """The rows, oldest first."""
        return Rows(*self._rows.ordered())

    def add(self, rows: Rows, most: int) -> None:
        """Add rows and keep the newest ``most`` of all."""
        self._rows.add(rows, most)

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays that :meth:`restore` needs."""
        return self.rows._asdict()

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume from the arrays of :meth:`state`.

        Raises:
            KeyError, ValueError: the arrays do not fit.
        """
        self._rows.restore(*(np.array(arrays[name]) for name in Rows._fields))


class Counts:
    """Counts of the actions chosen at a player's infosets in a compiled game, equivalent to an unlimited reservoir.

    Attributes:
        counts: float64 [P, A].
    """

    def __init__(self, legal: Bools) -> None:
        self.legal = legal
        self.counts: Floats = np.zeros(legal.shape)

    def __len__(self) -> int:
        return int(self.counts.sum())

    @property
    def rows(self) -> Rows:
        """One row per action chosen, weighted by its count."""
        places, actions = np.nonzero(self.counts)
        chosen = np.eye(self.counts.shape[1], dtype=np.float32)[actions]
        return Rows(places.astype(np.int32), chosen, self.counts[places, actions].astype(np.float32))

    def add(self, rows: Rows, generator: np.random.Generator) -> None:
        """Count the actions of rows, whose values are 1 for the chosen action, otherwise 0."""
        np.add.at(self.counts, rows.places, rows.values)

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays that :meth:`restore` needs."""
        return {"chosen": self.counts[self.legal]}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume from the arrays of :meth:`state`."""
        self.counts[self.legal] = arrays["chosen"]


class Reservoir:
    """A uniform sample of all rows ever added (Vitter 1985, algorithm R).

    Attributes:
        most: maximum number of rows.
        seen: rows added so far.
    """

    def __init__(self, most: int, actions: int, width: int = 0, *, setting: str = "memory") -> None:
        """Create an empty reservoir; see :meth:`Rows.empty` and :func:`check_room`.

        Raises:
            AlgorithmError: ``most`` rows do not fit in memory.
        """
        check_room(most, 4 * (1 + max(width, 1) + actions), setting)
        self.most, self.seen = most, 0
        self._rows = Rows.empty(actions, width)

    def __len__(self) -> int:
        return min(self.seen, self.most)

    @property
    def rows(self) -> Rows:
        """The rows in arbitrary order, as views."""
        return Rows(*(column[: len(self)] for column in self._rows))

    def add(self, rows: Rows, generator: np.random.Generator) -> None:
        """Add rows; once the reservoir is full, the k-th row added replaces a random one with probability ``most / k``."""
        room = min(self.most - len(self), len(rows.places))
        self._grow(len(self) + room)
        start = len(self)
        for stored, column in zip(self._rows, rows, strict=True):
            stored[start : start + room] = column[:room]
        self.seen += room
        late = len(rows.places) - room
        if late:
            drawn = generator.integers(0, self.seen + 1 + np.arange(late))
            chosen = np.flatnonzero(drawn < self.most)
            for stored, column in zip(self._rows, rows, strict=True):
                stored[drawn[chosen]] = column[room:][chosen]  # of several rows drawn for one slot the last one stays
            self.seen += late

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays that :meth:`restore` needs."""
        return {**self.rows._asdict(), "seen": np.array([self.seen])}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Resume from the arrays of :meth:`state`.

        Raises:
            KeyError, ValueError: the arrays do not fit.
        """
        rows = Rows(*(np.array(arrays[name]) for name in Rows._fields))
        seen, width = int(arrays["seen"][0]), self._rows.values.shape[1]
        if rows.values.shape != (min(seen, self.most), width) or len(rows.places) != len(rows.weights):
            raise ValueError(f"a reservoir of {self.most:,} rows of {width} actions cannot have shape {rows.values.shape}")
        self._rows, self.seen = rows, seen

    def _grow(self, size: int) -> None:
        """Allocate memory for at least ``size`` rows by doubling the capacity."""
        if size > len(self._rows.places):
            room = min(self.most, max(size, 2 * len(self._rows.places), 1024))
            longer = tuple(np.empty((room, *column.shape[1:]), column.dtype) for column in self._rows)
            for new, old in zip(longer, self._rows, strict=True):
                new[: len(self)] = old[: len(self)]
            self._rows = Rows(*longer)
