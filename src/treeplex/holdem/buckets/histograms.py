"""Clustering of flop and turn hands by histograms of their strength on the river.

E[HS2] is a single number, which may be equal for a draw and a weak pair. Histograms distinguish them (Gilpin, Sandholm and
Sørensen 2007; Johanson, Burch, Valenzano and Bowling 2013, who cluster by earth mover's distance). The distance here is the
Euclidean distance of cumulative histograms, whose L1 distance would be the earth mover's, so centres are plain means.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Singles
from treeplex.holdem.cards.strength import Codes, Done, River, Strengths
from treeplex.holdem.engine.buckets.histograms import count_bins, nearest_histograms

Counts = NDArray[np.uint8]
BINS = 8
"""Number of strength bins."""
SAMPLED = 100_000
"""Number of sampled histograms from which centres are computed."""
ROUNDS = 30
"""Maximum number of k-means iterations."""


def histogram_clusters(strengths: Strengths, counts: Sequence[int], seed: int, done: Done | None = None) -> tuple[Codes, Codes]:
    """The cluster of every hand on every canonical flop and turn, numbered in ascending order of mean strength.

    Args:
        strengths: hand strengths of the format.
        counts: clusters on each street; only flop and turn are used.
        seed: random seed for sampling the histograms.
        done: called with (turn boards done, turn boards).

    Returns:
        uint16 [F, H] and [R, H].
    """
    turn = turn_histograms(strengths, done)
    flop = flop_sums(strengths, turn)
    random = np.random.default_rng([seed, 11])
    return clustered(flop, strengths.flops.weights, counts[1], random), clustered(
        turn, strengths.turns.weights, counts[2], random
    )


def turn_histograms(strengths: Strengths, done: Done | None = None) -> Counts:
    """The number of rivers in each bin for every hand on every canonical turn, uint8 [R, H, B]; 0 for blocked hands."""
    format, boards = strengths.format, strengths.turns.boards
    counts = np.zeros((len(boards), len(format.hands), BINS), np.uint8)
    river, board, most = River(format), np.empty(5, np.int64), 2 * strengths.opponents + 1
    for number, turn in enumerate(boards):
        board[:4] = turn
        for card in format.deck:
            if card not in turn:
                board[4] = card
                count_bins(*river(board), most, counts[number])
        if done and (number + 1) % 500 == 0:
            done(number + 1, len(boards))
    return counts


def flop_sums(strengths: Strengths, turn: Counts) -> NDArray[np.uint16]:
    """The number of runouts in each bin for every hand on every canonical flop, uint16 [F, H, B]."""
    format, flops, turns = strengths.format, strengths.flops, strengths.turns
    deck = np.array(format.deck)
    sums = np.zeros((len(flops.boards), len(format.hands), BINS), np.uint16)
    for row, board in enumerate(flops.boards):
        following = deck[~np.isin(deck, board)]
        rows, renamings = turns.find(np.column_stack([np.broadcast_to(board, (len(following), 3)), following]))
        for turn_row, renaming in zip(rows, renamings, strict=True):
            sums[row] += turn[turn_row, turns.hand_maps[renaming]]
    return sums


def clustered(
    histograms: NDArray[np.unsignedinteger], weights: NDArray[np.int64], count: int, random: np.random.Generator
) -> Codes:
    """The cluster of each hand on each board, uint16 [R, H], from histograms [R, H, B] and board weights [R]."""
    boards, hands, _ = histograms.shape
    total = int(histograms[0].sum(axis=1).max())
    rows, columns = random.choice(boards, SAMPLED, p=weights / weights.sum()), random.integers(hands, size=SAMPLED)
    free = histograms[rows, columns].any(axis=1)
    centres = histogram_centres(cumulative(histograms[rows, columns][free], total), count)
    nearest = np.zeros((boards, hands), np.uint16)
    for board in range(boards):
        nearest_histograms(cumulative(histograms[board], total), centres, nearest[board])
    return nearest


def cumulative(histograms: NDArray[np.unsignedinteger], total: int) -> Singles:
    """The cumulative share of runouts up to each bin except the last, float32 [n, B - 1]."""
    return np.asarray(histograms.cumsum(axis=1)[:, :-1] / np.float32(total), np.float32)


def histogram_centres(points: Singles, count: int) -> Singles:
    """K-means centres, float32 [k, B - 1], initialised from percentiles by mean, ascending; k <= ``count``."""
    order = np.argsort(-points.sum(axis=1), kind="stable")  # more weight in low bins means a weaker hand
    nearest = np.empty(len(points), np.uint16)
    nearest[order] = np.arange(len(points)) * count // len(points)
    centres = points[:0]
    for _ in range(ROUNDS):
        sizes = np.bincount(nearest, minlength=count)
        full = sizes > 0
        centres = np.stack([np.bincount(nearest, column, minlength=count)[full] for column in points.T], axis=1)
        centres = (centres / sizes[full, None]).astype(np.float32)
        moved = np.empty_like(nearest)
        nearest_histograms(points, centres, moved)
        if np.array_equal(moved, nearest):
            break
        nearest = moved
    return np.ascontiguousarray(centres[np.argsort(-centres.sum(axis=1), kind="stable")])
