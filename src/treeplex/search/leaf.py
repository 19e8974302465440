"""Values at the leaves of depth-limited subgames: an interface, and those that need neither learning nor solving."""

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import numpy as np

from treeplex.errors import AlgorithmError
from treeplex.forms.subgames.subgame import Places, Ranges

Key = TypeVar("Key")
Made = TypeVar("Made")


class LeafValue(Protocol):
    """What the hands at cut-off public states are worth, whatever the game and the street."""

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        """Values of every hand of all players at each place.

        Args:
            places: K public states.
            believed: for each player float64 [K, H_i], reach by the policies on which the play below is based.
            reached: the same by the policies whose values are wanted; the same arrays in all but CFR-AVG.
            player: whose values are wanted, those of others may be left out; None for all players'. Places that the others
                never reach may be left out as well.

        Returns:
            For each player float64 [K, H_i], its expected payoff with each hand against the others' hands as ``reached``
            and chance make them likely, in the game's units (chips in hold'em). Hands that cannot be there may have any finite
            value.

        Where players may choose between several continuations, see :class:`treeplex.search.resolving.continuations.ManyValued`.
        """
        ...


class Prepared(Generic[Key, Made]):
    """What is prepared for places, or for a subgame, while these are asked for again and again; others put it out."""

    def __init__(self, make: Callable[[Key], Made]) -> None:
        self._make = make
        self._kept: tuple[Key, Made] | None = None

    def __call__(self, key: Key) -> Made:
        """What belongs to these very places."""
        if self._kept is None or self._kept[0] is not key:
            self._kept = None  # room first
            self._kept = key, self._make(key)
        return self._kept[1]

    def forget(self) -> None:
        """Keep nothing."""
        self._kept = None


class NoLeaf:
    """Where a subgame is played to its end."""

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        if len(places):
            raise AlgorithmError("the subgame is cut off, so its leaves need values: give leaf=")
        return believed


class ZeroLeaf:
    """Nothing: what comes after the leaves is ignored."""

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        return tuple(np.zeros_like(own) for own in believed)
