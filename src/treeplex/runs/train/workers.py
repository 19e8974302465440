"""Who plays the episodes of a training: this process, processes of this machine, or a Ray cluster."""

from dataclasses import dataclass

from treeplex.engine.threads import available_cores
from treeplex.errors import SpecError
from treeplex.learn.common.workers import Alone, JobT, Plays, Processes, ResultT, Workers


@dataclass(frozen=True)
class Work:
    """Who plays: so many workers (None: all cores), on a Ray cluster if there is an address."""

    workers: int | None = None
    ray: str | None = None

    def __post_init__(self) -> None:
        if self.workers is not None and (isinstance(self.workers, bool) or self.workers < 1):
            raise SpecError(f"workers must be a whole number of at least 1, not {self.workers}")

    @property
    def cores(self) -> int:
        """Workers on this machine."""
        return self.workers or available_cores()

    @property
    def size(self) -> int:
        """Workers wherever they are; asks the cluster if need be.

        Raises:
            SpecError: Ray is not installed, or there is no such cluster.
        """
        if self.workers is None and self.ray is not None:
            from treeplex.learn.common.ray_workers import cluster_cpus

            return cluster_cpus(self.ray)
        return self.cores


def crew_for(player: Plays[JobT, ResultT], work: Work, most: int | None = None) -> Workers[JobT, ResultT]:
    """Workers of the kind asked for, no more than ``most``; one worker of this machine is this process.

    Raises:
        SpecError: Ray is not installed, there is no such cluster, or it has too few CPUs.
    """
    if work.ray is not None:
        from treeplex.learn.common.ray_workers import RayWorkers

        return RayWorkers(player, address=work.ray, size=work.workers, most=most)
    size = work.cores if most is None else min(work.cores, most)
    return Alone(player) if size == 1 else Processes(player, size)
