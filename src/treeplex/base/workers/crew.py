"""Crews of workers: the protocol, and the two crews within this process."""

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import get_ident
from time import thread_time
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, final

from treeplex.errors import SpecError

SharedT = TypeVar("SharedT")
PROTOCOL = pickle.HIGHEST_PROTOCOL
MOST_LOSSES = 3
"""Number of worker deaths after which a job, or the start of a worker, is not retried."""


@dataclass(frozen=True)
class SharedValue(Generic[SharedT]):
    """A handle to a value shared with all workers, used as a job argument."""

    number: int


class Task(NamedTuple):
    """A job: a function and its arguments."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    @property
    def needs(self) -> list[int]:
        """Return the numbers of the shared values among the arguments."""
        return [argument.number for argument in self.arguments if isinstance(argument, SharedValue)]

    def packed(self) -> bytes:
        """Serialise the job.

        Raises:
            SpecError: it cannot be serialised.
        """
        return pack(self)


def pack(value: Any) -> bytes:
    """Serialise a job or a shared value.

    Raises:
        SpecError: it cannot be serialised.
    """
    try:
        return pickle.dumps(value, PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise SpecError(
            f"cannot send the job to a worker ({error}); use a module-level function and arguments that can be pickled"
        ) from error


class Report(NamedTuple):
    """The outcome of a job.

    Attributes:
        worker: number of the worker.
        value: the return value.
        error: the exception raised, if any.
        seconds: CPU seconds of its thread; in worker processes without compiling kernels.
        compiling: wall-clock seconds spent compiling kernels; 0 in this process.
        received: bytes received.
        died: whether the worker died and was replaced.
    """

    worker: int
    value: Any = None
    error: Exception | None = None
    seconds: float = 0.0
    compiling: float = 0.0
    received: int = 0
    died: bool = False


class Crew(ABC):
    """Workers 0 to ``size - 1``, each with at most one job at a time.

    Attributes:
        size: number of workers.
        sent, shared: bytes of jobs and of shared values sent so far.
        apart: whether workers have separate memory.
        elsewhere: whether workers may run on machines without access to this machine's files.
    """

    size: int
    sent = shared = 0
    apart: ClassVar[bool] = True
    elsewhere: ClassVar[bool] = False

    @abstractmethod
    def share(self, number: int, value: Any) -> None:
        """Register a shared value; each worker receives a copy with the first job that uses it."""

    @abstractmethod
    def forget(self, number: int) -> None:
        """Drop a shared value: in this process at once, and in each worker with its next job."""

    @abstractmethod
    def give(self, worker: int, task: Task) -> None:
        """Hand a job to an idle worker."""

    @abstractmethod
    def finished(self, seconds: float) -> Sequence[Report]:
        """Wait at most ``seconds`` and return the reports of finished jobs and dead workers."""

    @abstractmethod
    def give_up(self) -> None:
        """Cancel all running jobs; the workers become idle."""

    @abstractmethod
    def close(self) -> None:
        """Stop the workers immediately."""


class Bench:
    """The state of a worker: its shared values."""

    def __init__(self) -> None:
        self.values: dict[int, Any] = {}

    def do(self, worker: int, task: Task) -> Report:
        """Run a job and return its report."""
        began = thread_time()
        value, error = None, None
        try:
            value = task.function(*(self.values[x.number] if isinstance(x, SharedValue) else x for x in task.arguments))
        except Exception as raised:
            error = raised
        return Report(worker, value, error, thread_time() - began)


@final
class Inline(Crew):
    """A crew of one worker in this process; shared values are not copied."""

    apart = False

    def __init__(self) -> None:
        self.size, self._bench, self._tasks = 1, Bench(), list[Task]()

    def share(self, number: int, value: Any) -> None:
        self._bench.values[number] = value

    def forget(self, number: int) -> None:
        del self._bench.values[number]

    def give(self, worker: int, task: Task) -> None:
        self._tasks.append(task)

    def finished(self, seconds: float) -> list[Report]:
        return [self._bench.do(0, self._tasks.pop())] if self._tasks else []

    def give_up(self) -> None:
        self._tasks.clear()

    def close(self) -> None:
        self._bench.values.clear()


@final
class Threads(Crew):
    """Threads of this process, for kernels that release the GIL; shared values are copied, jobs are not."""

    apart = False

    def __init__(self, size: int) -> None:
        self.size = size
        self._pool = ThreadPoolExecutor(size)
        self._packed: dict[int, bytes] = {}
        self._benches: dict[int, Bench] = {}
        self._under_way: dict[Future[Report], int] = {}

    def share(self, number: int, value: Any) -> None:
        self._packed[number] = pack(value)

    def forget(self, number: int) -> None:
        del self._packed[number]

    def give(self, worker: int, task: Task) -> None:
        self._under_way[self._pool.submit(self._do, worker, task)] = worker

    def _do(self, worker: int, task: Task) -> Report:
        bench = self._benches.setdefault(get_ident(), Bench())
        for gone in bench.values.keys() - self._packed.keys():
            del bench.values[gone]
        for number in task.needs:
            if number not in bench.values:
                bench.values[number] = pickle.loads(self._packed[number])
        return bench.do(worker, task)

    def finished(self, seconds: float) -> list[Report]:
        done, _ = wait(self._under_way, seconds, FIRST_COMPLETED) if self._under_way else ((), ())
        for future in done:
            del self._under_way[future]
        return [future.result() for future in done]

    def give_up(self) -> None:
        """Cancel jobs that have not started, and wait for the rest."""
        for future in self._under_way:
            future.cancel()
        wait(self._under_way)
        self._under_way.clear()

    def close(self) -> None:
        """Stop the threads after their running jobs."""
        self._pool.shutdown(cancel_futures=True)
        self._benches.clear()
