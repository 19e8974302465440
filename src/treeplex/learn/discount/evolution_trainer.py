"""Trainer by evolution strategies (Xu et al. 2024, DDCFR, algorithm 1)."""

from collections.abc import Sequence

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.base.workers.executor import Executor, make_executor
from treeplex.errors import FileError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.learn.discount.episodes import Player, evaluate
from treeplex.learn.discount.evolution import Adam, Evolution
from treeplex.learn.discount.fitness import Fitness
from treeplex.learn.discount.trainer import Arrays, EpochReport, Watch, unwatched
from treeplex.solvers.rules.discount_policy import DiscountPolicy


class EvolutionTrainer:
    """Evolves a discount policy: a :class:`treeplex.learn.discount.trainer.Trainer`.

    Attributes:
        games: the training games.
        fitness: the objective.
        evolution: settings of the search.
        watch: see :class:`treeplex.learn.discount.trainer.Trainer`.
    """

    def __init__(
        self,
        policy: DiscountPolicy,
        games: Sequence[CompiledGame],
        fitness: Fitness,
        *,
        evolution: Evolution | None = None,
        executor: Executor | None = None,
    ) -> None:
        """Start from a policy.

        Args:
            policy: the initial policy; only its network is trained.
            games: the training games.
            fitness: the objective.
            evolution: settings of the search; None for the defaults.
            executor: workers that run episodes, closed by the trainer; None to run them in this process.
        """
        self.games, self.fitness = tuple(games), fitness
        self.evolution = evolution or Evolution()
        self.watch: Watch = unwatched
        self._start, self._adam = policy, Adam.start(policy.parameters)
        self._executor = executor or make_executor("inline")
        self._player = self._executor.share(Player(tuple(game.spec for game in games), policy))

    @property
    def policy(self) -> DiscountPolicy:
        """The current policy."""
        return self._start.with_parameters(self._adam.parameters)

    @property
    def epoch(self) -> int:
        """Number of epochs completed."""
        return self._adam.steps

    def step(self) -> EpochReport:
        """Evaluate a population, update the parameters, and evaluate the new policy."""
        parameters = self._adam.parameters
        noise = self.evolution.noise(self.epoch, len(parameters))
        lost = self._executor.lost
        candidates_fitness = self._evaluate(self.evolution.candidates(parameters, noise))
        fitness = self.fitness.of(candidates_fitness)
        climbed = Adam(parameters, self._adam.mean, self._adam.square, self._adam.steps)
        climbed.climb(self.evolution.gradient(fitness, noise), self.evolution.learning_rate)
        reached = self._evaluate(climbed.parameters[None])
        self._adam = climbed
        return EpochReport(
            epoch=self.epoch,
            fitness=float(self.fitness.of(reached)[0]),
            mean=float(fitness.mean()),
            best=float(fitness.max()),
            exploitability=tuple(float(value) for value in reached[0]),
            lost=self._executor.lost - lost,
        )

    def _evaluate(self, candidates: Floats) -> Floats:
        return evaluate(self._executor, self._player, candidates, self.games, self.watch)

    def state(self) -> Arrays:
        """The network, Adam's moments and the epoch."""
        return self._adam.arrays()

    def restore(self, arrays: Arrays) -> None:
        """Resume from the arrays of :meth:`state`.

        Raises:
            FileError: the arrays are from a different network.
        """
        adam = Adam.from_arrays(arrays, len(self._start.parameters))
        if not np.isfinite(adam.parameters).all():
            raise FileError("'parameters' must be numbers")
        self._adam = adam

    def close(self) -> None:
        """Stop the workers."""
        self._executor.close()
