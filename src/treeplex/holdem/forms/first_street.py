"""Compiler for the first street of a spot alone; leaf values replace later streets."""

from treeplex.errors import GameError
from treeplex.holdem.forms.compile_spot import CompiledSpot
from treeplex.holdem.forms.open_street import compile_open_street
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.spots.fields import street_names
from treeplex.holdem.spots.spot import Spot


def compile_first_street(spot: Spot, game: HoldemGame | None = None) -> CompiledSpot:
    """Compile the first street of a spot.

    Args:
        spot: a spot with at least two streets.
        game: the spot as a public game, if already built.

    Raises:
        GameError: there is no second street, or the ranges have no compatible pair of hands.
        SpecError: the betting tree is too large.
    """
    if len(spot.streets) < 2:
        raise GameError("the spot has only one street, so no later street needs values; solve it to the end")
    return compile_open_street(spot, (game or HoldemGame.of(spot)).tree, 0)


def following_street(spot: Spot) -> str:
    """The name of a spot's second street; empty if there is none."""
    return street_names(spot.format)[spot.street + 1] if len(spot.streets) > 1 else ""
