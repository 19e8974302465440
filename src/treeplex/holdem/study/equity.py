"""Range equities: pot shares at showdown for two to six players, exact or sampled.

Two players are always exact: range against range, one sweep per board. Boards are counted up to renamings of suits that
leave both ranges unchanged; preflop that leaves 134,459 of 2,598,960. Three and more players are exact where all deals on
all boards can be enumerated, and otherwise sampled, with standard errors.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import comb, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.base.notices import reporting, tell
from treeplex.base.spec import shown
from treeplex.base.workers.executor import in_threads
from treeplex.engine.threads import checked_threads
from treeplex.errors import SpecError
from treeplex.holdem.cards.canonical import hand_map
from treeplex.holdem.cards.cards import HANDS, N_HANDS, cards_to_string, parse_cards
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.cards.ranges import parse_range
from treeplex.holdem.study.equity_kernels import (
    SQUARE,
    TIE,
    WIN,
    deals_on_boards,
    list_deals,
    range_against_range,
    run_outs,
    sampled_deals,
)

Done = Callable[[int, int], None]
"""Progress callback: (parts done, parts in all)."""

MOST_PLAYERS = 6
MOST_DEALS = 1_000_000
MOST_WORK = 1_000_000_000
"""Maximum number of deals times boards to enumerate, about ten seconds of work."""
SAMPLES = 2_000_000
PARTS = 64
BOARD_SIZES = (0, 3, 4, 5)


@dataclass(frozen=True, eq=False)
class RangeEquity:
    """One player's equities.

    Attributes:
        hands: int64 [n], the hands of the range without blocked ones, in the order of ``HANDS``.
        weight: float64 [n], probability that the player holds each hand, given card removal by the other players; sums to 1.
        hand_equity: float64 [n], each hand's share of the pot, in [0, 1]; NaN for a hand that is never dealt.
        hand_error: float64 [n], standard errors; 0 where exact.
        equity: the share of the pot.
        win: the share won alone.
        tie: the share from split pots; ``win + tie == equity``.
        error: the standard error of ``equity``; 0 where exact.
    """

    hands: Ints
    weight: Floats
    hand_equity: Floats
    hand_error: Floats
    equity: float
    win: float
    tie: float
    error: float

    def spread(self, points: int = 101) -> Floats:
        """Equities over the range in ascending order, float64 [points]; see :func:`quantiles`."""
        return quantiles(self.hand_equity, self.weight, points)


@dataclass(frozen=True, eq=False)
class Equity:
    """The equities of several ranges.

    Attributes:
        players: each player's equities, in the given order.
        method: ``exact`` or ``sampled``.
        count: complete boards enumerated, or deals sampled.
    """

    players: tuple[RangeEquity, ...]
    method: str
    count: int

    def __repr__(self) -> str:
        parts = [
            f"{100 * player.equity:.2f}%" + (f" ± {100 * player.error:.2f}" if player.error else "") for player in self.players
        ]
        return f"<equity {', '.join(parts)}; {self.method}>"


@dataclass(frozen=True, eq=False)
class EquityTable:
    """Cards, ranges and symmetries of an equity calculation.

    Attributes:
        board: int64 [k], the board cards.
        deck: int64 [d], cards that can still be dealt, including the players' cards.
        hands: int64 [H], the hands with weight in any range.
        reach: float64 [n, H], their weights.
        group: int64 [G, 4], the renamings of suits that leave board and ranges unchanged, as the image of every suit.
        maps: int64 [G, H], the image of each hand under each renaming.
    """

    board: Ints
    deck: Ints
    hands: Ints
    reach: Floats
    group: Ints
    maps: Ints

    @property
    def cards(self) -> NDArray[np.uint8]:
        """The cards of the hands, uint8 [H, 2]."""
        return np.ascontiguousarray(HANDS[self.hands])


def equity(
    ranges: Sequence[str | NDArray[Any]],
    board: str = "",
    *,
    dead: str = "",
    samples: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Done | bool | None = None,
) -> Equity:
    """The share of the pot of each of two to six ranges at a showdown without further betting.

    Args:
        ranges: texts such as ``"QQ+,AKs:0.5"``, or float64 [1326].
        board: none, three, four or five cards.
        dead: cards that are neither dealt nor in a hand.
        samples: number of random deals; default: exact for two players and wherever feasible, else two million.
        seed: random seed for the deals.
        threads: default: one per available core.
        progress: False shows none; None shows it on a terminal, see :func:`treeplex.solve`. A function is called with the
            number of finished parts and of all parts.

    Returns:
        Each player's equities as shares of the pot, in total and hand by hand, with standard errors if sampled.

    Raises:
        SpecError: too few or too many ranges, unreadable text, repeated cards, or ranges without a possible deal.
    """
    table = table_of(ranges, board, dead)
    if samples is not None and samples < 2:
        raise SpecError(f"samples is {samples}; draw at least 2 deals")
    workers = checked_threads(threads)
    show: Done = progress if callable(progress) else lambda done, parts: tell(f"dealing: {done:,} of {parts:,} parts")
    with reporting(progress, "dealing"):
        if samples is None:
            exact = heads_up(table, workers, show) if len(ranges) == 2 else every_deal(table, workers, show)
            if exact is not None:
                return exact
        return sampled(table, samples or SAMPLES, seed, workers, show)


def table_of(ranges: Sequence[str | NDArray[Any]], board: str, dead: str) -> EquityTable:
    """Validate and parse the arguments."""
    if not 2 <= len(ranges) <= MOST_PLAYERS:
        raise SpecError(f"{len(ranges)} ranges are given; give two to {MOST_PLAYERS}")
    cards, gone = parse_cards(board), parse_cards(dead)
    if len(cards) not in BOARD_SIZES:
        raise SpecError(f"board {shown(board)} has {len(cards)} cards; give none, three, four or five")
    if twice := set(cards) & set(gone):
        raise SpecError(f"{cards_to_string(sorted(twice))} is both on the board and dead; name it once")
    blocked = np.isin(HANDS, [*cards, *gone]).any(axis=1)
    reach = np.zeros((len(ranges), N_HANDS))
    for player, given in enumerate(ranges):
        weights = parse_range(given) if isinstance(given, str) else np.asarray(given, np.float64)
        if weights.shape != (N_HANDS,) or not (np.isfinite(weights).all() and weights.min() >= 0):
            raise SpecError(f"range {player + 1} is neither text nor an array of 1326 finite, non-negative weights")
        reach[player] = np.where(blocked, 0.0, weights)
        if not reach[player].any():
            name = f" {shown(given)}" if isinstance(given, str) else ""
            raise SpecError(f"range {player + 1}{name} has no hand without a board or dead card; widen it")
    hands = np.flatnonzero(reach.any(axis=0))
    positions = np.full(N_HANDS, -1)
    positions[hands] = np.arange(len(hands))
    group, maps = [], []
    for order in permutations(range(4)):
        image = np.arange(52) // 4 * 4 + np.array(order)[np.arange(52) % 4]
        moved = hand_map(HOLDEM, image).astype(np.int64)
        fixed = all(set(image[list(subset)]) == set(subset) for subset in (cards, gone))
        if fixed and np.array_equal(reach[:, moved], reach):
            group.append(order)
            maps.append(positions[moved[hands]])
    deck = np.setdiff1d(np.arange(52), [*cards, *gone])
    return EquityTable(np.array(cards, np.int64), deck, hands, reach[:, hands].copy(), np.array(group), np.array(maps))


def boards_of(table: EquityTable) -> tuple[NDArray[np.uint8], Ints]:
    """Complete boards up to the table's symmetry, uint8 [B, 5], and the number that each represents, int64 [B]."""
    most = comb(len(table.deck), 5 - len(table.board))
    boards, weights = np.empty((most, 5), np.uint8), np.empty(most, np.int64)
    count = run_outs(table.board, table.deck, table.group, boards, weights)
    return boards[:count], weights[:count]


