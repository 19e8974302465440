"""Jobs by name, done by workers in any order; one whose worker died is done again by another."""

from collections import deque
from collections.abc import Hashable
from typing import Generic, final

from treeplex.errors import AlgorithmError
from treeplex.learn.common.workers import MOST_LOSSES, JobT, ResultT, Workers


@final
class JobQueue(Generic[JobT, ResultT]):
    """A queue of jobs before workers.

    Attributes:
        lost: workers that died so far.
    """

    def __init__(self, workers: Workers[JobT, ResultT]) -> None:
        self.lost = 0
        self._workers = workers
        self._idle = list(range(workers.size))
        self._waiting: deque[tuple[Hashable, JobT]] = deque()
        self._under_way: dict[int, tuple[Hashable, JobT]] = {}
        self._losses: dict[Hashable, int] = {}

    def __len__(self) -> int:
        return len(self._waiting) + len(self._under_way)

    def jobs(self) -> dict[Hashable, JobT]:
        """The jobs that are not done, by name."""
        return dict([*self._waiting, *self._under_way.values()])

    def add(self, name: Hashable, job: JobT) -> None:
        """Put a job at the end of the queue."""
        self._waiting.append((name, job))
        self._hand_out()

    def finished(self, seconds: float) -> list[tuple[Hashable, ResultT]]:
        """Wait for at most so long; return names of jobs and what they gave.

        Raises:
            AlgorithmError: a job that several workers died of.
            Exception: what a worker raised.
        """
        found: list[tuple[Hashable, ResultT]] = []
        raised: Exception | None = None
        for worker, outcome in self._workers.finished(seconds):
            if worker not in self._under_way:  # it died with nothing to do
                self.lost += 1
                continue
            name, job = self._under_way.pop(worker)
            self._idle.append(worker)
            if isinstance(outcome, Exception):
                raised = raised or outcome
            elif outcome is None:
                self._lose(name, job)
            else:
                self._losses.pop(name, None)
                found.append((name, outcome))
        if raised is not None:
            raise raised
        self._hand_out()
        return found

    def _lose(self, name: Hashable, job: JobT) -> None:
        """Queue a job again whose worker died."""
        self.lost += 1
        self._losses[name] = self._losses.get(name, 0) + 1
        if self._losses[name] >= MOST_LOSSES:
            raise AlgorithmError(
                f"{MOST_LOSSES} workers died one after the other on the same job; is there memory for so many --workers?"
            )
        self._waiting.appendleft((name, job))

    def _hand_out(self) -> None:
        while self._idle and self._waiting:
            worker, (name, job) = self._idle.pop(), self._waiting.popleft()
            self._under_way[worker] = name, job
            self._workers.give(worker, job)
