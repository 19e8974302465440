"""The decorator that compiles kernels with Numba, cached by :mod:`treeplex.engine.kernel_cache`."""

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

from treeplex.engine.kernel_cache import KernelCache

Function = TypeVar("Function", bound=Callable[..., Any])

NO_COUNTS: dict[str, Any] = {"_nrt": False}
"""Options for kernels without allocation: no reference counting, which is costly with many array arguments."""

INLINED: dict[str, Any] = {**NO_COUNTS, "inline": "always"}
"""Options for parts of a walk with many arrays, which a call would copy to the stack at every node. Without it, walks of
Monte Carlo CFR took three times as long."""


def kernel(*, ahead: str = "", **options: Any) -> Callable[[Function], Function]:
    """A decorator that compiles a function of a module at its first call with Numba, without the GIL, and caches the result.

    Args:
        ahead: ``module:function`` that uses the kernels needed after this one; where this one has to be compiled, it runs
            in a process of its own (:mod:`treeplex.engine.compile_ahead`).
        options: of ``numba.njit``, except ``cache``.
    """

    def compiled(function: Function) -> Function:
        dispatcher: Any = njit(nogil=True, **options)(function)
        dispatcher._cache = KernelCache(function, dispatcher.targetoptions, ahead)
        return dispatcher  # type: ignore[no-any-return]

    return compiled