def over_boards(
    table: EquityTable, shape: tuple[int, ...], work: Callable[..., None], threads: int, progress: Done | None
) -> tuple[Floats, int]:
    """Symmetrised sums over all complete boards, and the number of boards; ``work`` sums over some of the boards."""
    boards, weights = boards_of(table)
    parts = min(PARTS, len(boards))
    cuts = np.linspace(0, len(boards), parts + 1).astype(int)

    def part(number: int) -> Floats:
        here, sums = slice(cuts[number], cuts[number + 1]), np.zeros(shape)
        work(boards[here], weights[here], sums)
        return sums

    total = np.zeros(shape)
    for number, sums in enumerate(in_threads(threads, part, range(parts))):
        total += sums
        if progress:
            progress(number + 1, parts)
    even = sum(total[:, mapping] for mapping in table.maps) / len(table.maps)
    return np.asarray(even), int(weights.sum())


def heads_up(table: EquityTable, threads: int, progress: Done | None) -> Equity:
    """Equities of two ranges over every board."""
    met = compatible(table)
    if not (met * table.reach).any():
        raise SpecError("every hand of one range shares a card with every hand of the other; widen them")
    hands = table.cards

    def work(boards: NDArray[np.uint8], weights: Ints, sums: Floats) -> None:
        range_against_range(hands, table.reach, boards, weights, sums)

    sums, count = over_boards(table, (2, len(hands), 2), work, threads, progress)
    boards = comb(len(table.deck) - 4, 5 - len(table.board))
    shares = np.divide(sums, met[:, :, None] * boards, out=np.full(sums.shape, nan), where=met[:, :, None] > 0)
    return Equity(tuple(exact_part(table, player, met[player], shares[player]) for player in (0, 1)), "exact", count)


