"""Card abstraction: strength buckets on each street, and the bucket sequence of each hand on a board."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from itertools import permutations
from math import perm, prod

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Ints
from treeplex.holdem.buckets.clusters import clusters, percentiles
from treeplex.holdem.buckets.plan import HISTOGRAM, BucketPlan
from treeplex.holdem.cards.strength import FULL, MEAN, SQUARE, River, Strengths
from treeplex.holdem.engine.buckets.assign import chain_buckets, flop_histogram, turn_histogram

Codes = NDArray[np.uint16]
Table = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Buckets:
    """Buckets of every hand on every board.

    A hand's strength on a street is a 16-bit code (E[HS2], or a pair of bytes; on the river its wins). Its bucket there is
    ``tables[street][g, code]``, where g is the sequence of its earlier buckets if buckets are nested, else 0.

    Attributes:
        plan: the settings of the abstraction.
        strengths: source of the codes.
        codes: uint16, codes preflop [H], on flops [R, H] and on turns [R, H].
        tables: uint8 [G, codes] for each street.
    """

    plan: BucketPlan
    strengths: Strengths = field(repr=False)
    codes: tuple[Codes, Codes, Codes] = field(repr=False)
    tables: tuple[Table, Table, Table, Table] = field(repr=False)

    @property
    def identity(self) -> str:
        """SHA-256 digest of the plan, the cards, the bucket tables, and details that are not stored in the tables."""
        text = json.dumps([asdict(self.plan), list(self.strengths.format.deck)], sort_keys=True)
        digest = hashlib.sha256(text.encode())
        for table in self.tables:
            digest.update(np.ascontiguousarray(table).data)
        if self.plan.method == HISTOGRAM:
            for codes in self.codes[1:]:
                digest.update(np.ascontiguousarray(codes).data)
        return digest.hexdigest()

    def codes_on(self, street: int, places: "Places", board: int, wins: Codes) -> Codes:
        """The code of every hand on a street of a board, uint16 [H]; ``wins`` are the river's."""
        if street == 0:
            return self.codes[0]
        if street == 1:
            hands = self.strengths.flops.hand_maps[places.flop_renamings[board]]
            return np.asarray(self.codes[1][places.flop_rows[board]][hands])
        if street == 2:
            hands = self.strengths.turns.hand_maps[places.turn_renamings[board]]
            return np.asarray(self.codes[2][places.turn_rows[board]][hands])
        return wins

    def sequences(self, places: "Places", board: int, river: tuple[NDArray[np.int32], Codes], out: NDArray[np.int32]) -> None:
        """Write the bucket sequence of every hand on a board into ``out`` int32 [H]; -1 for blocked hands.

        Args:
            places, board: the boards, and the index of one.
            river: keys and codes of that board by :class:`~treeplex.holdem.cards.strength.River`.
            out: int32 [H].
        """
        keys, wins = river
        preflop, flop, turn = self.codes
        flops, turns = self.strengths.flops.hand_maps, self.strengths.turns.hand_maps
        chain_buckets(
            keys,
            preflop,
            flop[places.flop_rows[board]],
            flops[places.flop_renamings[board]],
            turn[places.turn_rows[board]],
            turns[places.turn_renamings[board]],
            wins,
            self.tables,
            np.array(self.plan.counts),
            self.plan.nested,
            out,
        )


@dataclass(frozen=True, eq=False)
class Places:
    """Complete boards, with the rows of their flops and turns in the strength tables.

    Attributes:
        boards: int64 [n, 5]; the first three cards are the flop, the fourth is the turn.
        flop_rows, turn_rows: int32 [n], canonical boards.
        flop_renamings, turn_renamings: uint8 [n], row of ``hand_maps`` that maps hands to the canonical board.
    """

    boards: Ints
    flop_rows: NDArray[np.int32]
    flop_renamings: NDArray[np.uint8]
    turn_rows: NDArray[np.int32]
    turn_renamings: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.boards)


def placed(strengths: Strengths, boards: Ints) -> Places:
    """The :class:`Places` of boards [n, 5]."""
    return Places(boards, *strengths.flops.find(boards[:, :3]), *strengths.turns.find(boards[:, :4]))


def random_boards(strengths: Strengths, count: int, random: np.random.Generator) -> Places:
    """Sample complete boards independently and uniformly at random."""
    deck = np.array(strengths.format.deck, dtype=np.int64)
    chosen = np.argsort(random.random((count, len(deck))), axis=1)[:, :5]
    return placed(strengths, np.ascontiguousarray(deck[chosen]))


def boards_after(strengths: Strengths, start: tuple[int, ...], count: int, random: np.random.Generator) -> Places:
    """Sample complete boards that begin with these cards; if there are at most ``count``, return each of them once."""
    if not start:
        return random_boards(strengths, count, random)
    rest = np.array(strengths.format.cards_left(start), dtype=np.int64)
    left = 5 - len(start)
    if perm(len(rest), left) <= count:
        drawn = np.array(list(permutations(rest.tolist(), left)), dtype=np.int64).reshape(perm(len(rest), left), left)
    else:
        drawn = rest[np.argsort(random.random((count, len(rest))), axis=1)[:, :left]]
    return placed(strengths, np.column_stack([np.broadcast_to(start, (len(drawn), len(start))), drawn]))


