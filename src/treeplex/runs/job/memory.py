"""Whether a solver will fit into memory: asked before anything large is allocated."""

import os
from math import prod
from pathlib import Path

from treeplex.engine.holdem.workspace import workspace_sizes
from treeplex.errors import SpecError
from treeplex.forms.holdem.compile_spot import CompiledSpot
from treeplex.solvers.holdem.solver import STORAGE, predicted_memory
from treeplex.solvers.rules.fictitious import FictitiousRule
from treeplex.solvers.rules.variants import Variant

AnyMethod = str | Variant | FictitiousRule

MEMINFO, CGROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")
MEGABYTE = 1_000_000


def needed_memory(game: CompiledSpot, algorithm: AnyMethod, *, storage: str, threads: int) -> int:
    """Bytes for solving and judging a compiled spot."""
    judging = 8 * sum(prod(shape) for shape in workspace_sizes(game.form, threads, packed=True).values())
    return predicted_memory(game, algorithm, storage=storage, threads=threads) + judging


def check_memory(game: CompiledSpot, algorithm: AnyMethod, *, storage: str, threads: int, most: float | None = None) -> int:
    """The bytes needed, if there are as many.

    Args:
        game: the compiled spot.
        algorithm, storage, threads: how it will be solved.
        most: bytes that may be used; None for what the machine has free.

    Raises:
        SpecError: it does not fit; the message says what would make it smaller.
    """
    needed = needed_memory(game, algorithm, storage=storage, threads=threads)
    free = available_memory() if most is None else most
    if free is None or needed <= free:
        return needed
    remedies = ["offer fewer sizes", "narrow the ranges"]
    for other in STORAGE:
        smaller = needed_memory(game, algorithm, storage=other, threads=threads)
        if smaller < needed:
            remedies.append(f"take storage={other} ({megabytes(smaller)})")
    what = "are free" if most is None else "are allowed"
    raise SpecError(
        f"this spot needs {megabytes(needed)} of memory, {game.stored:,} numbers an array, and {megabytes(free)} {what}; "
        + " or ".join([", ".join(remedies[:-1]), remedies[-1]])
    )


def megabytes(size: float) -> str:
    """A size for people."""
    return f"{size / MEGABYTE:,.0f} MB" if size >= MEGABYTE else f"{size / MEGABYTE:.1g} MB"


def available_memory() -> int | None:
    """Bytes that this process may still take: free memory of the machine, and of its container; None where nobody says."""
    found = [size for size in (machine_memory(), container_memory()) if size is not None]
    return min(found) if found else None


def machine_memory() -> int | None:
    """Free memory of the machine, else all of it."""
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
    """What a limit of the container (control groups, version 2) leaves."""
    try:
        limit = int((CGROUP / "memory.max").read_text("ascii"))
        used = int((CGROUP / "memory.current").read_text("ascii"))
        cached = [
            line for line in (CGROUP / "memory.stat").read_text("ascii").splitlines() if line.startswith("inactive_file ")
        ]
        return max(0, limit - used + sum(int(line.split()[1]) for line in cached))
    except (OSError, ValueError, IndexError):
        return None
