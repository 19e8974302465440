"""Stratified samples of deals: sorted by texture and taken at equal distances."""

from collections.abc import Sequence
from random import Random

import numpy as np

from treeplex.errors import SpecError


def texture(cards: Sequence[int]) -> tuple[int, int, list[int]]:
    """Sort key of deals: the number of suits, then of ranks, then the ranks."""
    ranks = sorted((card >> 2 for card in cards), reverse=True)
    return len({card & 3 for card in cards}), len(set(ranks)), ranks


def evenly_spread(
    deals: Sequence[Sequence[int]], weights: Sequence[float], count: int, board: Sequence[int] = ()
) -> dict[int, float]:
    """A stratified sample of deals: averages over it are closer to those over all than averages over a random sample.

    Args:
        deals: the cards of each.
        weights: the number of deals that each of them already stands for.
        count: number of deals to take; a heavy one may be taken twice.
        board: the cards dealt before. After an empty board the sample is taken at fixed positions; otherwise deals of equal
            texture are in random order and the first position is random, both seeded by the board.

    Returns:
        The index of each deal taken and its weight; the weights sum to the sum of ``weights``.

    Raises:
        SpecError: the count is below 1.
    """
    if count < 1:
        raise SpecError(f"count is {count}; take at least 1 deal")
    draws = Random(sum((card + 1) * 53**place for place, card in enumerate(sorted(board))))
    ties = [draws.random() if board else 0.0 for _ in deals]
    order = sorted(range(len(deals)), key=lambda place: (texture(deals[place]), ties[place]))
    offset = draws.random() if board else 0.5
    reach = np.cumsum([weights[place] for place in order])
    taken: dict[int, float] = {}
    for found in np.searchsorted(reach, (np.arange(count) + offset) / count * reach[-1]):
        place = order[int(found)]
        taken[place] = taken.get(place, 0.0) + float(reach[-1]) / count
    return taken
