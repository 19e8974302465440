"""Local processes as workers.

Jobs that do more than run a kernel use processes rather than threads: workers then behave as on Ray, and a dead worker affects
nothing else.
"""

import multiprocessing
import pickle
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from types import ModuleType
from typing import Any, ClassVar, final

from treeplex.base.notices import silence
from treeplex.base.work_clock import compile_times
from treeplex.base.workers.bound_process import BoundProcess
from treeplex.base.workers.crew import PROTOCOL, Bench, Crew, Report, Task, pack
from treeplex.errors import AlgorithmError


class RemoteBench:
    """The state of a worker in another process: shared values, jobs and reports are serialised.

    Attributes:
        here: whether this process is a worker.
    """

    here: ClassVar[bool] = False

    def __init__(self) -> None:
        self._bench = Bench()
        RemoteBench.here = True

    @property
    def has(self) -> set[int]:
        """Return the numbers of the shared values held here."""
        return set(self._bench.values)

    def do(self, packed: bytes, new: Mapping[int, bytes], gone: Iterable[int]) -> bytes:
        """Add new shared values, drop old ones, then run a job."""
        began, _ = compile_times()
        for number in gone:
            self._bench.values.pop(number, None)
        try:
            for number, value in new.items():
                self._bench.values[number] = pickle.loads(value)
            task: Task = pickle.loads(packed)
        except Exception as error:
            return pickle.dumps(Report(0, error=unreadable(error)), PROTOCOL)
        _, before = compile_times()
        with silence():
            report = self._bench.do(0, task)
        ended, after = compile_times()
        report = report._replace(seconds=max(0.0, report.seconds - (after - before)), compiling=ended - began)
        try:
            pickled = pickle.dumps(report, PROTOCOL)
            if report.error is not None:
                pickle.loads(pickled)
        except Exception as error:
            said = report.error or error
            pickled = pickle.dumps(Report(0, error=AlgorithmError(f"{type(said).__name__}: {said}")), PROTOCOL)
        return pickled


def in_worker() -> bool:
    """Return whether this process is a worker or another child process, which should start no workers of its own."""
    return RemoteBench.here or multiprocessing.parent_process() is not None


def unreadable(error: Exception) -> AlgorithmError:
    """Return the error for a job that a worker cannot unpickle."""
    return AlgorithmError(
        f"a worker cannot read its job ({type(error).__name__}: {error}); "
        "install the same Treeplex version there, and define your functions in a module that it can import"
    )


@final
class Processes(Crew):
    """Local processes, each with a pipe.

    Processes are spawned, since a fork of a process with compiled kernels and threads may hang. A script that uses them must
    therefore guard its code with ``if __name__ == "__main__"``, unless ``script`` is False.
    """

    def __init__(self, size: int, *, script: bool = True) -> None:
        """Start ``size`` processes; with ``script``, they import the script that runs, whose functions jobs may then use."""
        self.size, self._script = size, script
        self._packed: dict[int, bytes] = {}
        self._known: list[set[int]] = [set() for _ in range(size)]
        self._busy: set[int] = set()
        self._workers: list[tuple[BoundProcess, Connection]] = []
        for _ in range(size):
            self._workers.append(self._start())

    @property
    def pids(self) -> list[int]:
        """Return the process ids of the workers in order."""
        return [process.pid or 0 for process, _ in self._workers]

    def _start(self) -> tuple[BoundProcess, Connection]:
        ours, theirs = multiprocessing.Pipe()
        process = BoundProcess(target=serve, args=(theirs,), daemon=True)
        with deaf_to_interrupts(), nullcontext() if self._script else without_script():
            process.start()
        theirs.close()
        return process, ours

    def share(self, number: int, value: Any) -> None:
        self._packed[number] = pack(value)

    def forget(self, number: int) -> None:
        del self._packed[number]

    def give(self, worker: int, task: Task) -> None:
        """Send a job and the shared values that the worker lacks; :meth:`finished` detects dead workers."""
        packed, known = task.packed(), self._known[worker]
        new = {number: self._packed[number] for number in task.needs if number not in known}
        gone = known - self._packed.keys()
        self._busy.add(worker)
        known.update(new)
        known.difference_update(gone)
        self.sent += len(packed)
        self.shared += sum(map(len, new.values()))
        try:
            self._workers[worker][1].send((packed, new, gone))
        except OSError:
            return

    def finished(self, seconds: float) -> list[Report]:
        """Read finished jobs and replace dead workers."""
        numbers = {pipe: number for number, (_, pipe) in enumerate(self._workers)}
        reports = []
        for pipe in wait(list(numbers), seconds):
            assert isinstance(pipe, Connection)
            number = numbers[pipe]
            self._busy.discard(number)
            try:
                packed = pipe.recv_bytes()
            except (EOFError, OSError):
                self._replace(number)
                reports.append(Report(number, died=True))
                continue
            reports.append(pickle.loads(packed)._replace(worker=number, received=len(packed)))
        return reports

    def _replace(self, number: int) -> None:
        process, pipe = self._workers[number]
        pipe.close()
        process.kill()
        process.join()
        self._known[number] = set()
        self._workers[number] = self._start()

    def give_up(self) -> None:
        """Replace the busy workers."""
        for worker in self._busy:
            self._replace(worker)
        self._busy.clear()

    def close(self) -> None:
        """Kill the workers immediately."""
        for process, pipe in self._workers:
            pipe.close()
            process.kill()
        for process, _ in self._workers:
            process.join()
        self._workers = []


def serve(pipe: Connection) -> None:
    """Run the main loop of a worker process until its pipe closes; the parent handles Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    bench = RemoteBench()
    while True:
        try:
            packed, new, gone = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            pipe.send_bytes(bench.do(packed, new, gone))
        except OSError:
            return


@contextmanager
def deaf_to_interrupts() -> Iterator[None]:
    """Block Ctrl-C in processes started within the context; this process receives it afterwards."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # starting the tracker with the first process would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def without_script() -> Iterator[None]:
    """Let processes started within the context not import the script that this process runs."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script
