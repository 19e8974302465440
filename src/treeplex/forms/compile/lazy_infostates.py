"""Infostates of games that are compiled by arithmetic: strings that are written when they are asked for."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import overload


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

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        if isinstance(place, slice):
            return tuple(map(self.written, range(*place.indices(len(self)))))
        return self.written(range(len(self))[place])
