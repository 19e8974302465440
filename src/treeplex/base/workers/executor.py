"""Executors: run jobs on workers, return results in order, and retry the jobs of dead workers."""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar, final

from treeplex.base.work_clock import add_compile_time
from treeplex.base.workers.crew import MOST_LOSSES, Crew, Inline, Report, SharedT, SharedValue, Task, Threads
from treeplex.errors import AlgorithmError, SpecError

POLL_SECONDS = 0.2
AHEAD = 2
"""Running and queued jobs per worker."""
KEPT = 64
"""Results per worker that may wait for an earlier one."""
KINDS = ("inline", "threads", "processes")
CLUSTERS = ("local", "auto")

ResultT = TypeVar("ResultT")
ItemT = TypeVar("ItemT")


class Traffic(NamedTuple):
    """Traffic to and from workers so far.

    Attributes:
        jobs: number of jobs done.
        sent, shared, received: bytes of jobs, shared values and results; 0 within this process.
        seconds: CPU seconds of the jobs.
    """

    jobs: int
    sent: int
    shared: int
    received: int
    seconds: float


@final
class Executor:
    """A queue of jobs and the crew that runs them.

    A job is a function of a module and its arguments. Values that many jobs need are shared: they are sent once to each worker
    (on Ray: to each machine), which keeps them and their caches, such as a compiled game, until they are dropped. Jobs must not
    change their arguments, and results may depend on nothing else, so that no number depends on the crew. (Products of large
    matrices depend on the number of BLAS threads; Ray gives each actor one.)

    Attributes:
        crew: the workers.
        lost: number of workers that died so far.
    """

    def __init__(self, crew: Crew) -> None:
        self.crew, self.lost = crew, 0
        self._shared = 0
        self._idle = list(range(crew.size))
        self._waiting: deque[tuple[Hashable, Task]] = deque()
        self._under_way: dict[int, tuple[Hashable, Task]] = {}
        self._losses: dict[Hashable, int] = {}
        self._jobs, self._received, self._seconds = 0, 0, 0.0

    def left(self) -> int:
        """Number of unfinished jobs."""
        return len(self._waiting) + len(self._under_way)

    def __enter__(self) -> "Executor":
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    @property
    def size(self) -> int:
        """The number of workers."""
        return self.crew.size

    @property
    def apart(self) -> bool:
        """Whether workers have separate memory."""
        return self.crew.apart

    @property
    def elsewhere(self) -> bool:
        """Whether workers may run on machines without access to this machine's files."""
        return self.crew.elsewhere

    @property
    def traffic(self) -> Traffic:
        """Count of jobs and bytes sent and received so far."""
        return Traffic(self._jobs, self.crew.sent, self.crew.shared, self._received, self._seconds)

    def share(self, value: SharedT) -> SharedValue[SharedT]:
        """Share a value among jobs; return its handle. A worker receives it with the first job that uses it."""
        self._shared += 1
        self.crew.share(self._shared, value)
        return SharedValue(self._shared)

    def forget(self, shared: SharedValue[Any]) -> None:
        """Drop a shared value that no further job uses."""
        self.crew.forget(shared.number)

    def jobs(self) -> dict[Hashable, tuple[Any, ...]]:
        """Return the arguments of unfinished jobs by job name."""
        return {name: task.arguments for name, task in [*self._waiting, *self._under_way.values()]}

    def add(self, name: Hashable, function: Callable[..., Any], *arguments: Any) -> None:
        """Add a job to the end of the queue.

        Raises:
            SpecError: the job cannot be sent.
        """
        self._waiting.append((name, Task(function, arguments)))
        self._hand_out()

    def finished(self, seconds: float) -> list[tuple[Hashable, Any]]:
        """Wait at most ``seconds``; return names and results of finished jobs in order of completion.

        Raises:
            AlgorithmError: several workers died on the same job.
            Exception: an exception raised by a job.
        """
        results: list[tuple[Hashable, Any]] = []
        raised: Exception | None = None
        for report in self.crew.finished(seconds):
            if report.worker not in self._under_way:  # it died while idle
                self.lost += 1
                continue
            name, task = self._under_way.pop(report.worker)
            self._idle.append(report.worker)
            if report.died:
                self._lose(name, task)
                continue
            self._count(report)
            self._losses.pop(name, None)
            if report.error is not None:
                raised = raised or report.error
            else:
                results.append((name, report.value))
        if raised is not None:
            raise raised
        self._hand_out()
        return results

    def map(
        self, function: Callable[..., ResultT], jobs: Iterable[tuple[Any, ...]], watch: Callable[[], None] | None = None
    ) -> Iterator[ResultT]:
        """Yield the function's results in the order of ``jobs``. Limits the number of jobs in flight.

        Args:
            function: a function of a module; on threads and in this process any function.
            jobs: the arguments of each job.
            watch: called while waiting; its exceptions propagate and cancel the running jobs.

        Raises:
            SpecError: a job cannot be sent.
            AlgorithmError: several workers died on the same job.
            Exception: an exception raised by a job.
        """
        assert not self.left()
        left, results = enumerate(jobs), dict[Hashable, ResultT]()
        following, more = 0, True
        try:
            while True:
                while more and self.left() < AHEAD * self.size and len(results) < KEPT * self.size:
                    if (job := next(left, None)) is None:
                        more = False
                    else:
                        self.add(job[0], function, *job[1])
                if following in results:
                    yield results.pop(following)
                    following += 1
                elif self.left():
                    if watch is not None:
                        watch()
                    results.update(self.finished(POLL_SECONDS))
                else:
                    return
        finally:
            if self.left():
                self.give_up()

    def _count(self, report: Report) -> None:
        self._jobs += 1
        self._received += report.received
        self._seconds += report.seconds
        add_compile_time(report.compiling / self.size)  # the other workers ran jobs or compiled at the same time

    def _lose(self, name: Hashable, task: Task) -> None:
        """Requeue a job whose worker died."""
        self.lost += 1
        self._losses[name] = self._losses.get(name, 0) + 1
        if self._losses[name] >= MOST_LOSSES:
            raise AlgorithmError(f"{MOST_LOSSES} workers died in a row on the same job; lower --workers if memory is short")
        self._waiting.appendleft((name, task))

    def _hand_out(self) -> None:
        while self._idle and self._waiting:
            worker, (name, task) = self._idle.pop(), self._waiting.popleft()
            self._under_way[worker] = name, task
            self.crew.give(worker, task)

    def give_up(self) -> None:
        """Cancel all jobs. Running jobs are awaited on threads only."""
        self._waiting.clear()
        self._losses.clear()
        self._under_way.clear()
        self._idle = list(range(self.size))
        self.crew.give_up()

    def close(self) -> None:
        """Stop the workers immediately."""
        self.crew.close()


