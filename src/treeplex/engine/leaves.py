"""The leaf operator: ranges at the public states where a subgame is cut, and values put there."""

from numba import njit

from treeplex.engine.form import Floats, Ints


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