def compatible(table: EquityTable) -> Floats:
    """The opponent's reach compatible with each hand, float64 [2, H]."""
    cards, size = table.cards, len(table.hands)
    held = np.zeros((2, 52))
    for player in (0, 1):
        for column in (0, 1):
            np.add.at(held[player], cards[:, column], table.reach[player])
    reach = np.empty((2, size))
    for player in (0, 1):
        other = table.reach[1 - player]
        reach[player] = other.sum() - held[1 - player][cards].sum(axis=1) + other
    reach[reach < 1e-12 * table.reach.sum(axis=1)[::-1, None]] = 0.0
    return reach


def exact_part(table: EquityTable, player: int, met: Floats, shares: Floats) -> RangeEquity:
    """One player's equities; ``shares`` are [H, 2], won alone and in split pots."""
    here = table.reach[player] > 0
    weight, hand_shares = (table.reach[player] * met)[here], shares[here]
    weight /= weight.sum()
    win, tie = (float(np.nan_to_num(hand_shares[:, column]) @ weight) for column in (WIN, TIE))
    return RangeEquity(table.hands[here], weight, hand_shares.sum(axis=1), np.zeros(int(here.sum())), win + tie, win, tie, 0.0)


def every_deal(table: EquityTable, threads: int, progress: Done | None) -> Equity | None:
    """Equities of several ranges over every deal on every board; None if there are too many to enumerate."""
    players, size = table.reach.shape
    hand_lists = [np.flatnonzero(reach) for reach in table.reach]
    counts = np.array([len(hands) for hands in hand_lists])
    listed = np.zeros((players, counts.max()), np.int64)
    for player, hands in enumerate(hand_lists):
        listed[player, : len(hands)] = hands
    boards = comb(len(table.deck), 5 - len(table.board)) / len(table.group)
    most = int(min(MOST_DEALS, MOST_WORK / boards, np.prod(counts.astype(float))))
    deals, chances = np.empty((most, players), np.int64), np.empty(most)
    cards = table.cards
    deal_count = list_deals((1 << cards.astype(np.int64)).sum(axis=1), listed, counts, table.reach, deals, chances)
    if deal_count == 0:
        raise SpecError("these ranges cannot be dealt together: every deal repeats a card; widen them")
    if deal_count > most:
        return None
    deals, chances = deals[:deal_count], chances[:deal_count]

    def work(boards: NDArray[np.uint8], weights: Ints, sums: Floats) -> None:
        deals_on_boards(cards, deals, chances, boards, weights, sums)

    sums, count = over_boards(table, (players, size, 3), work, threads, progress)
    boards_per_deal = comb(len(table.deck) - 2 * players, 5 - len(table.board))
    parts = []
    for player in range(players):
        held = np.bincount(deals[:, player], weights=chances, minlength=size)
        met = np.divide(held, table.reach[player], out=np.zeros(size), where=table.reach[player] > 0)
        shares = np.divide(sums[player], held[:, None] * boards_per_deal, out=np.full((size, 3), nan), where=held[:, None] > 0)
        parts.append(exact_part(table, player, met, shares[:, :SQUARE]))
    return Equity(tuple(parts), "exact", count)


