"""Compile kernels on a second core: a process that compiles the next kernels while this one compiles the first.

A kernel names a function that uses the kernels needed next, ``@kernel(ahead="module:function")``. When the kernel is not in the
cache, the function runs in a process of its own, which leaves its kernels in the cache. Its argument is the text of the
kernel's argument types. The two processes divide the work: whichever needs a kernel first compiles it, and the other waits
for it (:mod:`treeplex.engine.kernel_lock`).
"""

import importlib
import multiprocessing
import os
import sys
from contextlib import suppress
from pathlib import Path

from treeplex.engine.threads import available_cores

ENVIRONMENT = "TREEPLEX_COMPILE_AHEAD"
"""Set to 0 to compile on one core."""

_started = set[str]()


def compile_ahead(entry: str, signature: str, folder: Path) -> None:
    """Run ``module:function`` in a separate process, at most once, if a core is available.

    Args:
        entry: the function.
        signature: the argument types of the kernel that this process compiles.
        folder: where kernels are kept.
    """
    if entry in _started or os.environ.get(ENVIRONMENT) == "0" or available_cores() < 2 or multiprocessing.parent_process():
        return
    if not hasattr(os, "posix_spawn"):  # nor file locks, by which processes divide the work
        return
    _started.add(entry)
    package = str(Path(__file__).parents[2])
    environment = os.environ | {
        ENVIRONMENT: "0",
        "TREEPLEX_KERNELS": str(folder),
        "PYTHONPATH": os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH")))),
    }
    silent = [
        (os.POSIX_SPAWN_OPEN, descriptor, os.devnull, os.O_RDONLY if descriptor == 0 else os.O_WRONLY, 0)
        for descriptor in range(3)
    ]
    with suppress(OSError):
        os.posix_spawn(sys.executable, [sys.executable, "-m", __name__, entry, signature], environment, file_actions=silent)


if __name__ == "__main__":
    module, _, function = sys.argv[1].partition(":")
    getattr(importlib.import_module(module), function)(sys.argv[2])
