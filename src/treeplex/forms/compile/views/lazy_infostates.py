"""Infostates of games that are compiled by arithmetic: strings that are written when they are asked for."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray


class LazyInfostates(Sequence[str]):
    """The infostate of every infoset.

    Attributes:
        key: equal where all infostates are, and quicker to make; None where there is no such text.
        lookup: from (player, infostate) to infoset without a table of all; None where there is none.
    """

    key: str | None = None
    lookup: Mapping[tuple[int, str], int] | None = None

    @abstractmethod
    def written(self, infoset: int) -> str:
        """The infostate of an infoset, from 0."""

    def tensors(self, begin: int, end: int) -> NDArray[np.float32] | None:
        """``information_state_tensor`` of the rules for infosets from ``begin`` to before ``end``, float32 [n, F].

        None where it takes a history of each infoset to know it.
        """
        return None

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        if isinstance(place, slice):
            return tuple(map(self.written, range(*place.indices(len(self)))))
        return self.written(range(len(self))[place])
