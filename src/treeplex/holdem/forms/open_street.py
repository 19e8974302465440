"""Compiler for a single hold'em street that ends before the next card; all-ins are also leaves.

A cut by :func:`treeplex.holdem.search.subgames.subgame.cut_spot` keeps all boards below, to deal cards after an all-in. The
compiled street here needs no boards below, so memory and time do not depend on later streets.
"""

import numpy as np

from treeplex.errors import AlgorithmError, GameError
from treeplex.holdem.betting.tree import BettingTree, Decision
from treeplex.holdem.forms.betting_forest import Forest, grow
from treeplex.holdem.forms.boards import Board, placed_board
from treeplex.holdem.forms.compile_spot import CompiledSpot, arrays_of, pair_weight
from treeplex.holdem.forms.suit_symmetry import IDENTITY, Hands
from treeplex.holdem.spots.spot import Spot


def compile_open_street(spot: Spot, betting: BettingTree, root: int) -> CompiledSpot:
    """Compile the street that a spot's board is on; one board without hands represents all later streets.

    Args:
        spot: board cards and ranges.
        betting: the betting tree.
        root: the node to start from.

    Raises:
        AlgorithmError: the street is the last one, or the node is not a decision.
        GameError: the ranges have no compatible pair of hands.
        SpecError: the betting tree is too large.
    """
    event = betting.nodes[root]
    if not isinstance(event, Decision) or event.street == betting.streets[-1]:
        raise AlgorithmError("only a street that begins with a decision and is not the last one can be compiled alone")
    street, hands = Forest(event.street, [root]), Hands(spot)
    grow(street, betting, spot.rake, last=False)
    held = np.flatnonzero(spot.ranges[0] > 0), np.flatnonzero(spot.ranges[1] > 0)
    first, none = placed_board(spot, hands, spot.board, -1, 0, held, last=False), np.zeros(0, np.int16)
    first.symmetries, first.children = [IDENTITY], range(1)
    following = Board(spot.board, 0, 1, (none, none), (none, none), (none, none), [IDENTITY], [(none, none)], [IDENTITY])
    compatible = pair_weight(spot, hands, first)
    if not compatible > 0:
        raise GameError("no hands in these ranges are compatible on this board; widen a range or change the board")
    forests, boards = [street, Forest(event.street + 1, street.below)], [[first], [following]]
    form = arrays_of(spot, forests, boards, hands)
    return CompiledSpot(spot, betting, forests, boards, form, compatible, bool(spot.rake.rate), False)
