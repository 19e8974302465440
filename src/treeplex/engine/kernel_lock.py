"""Lock files beside kernels that are being compiled: one process compiles a kernel while others wait for the result.

The operating system holds the locks (``flock``), so a lock ends with its process. Callers of a kernel are locked before the
kernels that they call, and calls have no cycles, so no two processes wait for each other. On systems without ``flock``
each process compiles for itself.
"""

import os
import time
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # no such lock on this system
    fcntl = None  # type: ignore[assignment]

SUFFIX = ".lock"
POLL_SECONDS = 0.02
LONGEST_SECONDS = 180.0
"""A lock that is held longer is ignored: its process may have failed to compile the kernel."""

_held: dict[Path, int] = {}


def lock(kernel: Path) -> bool:
    """Lock a kernel's file for this process, after waiting for any other process that is compiling it.

    Returns:
        Whether the file may be there by now.
    """
    if fcntl is None or kernel in _held:
        return False
    end, waited = time.monotonic() + LONGEST_SECONDS, False
    path = kernel.with_name(kernel.name + SUFFIX)
    with suppress(OSError):
        kernel.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        while time.monotonic() < end and not kernel.exists():
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waited = True
                time.sleep(POLL_SECONDS)
            else:
                if kernel.exists():  # compiled since this process looked for it
                    break
                _held[kernel] = descriptor
                return waited
        os.close(descriptor)
        return kernel.exists()
    return waited


def unlock(kernel: Path) -> None:
    """Release the lock of a kernel's file, if this process holds it."""
    descriptor = _held.pop(kernel, None)
    if descriptor is not None:
        with suppress(OSError):
            kernel.with_name(kernel.name + SUFFIX).unlink()
        with suppress(OSError):
            os.close(descriptor)
