"""Averages of tables that grow as infosets are met: what ``engine.sampling.walks`` does, on one player's own numbers."""

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.kernel import kernel

NO_PARENT, UNKNOWN_PARENT = -1, -2
"""In place of the slot of the own action before an infoset: there is none; nobody has come by yet who would know."""


@kernel()
def settle_averages(first: Ints, parents: Ints, marks: Floats, policy: Floats, total: float, average: Floats) -> None:
    """Add to a lazily kept average what each infoset's policy has been owed since its last visit.

    Args:
        first: int64 [I+1], first slot of each infoset, parents first.
        parents: int64 [I], the slot of the own action before.
        marks: float64 [I], what had come in at the last visit.
        policy: float64 [S].
        total: weights of all iterations.
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
    """Turn the weights >= 0 of each infoset into probabilities, uniform where they are all zero; float64 [S], in place."""
    for infoset in range(first.shape[0] - 1):
        total = 0.0
        for slot in range(first[infoset], first[infoset + 1]):
            total += weights[slot]
        for slot in range(first[infoset], first[infoset + 1]):
            share = 1.0 / (first[infoset + 1] - first[infoset])
            weights[slot] = min(weights[slot] / total, 1.0) if total > 0.0 else share
