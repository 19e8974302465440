"""From settings to a trainer: which optimiser, and who plays its episodes."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from treeplex.errors import SpecError
from treeplex.forms.compiled import CompiledGame
from treeplex.learn.base import Trainer
from treeplex.learn.evolve import EvolutionTrainer
from treeplex.learn.fitness import Fitness
from treeplex.learn.ppo import PPOTrainer
from treeplex.learn.workers import Alone, Crew, Player, Processes
from treeplex.runs.train_settings import TrainSettings


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
        return self.workers or own_cores()


def own_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def crew_for(player: Player, work: Work) -> Crew:
    """Workers of the kind asked for; one worker of this machine is this process."""
    if work.ray is not None:
        from treeplex.learn.ray_crew import RayCrew

        return RayCrew(player, address=work.ray, size=work.workers)
    return Alone(player) if work.cores == 1 else Processes(player, work.cores)


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
