"""The first street of a spot by itself: nothing that follows is built, and every end of its betting but a fold is a leaf.

Where a spot is cut by :func:`treeplex.forms.holdem.subgame.cut_spot`, all boards below are there, for cards to be dealt after
an all-in. Here all-ins are leaves as well, so that memory and time do not depend on what may follow.
"""

import numpy as np

from treeplex.errors import GameError, SpecError
from treeplex.forms.holdem.betting_forest import Forest, grow
from treeplex.forms.holdem.boards import Board, place
from treeplex.forms.holdem.compile_spot import CompiledSpot, arrays_of, pair_weight
from treeplex.forms.holdem.subgame import HoldemSubgame
from treeplex.forms.holdem.suit_symmetry import IDENTITY, Hands
from treeplex.games.poker.public import HoldemGame
from treeplex.games.poker.spots.fields import street_names
from treeplex.games.poker.spots.spot import Spot


def compile_first_street(spot: Spot, game: HoldemGame | None = None) -> CompiledSpot:
    """The first street of a spot, on its board; a board without hands stands for what follows.

    Args:
        spot: at least one street follows its first.
        game: the same as a public game, if it is there already.

    Raises:
        GameError: nothing follows, the spot deals only some boards, or the ranges leave no pair of hands.
        SpecError: too much betting.
    """
    if len(spot.streets) < 2:
        raise GameError("the spot has one street of betting and nothing after it to value; solve it to the end")
    betting, hands = (game or HoldemGame.of(spot)).tree, Hands(spot)
    forest = Forest(spot.street, [0])
    grow(forest, betting, spot.rake, last=False)
    held = np.flatnonzero(spot.ranges[0] > 0), np.flatnonzero(spot.ranges[1] > 0)
    first, none = place(spot, hands, spot.board, -1, 0, held, last=False), np.zeros(0, np.int16)
    first.symmetries, first.children = [IDENTITY], range(1)
    following = Board(spot.board, 0, 1, (none, none), (none, none), (none, none), [IDENTITY], [(none, none)], [IDENTITY])
    compatible = pair_weight(spot, hands, first)
    if not compatible > 0:
        raise GameError("the ranges leave no pair of hands without a shared card; widen a range or change the board")
    forests, boards = [forest, Forest(spot.street + 1, forest.below)], [[first], [following]]
    return CompiledSpot(spot, betting, forests, boards, arrays_of(spot, forests, boards, hands), compatible, False, False)


def cut_first_street(spot: Spot) -> HoldemSubgame:
    """The first street of a spot as a subgame; its leaves are the ends of the betting, all-ins among them.

    Raises:
        GameError, SpecError: as :func:`compile_first_street`, or rake.
    """
    if spot.rake.rate:
        raise SpecError("values of what follows a street are without rake; leave the rake out, or solve to the end")
    game = HoldemGame.of(spot)
    compiled = compile_first_street(spot, game)
    ends = np.arange(len(compiled.forests[0].ends))
    first, second = spot.ranges
    return HoldemSubgame(game, game.first_state(), 1, compiled, compiled, ends, (first[None], second[None]))


def following_street(spot: Spot) -> str:
    """The name of the street after a spot's first; empty where there is none."""
    return street_names(spot.format)[spot.street + 1] if len(spot.streets) > 1 else ""
