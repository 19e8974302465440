"""What a long job says on stderr while it runs, beside its live line."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

COMPILING = "compiling kernels (once; up to a minute)"

_wishes: list[bool] = []
_listeners: list[Callable[[str], None]] = []
_announced = False


def notify(text: str) -> None:
    """Print one line on stderr at once; also from a signal handler, and where nobody reads stderr any more."""
    with suppress(OSError, ValueError, RuntimeError):
        print(text, file=sys.stderr, flush=True)


@contextmanager
def telling(say: Callable[[str], None]) -> Iterator[None]:
    """While active, hand to ``say`` what :func:`tell` is given; of contexts within one another the innermost hears it."""
    _listeners.append(say)
    try:
        yield
    finally:
        _listeners.pop()


def tell(text: str) -> None:
    """Say what a long preparation is at, if anybody listens."""
    if _listeners:
        _listeners[-1](text)


@contextmanager
def compilation_announced(wanted: bool = True) -> Iterator[None]:
    """While active, say so on stderr when kernels have to be compiled because no earlier run left them in the cache.

    Said once per process. Of several contexts within one another the outermost decides.
    """
    _wishes.append(wanted)
    try:
        yield
    finally:
        _wishes.pop()


def on_compilation() -> None:
    """What the engine calls when Numba begins to compile a kernel."""
    global _announced
    if _wishes and _wishes[0] and not _announced:
        _announced = True
        notify(COMPILING)
