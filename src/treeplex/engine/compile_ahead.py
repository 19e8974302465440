"""Compile kernels on a second core: a process that compiles the next kernels while this one compiles the first.

A kernel names a function that uses the kernels needed next, ``@kernel(ahead="module:function")``. When the kernel is not in the
cache, the function runs in a process of its own, which leaves its kernels in the cache. The two processes divide the work:
whichever needs a kernel first compiles it, and the other waits for it (:mod:`treeplex.engine.kernel_lock`).
"""

import importlib
import multiprocessing
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from treeplex.engine.threads import available_cores

ENVIRONMENT = "TREEPLEX_COMPILE_AHEAD"
"""Set to 0 to compile on one core."""

_started = set[str]()


def compile_ahead(entry: str, folder: Path) -> None:
    """Run ``module:function`` in a process of its own, once, if there is a core for it.

    Args:
        entry: the function.
        folder: where kernels are kept.
    """
    if entry in _started or os.environ.get(ENVIRONMENT) == "0" or available_cores() < 2 or multiprocessing.parent_process():
        return
    _started.add(entry)
    package = str(Path(__file__).parents[2])
    environment = os.environ | {
        ENVIRONMENT: "0",
        "TREEPLEX_KERNELS": str(folder),
        "PYTHONPATH": os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH")))),
    }
    with suppress(OSError):
        subprocess.Popen(
            [sys.executable, "-m", __name__, entry],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


if __name__ == "__main__":
    module, _, function = sys.argv[1].partition(":")
    getattr(importlib.import_module(module), function)()
