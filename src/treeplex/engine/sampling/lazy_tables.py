"""Lazily updated averages in tables that grow with visited infosets."""

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.kernel import kernel

NO_PARENT, UNKNOWN_PARENT = -1, -2
"""Codes in place of an infoset's parent slot: no parent, or parent not yet known."""


@kernel()
def settle_averages(first: Ints, parents: Ints, marks: Floats, policy: Floats, total: float, average: Floats) -> None:
    """Bring a lazily updated average up to date for all infosets.

    Args:
        first: int64 [I+1], first slot of each infoset, parents before children.
        parents: int64 [I], slot of the player's previous action.
        marks: float64 [I], accumulated weight at the last visit.
        policy: float64 [S].
        total: sum of the weights of all iterations.
        average: float64 [S], brought up to date.
    """
    for infoset in range(parents.shape[0]):
        if parents[infoset] == UNKNOWN_PARENT:
            continue
        owed = (average[parents[infoset]] if parents[infoset] >= 0 else total) - marks[infoset]
        if owed > 0.0:
            for slot in range(first[infoset], first[infoset + 1]):
                average[slot] += owed * policy[slot]


@kernel()
def normalise_met(first: Ints, weights: Floats) -> None:
    """Normalise each infoset's non-negative weights in place, to the uniform policy if all are zero; float64 [S]."""
    for infoset in range(first.shape[0] - 1):
        total = 0.0
        for slot in range(first[infoset], first[infoset + 1]):
            total += weights[slot]
        for slot in range(first[infoset], first[infoset + 1]):
            share = 1.0 / (first[infoset + 1] - first[infoset])
            weights[slot] = min(weights[slot] / total, 1.0) if total > 0.0 else share
