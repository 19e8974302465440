"""Infostate strings computed on demand, for games compiled without walking histories."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray


class LazyInfostates(Sequence[str]):
    """A sequence of infostate strings computed on demand.

    Attributes:
        key: a cheaper text that is equal if and only if all infostates are; None if there is none.
        lookup: maps (player, infostate) to infoset without a full table; None if not available.
    """

    key: str | None = None
    lookup: Mapping[tuple[int, str], int] | None = None

    @abstractmethod
    def written(self, infoset: int) -> str:
        """Return the infostate string of an infoset, numbered from 0."""

    def tensors(self, begin: int, end: int) -> NDArray[np.float32] | None:
        """``information_state_tensor`` of the rules for infosets from ``begin`` to before ``end``, float32 [n, F].

        None if it can only be computed from a history of each infoset.
        """
        return None

    def columns(self) -> Mapping[str, NDArray[Any]] | None:
        """Return the arrays for a classmethod ``restored(rules, tree, columns)``; None if the class has none."""
        return None

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(map(self.written, range(*index.indices(len(self)))))
        return self.written(range(len(self))[index])
