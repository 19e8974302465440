"""A crew of Ray actors, on one machine or on many (``treeplex[ray]``)."""

from typing import Any, final

from treeplex.errors import SpecError
from treeplex.learn.workers import Job, Outcome, Player, attempt


def import_ray() -> Any:
    """The module.

    Raises:
        SpecError: it is not installed.
    """
    try:
        import ray
    except ImportError as error:
        raise SpecError("training on Ray needs Ray; pip install 'treeplex[ray]', or leave --ray out") from error
    return ray


@final
class RayCrew:
    """Actors with one CPU each; every machine of the cluster has Treeplex installed.

    One that dies, with its machine perhaps, is replaced by a new one wherever the cluster has room. Machines of different kinds
    may round differently; on like ones, where the actors are changes no number.
    """

    def __init__(self, player: Player, *, address: str = "auto", size: int | None = None) -> None:
        """Connect to the cluster and start the actors.

        Args:
            player: what each actor knows.
            address: of the cluster; ``auto`` for the one that this machine belongs to, ``local`` for a new one on it.
            size: the number of actors; None for as many as the cluster has CPUs.

        Raises:
            SpecError: Ray is not installed, there is no such cluster, or it has fewer CPUs than actors.
        """
        self._ray = ray = import_ray()
        self._connected = not ray.is_initialized()
        if self._connected:
            try:
                ray.init(address=address, log_to_driver=False, logging_level="error")
            except (ConnectionError, ValueError, RuntimeError) as error:
                reason = " ".join(str(error).split()) or type(error).__name__
                raise SpecError(f"no Ray cluster at {address!r} ({reason}); start one, or use --ray local") from error
        have = int(ray.cluster_resources().get("CPU", 0))
        self.size = have if size is None else size
        if not 1 <= self.size <= have:
            self.close()
            raise SpecError(f"the Ray cluster has {have} CPUs, too few for {self.size or 1} workers; give fewer --workers")
        self._actor = ray.remote(num_cpus=1)(RayPlayer)
        self._player = ray.put(player)
        self._actors = [self._actor.remote(self._player) for _ in range(self.size)]
        self._under_way: dict[Any, int] = {}

    def give(self, worker: int, job: Job) -> None:
        """Call the actor."""
        self._under_way[self._actors[worker].play.remote(job)] = worker

    def finished(self, seconds: float) -> list[tuple[int, Outcome]]:
        """Fetch what is ready; replace the dead."""
        if not self._under_way:
            return []
        ready, _ = self._ray.wait(list(self._under_way), num_returns=1, timeout=seconds)
        results: list[tuple[int, Outcome]] = []
        for reference in ready:
            worker = self._under_way.pop(reference)
            try:
                outcome: Outcome = self._ray.get(reference)
            except self._ray.exceptions.RayError:
                self._actors[worker] = self._actor.remote(self._player)
                outcome = None
            results.append((worker, outcome))
        return results

    @property
    def pids(self) -> list[int]:
        """Process ids of the actors, by number."""
        return list(self._ray.get([actor.pid.remote() for actor in self._actors]))

    def close(self) -> None:
        """End the actors, and the connection if this crew made it."""
        for actor in getattr(self, "_actors", []):
            self._ray.kill(actor)
        if self._connected:
            self._ray.shutdown()


class RayPlayer:
    """What runs in an actor."""

    def __init__(self, player: Player) -> None:
        self._player = player

    def play(self, job: Job) -> Outcome:
        """What the player finds or raises."""
        return attempt(self._player, job)

    def pid(self) -> int:
        """The process it is in."""
        import os

        return os.getpid()
