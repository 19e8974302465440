"""Gradients for games without stored terminals: kernels call a numbered walk over the rules.

A kernel that contained the functions of a user's game would have to be recompiled for each game. Kernels call one external
symbol instead, which looks up the walk by its number. The call goes through Python, about 20 microseconds per gradient.
"""

import ctypes
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from itertools import count
from typing import Any, Protocol
from weakref import WeakValueDictionary

import numpy as np
from llvmlite import binding
from numba import types

from treeplex.base.arrays import Floats

SYMBOL = "treeplex_walked_gradient"
INTERRUPTED = "the walk over the rules was interrupted"
"""Message of the error that a kernel raises after an interrupted walk; :func:`walks_raise` recognises it."""


class GradientWalk(Protocol):
    """Game rules that are walked to compute a gradient."""

    def add_gradient(self, player: int, strategy: Floats, values: Floats) -> None:
        """Add the utility gradient of ``player`` to ``values`` [Q], against ``strategy`` [Q]."""


_broken: list[BaseException] = []
_walks: MutableMapping[int, GradientWalk] = WeakValueDictionary()
_numbers = count()


def number_of_walk(walk: GradientWalk) -> int:
    """Register a walk and return its number, which is valid as long as the walk is referenced."""
    number = next(_numbers)
    _walks[number] = walk
    return number


def _called(number: int, player: int, sequences: int, strategy: Any, values: Any) -> int:
    """Entry point for kernels: returns 0, or 1 if Ctrl-C or lack of memory interrupted the walk."""
    try:
        arrays = (np.ctypeslib.as_array(address, (sequences,)) for address in (strategy, values))
        _walks[number].add_gradient(player, *arrays)
    except BaseException as error:  # exceptions cannot pass through compiled code, which raises its own
        _broken[:] = [error]
        return 1
    return 0


@contextmanager
def walks_raise() -> Iterator[None]:
    """Re-raise the original exception (Ctrl-C or lack of memory) if a kernel fails because its walk was interrupted."""
    try:
        yield
    except RuntimeError as error:
        if not _broken or INTERRUPTED not in str(error):
            raise
        raise _broken.pop() from error


_pointer = ctypes.POINTER(ctypes.c_double)
_callback = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, _pointer, _pointer)(_called)
binding.add_symbol(SYMBOL, ctypes.cast(_callback, ctypes.c_void_p).value)
_floats = types.voidptr  # float64; kernels in single precision compile the call as well, but never make it
walked_gradient: Callable[..., int] = types.ExternalFunction(
    SYMBOL, types.int64(types.int64, types.int64, types.int64, _floats, _floats)
)
"""``walked_gradient(number, player, Q, strategy, values)``: call :meth:`GradientWalk.add_gradient`; 0 on success."""
