"""Division of weighted codes into buckets of ascending strength, by percentiles or k-means."""

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats

Table = NDArray[np.uint8]

MOST_ROUNDS = 100


def percentiles(weights: Floats, count: int) -> Table:
    """Buckets of equal weight; a code belongs to the bucket that contains the midpoint of its weight.

    Args:
        weights: float64 [G, C], weight of each code in ascending strength, for each group.
        count: number of buckets.

    Returns:
        uint8 [G, C].
    """
    below = np.cumsum(weights, axis=1) - weights / 2
    total = weights.sum(axis=1, keepdims=True)
    share = np.divide(below, total, out=np.zeros_like(below), where=total > 0)
    table: Table = np.minimum(share * count, count - 1).astype(np.uint8)
    return table


def clusters(weights: Floats, features: Floats, count: int) -> Table:
    """Buckets by k-means (Lloyd's algorithm), ordered by the centre's last feature.

    Args:
        weights: float64 [G, C], as in :func:`percentiles`.
        features: float64 [C, D], features of each code; the last one determines the order.
        count: number of buckets.

    Returns:
        uint8 [G, C].
    """
    table = np.zeros(weights.shape, dtype=np.uint8)
    for group, row in enumerate(weights):
        if row.any():
            table[group] = nearest_centres(features, centres(row, features, count))
    return table


def centres(weights: Floats, features: Floats, count: int) -> Floats:
    """The centres of k-means, float64 [k, D] with k at most ``count``, in ascending order of the last feature."""
    used = np.flatnonzero(weights)
    used = used[np.argsort(features[used, -1], kind="stable")]
    mass, points = weights[used], features[used]
    bucket = percentiles(np.ones((1, len(used))), count)[0]  # start from shares of strengths, so that no bucket is empty
    centre_points = points[:0]
    for _ in range(MOST_ROUNDS):
        sums = np.bincount(bucket, mass, minlength=count)
        full = sums > 0
        centre_points = np.stack([np.bincount(bucket, mass * column, minlength=count)[full] for column in points.T], axis=1)
        centre_points /= sums[full, None]
        centre_points = centre_points[np.argsort(centre_points[:, -1], kind="stable")]
        moved = nearest_centres(points, centre_points)
        if np.array_equal(moved, bucket):
            break
        bucket = moved
    return centre_points


def nearest_centres(points: Floats, centre_points: Floats) -> Table:
    """Index of the nearest centre of each point: uint8 [n] for [n, D] and [k, D]."""
    if points.shape[1] == 1:
        middles = (centre_points[1:, 0] + centre_points[:-1, 0]) / 2
        return np.searchsorted(middles, points[:, 0]).astype(np.uint8)
    best = np.full(len(points), np.inf)
    nearest = np.zeros(len(points), dtype=np.uint8)
    for number, centre in enumerate(centre_points):
        distance = ((points - centre) ** 2).sum(axis=1)
        nearest[distance < best] = number
        best = np.minimum(best, distance)
    return nearest
