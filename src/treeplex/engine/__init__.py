"""Kernels over arrays: the four operations of ``docs/design.md``, compiled with Numba. Nothing here knows a game."""

from contextlib import suppress
from pathlib import Path


def drop_stale_kernels() -> None:
    """Remove compiled kernels older than any source of this package.

    Numba keeps a compiled kernel as long as its own file is unchanged, whatever happened to the kernels it calls; a source
    checkout that is updated in place would silently run a mixture of old and new.
    """
    here = Path(__file__).parent
    newest = max(source.stat().st_mtime for source in here.glob("*.py"))
    for compiled in (here / "__pycache__").glob("*.nbi"):
        with suppress(OSError):
            if compiled.stat().st_mtime < newest:
                compiled.unlink()


drop_stale_kernels()
