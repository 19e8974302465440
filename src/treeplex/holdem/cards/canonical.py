"""Boards up to suit isomorphism. Hand strengths depend only on a board's class, so tables have one row per class."""

from dataclasses import dataclass
from itertools import combinations, permutations
from math import comb

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Ints
from treeplex.errors import SpecError
from treeplex.holdem.cards.format import Format


@dataclass(frozen=True, eq=False)
class CanonicalBoards:
    """All boards of one size, each mapped to a canonical board and a renaming of suits.

    Attributes:
        size: number of cards of a board.
        boards: uint8 [R, size], one board for each class.
        weights: int64 [R], number of boards in each class.
        rows: int32 [C], the class of each board; boards are numbered by :meth:`numbers`.
        renamings: uint8 [C], the row of ``hand_maps`` that maps a board's hands to those of its canonical board.
        hand_maps: int16 [P, H], each hand after each renaming of the suits.
        places: int64 [52], the index of each card in the deck, -1 if absent.
    """

    size: int
    boards: NDArray[np.uint8]
    weights: Ints
    rows: NDArray[np.int32]
    renamings: NDArray[np.uint8]
    hand_maps: NDArray[np.int16]
    places: Ints

    def numbers(self, boards: NDArray[np.integer]) -> Ints:
        """The number of each board, regardless of card order: int64 [n] for [n, size]."""
        return colexicographic(np.sort(self.places[boards], axis=-1))

    def find(self, boards: NDArray[np.integer]) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """The class and the suit renaming of each board: two arrays [n] for boards [n, size]."""
        numbers = self.numbers(boards)
        return self.rows[numbers], self.renamings[numbers]


def canonical_boards(format: Format, size: int) -> CanonicalBoards:
    """All boards of ``size`` cards of a format, up to suit isomorphism.

    Raises:
        SpecError: the format's suits have different ranks, so suits are not interchangeable.
    """
    deck = np.array(format.deck, dtype=np.int64)
    renamed = renamings(format)
    places = np.full(52, -1, dtype=np.int64)
    places[deck] = np.arange(len(deck))
    boards = deck[np.array(list(combinations(range(len(deck)), size)), dtype=np.int64)]
    boards = boards[np.argsort(colexicographic(places[boards]))]
    least = np.full(len(boards), np.iinfo(np.int64).max)
    chosen = np.zeros(len(boards), dtype=np.uint8)
    for number, renaming in enumerate(renamed):
        image = colexicographic(np.sort(places[renaming[boards]], axis=1))
        chosen[image < least] = number
        least = np.minimum(least, image)
    classes, rows, weights = np.unique(least, return_inverse=True, return_counts=True)
    return CanonicalBoards(
        size,
        boards[classes].astype(np.uint8),
        weights.astype(np.int64),
        rows.astype(np.int32),
        chosen,
        np.stack([hand_map(format, renaming) for renaming in renamed]),
        places,
    )


def renamings(format: Format) -> list[Ints]:
    """Every renaming of the suits in play, given as the image of each card [52].

    Raises:
        SpecError: the suits do not have the same ranks.
    """
    suits = sorted({card & 3 for card in format.deck})
    ranks = [{card >> 2 for card in format.deck if card & 3 == suit} for suit in suits]
    if any(held != ranks[0] for held in ranks):
        raise SpecError(f"format {format.name!r}: its suits have different ranks; use a deck with the same ranks in every suit")
    cards = np.arange(52)
    images = []
    for order in permutations(suits):
        suit_map = np.arange(4)
        suit_map[suits] = order
        images.append(cards // 4 * 4 + suit_map[cards % 4])
    return images


def hand_map(format: Format, renaming: Ints) -> NDArray[np.int16]:
    """The index of each hand of a format after a renaming of suits, int16 [H]."""
    index = np.full((52, 52), -1, dtype=np.int16)
    low, high = format.hands[:, 0], format.hands[:, 1]
    index[low, high] = index[high, low] = np.arange(len(format.hands))
    moved: NDArray[np.int16] = index[renaming[low], renaming[high]]
    return moved


def colexicographic(places: NDArray[np.integer]) -> Ints:
    """The colexicographic index of each ascending combination [..., k]: the sum of C(place i, i + 1)."""
    most = int(places.max(initial=0)) + 1
    total = np.zeros(places.shape[:-1], dtype=np.int64)
    for i in range(places.shape[-1]):
        table = np.array([comb(position, i + 1) for position in range(most)], dtype=np.int64)
        total += table[places[..., i]]
    return total
