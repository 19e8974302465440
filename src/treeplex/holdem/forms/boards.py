"""The boards of a spot: all deals to come, up to suit isomorphism, and each player's possible hands on every board."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb, factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import SpecError
from treeplex.holdem.cards.evaluator import format_strengths
from treeplex.holdem.cards.fitted_deals import fitted_deals
from treeplex.holdem.cards.spread import evenly_spread
from treeplex.holdem.engine.form import ANY_CARD, NO_CARD
from treeplex.holdem.forms.suit_symmetry import IDENTITY, Hands, Renaming, renamed, symmetries_of
from treeplex.holdem.spots.spot import Spot

Ints = NDArray[np.signedinteger[Any]]


@dataclass
class Board:
    """A board and the hands that each player can hold.

    Attributes:
        cards: the board; with isomorphism, the representative of its class.
        parent: index of the board before the last deal; -1 for the first.
        street: index among the streets of the spot.
        hands: for each player the possible hands, int16, in stored order; on the last street by strength.
        source: for each player the positions of these hands at the parent board.
        order: for each player ranks of strength on the last street, ascending; else zeros.
        copies: the suit renamings that map this board to each board it represents.
        targets: for each copy and player, the position at the parent board that receives each hand's value.
        symmetries: suit renamings that leave board and ranges unchanged, identity first.
        children: indices of the boards below.
        share: number of deals that each copy represents; 1 if all boards are dealt.
    """

    cards: tuple[int, ...]
    parent: int
    street: int
    hands: tuple[Ints, Ints]
    source: tuple[Ints, Ints]
    order: tuple[Ints, Ints]
    copies: list[Renaming]
    targets: list[tuple[Ints, Ints]]
    symmetries: list[Renaming]
    children: range = field(default_factory=lambda: range(0))
    share: float = 1.0


def boards_of(spot: Spot, *, isomorphism: bool = True) -> list[list[Board]]:
    """The boards of each street, parents first; all children of a board are adjacent."""
    hands = Hands(spot)
    symmetries = symmetries_of(spot, hands) if isomorphism else [IDENTITY]
    held = tuple(np.flatnonzero(weights > 0) for weights in spot.ranges)
    last = len(spot.streets) - 1
    root = placed_board(spot, hands, spot.board, -1, 0, (held[0], held[1]), last=last == 0)
    root.symmetries = symmetries
    streets = [[root]]
    for street in range(1, last + 1):
        below: list[Board] = []
        for parent, board in enumerate(streets[-1]):
            first = len(below)
            for dealt, copies, fixed, share in kept_deals(spot, board.cards, board.symmetries, spot.streets[street]):
                child = placed_board(spot, hands, (*board.cards, *dealt), parent, street, board.hands, last=street == last)
                child.symmetries, child.copies, child.share = fixed, copies, share
                child.targets = [targets_of(child, board, hands.map(copy)) for copy in copies]
                below.append(child)
            board.children = range(first, len(below))
        streets.append(below)
    return streets


def deals(
    spot: Spot, board: tuple[int, ...], symmetries: Sequence[Renaming], count: int
) -> list[tuple[tuple[int, ...], list[Renaming], list[Renaming]]]:
    """The deals on a board: representatives, the renamings to the deals that they represent, and their symmetries."""
    left = spot.format.cards_left(board)
    seen: set[tuple[int, ...]] = set()
    deal_classes = []
    for dealt in combinations(left, count):
        if dealt in seen:
            continue
        copies: dict[tuple[int, ...], Renaming] = {}
        fixed = []
        for renaming in symmetries:
            image = tuple(sorted(renamed(dealt, renaming)))
            copies.setdefault(image, renaming)
            if image == dealt:
                fixed.append(renaming)
        seen.update(copies)
        deal_classes.append((dealt, list(copies.values()), fixed))
    return deal_classes


def kept_deals(
    spot: Spot, board: tuple[int, ...], symmetries: Sequence[Renaming], street: int
) -> Iterator[tuple[tuple[int, ...], list[Renaming], list[Renaming], float]]:
    """The deals on a board of a spot, as in :func:`deals`, with the number of deals that each copy represents.

    If the spot deals only a subset of boards, it contains either all or none of a class of isomorphic deals.

    Raises:
        SpecError: a fitted subset of boards does not support suit-specific ranges.
    """
    deal_classes = deals(spot, board, symmetries, spot.format.deal[street])
    if spot.deal_set:
        if not board and len(symmetries) < factorial(4):
            raise SpecError(
                "a fitted subset of boards does not support suit-specific ranges; give the number of runouts instead"
            )
        shares = fitted_deals(spot.deal_set).below(board)
        yield from ((*entry, shares[entry[0]]) for entry in deal_classes if entry[0] in shares)
        return
    count = spot.runouts[street] if spot.runouts else 0
    if not count:
        yield from ((*entry, 1.0) for entry in deal_classes)
        return
    sizes = [len(copies) for _, copies, _ in deal_classes]
    taken = evenly_spread([(*board, *dealt) for dealt, _, _ in deal_classes], sizes, count, board)
    yield from ((*deal_classes[index], taken[index] / sizes[index]) for index in sorted(taken))


def weighted_boards(spot: Spot) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """All complete boards of a spot, and the number of ways to deal each, street by street.

    Returns:
        uint8 [B, cards], isomorphic boards once where the ranges allow it; and float64 [B].
    """
    deals_so_far = [(spot.board, symmetries_of(spot, Hands(spot)), 1.0)]
    for street in spot.streets[1:]:
        deals_so_far = [
            ((*board, *dealt), fixed, weight * len(copies) * share)
            for board, symmetries, weight in deals_so_far
            for dealt, copies, fixed, share in kept_deals(spot, board, symmetries, street)
        ]
    return np.array([board for board, *_ in deals_so_far], np.uint8), np.array([weight for *_, weight in deals_so_far])


def placed_board(
    spot: Spot, hands: Hands, cards: tuple[int, ...], parent: int, street: int, above: tuple[Ints, Ints], *, last: bool
) -> Board:
    """A board with the hands that are not blocked."""
    dead = np.zeros(52, bool)
    dead[list(cards)] = True
    possible_hands, sources, orders = [], [], []
    for player in (0, 1):
        source = np.flatnonzero(~dead[hands.cards[above[player]]].any(axis=1))
        held = above[player][source]
        order = np.zeros(len(held), np.int64)
        if last:
            strength = strengths_of(spot, cards, held)
            by_strength = np.argsort(strength, kind="stable")
            source, held, order = source[by_strength], held[by_strength], strength[by_strength]
        possible_hands.append(held.astype(np.int16))
        sources.append(source.astype(np.int16))
        orders.append(order)
    levels = np.unique(np.concatenate(orders))
    orders = [np.searchsorted(levels, order).astype(np.int16) for order in orders]
    return Board(
        cards,
        parent,
        street,
        (possible_hands[0], possible_hands[1]),
        (sources[0], sources[1]),
        (orders[0], orders[1]),
        [IDENTITY],
        [],
        [],
    )


def strengths_of(spot: Spot, cards: tuple[int, ...], held: Ints) -> Ints:
    """The strength of hands on a complete board."""
    if spot.strengths is not None:
        return np.asarray(spot.strengths[held], np.int64)
    return np.asarray(format_strengths(spot.format, cards, spot.format.hands[held]), np.int64)


def targets_of(child: Board, parent: Board, image: Ints) -> tuple[Ints, Ints]:
    """The positions on the parent board that receive each hand's value from a copy of a board."""
    first, second = (np.searchsorted(parent.hands[player], image[child.hands[player]]).astype(np.int16) for player in (0, 1))
    return first, second


