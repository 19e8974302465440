"""Crews of workers: their protocol, and the two crews inside this process."""

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
"""A job that so many workers died of is not given to another; nor is a worker started again."""


@dataclass(frozen=True)
class Shared(Generic[SharedT]):
    """The name of something that workers have; a job names it among its arguments."""

    number: int


class Task(NamedTuple):
    """A job: a function and its arguments."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    @property
    def needs(self) -> list[int]:
        """Numbers of the shared values among its arguments."""
        return [each.number for each in self.arguments if isinstance(each, Shared)]

    def packed(self) -> bytes:
        """As it travels.

        Raises:
            SpecError: it does not.
        """
        return pack(self)


def pack(value: Any) -> bytes:
    """A job, or what jobs share, as it travels.

    Raises:
        SpecError: it does not.
    """
    try:
        return pickle.dumps(value, PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise SpecError(
            f"a job cannot be sent to a worker ({error}); give a function of a module, and arguments that can be pickled"
        ) from error


class Report(NamedTuple):
    """The outcome of a job.

    Attributes:
        worker: who did it.
        value: what the function returned.
        error: what it raised.
        seconds: processor time of its thread, in processes without that of compiling kernels.
        compiling: seconds by the wall clock in which its process compiled kernels; 0 in this process.
        received: bytes that came back.
        died: whether the worker died instead; it has been replaced.
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
        size: how many.
        sent, shared: bytes of jobs and of shared values that left so far.
        apart: whether workers have memory of their own.
        elsewhere: whether workers may be on machines that do not see the files of this one.
    """

    size: int
    sent = shared = 0
    apart: ClassVar[bool] = True
    elsewhere: ClassVar[bool] = False

    @abstractmethod
    def share(self, number: int, value: Any) -> None:
        """Have a value for the workers, each of which gets a copy of its own when a job of its first names it."""

    @abstractmethod
    def forget(self, number: int) -> None:
        """Drop a value, here at once and where the workers are at their next job."""

    @abstractmethod
    def give(self, worker: int, task: Task) -> None:
        """Hand a job to an idle worker."""

    @abstractmethod
    def finished(self, seconds: float) -> Sequence[Report]:
        """Wait for at most so long for jobs that are done, and for workers that died."""

    @abstractmethod
    def give_up(self) -> None:
        """Drop the jobs under way; the workers are idle then."""

    @abstractmethod
    def close(self) -> None:
        """End the workers, at once."""


class Bench:
    """A worker's place: the shared values that it has."""

    def __init__(self) -> None:
        self.values: dict[int, Any] = {}

    def do(self, worker: int, task: Task) -> Report:
        """Do a job."""
        began = thread_time()
        value, error = None, None
        try:
            value = task.function(*(self.values[x.number] if isinstance(x, Shared) else x for x in task.arguments))
        except Exception as raised:
            error = raised
        return Report(worker, value, error, thread_time() - began)


@final
class Inline(Crew):
    """This process: one worker, nothing that could die, and shared values themselves in place of copies."""

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
    """Threads of this process, for kernels that release the interpreter's lock. Jobs are not copied, shared values are."""

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
        """Drop what has not begun, and wait for the rest."""
        for future in self._under_way:
            future.cancel()
        wait(self._under_way)
        self._under_way.clear()

    def close(self) -> None:
        """End the threads, after the jobs under way."""
        self._pool.shutdown(cancel_futures=True)
        self._benches.clear()
