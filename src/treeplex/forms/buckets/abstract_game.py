"""The abstract game: two players' bucket sequences with a joint distribution, and the betting of limit hold'em.

Chance deals a pair of bucket sequences. How likely each pair is, and who wins the showdown on average, are counted on random
boards: all pairs of hands of a board, so a board counts a million deals at once. What is then solved and judged is one and the
same game, defined by these tables; that the tables come from so many boards and not from all is its only approximation.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.buckets.street import FOLD, Betting
from treeplex.engine.holdem.strength import add_pairs, count_pairs, mirror
from treeplex.errors import GameError
from treeplex.forms.buckets.betting import BIG_BLIND, decisions, limit_betting, widths
from treeplex.forms.buckets.buckets import Buckets, random_boards
from treeplex.games.poker.cards.strength import River

Table = NDArray[np.float32]
Done = Callable[[int, int], None]

PLENTY = 0.8
"""The share of free memory that a game may take."""
EARLY_BYTES, LATE_BYTES = 8, 4


@dataclass(frozen=True, eq=False)
class LimitGame:
    """Limit poker with bucketed cards.

    Attributes:
        name: what it is called in files and messages.
        counts: buckets of each street; a sequence on the last street is a number in that mixed radix, first street highest.
        pairs: float32 [S, S], probability of each pair of sequences of the last street, player 0's first; sums to 1.
        wins: float32 [S, S], that probability times the expected sign of the showdown for player 0.
        betting: the betting, in chips.
        big_blind: chips; results are given in thousandths of it.
        boards: random boards the tables were counted on; 0 if they are exact.
    """

    name: str
    counts: tuple[int, ...]
    pairs: Table = field(repr=False)
    wins: Table = field(repr=False)
    betting: Betting = field(repr=False)
    big_blind: float = BIG_BLIND
    boards: int = 0

    def __post_init__(self) -> None:
        sequences = prod(self.counts)
        if len(self.counts) != len(self.betting.streets) or self.pairs.shape != (sequences, sequences):
            raise GameError(
                f"{self.name}: counts {self.counts} and tables of shape {self.pairs.shape} do not fit betting on "
                f"{len(self.betting.streets)} streets; give a count for each street and a row for each sequence"
            )
        if self.pairs.min() < 0 or abs(float(self.pairs.sum(dtype=np.float64)) - 1) > 1e-3:
            raise GameError(f"{self.name}: pairs must be probabilities that sum to 1")

    @property
    def sequences(self) -> tuple[int, ...]:
        """Bucket sequences on each street."""
        return tuple(prod(self.counts[: street + 1]) for street in range(len(self.counts)))

    @property
    def identity(self) -> str:
        """The SHA-256 of the tables and the betting."""
        digest = hashlib.sha256(repr((self.counts, self.big_blind)).encode())
        for array in (self.pairs, self.wins, *self.betting):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    @property
    def infosets(self) -> int:
        """Infosets of both players."""
        return sum(count * nodes for count, nodes in zip(self.sequences, decisions(self.betting), strict=True))

    @property
    def states(self) -> int:
        """Game states: nodes of the betting, terminals included, for each pair of sequences of their street."""
        total = 0
        for count, row in zip(self.sequences, self.betting.streets, strict=True):
            folds = int((self.betting.kinds[row[0] : row[0] + row[1], 0] == FOLD).sum())
            total += count**2 * int(row[2]) * int(row[1] + row[4] + folds)
        return total


def table_bytes(counts: tuple[int, ...], betting: Betting) -> int:
    """Bytes of the regrets and the average of a solver."""
    rows = [prod(counts[: street + 1]) * width for street, width in enumerate(widths(betting))]
    return 2 * (EARLY_BYTES * sum(rows[:-1]) + LATE_BYTES * rows[-1])


def predicted_bytes(counts: tuple[int, ...], betting: Betting) -> int:
    """Bytes that a game and its solver take, scratch of the judge included."""
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
    buckets: Buckets, boards: int, *, seed: int = 0, done: Done | None = None, every: int = 500
) -> tuple[Table, Table]:
    """Count all pairs of hands on random boards.

    Args:
        buckets: of both players.
        boards: how many random boards.
        seed: of the boards.
        done: told (boards done, boards) every ``every`` boards.

    Returns:
        ``pairs`` and ``wins`` as in :class:`LimitGame`.
    """
    strengths = buckets.strengths
    places = random_boards(strengths, boards, np.random.default_rng([seed, 7]))
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
        if done and ((board + 1) % every == 0 or board + 1 == boards):
            done(board + 1, boards)
    mirror(pairs, np.float32(1))
    mirror(wins, np.float32(-1))
    total = pairs.sum(dtype=np.float64)
    pairs /= np.float32(total)
    wins /= np.float32(total)
    return pairs, wins


def limit_game(buckets: Buckets, *, boards: int = 20_000, seed: int = 0, done: Done | None = None) -> LimitGame:
    """The abstract game of limit hold'em with blinds 1 and 2, bets 2, 2, 4, 4 and at most four bets a street.

    Args:
        buckets: of both players.
        boards: random boards on which the joint tables are counted, about a millisecond each.
        seed: of the boards.
        done: told (boards done, boards).

    Raises:
        GameError: too little memory.
    """
    betting = limit_betting()
    check_memory(buckets.plan.counts, betting)
    pairs, wins = joint_tables(buckets, boards, seed=seed, done=done)
    name = f"limit_holdem({'x'.join(map(str, buckets.plan.counts))} {buckets.plan.method})"
    return LimitGame(name, buckets.plan.counts, pairs, wins, betting, boards=boards)
