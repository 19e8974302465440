"""Values of a search's average policy on one street; leaf values are computed for the beliefs that it leads to."""

from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.holdem.engine.form import COUNT, REACH
from treeplex.holdem.search.leaves.hand_values import HandValues
from treeplex.holdem.search.subgames.subgame import HoldemArrays, HoldemSubgame
from treeplex.search.subgame_search import SubgameSearch


class AverageValues(NamedTuple):
    """Both players' values under the average policy.

    Attributes:
        ev: each player's EV in chips, relative to half of the starting pot.
        hands: float64 [2, H], value of each hand times the probability of a compatible hand in the other's normalised range.
        ends: float64 [R], values at the ends, as in :class:`treeplex.holdem.policies.node_values.HoldemValues`.
    """

    ev: tuple[float, float]
    hands: Floats
    ends: Floats


def average_values(search: SubgameSearch, values: HandValues) -> AverageValues:
    """Values of the average policy in a search of one street."""
    subgame, arrays = search.subgame, search.arrays
    assert isinstance(subgame, HoldemSubgame)
    assert isinstance(arrays, HoldemArrays)
    strategy = arrays.sequence_form(search.average)
    reached = arrays.reach_at_leaves(strategy)
    leaf_values, ev, hands = values.fresh(subgame.leaves, reached), [], []
    for player in (0, 1):
        arrays.write_gradient(player, strategy)
        arrays.write_leaves(player, leaf_values[player] * subgame.leaves.opposing(reached, player))
        arrays.expect(player, strategy)
        hands.append(arrays.root_entries(player)[0])
        mass = float((arrays.ranges[player] * subgame.roots.opposing(arrays.ranges, player)).sum())
        ev.append(float(arrays.ranges[player][0] @ hands[-1]) / mass)
    ends, row = arrays.crew.work.gathered.copy(), subgame.top.form.boards[0]
    for player in (0, 1):  # searches normalise each range
        first, size = int(row[REACH + player]), len(subgame.leaves) * int(row[COUNT + player])
        ends[first : first + size] *= float(subgame.game.spot.ranges[1 - player].sum())
    return AverageValues((ev[0], ev[1]), np.stack(hands), ends)
