"""One street of hold'em by itself, which ends before any card: all-ins are leaves too, and no later board is compiled."""

from collections.abc import Sequence

import numpy as np

from treeplex.errors import AlgorithmError
from treeplex.forms.holdem.betting_forest import Forest, grow
from treeplex.forms.holdem.boards import place
from treeplex.forms.holdem.compile_spot import CompiledSpot, arrays_of, pair_weight
from treeplex.forms.holdem.suit_symmetry import IDENTITY, Hands
from treeplex.games.poker.betting.tree import BettingTree, Decision
from treeplex.games.poker.spots.spot import Spot


def compile_open_street(spot: Spot, betting: BettingTree, root: int) -> CompiledSpot:
    """A street of a spot, and behind it one board of the next street on which nothing happens, as the engine needs one.

    Args:
        spot: the cards on the table and the ranges.
        betting: its betting tree.
        root: the node where it begins.

    Raises:
        AlgorithmError: the street is the last one, or nobody acts at the node.
    """
    event = betting.nodes[root]
    if not isinstance(event, Decision) or event.street == betting.streets[-1]:
        raise AlgorithmError("a street by itself begins with a decision, before the last street")
    street = Forest(event.street, [root])
    grow(street, betting, spot.rake, last=False)
    hands = Hands(spot)
    held = tuple(np.flatnonzero(weights > 0) for weights in spot.ranges)
    board = place(spot, hands, spot.board, -1, 0, (held[0], held[1]), last=False)
    beyond = place(spot, hands, (*spot.board, *next_cards(spot)), 0, 1, board.hands, last=False)
    board.symmetries = beyond.symmetries = [IDENTITY]
    board.children = range(1)
    forests, boards = [street, Forest(event.street + 1, street.below)], [[board], [beyond]]
    form = arrays_of(spot, forests, boards, hands)
    return CompiledSpot(spot, betting, forests, boards, form, pair_weight(spot, hands, board), bool(spot.rake.rate), False)


def next_cards(spot: Spot) -> Sequence[int]:
    """Some cards that may come next."""
    left = [card for card in spot.format.deck if card not in spot.board]
    return left[: spot.format.deal[spot.street + 1]]
