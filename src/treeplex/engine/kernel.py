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
    """Return a decorator that compiles a module-level function on first call, without the GIL, and caches the result.

    Args:
        ahead: ``module:function`` that uses the kernels needed next, given the text of this kernel's argument types; if this
            kernel must be compiled, it runs in another process (:mod:`treeplex.engine.compile_ahead`).
        options: options of ``numba.njit``, except ``cache``.
    """

    def compiled(function: Function) -> Function:
        dispatcher: Any = njit(nogil=True, **options)(function)
        dispatcher._cache = KernelCache(function, dispatcher.targetoptions, ahead)
        return dispatcher  # type: ignore[no-any-return]

    return compiled
