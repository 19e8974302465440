"""Leaf values of depth-limited subgames: the protocol, and leaves without learning or solving."""

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar, runtime_checkable

import numpy as np

from treeplex.errors import AlgorithmError
from treeplex.search.subgames.subgame import Places, Ranges

Key = TypeVar("Key")
Made = TypeVar("Made")


class LeafValue(Protocol):
    """Values of hands at the cut of a subgame, for any game and street."""

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        """Values of every hand of all players at each place.

        Args:
            places: K public states.
            believed: for each player float64 [K, H_i], reach under the policies on which play below the leaf is based.
            reached: reach under the policies whose values are wanted; the same arrays except in CFR-AVG.
            player: the player whose values are wanted, so others' may be omitted; None for all players. Places without reach
                of the others may also be omitted.

        Returns:
            For each player float64 [K, H_i], the expected payoff of each hand against others' hands, weighted by ``reached``
                and chance, in the game's units (chips in hold'em). Impossible hands may have any finite value.

        For leaves with a choice among continuations, see :class:`ManyValued`.
        """
        ...


@runtime_checkable
class ManyValued(Protocol):
    """Leaf values where players choose how the game continues.

    Attributes:
        continuations: for each player C_i, its number of continuations; 1 for no choice.
    """

    continuations: tuple[int, ...]

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        """As :class:`LeafValue`, but reaches and values are by continuation, float64 [C_i, K, H_i]."""
        ...


def leaf_values(leaf: LeafValue, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
    """A leaf's values, checked for shape and finiteness; arguments as for :class:`LeafValue`.

    Raises:
        AlgorithmError: the message names the leaf's class, and a network's.
    """
    values: object = leaf(places, believed, reached, player)
    wanted = [(len(places), width) for width in places.widths]
    if not isinstance(values, tuple | list) or len(values) != len(wanted):
        found = "None" if values is None else f"{type(values).__name__}{shape_text(values)}"
        raise AlgorithmError(f"{leaf_name(leaf)} must return a tuple of float64 [K, H], one for each player, not {found}")
    for each in range(len(wanted)) if player is None else (player,):
        own = values[each]
        if np.shape(own) != wanted[each] or not isinstance(own, np.ndarray):
            raise AlgorithmError(
                f"{leaf_name(leaf)} must return values of player {each} of shape {wanted[each]} (leaves, hands), not "
                f"{type(own).__name__}{shape_text(own)}"
            )
        if own.dtype.kind not in "fiu":
            raise AlgorithmError(f"{leaf_name(leaf)} must return float64 values, not {own.dtype}")
        if not np.isfinite(own).all():
            place, hand = (int(number) for number in np.argwhere(~np.isfinite(own))[0])
            raise AlgorithmError(
                f"{leaf_name(leaf)} must return finite values, not {own[place, hand]} for hand {hand} of player {each} at "
                f"{places.game.name_of(places.states[place])}"
            )
    return tuple(values)


def leaf_name(leaf: object) -> str:
    """The name of a leaf's class, and of its network if it has one."""
    net = getattr(leaf, "net", None)
    name = getattr(leaf, "__name__", type(leaf).__name__)
    return name if net is None else f"{name} with network {type(net).__name__}"


def shape_text(value: object) -> str:
    """`` of shape (3,)`` for an array; empty for other objects."""
    return f" of shape {value.shape}" if isinstance(value, np.ndarray) else ""


class Prepared(Generic[Key, Made]):
    """A one-entry cache of an object prepared for places or a subgame."""

    def __init__(self, make: Callable[[Key], Made]) -> None:
        self._make = make
        self._kept: tuple[Key, Made] | None = None

    def __call__(self, key: Key) -> Made:
        """The object prepared for exactly these places."""
        if self._kept is None or self._kept[0] is not key:
            self._kept = None  # release memory first
            self._kept = key, self._make(key)
        return self._kept[1]

    def forget(self) -> None:
        """Clear the cache."""
        self._kept = None


class NoLeaf:
    """Raises an error at any leaf; for subgames without a cut."""

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        if len(places):
            raise AlgorithmError("the subgame has a cut, so its leaves need values; give leaf=")
        return believed


class ZeroLeaf:
    """Zero at all leaves: play after them is ignored."""

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        return tuple(np.zeros_like(own) for own in believed)
