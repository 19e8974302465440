"""Gradients of games without stored terminals: compiled kernels call the walk over the rules by its number.

A kernel cannot hold the functions of a user's game: it would have to be compiled anew for each. So kernels call one external
symbol, which finds the walk that has the number. That goes through Python, some 20 microseconds a gradient.
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


class GradientWalk(Protocol):
    """Rules that are walked for every gradient."""

    def add_gradient(self, player: int, strategy: Floats, values: Floats) -> None:
        """Add the utility gradient of ``player`` to ``values`` [Q], against ``strategy`` [Q]."""


_broken: list[BaseException] = []
_walks: MutableMapping[int, GradientWalk] = WeakValueDictionary()
_numbers = count()


def number_of_walk(walk: GradientWalk) -> int:
    """The number by which kernels call a walk, as long as somebody holds it."""
    number = next(_numbers)
    _walks[number] = walk
    return number


def _called(number: int, player: int, sequences: int, strategy: Any, values: Any) -> int:
    """What kernels call: 0, or 1 where the walk was broken off, by Ctrl-C or for want of memory."""
    try:
        arrays = (np.ctypeslib.as_array(each, (sequences,)) for each in (strategy, values))
        _walks[number].add_gradient(player, *arrays)
    except BaseException as error:  # it cannot pass through compiled code, which raises one of its own
        _broken[:] = [error]
        return 1
    return 0


@contextmanager
def walks_raise() -> Iterator[None]:
    """Where a kernel fails because a walk was broken off, raise what broke it off: Ctrl-C, or no memory."""
    try:
        yield
    except RuntimeError as error:
        if not _broken or "broken off" not in str(error):
            raise
        raise _broken.pop() from error


_pointer = ctypes.POINTER(ctypes.c_double)
_callback = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, _pointer, _pointer)(_called)
binding.add_symbol(SYMBOL, ctypes.cast(_callback, ctypes.c_void_p).value)
_floats: Any = types.CPointer(types.float64)  # type: ignore[no-untyped-call]
walked_gradient: Callable[..., int] = types.ExternalFunction(
    SYMBOL, types.int64(types.int64, types.int64, types.int64, _floats, _floats)
)
"""``walked_gradient(number, player, Q, strategy, values)``: :meth:`GradientWalk.add_gradient` of a walk; 0 if it went well."""
