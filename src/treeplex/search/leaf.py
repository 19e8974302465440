"""Values at the leaves of depth-limited subgames: an interface, and those that need neither learning nor solving."""

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar, runtime_checkable

import numpy as np

from treeplex.errors import AlgorithmError
from treeplex.search.subgames.subgame import Places, Ranges

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

        Where players may choose between several continuations, see :class:`ManyValued`.
        """
        ...


@runtime_checkable
class ManyValued(Protocol):
    """Values of leaves behind which players choose how the game goes on.

    Attributes:
        continuations: for each player C_i, among how many continuations it chooses; 1 where it does not.
    """

    continuations: tuple[int, ...]

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        """As :class:`LeafValue`, but reaches and values are by continuation, float64 [C_i, K, H_i]."""
        ...


def leaf_values(leaf: LeafValue, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
    """What a leaf says, if it has the shape that it should have and all of it is finite; arguments as of :class:`LeafValue`.

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
    """The class of a leaf, and of its network if it has one."""
    net = getattr(leaf, "net", None)
    name = getattr(leaf, "__name__", type(leaf).__name__)
    return name if net is None else f"{name} with network {type(net).__name__}"


def shape_text(value: object) -> str:
    """`` of shape (3,)`` of an array; nothing of other things."""
    return f" of shape {value.shape}" if isinstance(value, np.ndarray) else ""


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
