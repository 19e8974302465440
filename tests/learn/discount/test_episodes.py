"""Episodes of discount policies: the same numbers whoever plays them."""

import os
import signal

import numpy as np
import pytest

from treeplex.base.workers.executor import make_executor
from treeplex.errors import SpecError
from treeplex.learn.discount.episodes import Player, evaluate
from treeplex.learn.discount.evolution import Evolution
from treeplex.learn.discount.evolution_trainer import EvolutionTrainer
from treeplex.learn.discount.fitness import exploitability_of, fitness_on, training_games
from treeplex.solvers.rules.discount_policy import untrained_discount_policy

SPECS = ("kuhn_poker", "small_matrix")
POLICY = untrained_discount_policy(horizon=30, hidden=(8,), seed=1)
PLAYER = Player(SPECS, POLICY)


@pytest.fixture(scope="module")
def games():
    return training_games(SPECS)


@pytest.fixture(scope="module")
def processes():
    with make_executor("processes", 2) as made:
        yield made


@pytest.fixture(scope="module")
def candidates():
    return POLICY.parameters + 0.5 * np.random.default_rng(0).standard_normal((9, len(POLICY.parameters)))


@pytest.fixture(scope="module")
def wanted(games, candidates):
    return np.array([exploitability_of(POLICY.with_parameters(row), games) for row in candidates])


@pytest.mark.slow_cases("processes")
@pytest.mark.parametrize("kind", ["inline", "threads", "processes"])
def test_they_find_what_each_policy_reaches(kind, games, processes, candidates, wanted):
    executor = processes if kind == "processes" else make_executor(kind, 3)
    player = executor.share(PLAYER)
    assert np.array_equal(evaluate(executor, player, candidates, games), wanted)
    assert np.array_equal(evaluate(executor, player, candidates[:1], games), wanted[:1])
    assert len(np.unique(wanted[:, 0])) == len(wanted)
    assert executor.traffic.jobs >= len(SPECS)
    if kind != "processes":
        executor.close()


@pytest.mark.slow
def test_a_training_is_the_same_with_any_number_of_workers_and_deaths(games, processes):
    def trained(executor, watch=None):
        fitness = fitness_on(games, 30)
        trainer = EvolutionTrainer(POLICY, games, fitness, evolution=Evolution(8, seed=3), executor=executor)
        if watch:
            trainer.watch = watch
        reports = [trainer.step() for _ in range(3)]
        return trainer.state(), reports

    first, calls = processes.crew.pids[1], 0

    def kill():
        nonlocal calls
        calls += 1
        if calls == 1:
            os.kill(first, signal.SIGKILL)

    alone, reports = trained(None)
    together, others = trained(processes, kill)
    assert all(np.array_equal(alone[name], together[name]) for name in alone)
    assert [report.fitness for report in reports] == [report.fitness for report in others]
    assert [report.lost for report in others] == [1, 0, 0]


def test_a_stopped_epoch_leaves_the_trainer_as_it_was(games):
    trainer = EvolutionTrainer(POLICY, games, fitness_on(games, 30), evolution=Evolution(4))
    trainer.step()
    before, calls = trainer.state(), 0

    def stop():
        nonlocal calls
        calls += 1
        if calls == 9:
            raise KeyboardInterrupt

    trainer.watch = stop
    with pytest.raises(KeyboardInterrupt):
        trainer.step()
    assert all(np.array_equal(before[name], value) for name, value in trainer.state().items())
    assert trainer.epoch == 1


@pytest.mark.slow
def test_what_a_worker_raises_is_raised(games, candidates, processes):
    player = processes.share(Player(("no_such_game", "small_matrix"), POLICY))
    with pytest.raises(SpecError, match="no_such_game"):
        evaluate(processes, player, candidates, games)