def make_executor(where: str, size: int | None = None, most: int | None = None) -> Executor:
    """Create an executor.

    Args:
        where: ``inline``, ``threads``, ``processes``; or a Ray cluster's address (``ray://HOST:PORT``, ``HOST:PORT``), ``auto``
            for the cluster that this machine belongs to, ``local`` for a new one on it.
        size: number of workers; None for one, on Ray for one per CPU of the cluster.
        most: upper bound on the number of workers.

    Raises:
        SpecError: unknown ``where``, Ray is not installed, the cluster does not exist, or it has too few CPUs.
    """
    if where not in KINDS:
        check_place(where)
        from treeplex.base.workers.on_ray import RayActors

        return Executor(RayActors(where, size, most))
    size = 1 if size is None else size if most is None else max(1, min(size, most))
    if where == "inline":
        return Executor(Inline())
    if where == "threads":
        return Executor(Threads(size))
    from treeplex.base.workers.processes import Processes

    return Executor(Processes(size))


def check_place(where: str) -> None:
    """Check the setting of where jobs run: a kind of local worker, or the address of a Ray cluster.

    Raises:
        SpecError: the name is unknown.
    """
    if where not in (*KINDS, *CLUSTERS) and ":" not in where:
        raise SpecError(f"unknown executor {where!r}; use {', '.join(KINDS)}, or for Ray: local, auto or HOST:PORT")


def in_threads(size: int, function: Callable[[ItemT], ResultT], items: Iterable[ItemT]) -> Iterator[ResultT]:
    """Map a function over items on temporary threads, in order; ``size=1`` uses the calling thread."""
    with Executor(Inline() if size == 1 else Threads(size)) as executor:
        yield from executor.map(function, ((item,) for item in items))
