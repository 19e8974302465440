"""How likely two players' sequences of buckets are together, and who wins: counted over all pairs of hands on many boards."""

from collections.abc import Callable
from math import prod

import numpy as np

from treeplex.engine.buckets.street import Betting
from treeplex.engine.holdem.strength import add_pairs, count_pairs, mirror
from treeplex.errors import GameError
from treeplex.games.poker.buckets.betting import widths
from treeplex.games.poker.buckets.buckets import Buckets, boards_after
from treeplex.games.poker.buckets.game import BucketGame, Table
from treeplex.games.poker.buckets.plan import limit_spot
from treeplex.games.poker.cards.strength import River

Done = Callable[[int, int], None]

PLENTY = 0.8
"""The share of free memory that a game may take."""
EARLY_BYTES, LATE_BYTES = 8, 4


def table_bytes(counts: tuple[int, ...], betting: Betting) -> int:
    """Bytes of the regrets and the average of CFR with sampled chance."""
    rows = [prod(counts[: street + 1]) * width for street, width in enumerate(widths(betting))]
    return 2 * (EARLY_BYTES * sum(rows[:-1]) + LATE_BYTES * rows[-1])


def predicted_bytes(counts: tuple[int, ...], betting: Betting) -> int:
    """Bytes that a game and CFR with sampled chance take, scratch of the judge included."""
    return table_bytes(counts, betting) + 2 * 4 * prod(counts) ** 2 + 200_000_000


def check_memory(counts: tuple[int, ...], betting: Betting) -> None:
    """Refuse a game that does not fit into free memory.

    Raises:
        GameError: with the bytes needed and what to do.
    """
    needed, free = predicted_bytes(counts, betting), free_memory()
    if free and needed > PLENTY * free:
        raise GameError(
            f"{'x'.join(map(str, counts))} buckets need {needed / 1e9:.1f} GB, but {free / 1e9:.1f} GB of memory are free; "
            "use fewer buckets on the later streets, or free memory"
        )


def free_memory() -> int:
    """Bytes of memory that can be had, 0 if the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            return next((int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable")), 0)
    except OSError:
        return 0


def joint_tables(
    buckets: Buckets,
    boards: int,
    *,
    seed: int = 0,
    start: tuple[int, ...] = (),
    done: Done | None = None,
    every: int = 500,
) -> tuple[Table, Table]:
    """Count all pairs of hands on random boards.

    Args:
        buckets: of both players.
        boards: how many random boards.
        seed: of the boards.
        start: the cards with which every board begins; where there are no more boards after them than ``boards``, all are
            counted once, and the tables are exact.
        done: told (boards done, boards) every ``every`` boards.

    Returns:
        :attr:`~treeplex.games.poker.buckets.game.BucketGame.pairs` and ``wins``.
    """
    strengths = buckets.strengths
    places = boards_after(strengths, start, boards, np.random.default_rng([seed, 7]))
    river = River(strengths.format)
    size = buckets.plan.sequences
    pairs, wins = np.zeros((size, size), dtype=np.float32), np.zeros((size, size), dtype=np.float32)
    found = np.empty(len(river.hands), dtype=np.int32)
    packed = np.zeros((0, 0), dtype=np.int64)
    groups = np.zeros(len(found), dtype=np.int64)
    for board, cards in enumerate(places.boards):
        keys, codes = river(cards)
        buckets.sequences(places, board, (keys, codes), found)
        listed = np.flatnonzero(found >= 0)
        present, inverse = np.unique(found[listed], return_inverse=True)
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


def limit_game(buckets: Buckets, *, boards: int = 20_000, seed: int = 0, done: Done | None = None) -> BucketGame:
    """The game of buckets of limit hold'em, its tables counted at once.

    Args:
        buckets: of both players.
        boards: random boards on which the joint tables are counted, about a millisecond each.
        seed: of the boards.
        done: told (boards done, boards).

    Raises:
        GameError: too little memory for CFR with sampled chance.
    """
    spot, counts = limit_spot(buckets.strengths.format), buckets.plan.counts
    name = f"limit_holdem({'x'.join(map(str, counts))} {buckets.plan.method})"
    game = BucketGame(
        spot, counts, lambda: joint_tables(buckets, boards, seed=seed, done=done), buckets=lambda: buckets, spec=name
    )
    check_memory(counts, game.betting)
    assert game.tables
    return game
