"""NumPy's number of BLAS threads, which NumPy cannot change: read and set through functions of OpenBLAS.

Each thread sums a part of a matrix product, so the last bits depend on the number of threads.
"""

import ctypes
import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

NAMES = (
    "scipy_openblas_{}_num_threads64_",
    "scipy_openblas_{}_num_threads",
    "openblas_{}_num_threads64_",
    "openblas_{}_num_threads",
)
"""Names of OpenBLAS functions in NumPy's wheels and in custom builds; ``{}`` is ``get`` or ``set``."""


class BlasThreads(NamedTuple):
    """Functions that read and set the number of threads of NumPy's OpenBLAS."""

    get: Callable[[], int]
    set: Callable[[int], None]


@cache
def blas_threads() -> BlasThreads | None:
    """Find NumPy's OpenBLAS; None if NumPy uses another BLAS (Accelerate, MKL) or the functions cannot be found."""
    part = importlib.util.find_spec("numpy.linalg._umath_linalg")
    if part is None or part.origin is None:
        return None
    try:
        library = ctypes.CDLL(part.origin)
    except OSError:
        return None
    for name in NAMES:
        if hasattr(library, name.format("set")) and hasattr(library, name.format("get")):
            return BlasThreads(library[name.format("get")], library[name.format("set")])
    return None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit NumPy's matrix products to one thread within the context, if :func:`blas_threads` finds OpenBLAS."""
    threads = blas_threads()
    before = 1 if threads is None else threads.get()
    if threads is not None:
        threads.set(1)
    try:
        yield
    finally:
        if threads is not None:
            threads.set(before)
