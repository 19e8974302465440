"""Pot settlement at the end of the betting in a card game."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Settlement(NamedTuple):
    """The pots at the end of the betting, before the showdown.

    Attributes:
        put: chips put in by each player, without uncalled bets.
        pots: pairs (chips, players who can win them).
        kept: the fraction of the pots paid out after rake.
        order: players in the order in which winners receive odd chips; empty if chips can be split.
    """

    put: tuple[float, ...]
    pots: tuple[tuple[float, tuple[int, ...]], ...]
    kept: float = 1.0
    order: tuple[int, ...] = ()

    def payoffs(self, strengths: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return payoffs [D, N] for hand strengths [D, N]; strengths of folded hands are ignored."""
        taken = np.zeros(strengths.shape)
        for chips, players in self.pots:
            able = list(players)
            able_strengths = strengths[:, able]
            wins = able_strengths == able_strengths.max(axis=1, keepdims=True)
            count = wins.sum(axis=1, keepdims=True)
            if not self.order:
                taken[:, able] += wins * (chips / count)
                continue
            share = np.floor(chips / count)
            taken[:, able] += wins * share
            ranked = [able.index(seat) for seat in self.order if seat in able]
            first = np.array(ranked)[wins[:, ranked].argmax(axis=1)]
            taken[np.arange(len(taken)), np.array(able)[first]] += (chips - share * count)[:, 0]
        return np.asarray(taken * self.kept - np.array(self.put))


def shared_pot(paid: Sequence[int], folded: Sequence[bool]) -> Settlement:
    """Return the settlement with one pot among the players who have not folded."""
    still_in = tuple(player for player, out in enumerate(folded) if not out)
    return Settlement(tuple(map(float, paid)), ((float(sum(paid)), still_in),))
