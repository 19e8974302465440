"""Game-independent Numba kernels for the four operations of ``docs/design.md``."""

from typing import TYPE_CHECKING, Any

from numba.core import event

from treeplex.base.exports import lazy_exports
from treeplex.base.notices import on_compilation
from treeplex.base.work_clock import compiling_ended, compiling_started

if TYPE_CHECKING:
    from treeplex.engine.tree.form import Dense, Payoff, Sparse, Tree, workspace
    from treeplex.engine.tree.gradient import gradient
    from treeplex.engine.tree.regret import iterate
    from treeplex.engine.tree.sweeps import backup, best_response, reach

_HOMES = {
    "treeplex.engine.tree.form": "Dense, Payoff, Sparse, Tree, workspace",
    "treeplex.engine.tree.gradient": "gradient",
    "treeplex.engine.tree.regret": "iterate",
    "treeplex.engine.tree.sweeps": "backup, best_response, reach",
}

__all__ = [
    "Dense",
    "Payoff",
    "Sparse",
    "Tree",
    "backup",
    "best_response",
    "gradient",
    "iterate",
    "reach",
    "workspace",
]
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)


class CompilationListener(event.Listener):
    """Stops the work clock and reports progress while Numba compiles. Loading a kernel from the cache has no effect."""

    def on_start(self, event: Any) -> None:
        if compiling_started():
            on_compilation(True)

    def on_end(self, event: Any) -> None:
        if compiling_ended():
            on_compilation(False)


event.register("numba:compile", CompilationListener())  # type: ignore[no-untyped-call]
