"""The first street of a spot by itself, where what follows is valued and not solved."""

from treeplex.errors import GameError
from treeplex.holdem.forms.compile_spot import CompiledSpot
from treeplex.holdem.forms.open_street import compile_open_street
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.spots.fields import street_names
from treeplex.holdem.spots.spot import Spot


def compile_first_street(spot: Spot, game: HoldemGame | None = None) -> CompiledSpot:
    """The first street of a spot.

    Args:
        spot: at least one street follows its first.
        game: the same as a public game, if it is there already.

    Raises:
        GameError: nothing follows, or the ranges leave no pair of hands.
        SpecError: too much betting.
    """
    if len(spot.streets) < 2:
        raise GameError("the spot has one street of betting and nothing after it to value; solve it to the end")
    return compile_open_street(spot, (game or HoldemGame.of(spot)).tree, 0)


def following_street(spot: Spot) -> str:
    """The name of the street after a spot's first; empty where there is none."""
    return street_names(spot.format)[spot.street + 1] if len(spot.streets) > 1 else ""
