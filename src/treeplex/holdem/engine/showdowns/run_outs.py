"""Showdowns of all two-card hands against a range over many complete boards."""

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.engine.kernel import kernel
from treeplex.holdem.engine.showdowns.strength import CARDS, sort_by_strength


@kernel(error_model="numpy")
def add_showdown(
    keys: NDArray[np.int32],
    hands: NDArray[np.uint8],
    order: NDArray[np.int16],
    spare: NDArray[np.int16],
    reach: Floats,
    sums: Floats,
) -> None:
    """Add the result of the showdown on one board.

    Args:
        keys: int32 [H], strengths; -1 for blocked hands.
        hands: uint8 [H, 2].
        order, spare: int16 [H], scratch.
        reach: float64 [H], the opponent's reach.
        sums: float64 [2, H], added to: each hand's compatible reach, and the reach that it beats (a tie counts half).
    """
    size = sort_by_strength(keys, order, spare)
    total, below = 0.0, 0.0
    held, weaker, tied = np.zeros(CARDS), np.zeros(CARDS), np.zeros(CARDS)
    for position in range(size):
        hand = order[position]
        total += reach[hand]
        held[hands[hand, 0]] += reach[hand]
        held[hands[hand, 1]] += reach[hand]
    start = 0
    while start < size:
        end, equal = start, 0.0
        tied[:] = 0.0
        while end < size and keys[order[end]] == keys[order[start]]:
            hand = order[end]
            equal += reach[hand]
            tied[hands[hand, 0]] += reach[hand]
            tied[hands[hand, 1]] += reach[hand]
            end += 1
        for position in range(start, end):
            hand = order[position]
            low, high, hand_reach = hands[hand, 0], hands[hand, 1], reach[hand]
            sums[0, hand] += total - held[low] - held[high] + hand_reach
            sums[1, hand] += below - weaker[low] - weaker[high] + 0.5 * (equal - tied[low] - tied[high] + hand_reach)
        for position in range(start, end):
            hand = order[position]
            below += reach[hand]
            weaker[hands[hand, 0]] += reach[hand]
            weaker[hands[hand, 1]] += reach[hand]
        start = end
