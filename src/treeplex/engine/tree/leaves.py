"""The leaf operator: reads ranges and writes values at the leaves of a depth-limited subgame."""

from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats, Ints, Singles
from treeplex.engine.kernel import kernel


@kernel()
def gather(sequences: Ints, strategy: Floats, reach: Floats) -> None:
    """Write ``reach`` [K, H], the reach of ``sequences`` [K, H]; 0 where a sequence is -1."""
    for k in range(sequences.shape[0]):
        for h in range(sequences.shape[1]):
            q = sequences[k, h]
            reach[k, h] = strategy[q] if q >= 0 else 0.0


@kernel()
def scatter(sequences: Ints, entries: Floats, values: Floats) -> None:
    """Add ``entries`` [K, H] to ``values`` at ``sequences``, which may repeat."""
    for k in range(sequences.shape[0]):
        for h in range(sequences.shape[1]):
            q = sequences[k, h]
            if q >= 0:
                values[q] += entries[k, h]


class PairWeights(NamedTuple):
    """Unnormalised chance probabilities of pairs of hands at K leaves, grouped by shared matrix.

    Attributes:
        matrices: the matrices, concatenated in row-major order.
        shapes: int64 [G, 2], shape of each matrix.
        ends: int64 [G], end of each matrix's leaves.
        places: int64 [K], indices of the leaves.
    """

    matrices: Floats
    shapes: Ints
    ends: Ints
    places: Ints


@kernel()
def write_opposing_mass(weights: PairWeights, player: int, other: Floats, mass: Floats) -> None:
    """Write the counterfactual reach of each hand of ``player`` at each leaf.

    Args:
        weights: chance weights of pairs of hands.
        player: owner of the hands.
        other: [K, H'], the opponent's reach.
        mass: [K, H], output; entries beyond the number of hands are not written.
    """
    first, offset = 0, 0
    for g in range(weights.ends.shape[0]):
        rows, columns, end = weights.shapes[g, 0], weights.shapes[g, 1], weights.ends[g]
        matrix = weights.matrices[offset : offset + rows * columns].reshape(rows, columns)
        reached = np.empty((end - first, columns if player == 0 else rows))
        for k in range(first, end):
            row, copy = other[weights.places[k]], reached[k - first]
            for h in range(copy.shape[0]):
                copy[h] = row[h]
        masses = np.dot(reached, matrix.T) if player == 0 else np.dot(reached, matrix)
        for k in range(first, end):
            row, copy = masses[k - first], mass[weights.places[k]]
            for h in range(row.shape[0]):
                copy[h] = row[h]
        first, offset = end, offset + rows * columns


@kernel()
def rows_reached(reach: Floats) -> Ints:
    """Return the indices of the non-zero rows of ``reach`` [K, H]."""
    rows, count = np.empty(reach.shape[0], np.int64), 0
    for k in range(reach.shape[0]):
        for h in range(reach.shape[1]):
            if reach[k, h] != 0.0:
                rows[count] = k
                count += 1
                break
    return rows[:count]


@kernel()
def encode(reach: Floats, base: Floats, slots: Ints, offset: int, inputs: Singles) -> None:
    """Write one player's beliefs, ``base * reach`` normalised, into a network's inputs.

    Args:
        reach, base: [K, H], own reach and dealing probability of each hand; if their products sum to 0, ``base`` is used alone.
        slots: [K], 0 if the player acts (its beliefs come first), else 1.
        offset: start of the beliefs in a row.
        inputs: [K, F], output, written from ``offset + slot * H`` on.
    """
    hands = reach.shape[1]
    for k in range(reach.shape[0]):
        start = offset + slots[k] * hands
        total, dealt = 0.0, 0.0
        for h in range(hands):
            total += base[k, h] * reach[k, h]
            dealt += base[k, h]
        if total > 0.0:
            for h in range(hands):
                inputs[k, start + h] = base[k, h] * reach[k, h] / total
        else:
            for h in range(hands):
                inputs[k, start + h] = base[k, h] / dealt


@kernel()
def decode(outputs: Singles, slots: Ints, values: Floats) -> None:
    """Read one player's values [K, H] from network outputs [K, 2 H], where the player to act comes first."""
    hands = values.shape[1]
    for k in range(values.shape[0]):
        for h in range(hands):
            values[k, h] = outputs[k, slots[k] * hands + h]
