"""From settings to a trainer: which optimiser, and who plays its episodes."""

from collections.abc import Sequence
from dataclasses import dataclass

from treeplex.errors import SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.learn.common.workers import Alone, JobT, Player, Plays, Processes, ResultT, Workers
from treeplex.learn.discount.evolution_trainer import EvolutionTrainer
from treeplex.learn.discount.fitness import Fitness
from treeplex.learn.discount.ppo import PPOTrainer
from treeplex.learn.discount.trainer import Trainer
from treeplex.runs.discount.settings import TrainSettings
from treeplex.solvers.holdem.solver import available_cores


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


def trainer_for(settings: TrainSettings, games: Sequence[CompiledGame], fitness: Fitness, work: Work) -> Trainer:
    """A trainer at epoch 0.

    Raises:
        SpecError: PPO on Ray, or an extra that is not installed.
    """
    policy = settings.start()
    if settings.optimizer == "ppo":
        if work.ray is not None:
            raise SpecError("PPO plays its episodes on threads of this machine; leave --ray out, or train with --optimizer es")
        return PPOTrainer(policy, games, fitness, ppo=settings.ppo, workers=work.cores)
    crew = crew_for(Player(settings.games, policy), work)
    return EvolutionTrainer(policy, games, fitness, evolution=settings.evolution, crew=crew)
