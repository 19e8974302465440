"""Suit isomorphism of boards and hands when the order of streets matters."""

from functools import lru_cache
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import GameError
from treeplex.holdem.cards.canonical import hand_map, renamings
from treeplex.holdem.cards.format import Format

Board = tuple[int, ...]


class Suits:
    """The renamings of the suits of a deck.

    Attributes:
        format: the format, with H hands of two cards.
        images: int64 [P, 52], the image of each card under each renaming.
        maps: int64 [P, H], the image of each hand under each renaming.
    """

    def __init__(self, format: Format) -> None:
        """Compute the renamings.

        Raises:
            GameError: hands do not have two cards.
        """
        if format.hole != 2:
            raise GameError(f"street search needs hands of two cards; {format.name} deals {format.hole}")
        self.format, orders = format, renamings(format)
        self.images = np.stack(orders)
        self.maps = np.stack([hand_map(format, order) for order in orders]).astype(np.int64)
        self._ends = [*pairwise(format.board_sizes)]
        self.images_of = lru_cache(maxsize=200_000)(self._images_of)
        self.orbits = lru_cache(maxsize=200_000)(self._orbits)

    def _images_of(self, board: Board) -> tuple[Board, ...]:
        """A board under each renaming, with the cards of each street in ascending order."""
        moved = self.images[:, list(board)]
        for begin, end in self._ends:
            moved[:, begin:end].sort(axis=1)
        return tuple(map(tuple, moved.tolist()))

    def canonical(self, board: Board) -> tuple[Board, int]:
        """The smallest of a board's images, and the index of a renaming to it."""
        images = self.images_of(board)
        least = min(images)
        return least, images.index(least)

    def _orbits(self, board: Board) -> NDArray[np.int64]:
        """For each hand its smallest image under the renamings that fix the board, int64 [H]."""
        fixing = [number for number, image in enumerate(self.images_of(board)) if image == board]
        return np.asarray(self.maps[fixing].min(axis=0))

    def deals(self, board: Board) -> dict[Board, int]:
        """The canonical boards that can follow a canonical board, with the number of deals that each represents."""
        count = self.format.deal[self.format.street(board) + 1]
        counts: dict[Board, int] = {}
        for cards in combinations(self.format.cards_left(board), count):
            child, _ = self.canonical((*board, *cards))
            counts[child] = counts.get(child, 0) + 1
        return counts
