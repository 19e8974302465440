"""One street of hold'em by itself, which ends before any card: nothing that follows is built, and all-ins are leaves as well.

Where a spot is cut by :func:`treeplex.holdem.search.subgames.subgame.cut_spot`, all boards below are there, for cards to be
dealt after an all-in. Here memory and time do not depend on what may follow.
"""

import numpy as np

from treeplex.errors import AlgorithmError, GameError
from treeplex.holdem.betting.tree import BettingTree, Decision
from treeplex.holdem.forms.betting_forest import Forest, grow
from treeplex.holdem.forms.boards import Board, place
from treeplex.holdem.forms.compile_spot import CompiledSpot, arrays_of, pair_weight
from treeplex.holdem.forms.suit_symmetry import IDENTITY, Hands
from treeplex.holdem.spots.spot import Spot


def compile_open_street(spot: Spot, betting: BettingTree, root: int) -> CompiledSpot:
    """A street of a spot, on its board; a board without hands stands for what follows.

    Args:
        spot: the cards on the table and the ranges.
        betting: its betting tree.
        root: the node where it begins.

    Raises:
        AlgorithmError: the street is the last one, or the node is no decision.
        GameError: the ranges leave no pair of hands.
        SpecError: too much betting.
    """
    event = betting.nodes[root]
    if not isinstance(event, Decision) or event.street == betting.streets[-1]:
        raise AlgorithmError("a street by itself begins with a decision, before the last street")
    street, hands = Forest(event.street, [root]), Hands(spot)
    grow(street, betting, spot.rake, last=False)
    held = np.flatnonzero(spot.ranges[0] > 0), np.flatnonzero(spot.ranges[1] > 0)
    first, none = place(spot, hands, spot.board, -1, 0, held, last=False), np.zeros(0, np.int16)
    first.symmetries, first.children = [IDENTITY], range(1)
    following = Board(spot.board, 0, 1, (none, none), (none, none), (none, none), [IDENTITY], [(none, none)], [IDENTITY])
    compatible = pair_weight(spot, hands, first)
    if not compatible > 0:
        raise GameError("the ranges leave no pair of hands without a shared card; widen a range or change the board")
    forests, boards = [street, Forest(event.street + 1, street.below)], [[first], [following]]
    form = arrays_of(spot, forests, boards, hands)
    return CompiledSpot(spot, betting, forests, boards, form, compatible, bool(spot.rake.rate), False)
