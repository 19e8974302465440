"""A crew of Ray actors, on one machine or on many (``treeplex[ray]``)."""

import os
import socket
from collections import deque
from typing import Any, Generic, final

from treeplex.errors import AlgorithmError, SpecError
from treeplex.learn.common.workers import MOST_LOSSES, JobT, Plays, ResultT, attempt

CONNECT_SECONDS = 10.0


def import_ray() -> Any:
    """The module.

    Raises:
        SpecError: it is not installed.
    """
    try:
        import ray
    except ImportError as error:
        raise SpecError("work on Ray needs Ray; pip install 'treeplex[ray]', or leave --ray out") from error
    return ray


def connect(ray: Any, address: str) -> bool:
    """Connect to a cluster; return whether there was no connection before, so that the caller has one to end.

    Raises:
        SpecError: there is no such cluster.
    """
    if ray.is_initialized():
        return False
    try:
        listens(address)
        ray.init(address=address, log_to_driver=False, logging_level="error")
    except (OSError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise SpecError(f"no Ray cluster at {address!r} ({reason}); start one, or use --ray local") from error
    return True


def listens(address: str) -> None:
    """Check that somebody answers at HOST:PORT, of which Ray is sure only after many minutes.

    Raises:
        OSError: nobody does.
        ValueError: the port is no number.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host:
        socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_SECONDS).close()


def cpus(ray: Any) -> int:
    """The CPUs of the cluster that is connected."""
    return int(ray.cluster_resources().get("CPU", 0))


def cluster_cpus(address: str) -> int:
    """The CPUs of a cluster.

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


@final
class RayWorkers(Generic[JobT, ResultT]):
    """Actors with one CPU each; every machine of the cluster has the same Treeplex installed.

    One that dies, with its machine perhaps, is replaced by a new one as soon as the cluster has room. Jobs go only to actors
    that are up, so until then the others do all of the work. Machines of different kinds may round differently; on like ones,
    where the actors are changes no number.

    Attributes:
        size: the most jobs at a time, and the number of actors if there is room for all.
    """

    def __init__(
        self, player: Plays[JobT, ResultT], *, address: str = "auto", size: int | None = None, most: int | None = None
    ) -> None:
        """Connect to the cluster and start the actors.

        Args:
            player: what each actor knows.
            address: of the cluster; ``auto`` for the one that this machine belongs to, ``local`` for a new one on it.
            size: the number of actors; None for as many as the cluster has CPUs.
            most: no more than so many, whatever ``size`` is; None for no such bound.

        Raises:
            SpecError: Ray is not installed, there is no such cluster, or it has fewer CPUs than actors.
        """
        self._ray = ray = import_ray()
        self._actors: list[Any] = []
        self._starting: dict[Any, int] = {}
        self._up: list[int] = []
        self._waiting: deque[tuple[int, JobT]] = deque()
        self._under_way: dict[Any, tuple[int, int]] = {}
        self._broken: AlgorithmError | None = None
        self._connected = connect(ray, address)
        have = cpus(ray)
        wanted = have if size is None else size
        self.size = wanted if most is None else min(wanted, most)
        if not 1 <= self.size <= have:
            self.close()
            raise SpecError(f"the Ray cluster has {have} CPUs, too few for {self.size or 1} workers; give fewer --workers")
        self._kind = ray.remote(num_cpus=1)(RayPlayer)
        self._player = ray.put(player)
        self._failures = [0] * self.size
        self._actors = [None] * self.size
        for actor in range(self.size):
            self._start(actor)

    def _start(self, actor: int) -> None:
        """Ask for an actor; it is up when it says its process id."""
        self._actors[actor] = self._kind.remote(self._player)
        self._starting[self._actors[actor].pid.remote()] = actor

    def give(self, worker: int, job: JobT) -> None:
        """Call an actor that is up, now or when there is one."""
        self._waiting.append((worker, job))
        self._hand_out()

    def _hand_out(self) -> None:
        while self._up and self._waiting:
            actor, (worker, job) = self._up.pop(), self._waiting.popleft()
            self._under_way[self._actors[actor].play.remote(job)] = worker, actor

    def finished(self, seconds: float) -> list[tuple[int, ResultT | Exception | None]]:
        """Fetch what is ready; replace the dead.

        Raises:
            AlgorithmError: actors that do not start.
        """
        results: list[tuple[int, ResultT | Exception | None]] = []
        if self._broken is not None:
            raise self._broken
        if not self._waiting and not self._under_way:
            return results
        ready, _ = self._ray.wait([*self._under_way, *self._starting], num_returns=1, timeout=seconds)
        for reference in ready:
            outcome, died = self._fetched(reference)
            if reference in self._starting:
                self._started(self._starting.pop(reference), died)
                continue
            worker, actor = self._under_way.pop(reference)
            if died is None:
                self._up.append(actor)
            else:
                self._start(actor)
            results.append((worker, outcome))
        self._hand_out()
        return results

    def _fetched(self, reference: Any) -> tuple[Any, Exception | None]:
        """What a call gave, and what Ray says if the actor died of it."""
        try:
            return self._ray.get(reference), None
        except self._ray.exceptions.RayError as error:
            return None, error

    def _started(self, actor: int, died: Exception | None) -> None:
        """Note that an actor is up, or start it again."""
        if died is None:
            self._failures[actor] = 0
            self._up.append(actor)
            return
        self._failures[actor] += 1
        if self._failures[actor] >= MOST_LOSSES:
            self._broken = AlgorithmError(
                f"a worker on Ray died {MOST_LOSSES} times while it started; is the same Treeplex on every machine?"
            )
            raise self._broken from died
        self._start(actor)

    @property
    def pids(self) -> list[int]:
        """Process ids of the actors, by number; waits until all are up."""
        return list(self._ray.get([actor.pid.remote() for actor in self._actors]))

    def give_up(self) -> None:
        """Replace the actors that are at work."""
        self._waiting.clear()
        busy = [actor for _, actor in self._under_way.values()]
        self._under_way.clear()
        for actor in busy:
            self._ray.kill(self._actors[actor])
            self._start(actor)

    def close(self) -> None:
        """End the actors, and the connection if this crew made it."""
        for actor in self._actors:
            self._ray.kill(actor)
        self._actors = []
        if self._connected:
            self._ray.shutdown()
            self._connected = False


class RayPlayer(Generic[JobT, ResultT]):
    """What runs in an actor."""

    def __init__(self, player: Plays[JobT, ResultT]) -> None:
        self._player = player

    def play(self, job: JobT) -> ResultT | Exception:
        """What the player finds or raises."""
        return attempt(self._player, job)

    def pid(self) -> int:
        """The process it is in."""
        return os.getpid()
