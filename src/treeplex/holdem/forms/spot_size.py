"""The size of a compiled spot, computed without dealing boards or building the betting tree.

Isomorphic boards count once where the ranges allow it, as in :mod:`treeplex.holdem.forms.boards`. By Burnside's lemma the
number of classes is the mean number of deals that a renaming leaves unchanged, over the renamings of suits that leave board
and ranges unchanged. The boards compatible with each hand are counted on the deck without its cards.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import SpecError
from treeplex.holdem.betting.tree_size import BettingSize, StreetSize, betting_size
from treeplex.holdem.engine.node import TILE
from treeplex.holdem.engine.workspace import Extent
from treeplex.holdem.forms.boards import kept_deals
from treeplex.holdem.forms.suit_symmetry import IDENTITY, Hands, Renaming, symmetries_of
from treeplex.holdem.spots.fields import street_names
from treeplex.holdem.spots.spot import Spot

Lengths = tuple[int, int, int, int]
"""Numbers of cycles of one, two, three and four cards in a renaming of suits."""

MOST_BOARDS = 1_000_000
"""Maximum number of boards; more would take many minutes to build before the first iteration."""

NUMBER_BYTES = 8
"""Bytes of regret and average in float32."""


@dataclass(frozen=True)
class SpotSize:
    """The size of a compiled spot.

    Attributes:
        nodes: nodes of the betting tree, cards factored out.
        boards: boards on each street.
        decisions: public decision nodes, over all boards.
        stored: size of a stored array: actions times hands, over all own nodes of both players.
        infosets: infosets of both players.
        scales: scales of one stored array of 16-bit numbers.
        extent: the sizes that determine scratch space.
        form_bytes: bytes of the compiled arrays.
        exact: whether the betting tree was counted completely; see :class:`treeplex.holdem.betting.tree_size.BettingSize`.
    """

    nodes: int
    boards: tuple[int, ...]
    decisions: int
    stored: int
    infosets: int
    scales: int
    extent: Extent
    form_bytes: int
    exact: bool = True


def spot_size(spot: Spot, *, isomorphism: bool = True) -> SpotSize:
    """The size of the spot that :func:`treeplex.holdem.forms.compile_spot.compile_spot` would build; takes a second or two.

    Nodes, boards, decisions, stored numbers and infosets are exact if the betting is; bytes are accurate to a few percent.

    Raises:
        SpecError: a street has too many lines to count.
    """
    betting = betting_size(spot.betting)
    counts = counted_deals(spot, isomorphism=isomorphism)
    streets, boards, held = betting.streets, counts.boards, counts.held
    last, both = len(streets) - 1, [sum(street_hands) for street_hands in held]
    return SpotSize(
        nodes=betting.nodes,
        boards=tuple(boards),
        decisions=sum(count * sum(street.decisions) for count, street in zip(boards, streets, strict=True)),
        stored=sum(
            street_hands[p] * street.actions[p] for street_hands, street in zip(held, streets, strict=True) for p in (0, 1)
        ),
        infosets=sum(
            street_hands[p] * street.decisions[p] for street_hands, street in zip(held, streets, strict=True) for p in (0, 1)
        ),
        scales=sum(
            count * street.actions[p] * -(-street_hands[p] // (count * TILE))
            for count, street_hands, street in zip(boards, held, streets, strict=True)
            for p in (0, 1)
        ),
        extent=Extent(
            streets=street_table(streets, boards),
            hands=max(held[0]),
            returned=sum(street.roots * hands for street, hands in zip(streets[:-1], both[:-1], strict=True))
            + streets[-1].roots * (counts.group if last else both[-1]),
            kept=sum(
                street_hands[p] * (street.roots + street.actions[p])
                for street_hands, street in zip(held[:-1], streets[:-1], strict=True)
                for p in (0, 1)
            ),
        ),
        form_bytes=form_bytes(betting, sum(boards), both, counts.copies, counts.targets),
        exact=betting.exact,
    )


class DealCounts(NamedTuple):
    """Numbers of boards and of hands.

    Attributes:
        boards: boards on each street.
        held: hands of each player, summed over the boards of each street.
        copies, targets: number of boards that the boards of all streets represent, and of both players' hands on them.
        group: largest number of both players' hands below one board of the second-last street.
    """

    boards: list[int]
    held: list[tuple[int, int]]
    copies: int
    targets: int
    group: int


def counted_deals(spot: Spot, *, isomorphism: bool) -> DealCounts:
    """Numbers of boards and hands, by formula or, for a subset of boards, by enumeration."""
    if spot.runouts:
        return walked_deals(spot)
    boards, held = board_counts(spot, isomorphism=isomorphism), hand_counts(spot, isomorphism=isomorphism)
    left = [len(spot.format.deck) - spot.format.board_sizes[street] for street in spot.streets]
    dealt, both = [spot.format.deal[street] for street in spot.streets[1:]], [sum(street_hands) for street_hands in held]
    copies = sum(boards[k] * comb(left[k], cards) for k, cards in enumerate(dealt))
    targets = [both[k] * comb(left[k] - spot.format.hole, cards) for k, cards in enumerate(dealt)]
    group = min(both[-1], -(-targets[-1] // boards[-2])) if dealt else 0
    return DealCounts(boards, held, copies, sum(targets), group)


def walked_deals(spot: Spot) -> DealCounts:
    """Numbers of boards and hands for a spot with a subset of boards."""
    hands = Hands(spot)
    cards = [hands.cards[np.flatnonzero(weights > 0)] for weights in spot.ranges]
    above = [(spot.board, symmetries_of(spot, hands))]
    boards, held, copies, targets, group = [1], [(len(cards[0]), len(cards[1]))], 0, 0, 0
    for street in spot.streets[1:]:
        below, totals = [], np.zeros(2, np.int64)
        for board, symmetries in above:
            both = 0
            for dealt, images, fixed, _ in kept_deals(spot, board, symmetries, street):
                dead = np.zeros(52, bool)
                dead[[*board, *dealt]] = True
                counts = np.array([np.count_nonzero(~dead[hand_cards].any(axis=1)) for hand_cards in cards])
                totals, both = totals + counts, both + int(counts.sum())
                copies, targets = copies + len(images), targets + len(images) * int(counts.sum())
                below.append(((*board, *dealt), fixed))
            group = max(group, both) if street == spot.streets[-1] else 0
        boards.append(len(below))
        held.append((int(totals[0]), int(totals[1])))
        above = below
    return DealCounts(boards, held, copies, targets, group)


def form_bytes(betting: BettingSize, boards: int, hands: Sequence[int], copies: int, targets: int) -> int:
    """Bytes of the arrays of a :class:`treeplex.holdem.engine.form.HoldemForm`; ``hands`` is the number on each street."""
    rows = sum(
        24 * sum(street.decisions) + 32 * street.folds + 40 * street.showdowns + 16 * street.ends for street in betting.streets
    )
    return rows + 8 * (14 * len(hands) + 20 * boards + hands[0]) + 11 * sum(hands) + 16 * copies + 2 * targets


def street_table(streets: Sequence[StreetSize], boards: Sequence[int]) -> NDArray[np.int64]:
    """The table ``streets`` of a :class:`treeplex.holdem.engine.form.HoldemForm`."""
    rows = []
    nodes = folds = showdowns = ends = first = 0
    for street, count in zip(streets, boards, strict=True):
        middle, after = nodes + street.decisions[0], nodes + sum(street.decisions)
        stops = folds + street.folds, showdowns + street.showdowns, ends + street.ends, first + count
        slices = (folds, stops[0], showdowns, stops[1], ends, stops[2], first, stops[3])
        rows.append((street.roots, nodes, middle, after, *street.actions, *slices))
        nodes, (folds, showdowns, ends, first) = after, stops
    return np.array(rows, np.int64)


def board_counts(spot: Spot, *, isomorphism: bool = True) -> list[int]:
    """The number of boards on each street; isomorphic boards count once if the ranges allow it."""
    counts = []
    cycles = list(symmetry_cycles(spot, isomorphism=isomorphism))
    for street in range(len(spot.streets)):
        dealt = deals_before(spot, street)
        counts.append(sum(fixed_deals(lengths_of(suit_cycles), dealt) for suit_cycles in cycles) // len(cycles))
    return counts


def hand_counts(spot: Spot, *, isomorphism: bool = True) -> list[tuple[int, int]]:
    """The number of hands in each player's range, summed over the boards of each street."""
    hands = Hands(spot)
    cycles = list(symmetry_cycles(spot, isomorphism=isomorphism))
    hit: list[list[Counter[Lengths]]] = [[], []]
    for player in (0, 1):
        held = hands.cards[np.flatnonzero(spot.ranges[player] > 0)]
        for suit_cycles in cycles:
            length, number = cycle_tables(suit_cycles)
            first, second = held[:, 0], held[:, -1]
            same = number[first] == number[second]
            kinds = Counter(zip(length[first].tolist(), np.where(same, 0, length[second]).tolist(), strict=True))
            without = Counter[Lengths]()
            for (one, other), times in kinds.items():
                left = list(lengths_of(suit_cycles))
                for cycle in (one, other):
                    if cycle:
                        left[cycle - 1] -= 1
                without[left[0], left[1], left[2], left[3]] += times
            hit[player].append(without)
    street_totals = []
    for street in range(len(spot.streets)):
        dealt = deals_before(spot, street)
        totals = [
            sum(times * fixed_deals(left, dealt) for length_weights in hit[player] for left, times in length_weights.items())
            // len(cycles)
            for player in (0, 1)
        ]
        street_totals.append((totals[0], totals[1]))
    return street_totals


