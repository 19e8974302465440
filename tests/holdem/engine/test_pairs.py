"""Pairs of hands on boards, against sums that are written down."""

import numpy as np

from treeplex.holdem.engine.pairs import add_payoffs, add_wins


def test_wins_less_losses() -> None:
    random = np.random.default_rng(0)
    ranks, blocked = random.integers(0, 4, (7, 9)), random.random((7, 9)) < 0.3
    order, start = np.zeros((2, 7, 9), np.int16)
    sizes, wins = (~blocked).sum(axis=1).astype(np.int16), np.ones((9, 9), np.float32)
    for row, size in enumerate(sizes):
        free = np.flatnonzero(~blocked[row])
        by_rank = free[np.argsort(ranks[row, free])]
        order[row, :size] = by_rank
        start[row, :size] = np.searchsorted(ranks[row, by_rank], ranks[row, by_rank])
    add_wins(order, start, sizes, wins)
    met = ~(blocked[:, :, None] | blocked[:, None, :])
    expected = 1 + (np.sign(ranks[:, :, None] - ranks[:, None, :]) * met).sum(axis=0)
    np.fill_diagonal(expected, 1)
    assert np.array_equal(wins, expected)


def test_payoffs_of_pairs() -> None:
    """Two continuations of one player and three of the other; some hands are blocked."""
    random = np.random.default_rng(1)
    folds, shown = random.random((2, 2, 4, 3, 5)).astype(np.float32)
    classes = random.integers(0, 4, 8), random.integers(0, 5, 6)
    ranks = tuple(random.integers(-1, 5, len(of)).astype(np.int16) for of in classes)
    tilt, paid = random.random((8, 6)).astype(np.float32), np.ones((2, 3, 8, 6), np.float32)
    add_payoffs(folds, shown, (classes[0], ranks[0]), (classes[1], ranks[1]), tilt, paid)
    assert (ranks[0] < 0).any()
    assert (ranks[1] < 0).any()
    for i in range(8):
        for j in range(6):
            free = ranks[0][i] >= 0 and ranks[1][j] >= 0
            ahead = np.sign(int(ranks[0][i]) - int(ranks[1][j])) + tilt[i, j]
            own = folds[:, classes[0][i], :, classes[1][j]] + ahead * shown[:, classes[0][i], :, classes[1][j]]
            assert np.allclose(paid[:, :, i, j], 1 + free * own, atol=1e-6)
