"""Free memory and human-readable sizes."""

import os
from pathlib import Path

MEMINFO, CGROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")
MEGABYTE = 1_000_000


def megabytes(size: float) -> str:
    """Format a size in megabytes."""
    return f"{size / MEGABYTE:,.0f} MB" if size >= MEGABYTE else f"{size / MEGABYTE:.1g} MB"


def available_memory() -> int | None:
    """Return the free memory of the machine or its container in bytes, whichever is smaller; None if unknown."""
    sizes = [size for size in (machine_memory(), container_memory()) if size is not None]
    return min(sizes) if sizes else None


def machine_memory() -> int | None:
    """Return the machine's free memory in bytes, or its total memory if the free part is unknown."""
    try:
        for line in MEMINFO.read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def container_memory() -> int | None:
    """Return the bytes left under the container's memory limit (control groups, version 2)."""
    try:
        limit = int((CGROUP / "memory.max").read_text("ascii"))
        used = int((CGROUP / "memory.current").read_text("ascii"))
        cached = [
            line for line in (CGROUP / "memory.stat").read_text("ascii").splitlines() if line.startswith("inactive_file ")
        ]
        return max(0, limit - used + sum(int(line.split()[1]) for line in cached))
    except (OSError, ValueError, IndexError):
        return None


def release_freed_memory() -> None:
    """Return freed memory to the operating system, where the C library (glibc) would keep it for later."""
    import ctypes

    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError, TypeError):
        return
