"""Processes that end with the one that started them, however it ends.

Nothing heavy is imported here: a new process comes to this file before it imports what it is to run.
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
    """A spawned process that the kernel kills when the process that started it is gone (Linux), or that looks for itself."""

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuilt, (os.getpid(),), self.__dict__.copy()


def rebuilt(parent: int) -> BoundProcess:
    """The process object in the new process, which is bound to its parent before anything else is read."""
    bind(parent)
    return BoundProcess.__new__(BoundProcess)


def bind(parent: int) -> None:
    """End this process when its parent ends, whose process id is given in case it ended already."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)
    else:
        threading.Thread(target=watch, args=(parent,), daemon=True).start()


def watch(parent: int) -> None:
    """End this process once it has another parent."""
    while os.getppid() == parent:
        time.sleep(POLL_SECONDS)
    os._exit(1)
