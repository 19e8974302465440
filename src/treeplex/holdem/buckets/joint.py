"""Joint distribution and showdowns of both players' bucket sequences, from all pairs of hands on many boards."""

import numpy as np

from treeplex.holdem.buckets.buckets import Buckets, boards_after
from treeplex.holdem.buckets.game import Table
from treeplex.holdem.cards.strength import Done, River
from treeplex.holdem.engine.showdowns.strength import add_pairs, count_pairs, mirror


def joint_tables(
    buckets: Buckets,
    boards: int,
    *,
    seed: int = 0,
    start: tuple[int, ...] = (),
    done: Done | None = None,
    every: int = 500,
) -> tuple[Table, Table]:
    """Joint tables from all pairs of hands on random boards.

    Args:
        buckets: buckets of both players.
        boards: number of random boards.
        seed: random seed for the boards.
        start: the first cards of every board; if at most ``boards`` boards begin with them, all are enumerated and the
            tables are exact.
        done: called with (boards done, boards) every ``every`` boards.

    Returns:
        :attr:`~treeplex.holdem.buckets.game.BucketGame.pairs` and ``wins``.
    """
    strengths = buckets.strengths
    places = boards_after(strengths, start, boards, np.random.default_rng([seed, 7]))
    river = River(strengths.format)
    size = buckets.plan.sequences
    pairs, wins = np.zeros((size, size), dtype=np.float32), np.zeros((size, size), dtype=np.float32)
    hand_sequences = np.empty(len(river.hands), dtype=np.int32)
    packed = np.zeros((0, 0), dtype=np.int64)
    groups = np.zeros(len(hand_sequences), dtype=np.int64)
    for board, cards in enumerate(places.boards):
        keys, codes = river(cards)
        buckets.sequences(places, board, (keys, codes), hand_sequences)
        listed = np.flatnonzero(hand_sequences >= 0)
        present, inverse = np.unique(hand_sequences[listed], return_inverse=True)
        groups[listed] = inverse
        if len(present) > len(packed):
            packed = np.zeros((len(present), len(present)), dtype=np.int64)
        part = packed[: len(present)]
        count_pairs(river.hands, keys, groups, listed[np.argsort(inverse, kind="stable")], part)
        add_pairs(part, present.astype(np.int64), pairs, wins)
        if done and ((board + 1) % every == 0 or board + 1 == len(places.boards)):
            done(board + 1, len(places.boards))
    mirror(pairs, np.float32(1))
    mirror(wins, np.float32(-1))
    total = pairs.sum(dtype=np.float64)
    pairs /= np.float32(total)
    wins /= np.float32(total)
    return pairs, wins
