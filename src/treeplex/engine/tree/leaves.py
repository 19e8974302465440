"""The leaf operator: ranges at the public states where a subgame is cut, and values put there."""

from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats, Ints, Singles
from treeplex.engine.kernel import kernel


@kernel()
def gather(sequences: Ints, strategy: Floats, reach: Floats) -> None:
    """Write ``reach`` [K, H], the strategy at ``sequences`` [K, H]; 0 where a sequence is -1."""
    for k in range(sequences.shape[0]):
        for h in range(sequences.shape[1]):
            q = sequences[k, h]
            reach[k, h] = strategy[q] if q >= 0 else 0.0


@kernel()
def scatter(sequences: Ints, entries: Floats, values: Floats) -> None:
    """Add ``entries`` [K, H] to ``values`` at ``sequences``; several places may share one."""
    for k in range(sequences.shape[0]):
        for h in range(sequences.shape[1]):
            q = sequences[k, h]
            if q >= 0:
                values[q] += entries[k, h]


class PairWeights(NamedTuple):
    """Unnormalised chance probabilities of pairs of hands at K places, grouped by matrix.

    Attributes:
        matrices: the matrices, row by row, one behind the other.
        shapes: int64 [G, 2], of each.
        ends: int64 [G], places up to the last one of each.
        places: int64 [K], their numbers.
    """

    matrices: Floats
    shapes: Ints
    ends: Ints
    places: Ints


@kernel()
def write_opposing_mass(weights: PairWeights, player: int, other: Floats, mass: Floats) -> None:
    """Write how likely chance and the other player make it that each hand of ``player`` meets somebody at a place.

    Args:
        weights: of pairs of hands.
        player: whose hands.
        other: [K, H'], the other player's reach.
        mass: [K, H], written as far as there are hands.
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
        found = np.dot(reached, matrix.T) if player == 0 else np.dot(reached, matrix)
        for k in range(first, end):
            row, copy = found[k - first], mass[weights.places[k]]
            for h in range(row.shape[0]):
                copy[h] = row[h]
        first, offset = end, offset + rows * columns


@kernel()
def rows_reached(reach: Floats) -> Ints:
    """The numbers of the rows of ``reach`` [K, H] that are not all 0."""
    found, count = np.empty(reach.shape[0], np.int64), 0
    for k in range(reach.shape[0]):
        for h in range(reach.shape[1]):
            if reach[k, h] != 0.0:
                found[count] = k
                count += 1
                break
    return found[:count]


@kernel()
def encode(reach: Floats, base: Floats, slots: Ints, offset: int, inputs: Singles) -> None:
    """Write one player's beliefs, ``base * reach`` normalised, into a network's inputs.

    Args:
        reach, base: [K, H], own reach of each hand and how likely chance deals it; where their products sum to 0, ``base``
            is what is believed.
        slots: [K], 0 if the player is the one to act, whose beliefs come first, else 1.
        offset: where beliefs begin.
        inputs: [K, F], written at ``offset + slot * H`` and after.
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
    """Read one player's values [K, H] from a network's outputs [K, 2 H]: first those of the player to act."""
    hands = values.shape[1]
    for k in range(values.shape[0]):
        for h in range(hands):
            values[k, h] = outputs[k, slots[k] * hands + h]
