"""Solver state as named arrays: saving and restoring them exactly."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import FileError

Floats = NDArray[np.float64]


def saved(iteration: int, arrays: Mapping[str, Floats]) -> dict[str, Floats]:
    """Copies of ``arrays`` and the iteration as an array of one number."""
    return {"iteration": np.array([float(iteration)])} | {name: array.copy() for name, array in arrays.items()}


def restored(state: Mapping[str, Floats], arrays: Mapping[str, Floats]) -> int:
    """Copy a saved state into ``arrays``, in place; return the iteration.

    Raises:
        FileError: an array is missing or has another shape.
    """
    for name, array in arrays.items():
        if name not in state or state[name].shape != array.shape:
            found = state[name].shape if name in state else "none"
            raise FileError(f"solver state does not fit: array {name!r} should have shape {array.shape}, found {found}")
    if "iteration" not in state:
        raise FileError("solver state does not fit: the iteration is missing")
    for name, array in arrays.items():
        array[...] = state[name]
    return int(state["iteration"][0])
