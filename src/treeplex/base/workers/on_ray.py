"""Ray actors as workers, on one or more machines (the extra ``ray``)."""

import os
import pickle
import signal
import socket
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, final

from treeplex.base.version import install_hint, own_version
from treeplex.base.workers.crew import MOST_LOSSES, Crew, Report, Task, pack
from treeplex.base.workers.processes import RemoteBench
from treeplex.errors import AlgorithmError, SpecError

CONNECT_SECONDS = 4.0
"""Seconds to wait for an answer at a cluster's address."""
GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
"""First message of a gRPC client: the HTTP/2 preface and empty settings (RFC 9113, section 3.4)."""
SETTINGS = 4
"""Type of the frame that a server sends first."""


def import_ray() -> Any:
    """Import and return Ray.

    Raises:
        SpecError: Ray is not installed.
    """
    try:
        import ray
    except ImportError as error:
        raise SpecError(f"Ray is not installed; omit --ray, or run: {install_hint('ray')}") from error
    return ray


def connect(ray: Any, address: str) -> bool:
    """Connect to a cluster; return whether this opened a new connection, which the caller must then close.

    Raises:
        SpecError: the cluster does not exist.
    """
    if ray.is_initialized():
        return False
    try:
        listens(head_of(address))
        with sigterm_kept():
            ray.init(address=address, log_to_driver=False, logging_level="error")
    except Exception as error:  # Ray also raises plain exceptions, such as when a new cluster does not start in time
        raise unreachable(address, error) from error
    return True


def check_cluster(address: str) -> None:
    """Check within a few seconds that a cluster can be reached, before any long preparation.

    Raises:
        SpecError: Ray is not installed, or there is no such cluster.
    """
    if import_ray().is_initialized():
        return
    try:
        listens(head_of(address))
    except (OSError, ValueError) as error:
        raise unreachable(address, error) from error


def unreachable(address: str, error: Exception) -> SpecError:
    """Return the error for a cluster that cannot be reached."""
    reason = " ".join(str(error).split()) or type(error).__name__
    remedy = "start one, use --ray local, or set RAY_AUTH_MODE=token if the cluster requires a token"
    return SpecError(f"no Ray cluster at {address!r} ({reason}); {remedy}")


@contextmanager
def sigterm_kept() -> Iterator[None]:
    """Restore the SIGTERM handler, which ``ray.init`` replaces."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


def head_of(address: str) -> str:
    """Return the address to connect to; for ``auto``, the cluster that this machine belongs to.

    Raises:
        ConnectionError: this machine belongs to no cluster.
    """
    if address != "auto":
        return address
    from ray._private.services import canonicalize_bootstrap_address

    return str(canonicalize_bootstrap_address(address) or "")


def listens(address: str) -> None:
    """Check that a Ray cluster answers at HOST:PORT, because Ray itself takes many minutes to report a failure.

    Raises:
        OSError: nothing listens there, or something other than Ray.
        ValueError: the port is not a number.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host:
        return
    with socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_SECONDS) as connection:
        if os.environ.get("RAY_USE_TLS", "").lower() not in ("1", "true"):
            connection.sendall(GREETING)
            answer = connection.recv(9)
            if len(answer) < 9 or answer[3] != SETTINGS:
                raise ConnectionError("the server at this address is not Ray")


def cpus(ray: Any) -> int:
    """Return the number of CPUs of the connected cluster."""
    return int(ray.cluster_resources().get("CPU", 0))


def cluster_cpus(address: str) -> int:
    """Return the number of CPUs of a cluster.

    Raises:
        SpecError: Ray is not installed, or there is no such cluster.
    """
    ray = import_ray()
    ours = connect(ray, address)
    try:
        return cpus(ray)
    finally:
        if ours:
            ray.shutdown()


def versions() -> str:
    """Return the package versions that must be the same on all machines."""
    return f"Treeplex {own_version()} on Python {sys.version_info.major}.{sys.version_info.minor}"


