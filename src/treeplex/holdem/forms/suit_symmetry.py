"""Suit isomorphism: the renamings of suits that leave a spot unchanged, and their action on cards and hands."""

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.holdem.spots.spot import Spot

Ints = NDArray[np.signedinteger[Any]]
Renaming = tuple[int, ...]

IDENTITY: Renaming = (0, 1, 2, 3)


def renamed(cards: Sequence[int], renaming: Renaming) -> tuple[int, ...]:
    """Cards after a renaming of suits."""
    return tuple(card - card % 4 + renaming[card % 4] for card in cards)


class Hands:
    """The hands of a format, and the permutation of hands under each renaming of suits."""

    def __init__(self, spot: Spot) -> None:
        cards = np.asarray(spot.format.hands, np.int64)
        self.cards = cards
        self.index = np.full((52, 52), -1, np.int64)
        self.index[cards[:, 0], cards[:, -1]] = self.index[cards[:, -1], cards[:, 0]] = np.arange(len(cards))
        self.maps: dict[Renaming, Ints] = {}

    def map(self, renaming: Renaming) -> Ints:
        """The image of each hand, [H]."""
        if renaming not in self.maps:
            image = self.cards - self.cards % 4 + np.array(renaming)[self.cards % 4]
            self.maps[renaming] = self.index[image[:, 0], image[:, -1]]
        return self.maps[renaming]


def symmetries_of(spot: Spot, hands: Hands) -> list[Renaming]:
    """The renamings of suits that leave the deck, the board and both ranges unchanged; the identity first."""
    if spot.strengths is not None:
        return [IDENTITY]
    deck, board, symmetries = set(spot.format.deck), set(spot.board), []
    suits = {card % 4 for card in deck}
    for renaming in permutations(range(4)):
        if any(renaming[suit] != suit for suit in range(4) if suit not in suits):
            continue
        if set(renamed(spot.format.deck, renaming)) != deck or set(renamed(spot.board, renaming)) != board:
            continue
        image = hands.map(renaming)
        if all(np.array_equal(weights[image], weights) for weights in spot.ranges):
            symmetries.append(renaming)
    return symmetries