def deals_before(spot: Spot, street: int) -> tuple[int, ...]:
    """The number of cards dealt on each street after the first, up to a street."""
    return tuple(spot.format.deal[dealt_street] for dealt_street in spot.streets[1 : street + 1])


def symmetry_cycles(spot: Spot, *, isomorphism: bool) -> Iterator[list[list[int]]]:
    """The cycles of the cards left in the deck, for each renaming of suits that preserves board and ranges."""
    for renaming in symmetries_of(spot, Hands(spot)) if isomorphism else [IDENTITY]:
        yield cycles_of(renaming, spot.format.cards_left(spot.board))


def cycles_of(renaming: Renaming, cards: Sequence[int]) -> list[list[int]]:
    """The cycles of cards under a renaming of suits."""
    cycles, seen = [], set[int]()
    for card in cards:
        cycle: list[int] = []
        while card not in seen:
            seen.add(card)
            cycle.append(card)
            card = card - card % 4 + renaming[card % 4]
        if cycle:
            cycles.append(cycle)
    return cycles


def cycle_tables(cycles: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each card, the length and the index of its cycle, int64 [52] each."""
    length, number = np.zeros(52, np.int64), np.full(52, -1)
    for k, cycle in enumerate(cycles):
        length[list(cycle)], number[list(cycle)] = len(cycle), k
    return length, number


def lengths_of(cycles: Sequence[Sequence[int]]) -> Lengths:
    """The number of cycles of each length."""
    counts = Counter(map(len, cycles))
    return counts[1], counts[2], counts[3], counts[4]


@lru_cache(maxsize=100_000)
def fixed_deals(lengths: Lengths, deals: tuple[int, ...]) -> int:
    """The number of sequences of deals that a suit renaming with these cycle lengths leaves unchanged."""
    if not deals:
        return 1
    return sum(ways * fixed_deals((left[0], left[1], left[2], left[3]), deals[1:]) for ways, left in choices(lengths, deals[0]))


def choices(lengths: Lengths, cards: int) -> Iterator[tuple[int, list[int]]]:
    """For each split of ``cards`` by cycle length: the number of ways to choose the cycles, and the unused cycles."""
    unions = [(1, cards, list(lengths))]
    for kind in (3, 2, 1, 0):
        unions = [
            (ways * comb(left[kind], take), rest - take * (kind + 1), [*left[:kind], left[kind] - take, *left[kind + 1 :]])
            for ways, rest, left in unions
            for take in range(min(rest // (kind + 1), left[kind]) + 1)
        ]
    return ((ways, left) for ways, rest, left in unions if rest == 0)


def check_boards(spot: Spot, *, isomorphism: bool = True) -> None:
    """Reject a spot with too many boards to deal.

    Raises:
        SpecError: the spot has more than :data:`MOST_BOARDS`.
    """
    if spot.runouts or sum(board_counts(spot, isomorphism=isomorphism)) <= MOST_BOARDS:
        return
    size, begins = spot_size(spot, isomorphism=isomorphism), street_names(spot.format)[spot.street]
    gigabytes = NUMBER_BYTES * size.stored / 1e9
    raise SpecError(
        f"with {len(spot.format.deck)} cards from {begins} on there are {sum(size.boards):,} boards and {size.stored:.1e} "
        f"numbers to store, which need at least {gigabytes:,.0f} GB of memory; give a flop or turn board, deal a subset "
        "of boards (runouts: {flop: 25, turn: 12, river: 12}), or use a small deck, such as format: royal"
    )
