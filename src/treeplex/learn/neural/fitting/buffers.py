"""Training rows of networks: a place, a number for each of its actions, and a weight; and buffers of them.

A place is the number of an infoset or of a history; by the rules, where nothing is numbered, it is features and legal actions
(:meth:`treeplex.learn.neural.fitting.infosets.Infosets.rows`). A buffer that is cleared at each step is no buffer but the
step's rows.
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
    """Rows that an approximator is fitted to.

    Attributes:
        places: int32 [n], numbers of infosets or histories; or float32 [n, W], what infosets look like.
        values: float32 [n, A], the targets of their actions in order; beyond a place's last action anything.
        weights: float32 [n], of the squared errors.
    """

    places: NDArray[Any]
    values: NDArray[np.float32]
    weights: NDArray[np.float32]

    @classmethod
    def empty(cls, actions: int, width: int = 0) -> "Rows":
        """No rows, with at most ``actions`` actions a place; a place is an infoset, or ``width`` features."""
        places = np.empty((0, width), np.float32) if width else np.empty(0, np.int32)
        return cls(places, np.empty((0, actions), np.float32), np.empty(0, np.float32))

    @classmethod
    def joined(cls, parts: "list[Rows]") -> "Rows":
        """All rows of some, in order."""
        places, values, weights = zip(*parts, strict=True)
        return cls(np.concatenate(places), np.concatenate(values), np.concatenate(weights))


def check_room(most: int, row: int, setting: str = "memory") -> None:
    """Refuse a buffer of ``most`` rows of ``row`` bytes that memory cannot hold; the error names the setting.

    Raises:
        AlgorithmError: they do not fit into free memory.
    """
    size, free = most * row, available_memory()
    if free is not None and size > free:
        raise AlgorithmError(
            f"a buffer of {most:,} rows takes {megabytes(size)}, and {megabytes(free)} are free; keep fewer rows "
            f"(--set {setting}={free // (4 * row)})"
        )


class Window:
    """The newest rows."""

    def __init__(self, empty: Rows, room: int) -> None:
        """Begin without rows; memory for up to ``room`` is taken as they come."""
        self._rows = Replay(*empty, room=room)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def row(self) -> int:
        """Bytes of a row."""
        return self._rows.row

    @property
    def rows(self) -> Rows:
        """The rows kept, oldest first."""
        return Rows(*self._rows.ordered())

    def add(self, rows: Rows, most: int) -> None:
        """Add rows, and keep the newest ``most`` of all."""
        self._rows.add(rows, most)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs."""
        return self.rows._asdict()

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what :meth:`state` returned.

        Raises:
            KeyError, ValueError: the arrays do not fit.
        """
        self._rows.restore(*(np.array(arrays[name]) for name in Rows._fields))


class Counts:
    """How often each action of a player's infosets of a compiled game was chosen: a reservoir without a limit.

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
        """A row for each action that was chosen, with its count as weight."""
        places, actions = np.nonzero(self.counts)
        chosen = np.eye(self.counts.shape[1], dtype=np.float32)[actions]
        return Rows(places.astype(np.int32), chosen, self.counts[places, actions].astype(np.float32))

    def add(self, rows: Rows, generator: np.random.Generator) -> None:
        """Count the actions of rows, whose values are 1 for what was chosen, else 0."""
        np.add.at(self.counts, rows.places, rows.values)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs."""
        return {"chosen": self.counts[self.legal]}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what :meth:`state` returned."""
        self.counts[self.legal] = arrays["chosen"]


class Reservoir:
    """A uniform sample of all rows that were ever added (Vitter 1985, algorithm R).

    Attributes:
        most: rows kept at most.
        seen: rows added so far.
    """

    def __init__(self, most: int, actions: int, width: int = 0, *, setting: str = "memory") -> None:
        """Begin without rows; see :meth:`Rows.empty` and :func:`check_room`.

        Raises:
            AlgorithmError: ``most`` rows do not fit into the memory of this machine.
        """
        check_room(most, 4 * (1 + max(width, 1) + actions), setting)
        self.most, self.seen = most, 0
        self._rows = Rows.empty(actions, width)

    def __len__(self) -> int:
        return min(self.seen, self.most)

    @property
    def rows(self) -> Rows:
        """The rows kept, in no order that means anything; views."""
        return Rows(*(column[: len(self)] for column in self._rows))

    def add(self, rows: Rows, generator: np.random.Generator) -> None:
        """Add rows; once it is full, the k-th row of all is kept with probability ``most / k``, in place of a random one."""
        room = min(self.most - len(self), len(rows.places))
        self._grow(len(self) + room)
        start = len(self)
        for kept, column in zip(self._rows, rows, strict=True):
            kept[start : start + room] = column[:room]
        self.seen += room
        late = len(rows.places) - room
        if late:
            drawn = generator.integers(0, self.seen + 1 + np.arange(late))
            chosen = np.flatnonzero(drawn < self.most)
            for kept, column in zip(self._rows, rows, strict=True):
                kept[drawn[chosen]] = column[room:][chosen]  # of several for one place the last one stays
            self.seen += late

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that :meth:`restore` needs."""
        return {**self.rows._asdict(), "seen": np.array([self.seen])}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what :meth:`state` returned.

        Raises:
            KeyError, ValueError: the arrays do not fit.
        """
        found = Rows(*(np.array(arrays[name]) for name in Rows._fields))
        seen, width = int(arrays["seen"][0]), self._rows.values.shape[1]
        if found.values.shape != (min(seen, self.most), width) or len(found.places) != len(found.weights):
            raise ValueError(f"a reservoir of {self.most:,} rows of {width} actions cannot be of shape {found.values.shape}")
        self._rows, self.seen = found, seen

    def _grow(self, size: int) -> None:
        """Make room for ``size`` rows, doubling."""
        if size > len(self._rows.places):
            room = min(self.most, max(size, 2 * len(self._rows.places), 1024))
            longer = tuple(np.empty((room, *column.shape[1:]), column.dtype) for column in self._rows)
            for new, old in zip(longer, self._rows, strict=True):
                new[: len(self)] = old[: len(self)]
            self._rows = Rows(*longer)