def card_rows(hands: Hands, held: Ints) -> NDArray[np.uint8]:
    """The rows of ``HoldemForm.cards``."""
    cards = hands.cards[held]
    if cards.shape[1] == 1:
        filler = np.full((len(cards), 1), ANY_CARD), np.full((len(cards), 1), NO_CARD)
        return np.concatenate((cards, *filler), axis=1).astype(np.uint8)
    return cards[:, [0, 1, 1]].astype(np.uint8)


def twins_of(board: Board, player: int, hole: int) -> Ints:
    """For each hand of a player, its position in the other player's list; -1 if absent (or if hands have one card)."""
    hands, other = board.hands[player], board.hands[1 - player]
    if hole == 1 or len(other) == 0:
        return np.full(len(hands), -1)
    by_hand = np.argsort(other, kind="stable")
    index = np.minimum(np.searchsorted(other[by_hand], hands), len(other) - 1)
    position = by_hand[index]
    return np.where(other[position] == hands, position, -1)


def deal_chance(spot: Spot, street: int) -> float:
    """The probability of one deal that opens a street, given both hands; 1 on the first street."""
    if street == 0:
        return 1.0
    count, before = spot.format.deal[spot.streets[street]], spot.format.board_sizes[spot.streets[street] - 1]
    return 1.0 / comb(len(spot.format.deck) - before - 2 * spot.format.hole, count)


def mirror_of(board: Board, player: int, hands: Hands) -> Ints:
    """For each hand of a player, the smallest position of a hand that it equals under a symmetry of the board."""
    own_hands = board.hands[player]
    least = own_hands
    for renaming in board.symmetries[1:]:
        least = np.minimum(least, hands.map(renaming)[own_hands])
    by_hand = np.argsort(own_hands, kind="stable")
    return np.asarray(by_hand[np.searchsorted(own_hands[by_hand], least)])
