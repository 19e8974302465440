"""Workers of a command: this process, local processes, or a Ray cluster."""

from dataclasses import dataclass

from treeplex.base.workers.executor import Executor, check_place, make_executor
from treeplex.engine.threads import available_cores
from treeplex.errors import SpecError


@dataclass(frozen=True)
class Work:
    """Number of workers (None: all cores) and optional address of a Ray cluster."""

    workers: int | None = None
    ray: str | None = None

    def __post_init__(self) -> None:
        if self.workers is not None and (isinstance(self.workers, bool) or self.workers < 1):
            raise SpecError(f"workers must be an integer of at least 1, not {self.workers}")

    def check(self) -> None:
        """Check that the cluster, if any, can be reached.

        Raises:
            SpecError: Ray is not installed, or the cluster does not exist.
        """
        if self.ray is not None:
            from treeplex.base.workers.on_ray import check_cluster

            check_place(self.ray)
            check_cluster(self.ray)

    @property
    def asked(self) -> bool:
        """Whether a number of workers or a cluster was given."""
        return self.workers is not None or self.ray is not None

    @property
    def cores(self) -> int:
        """Number of workers on this machine."""
        return self.workers or available_cores()

    @property
    def size(self) -> int:
        """Number of workers; queries the cluster if needed.

        Raises:
            SpecError: Ray is not installed, or the cluster does not exist.
        """
        if self.workers is None and self.ray is not None:
            from treeplex.base.workers.on_ray import cluster_cpus

            return cluster_cpus(self.ray)
        return self.cores

    @property
    def alone(self) -> bool:
        """Whether all work runs in this process."""
        return self.ray is None and self.cores == 1

    def executor(self, most: int | None = None) -> Executor:
        """Create an executor with at most ``most`` workers; one local worker means this process.

        Raises:
            SpecError: Ray is not installed, or the cluster does not exist or has too few CPUs.
        """
        if self.ray is not None:
            return make_executor(self.ray, self.workers, most)
        size = self.cores if most is None else min(self.cores, most)
        return make_executor("inline" if size == 1 else "processes", size)
