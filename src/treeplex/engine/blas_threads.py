"""How many threads NumPy multiplies matrices with, which it has no function for: OpenBLAS is asked by its own names.

A product is summed in pieces, one a thread, so its last bits depend on their number.
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
"""Of OpenBLAS's functions in NumPy's wheels, and in builds of one's own; ``{}`` is ``get`` or ``set``."""


class BlasThreads(NamedTuple):
    """The number of threads of NumPy's OpenBLAS: how it is read, and how it is set."""

    get: Callable[[], int]
    set: Callable[[int], None]


@cache
def blas_threads() -> BlasThreads | None:
    """NumPy's OpenBLAS; None where NumPy has another BLAS (Accelerate, MKL), or the system does not let its names be found."""
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
    """NumPy's products of matrices with one thread, where :func:`blas_threads` is found; else as they are."""
    threads = blas_threads()
    before = 1 if threads is None else threads.get()
    if threads is not None:
        threads.set(1)
    try:
        yield
    finally:
        if threads is not None:
            threads.set(before)
