"""Child processes that end with their parent, however it ends.

This module has no heavy imports: a new process imports it before the code that it runs.
"""

import ctypes
import os
import signal
import sys
import threading
import time
from multiprocessing.context import SpawnProcess
from typing import Any, final

PR_SET_PDEATHSIG = 1
POLL_SECONDS = 0.5


@final
class BoundProcess(SpawnProcess):
    """A spawned process that ends with its parent: killed by the kernel on Linux, by polling elsewhere."""

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuilt, (os.getpid(),), self.__dict__.copy()


def rebuilt(parent: int) -> BoundProcess:
    """Rebuild the process object in the new process and bind it to its parent first."""
    bind(parent)
    return BoundProcess.__new__(BoundProcess)


def bind(parent: int) -> None:
    """End this process when its parent (process id ``parent``) ends or has ended."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)
    else:
        threading.Thread(target=watch, args=(parent,), daemon=True).start()


def watch(parent: int) -> None:
    """End this process as soon as its parent process changes."""
    while os.getppid() == parent:
        time.sleep(POLL_SECONDS)
    os._exit(1)
