"""CPU cores available to this process, and validation of thread counts."""

import os

from treeplex.errors import SpecError


def available_cores() -> int:
    """Return the number of cores in the process's affinity mask, or in the machine if it has no masks."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def checked_threads(threads: int | None) -> int:
    """Check a number of threads; None means one per available core.

    Raises:
        SpecError: fewer than one, or more than :func:`available_cores`.
    """
    most = available_cores()
    if threads is None:
        return most
    if not 1 <= threads <= most:
        raise SpecError(
            f"threads is {threads}, but this process may use {most} core{'s' if most > 1 else ''}; give 1 to {most}"
        )
    return threads