@final
class RayActors(Crew):
    """Actors with one CPU each; every machine of the cluster must have the same Treeplex installed.

    A dead actor is replaced as soon as the cluster has room; until then the other actors do the work. Machines of different
    kinds may round differently; on identical machines the placement of actors changes no number. Shared values go into Ray's
    object store, so that each machine fetches them once.

    Attributes:
        size: maximum number of concurrent jobs, and the number of actors if there is room for all.
    """

    elsewhere = True

    def __init__(self, address: str = "auto", size: int | None = None, most: int | None = None) -> None:
        """Connect to the cluster and start the actors; see :func:`treeplex.base.workers.executor.make_executor`.

        Raises:
            SpecError: Ray is not installed, there is no such cluster, or it has fewer CPUs than actors.
        """
        self._ray = ray = import_ray()
        self._actors: list[Any] = []
        self._starting: dict[Any, int] = {}
        self._up: list[int] = []
        self._waiting: deque[tuple[int, Task]] = deque()
        self._under_way: dict[Any, tuple[int, int]] = {}
        self._values: dict[int, Any] = {}
        self._broken: Exception | None = None
        self._connected = connect(ray, address)
        have = cpus(ray)
        wanted = have if size is None else size
        self.size = wanted if most is None else min(wanted, most)
        if not 1 <= self.size <= have:
            self.close()
            raise SpecError(f"the Ray cluster has {have} CPUs, too few for {self.size or 1} workers; lower --workers")
        self._kind = ray.remote(num_cpus=1)(RayBench)
        self._failures = [0] * self.size
        self._actors = [None] * self.size
        for actor in range(self.size):
            self._start(actor)

    def _start(self, actor: int) -> None:
        """Request an actor; it counts as running once it has reported its versions."""
        self._actors[actor] = self._kind.remote()
        self._starting[self._actors[actor].versions.remote()] = actor

    def share(self, number: int, value: Any) -> None:
        sent = pack(value)
        self.shared += len(sent)
        self._values[number] = self._ray.put(sent)

    def forget(self, number: int) -> None:
        del self._values[number]

    def give(self, worker: int, task: Task) -> None:
        """Call an actor: at once if it is running, otherwise as soon as it is."""
        self._waiting.append((worker, task))
        self._hand_out()

    def _hand_out(self) -> None:
        while self._up and self._waiting:
            actor, (worker, task) = self._up.pop(), self._waiting.popleft()
            packed, needs = task.packed(), {number: self._values[number] for number in task.needs}
            self.sent += len(packed)
            call = self._actors[actor].do.remote(packed, needs, tuple(self._values))
            self._under_way[call] = worker, actor

    def finished(self, seconds: float) -> list[Report]:
        """Fetch finished jobs and replace dead actors.

        Raises:
            AlgorithmError: actors do not start.
            SpecError: actors run another version of Treeplex.
        """
        reports: list[Report] = []
        if self._broken is not None:
            raise self._broken
        if not self._waiting and not self._under_way:
            return reports
        ready, _ = self._ray.wait([*self._under_way, *self._starting], num_returns=1, timeout=seconds)
        for reference in ready:
            packed, died = self._fetched(reference)
            if reference in self._starting:
                self._started(self._starting.pop(reference), packed, died)
                continue
            worker, actor = self._under_way.pop(reference)
            if died is None:
                self._up.append(actor)
                reports.append(pickle.loads(packed)._replace(worker=worker, received=len(packed)))
            else:
                self._start(actor)
                reports.append(Report(worker, died=True))
        self._hand_out()
        return reports

    def _fetched(self, reference: Any) -> tuple[Any, Exception | None]:
        """Return the result of a call, or Ray's error if the actor died."""
        try:
            return self._ray.get(reference), None
        except self._ray.exceptions.RayError as error:
            return None, error

    def _started(self, actor: int, there: str, died: Exception | None) -> None:
        """Record that an actor is up, or restart it."""
        if died is None and there != versions():
            self._broken = SpecError(
                f"a machine of the Ray cluster has {there}, but this one has {versions()}; install the same versions"
            )
            raise self._broken
        if died is None:
            self._failures[actor] = 0
            self._up.append(actor)
            return
        self._failures[actor] += 1
        if self._failures[actor] >= MOST_LOSSES:
            self._broken = AlgorithmError(
                f"a Ray worker died {MOST_LOSSES} times at startup; install the same Treeplex version on every machine"
            )
            raise self._broken from died
        self._start(actor)

    @property
    def up(self) -> int:
        """Number of running actors."""
        return self.size - len(self._starting)

    @property
    def pids(self) -> list[int]:
        """Return the process ids of the actors in order; waits until all are up."""
        return list(self._ray.get([actor.pid.remote() for actor in self._actors]))

    def give_up(self) -> None:
        """Replace the busy actors."""
        self._waiting.clear()
        busy = [actor for _, actor in self._under_way.values()]
        self._under_way.clear()
        for actor in busy:
            self._ray.kill(self._actors[actor])
            self._start(actor)

    def close(self) -> None:
        """Stop the actors, and the connection if this crew opened it."""
        for actor in self._actors:
            self._ray.kill(actor)
        self._actors = []
        self._values.clear()
        if self._connected:
            self._ray.shutdown()
            self._connected = False


class RayBench:
    """The code that runs in an actor."""

    def __init__(self) -> None:
        self._bench = RemoteBench()

    def do(self, packed: bytes, needs: Mapping[int, Any], live: tuple[int, ...]) -> bytes:
        """Run a job after fetching the shared values that are missing here."""
        has = self._bench.has
        missing = {number: import_ray().get(value) for number, value in needs.items() if number not in has}
        return self._bench.do(packed, missing, has.difference(live))

    def versions(self) -> str:
        """Return the versions that the actor runs."""
        return versions()

    def pid(self) -> int:
        """Return the actor's process id."""
        return os.getpid()
