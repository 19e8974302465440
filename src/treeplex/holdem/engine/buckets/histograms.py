"""Kernels for histograms of river strength, one for each hand on a turn board, and for finding the nearest centres."""

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Singles
from treeplex.engine.kernel import kernel

Counts = NDArray[np.uint8]


@kernel(error_model="numpy")
def count_bins(keys: NDArray[np.int32], wins: NDArray[np.uint16], most: int, counts: Counts) -> None:
    """Add one river to the histograms of all hands.

    Args:
        keys: int32 [H], negative where the board blocks a hand.
        wins: uint16 [H], strengths from 0 to ``most``.
        most: the highest strength.
        counts: uint8 [H, B], number of rivers in each bin so far.
    """
    bins = counts.shape[1]
    for hand in range(keys.shape[0]):
        if keys[hand] >= 0:
            counts[hand, min(int(wins[hand] * bins / most), bins - 1)] += 1


@kernel(error_model="numpy")
def nearest_histograms(sums: Singles, centres: Singles, nearest: NDArray[np.uint16]) -> None:
    """The nearest centre of each cumulative histogram, by squared distance.

    Args:
        sums: float32 [n, B].
        centres: float32 [k, B].
        nearest: uint16 [n], output.
    """
    for row in range(sums.shape[0]):
        best, best_number = np.float32(np.inf), 0
        for number in range(centres.shape[0]):
            distance = np.float32(0)
            for column in range(sums.shape[1]):
                gap = sums[row, column] - centres[number, column]
                distance += gap * gap
            if distance < best:
                best, best_number = distance, number
        nearest[row] = best_number
