"""Some deals that stand for all: taken at equal distances from all of them, sorted by what they look like."""

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
    """A stratified sample of deals: averages over it come closer to those over all than averages over as many random ones.

    Args:
        deals: the cards of each.
        weights: how many deals each of them stands for already.
        count: how many to take; a heavy one may be taken twice.
        board: the cards before. Below an empty board the sample is taken at fixed places; otherwise deals that look alike are
            in random order and the first place is random, both by the cards of the board.

    Returns:
        The place of each deal taken and what it stands for, which sums to what ``weights`` sums to.

    Raises:
        SpecError: a count below 1.
    """
    if count < 1:
        raise SpecError(f"{count} deals cannot stand for all; take at least 1")
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
