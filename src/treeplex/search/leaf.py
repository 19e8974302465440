"""Leaf values of depth-limited subgames: the protocol, and trivial implementations."""

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar, runtime_checkable

import numpy as np

from treeplex.errors import AlgorithmError
from treeplex.search.subgames.subgame import Places, Ranges

Key = TypeVar("Key")
ResultT = TypeVar("ResultT")


class LeafValue(Protocol):
    """Protocol for the values of hands at the leaves of a depth-limited subgame."""

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        """Return the value of every hand of all players at each public state.

        Args:
            places: K public states.
            believed: float64 [K, H_i] for each player, reach under the policies that define the beliefs for play below the
                leaf.
            reached: float64 [K, H_i] for each player, reach under the policies to be valued; equal to ``believed`` except in
                CFR-AVG.
            player: the player whose values are needed; None for all. The values of other players, and values at places that the
                others do not reach, may be omitted.

        Returns:
            For each player float64 [K, H_i], the expected payoff of each hand against the others' hands, weighted by
                ``reached`` and chance, in the game's units (chips in hold'em). Impossible hands may have any finite value.

        For leaves with a choice among continuations, see :class:`ManyValued`.
        """
        ...


@runtime_checkable
class ManyValued(Protocol):
    """Protocol for leaf values with continuations from which players choose.

    Attributes:
        continuations: for each player C_i, its number of continuations; 1 if it has no choice.
    """

    continuations: tuple[int, ...]

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        """Like :class:`LeafValue`, but with reaches and values for each continuation, float64 [C_i, K, H_i]."""
        ...


@runtime_checkable
class TimedLeaf(Protocol):
    """Protocol for leaf values whose accuracy depends on the time left."""

    def limit(self, seconds: float) -> None:
        """Set the time that the next search may take; infinite for no limit."""
        ...


def leaf_values(leaf: LeafValue, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
    """Call a leaf-value function and check shapes and finiteness; takes the arguments of :class:`LeafValue`.

    Raises:
        AlgorithmError: wrong shape or not finite; the message names the class of the leaf values, and their network.
    """
    values: object = leaf(places, believed, reached, player)
    wanted = [(len(places), width) for width in places.widths]
    if not isinstance(values, tuple | list) or len(values) != len(wanted):
        returned = "None" if values is None else f"{type(values).__name__}{shape_text(values)}"
        raise AlgorithmError(f"{leaf_name(leaf)} must return a tuple with one float64 array [K, H] per player, not {returned}")
    for i in range(len(wanted)) if player is None else (player,):
        entries = values[i]
        if np.shape(entries) != wanted[i] or not isinstance(entries, np.ndarray):
            raise AlgorithmError(
                f"{leaf_name(leaf)} must return values of player {i} of shape {wanted[i]} (leaves, hands), not "
                f"{type(entries).__name__}{shape_text(entries)}"
            )
        if entries.dtype.kind not in "fiu":
            raise AlgorithmError(f"{leaf_name(leaf)} must return float64 values, not {entries.dtype}")
        if not np.isfinite(entries).all():
            row, hand = (int(number) for number in np.argwhere(~np.isfinite(entries))[0])
            raise AlgorithmError(
                f"{leaf_name(leaf)} must return finite values, not {entries[row, hand]} for hand {hand} of player {i} at "
                f"{places.game.name_of(places.states[row])}"
            )
    return tuple(values)


def leaf_name(leaf: object) -> str:
    """The class name of leaf values, with that of their network if they have one."""
    net = getattr(leaf, "net", None)
    name = getattr(leaf, "__name__", type(leaf).__name__)
    return name if net is None else f"{name} with network {type(net).__name__}"


def shape_text(value: object) -> str:
    """Text such as `` of shape (3,)`` for an array, `` of length 3`` for a sequence; empty for other objects."""
    if isinstance(value, tuple | list):
        return f" of length {len(value)}"
    return f" of shape {value.shape}" if isinstance(value, np.ndarray) else ""


class SingleEntryCache(Generic[Key, ResultT]):
    """One-entry cache for an object prepared for a list of public states or a subgame."""

    def __init__(self, make: Callable[[Key], ResultT]) -> None:
        self._make = make
        self._kept: tuple[Key, ResultT] | None = None

    def __call__(self, key: Key) -> ResultT:
        """Return the object prepared for exactly these public states or this subgame."""
        if self._kept is None or self._kept[0] is not key:
            self._kept = None  # release its memory before preparing the next object
            self._kept = key, self._make(key)
        return self._kept[1]

    def forget(self) -> None:
        """Clear the cache."""
        self._kept = None


class NoLeaf:
    """Leaf values for subgames without leaves: raises an error if called."""

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        if len(places):
            raise AlgorithmError("the subgame has a cut, so its leaves need values; give leaf=")
        return believed


class ZeroLeaf:
    """Leaf values of zero, which ignore the rest of the game."""

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        return tuple(np.zeros_like(reach) for reach in believed)
