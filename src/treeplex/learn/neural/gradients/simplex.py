"""Projection onto the probability simplex."""

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats


def nearest_distributions(rows: Floats, open: NDArray[np.bool_] | None = None, floor: float = 0.0) -> Floats:
    """Euclidean projection of each row onto the probability simplex (Duchi et al. 2008, figure 1).

    Args:
        rows: float64 [R, A].
        open: bool [R, A], entries that may be above 0, at least one per row; None for all.
        floor: minimum value of each open entry, at most 1 / A.

    Returns:
        float64 [R, A], rows that sum to 1.
    """
    allowed = np.ones(rows.shape, bool) if open is None else open
    room = 1.0 - floor * allowed.sum(axis=1, keepdims=True)
    shifted = np.where(allowed, rows - floor, -np.inf)
    descending = -np.sort(-shifted, axis=1)
    counts = np.arange(1, rows.shape[1] + 1)
    levels = (np.cumsum(np.where(np.isfinite(descending), descending, 0.0), axis=1) - room) / counts
    last = (descending > levels).sum(axis=1, keepdims=True) - 1  # levels count while entries stay above them
    projected = np.maximum(shifted - np.take_along_axis(levels, last, axis=1), 0.0) + floor
    return np.where(allowed, projected, 0.0)
