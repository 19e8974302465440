"""Pot settlement in kernels: side pots, uncalled bets, rake and odd chips."""

from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.kernel import INLINED, kernel


class Ends(NamedTuple):
    """T terminal settlements among N players, each with at most P pots.

    Attributes:
        put: float64 [T, N], chips put in by each player, without uncalled bets.
        chips: float64 [T, P], size of each pot; 0 for unused entries.
        able: int64 [T, P], players who can win the pot: bit i for player i.
        kept: float64 [T], fraction of the pots paid out after rake.
        order: int64 [N], order in which winners receive odd chips; empty if chips can be split.
    """

    put: Floats
    chips: Floats
    able: Ints
    kept: Floats
    order: Ints


@kernel(error_model="numpy", **INLINED)
def payoff(ends: Ends, end: int, strengths: Ints, player: int) -> float:
    """Return a player's terminal payoff in chips, given ``strengths`` int64 [N], higher wins."""
    total = 0.0
    for pot in range(ends.chips.shape[1]):
        able = ends.able[end, pot]
        if not able >> player & 1:
            continue
        winners, strength = 1, strengths[player]
        for other in range(strengths.shape[0]):
            if other != player and able >> other & 1:
                if strengths[other] > strength:
                    winners = 0
                    break
                winners += int(strengths[other] == strength)
        if winners == 1:
            total += ends.chips[end, pot]
        elif winners > 1:
            total += split(ends, end, pot, strengths, player, winners)
    return float(total * ends.kept[end] - ends.put[end, player])


@kernel(error_model="numpy", **INLINED)
def split(ends: Ends, end: int, pot: int, strengths: Ints, player: int, winners: int) -> float:
    """Return one winner's share, in chips, of a pot split among ``winners`` players."""
    chips = ends.chips[end, pot]
    if ends.order.shape[0] == 0:
        return float(chips / winners)
    share = np.floor(chips / winners)
    for seat in ends.order:
        if ends.able[end, pot] >> seat & 1 and strengths[seat] == strengths[player]:
            return float(share + (chips - share * winners if seat == player else 0.0))
    return float(share)
