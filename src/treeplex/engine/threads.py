"""Cores available to this process, and checked numbers of threads."""

import os

from treeplex.errors import SpecError


def available_cores() -> int:
    """The cores that this process may use: those of its affinity mask where the system has one, else the machine's."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def checked_threads(threads: int | None) -> int:
    """A number of threads for which there are cores; None for one per core that this process may use.

    Raises:
        SpecError: fewer than one, or more than :func:`available_cores`.
    """
    most = available_cores()
    if threads is None:
        return most
    if not 1 <= threads <= most:
        raise SpecError(f"threads is {threads}; this process may use {most} core{'s' if most > 1 else ''}: give 1 to {most}")
    return threads
