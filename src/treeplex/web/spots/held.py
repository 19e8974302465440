"""Cache of solved spots in memory."""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import final

from treeplex.errors import FileError
from treeplex.holdem.solve.solution import HoldemSolution, load_solution
from treeplex.web.spots.nodes import node

MOST_HELD = 6
"""Maximum number of solutions in memory."""
MOST_BYTES = 4_000_000_000
"""Maximum total bytes of their strategies; the current solution is kept regardless of its size."""


@dataclass(frozen=True, eq=False)
class CachedSolution:
    """A solution in memory; access needs its lock, since the solution caches computed values."""

    solution: HoldemSolution
    lock: threading.Lock

    @property
    def size(self) -> int:
        """Size of the strategy in bytes."""
        return int(self.solution.average.nbytes)


@final
class Solutions:
    """Cache of the most recently used solved spots."""

    def __init__(self) -> None:
        self._held: OrderedDict[tuple[Path, int, int], CachedSolution] = OrderedDict()
        self._lock = threading.Lock()
        self._reading: dict[Path, threading.Lock] = {}

    def get(self, path: Path) -> CachedSolution:
        """Return a solution, reading its file if it is not cached or has changed.

        Raises:
            FileError: the file is not a solution, or is corrupted.
        """
        with self._lock:
            reading = self._reading.setdefault(path, threading.Lock())
        with reading:
            try:
                about = path.stat()
            except OSError as error:
                raise FileError(
                    f"cannot read {path.name}: {error.strerror or error}; it may have been moved or removed"
                ) from error
            key = (path, about.st_mtime_ns, about.st_size)
            with self._lock:
                if key in self._held:
                    self._held.move_to_end(key)
                    return self._held[key]
            solution = CachedSolution(load_solution(path, resumable=False), threading.Lock())
            with self._lock:
                for old in [held_key for held_key in self._held if held_key[0] == path]:
                    del self._held[old]
                self._held[key] = solution
                while len(self._held) > 1 and (len(self._held) > MOST_HELD or self.size > MOST_BYTES):
                    self._held.popitem(last=False)
            return solution

    @property
    def size(self) -> int:
        """Total size of the strategies in memory, in bytes."""
        return sum(solution.size for solution in self._held.values())

    def node(self, path: Path, line: str, ev: str = "pot") -> bytes:
        """Return a node of a solution, packed.

        Raises:
            FileError: the file is not a solution.
            SpecError: there is no such line.
        """
        held = self.get(path)
        with held.lock:
            return node(held.solution.policy, line, ev)
