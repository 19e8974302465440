"""Stratified samples of deals: sort all deals by texture, then pick them at regular intervals."""

from collections.abc import Sequence
from random import Random

import numpy as np

from treeplex.errors import SpecError


def texture(cards: Sequence[int]) -> tuple[int, int, list[int]]:
    """The sort key of deals: the number of suits, the number of ranks, then the ranks."""
    ranks = sorted((card >> 2 for card in cards), reverse=True)
    return len({card & 3 for card in cards}), len(set(ranks)), ranks


def evenly_spread(
    deals: Sequence[Sequence[int]], weights: Sequence[float], count: int, board: Sequence[int] = ()
) -> dict[int, float]:
    """A stratified sample of deals, whose averages are closer to those over all deals than a random sample's.

    Args:
        deals: the cards of each deal.
        weights: the number of deals that each deal already represents.
        count: number of deals to take; a deal with a large weight may be taken twice.
        board: the cards dealt before. After an empty board the sample is taken at fixed positions; otherwise deals of equal
            texture are in random order and the first position is random, with the board as random seed.

    Returns:
        The index of each deal taken and its weight; the weights sum to the sum of ``weights``.

    Raises:
        SpecError: ``count`` is below 1.
    """
    if count < 1:
        raise SpecError(f"count is {count}; draw at least 1 deal")
    draws = Random(sum((card + 1) * 53**index for index, card in enumerate(sorted(board))))
    ties = [draws.random() if board else 0.0 for _ in deals]
    order = sorted(range(len(deals)), key=lambda index: (texture(deals[index]), ties[index]))
    offset = draws.random() if board else 0.5
    reach = np.cumsum([weights[index] for index in order])
    taken: dict[int, float] = {}
    for selected in np.searchsorted(reach, (np.arange(count) + offset) / count * reach[-1]):
        index = order[int(selected)]
        taken[index] = taken.get(index, 0.0) + float(reach[-1]) / count
    return taken
