"""Evaluation of candidate discount policies on the training games, by worker processes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.base.workers.crew import SharedValue
from treeplex.base.workers.executor import Executor
from treeplex.engine.tree.learned import play_episode
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.learn.discount.trainer import Watch, unwatched
from treeplex.solvers.rules.discount_policy import DiscountPolicy

JOBS_PER_WORKER = 4
"""Approximate number of jobs per worker and game in an epoch, large enough to keep all workers busy until the epoch ends."""


@dataclass(frozen=True, eq=False)
class Player:
    """Worker state: the training games, compiled once from their specs, and the policy, whose network each job replaces."""

    specs: tuple[str, ...]
    policy: DiscountPolicy

    @cached_property
    def games(self) -> list[CompiledGame]:
        """The compiled games."""
        return [compile_game(spec) for spec in self.specs]


def play(player: Player, game: int, parameters: Floats) -> Floats:
    """Run an episode with each network, float64 [n, P], on the game with the given index; returns final exploitability, float64
    [n]."""
    compiled, scheme, horizon = player.games[game], player.policy.compiled, player.policy.horizon
    rows = np.ascontiguousarray(parameters, np.float64)
    episodes = [play_episode(compiled.tree, compiled.payoff, scheme._replace(parameters=row), horizon) for row in rows]
    return np.array(episodes)


def evaluate(
    executor: Executor,
    player: SharedValue[Player],
    candidates: Floats,
    games: Sequence[CompiledGame],
    watch: Watch = unwatched,
) -> Floats:
    """Run an episode with every candidate on every game.

    Args:
        executor: the workers.
        player: the workers' state.
        candidates: network parameters, float64 [n, P].
        games: the training games, indexed as in :class:`Player`; episodes on the largest game start first.
        watch: called while waiting; raising an exception in it cancels the running jobs.

    Returns:
        Final exploitability, float64 [n, G].

    Raises:
        AlgorithmError: several workers died on the same job.
        Exception: an exception from a worker.
    """
    count = len(candidates)
    step = max(1, count // (JOBS_PER_WORKER * executor.size))
    largest = sorted(range(len(games)), key=lambda number: -int(games[number].tree.sequence_offsets[-1]))
    parts = [(game, slice(first, min(first + step, count))) for game in largest for first in range(0, count, step)]
    exploitability = np.empty((count, len(games)))
    jobs = ((player, game, candidates[part]) for game, part in parts)
    for (game, part), result in zip(parts, executor.map(play, jobs, watch), strict=True):
        exploitability[part, game] = result
    return exploitability