def make_buckets(
    strengths: Strengths,
    plan: BucketPlan,
    *,
    start: tuple[int, ...] = (),
    ready: tuple[Codes, Codes] | None = None,
) -> Buckets:
    """Assign the hands on every street to buckets, each hand weighted by the number of deals that lead to it.

    Args:
        strengths: E[HS] and E[HS2] of every hand.
        plan: settings of the abstraction.
        start: the first cards of every board; buckets are then computed for hands on such boards only.
        ready: for the method ``histogram``, the output of :func:`treeplex.holdem.buckets.histograms.histogram_clusters`.
    """
    codes = street_codes(strengths, plan.method)
    if ready is not None:
        codes = codes[0], *ready
    river_codes = 2 * strengths.opponents + 1
    tables: list[Table] = []
    for street, count in enumerate(plan.counts):
        groups = prod(plan.counts[:street]) if plan.nested else 1
        if count == 1:
            tables.append(np.zeros((groups, river_codes if street == 3 else FULL + 1), dtype=np.uint8))
            continue
        if ready is not None and street in (1, 2):
            tables.append(np.minimum(np.arange(FULL + 1), count - 1).astype(np.uint8)[None])
            continue
        if street == 0:
            weights = np.bincount(codes[0], minlength=FULL + 1)[None].astype(np.float64)
        elif start or street == 3:
            weights = sampled_weights(strengths, codes, tables, plan, groups, start)
        elif street == 1:
            weights = np.zeros((groups, FULL + 1))
            flops, first = strengths.flops, tables[0][0, codes[0]]
            flop_histogram(flops.boards, flops.weights, strengths.format.hands, first, codes[1], plan.nested, weights)
        else:
            weights = turn_weights(strengths, codes, tables, plan, groups)
        pairs = plan.method == "kmeans-pair" and street < 3
        if plan.method == "percentile":
            tables.append(percentiles(weights, count))
        else:
            tables.append(clusters(weights, features(street, pairs, river_codes), count))
    return Buckets(plan, strengths, codes, (tables[0], tables[1], tables[2], tables[3]))


def street_codes(strengths: Strengths, method: str) -> tuple[Codes, Codes, Codes]:
    """Strength codes of hands before the river: E[HS2], or for ``kmeans-pair`` the high bytes of E[HS] and E[HS2]."""
    kinds = (strengths.preflop, strengths.flop, strengths.turn)
    if method == "kmeans-pair":
        pairs = [(kind[MEAN] & 0xFF00) | (kind[SQUARE] >> 8) for kind in kinds]
        return pairs[0], pairs[1], pairs[2]
    return kinds[0][SQUARE], kinds[1][SQUARE], kinds[2][SQUARE]


def features(street: int, pairs: bool, river_codes: int) -> NDArray[np.float64]:
    """Features of each code: E[HS2], float64 [codes, 1], or for pairs E[HS] and E[HS2], float64 [codes, 2]."""
    if street == 3:
        return (np.arange(river_codes)[:, None] / (river_codes - 1)) ** 2
    numbers = np.arange(FULL + 1)
    if pairs:
        return np.stack([(numbers >> 8) + 0.5, (numbers & 0xFF) + 0.5], axis=1) / 256
    return numbers[:, None] / FULL


def turn_weights(
    strengths: Strengths, codes: tuple[Codes, Codes, Codes], tables: list[Table], plan: BucketPlan, groups: int
) -> NDArray[np.float64]:
    """The number of deals of each turn code after each bucket sequence, [groups, codes], over all flops of all turn boards."""
    boards = strengths.turns.boards.astype(np.int64)
    flops = np.stack([np.delete(boards, removed, axis=1) for removed in range(4)], axis=1)
    rows, renamings = strengths.flops.find(flops)
    weights = np.zeros((groups, FULL + 1))
    first = tables[0][0, codes[0]]
    turns = strengths.turns
    turn_histogram(
        turns.boards, turns.weights, strengths.format.hands, first, codes[1], rows, renamings, strengths.flops.hand_maps,
        tables[1], plan.counts[1], codes[2], plan.nested, weights,
    )  # fmt: skip
    return weights


def sampled_weights(
    strengths: Strengths,
    codes: tuple[Codes, Codes, Codes],
    tables: list[Table],
    plan: BucketPlan,
    groups: int,
    start: tuple[int, ...],
) -> NDArray[np.float64]:
    """The number of deals of each next-street code after each bucket sequence, on the plan's random boards, [groups, codes]."""
    street = len(tables)
    river_codes = 2 * strengths.opponents + 1
    sizes = [FULL + 1, FULL + 1, FULL + 1, river_codes]
    one, two, three, four = [count if index < street else 1 for index, count in enumerate(plan.counts)]
    known = BucketPlan((one, two, three, four), nested=plan.nested)
    blank = [np.zeros((groups, size), dtype=np.uint8) for size in sizes[street:]]
    padded: list[Table] = [*tables, *blank]
    first, second, third, last = padded
    early = Buckets(known, strengths, codes, (first, second, third, last))
    places = boards_after(strengths, start, plan.boards, np.random.default_rng([plan.seed, 3]))
    river = River(strengths.format)
    hand_sequences = np.empty(len(codes[0]), dtype=np.int32)
    weights = np.zeros(groups * sizes[street])
    for board, cards in enumerate(places.boards):
        keys, wins = river(cards)
        early.sequences(places, board, (keys, wins), hand_sequences)
        alive = keys >= 0
        row = hand_sequences[alive].astype(np.int64) * int(plan.nested)
        np.add.at(weights, row * sizes[street] + early.codes_on(street, places, board, wins)[alive], 1.0)
    return weights.reshape(groups, sizes[street])