def sampled(table: EquityTable, samples: int, seed: int, threads: int, progress: Done | None) -> Equity:
    """Equities of several ranges from random deals."""
    players, size = table.reach.shape
    tables = np.cumsum(table.reach, axis=1) / table.reach.sum(axis=1, keepdims=True)
    tables[tables >= 1 - 1e-15] = 1.0
    share, cards = -(-samples // PARTS), table.cards

    def part(number: int) -> tuple[int, Floats, Floats]:
        sums, met, stream = np.zeros((players, size, 3)), np.zeros((players, size)), np.array([seed, number])
        count = min(share, samples - number * share)
        done = sampled_deals(cards, tables, table.board, table.deck, stream, max(count, 0), sums, met)
        return done, sums, met

    total, drawn, held = 0, np.zeros((players, size, 3)), np.zeros((players, size))
    for number, (done, sums, met) in enumerate(in_threads(threads, part, range(PARTS))):
        total, drawn, held = total + done, drawn + sums, held + met
        if progress:
            progress(number + 1, PARTS)
    if total < 2:
        raise SpecError("almost every deal of these ranges repeats a card; widen them, or leave a player out")
    return Equity(
        tuple(sampled_part(table, player, held[player], drawn[player]) for player in range(players)), "sampled", total
    )


def sampled_part(table: EquityTable, player: int, held: Floats, sums: Floats) -> RangeEquity:
    """One player's equities from random deals."""
    here = table.reach[player] > 0
    count, sums = held[here], sums[here]
    deals = float(count.sum())
    nobody = np.full(len(count), nan)
    hand_equity = np.divide(sums[:, WIN] + sums[:, TIE], count, out=nobody.copy(), where=count > 0)
    square = np.divide(sums[:, SQUARE], count, out=nobody.copy(), where=count > 0)
    error = np.sqrt(np.divide(np.maximum(square - hand_equity**2, 0), count - 1, out=nobody, where=count > 1))
    win, tie, squares = (float(sums[:, column].sum()) / deals for column in (WIN, TIE, SQUARE))
    mean = win + tie
    spread = sqrt(max(squares - mean**2, 0) / (deals - 1))
    return RangeEquity(table.hands[here], count / deals, hand_equity, error, mean, win, tie, spread)


def quantiles(values: Floats, weights: Floats, points: int = 101) -> Floats:
    """Evenly spaced quantiles, ends included, of a per-hand value over a range.

    Args:
        values: float64 [n]; NaN is ignored.
        weights: float64 [n], not negative.
        points: at least 2.

    Returns:
        float64 [points]: entry k is the value below which k / (points - 1) of the range lies. NaN everywhere if no weight is
            left.
    """
    known = np.isfinite(values) & (weights > 0)
    if not known.any():
        return np.full(points, nan)
    order = np.argsort(values[known], kind="stable")
    above = np.cumsum(weights[known][order])
    places = np.searchsorted(above, np.linspace(0, 1, points) * above[-1] * (1 - 1e-12))
    ordered: Floats = values[known][order][places]
    return ordered
