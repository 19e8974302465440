"""The leaf operator: ranges at the public states where a subgame is cut, and values put there."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from treeplex.engine.form import Floats, Ints

Singles = NDArray[np.float32]


@njit(cache=True, nogil=True)
def gather(sequences: Ints, strategy: Floats, reach: Floats) -> None:
    """Write ``reach`` [K, H], the strategy at ``sequences`` [K, H]; 0 where a sequence is -1."""
    for k in range(sequences.shape[0]):
        for h in range(sequences.shape[1]):
            q = sequences[k, h]
            reach[k, h] = strategy[q] if q >= 0 else 0.0


@njit(cache=True, nogil=True)
def scatter(sequences: Ints, entries: Floats, values: Floats) -> None:
    """Add ``entries`` [K, H] to ``values`` at ``sequences``; several places may share one."""
    for k in range(sequences.shape[0]):
        for h in range(sequences.shape[1]):
            q = sequences[k, h]
            if q >= 0:
                values[q] += entries[k, h]


@njit(cache=True, nogil=True)
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
        total, dealt = 0.0, 0.0
        for h in range(hands):
            total += base[k, h] * reach[k, h]
            dealt += base[k, h]
        start = offset + slots[k] * hands
        for h in range(hands):
            if total > 0.0:
                inputs[k, start + h] = base[k, h] * reach[k, h] / total
            else:
                inputs[k, start + h] = base[k, h] / dealt


@njit(cache=True, nogil=True)
def decode(outputs: Singles, slots: Ints, values: Floats) -> None:
    """Read one player's values [K, H] from a network's outputs [K, 2 H]: first those of the player to act."""
    hands = values.shape[1]
    for k in range(values.shape[0]):
        for h in range(hands):
            values[k, h] = outputs[k, slots[k] * hands + h]
