"""Kernels over arrays: the four operations of ``docs/design.md``, compiled with Numba. Nothing here knows a game."""

from typing import Any

from numba.core import event

from treeplex.base.notices import on_compilation
from treeplex.base.work_clock import compiling_ended, compiling_started


class CompilationListener(event.Listener):
    """Stops the clock of work while Numba compiles, and reports it; kernels that come from the cache raise no such event."""

    def on_start(self, event: Any) -> None:
        if compiling_started():
            on_compilation(True)

    def on_end(self, event: Any) -> None:
        if compiling_ended():
            on_compilation(False)


event.register("numba:compile", CompilationListener())  # type: ignore[no-untyped-call]
