"""Training on Ray, where it is installed."""

import os
import signal

import numpy as np
import pytest

from treeplex.errors import SpecError
from treeplex.learn.common.ray_workers import RayWorkers
from treeplex.learn.common.workers import Player, evaluate
from treeplex.learn.discount.fitness import exploitability_of, training_games
from treeplex.solvers.rules.discount_policy import fresh_policy

ray = pytest.importorskip("ray")
SPECS = ("kuhn_poker",)
POLICY = fresh_policy(horizon=200, hidden=(8,), seed=1)
pytestmark = pytest.mark.filterwarnings("ignore")


def test_a_cluster_finds_the_same_and_replaces_the_dead():
    games = training_games(SPECS)
    candidates = POLICY.parameters + 0.5 * np.random.default_rng(0).standard_normal((30, len(POLICY.parameters)))
    wanted = np.array([exploitability_of(POLICY.with_parameters(row), games) for row in candidates])
    ray.init(address="local", num_cpus=2, log_to_driver=False)
    try:
        with pytest.raises(SpecError, match="has 2 CPUs"):
            RayWorkers(Player(SPECS, POLICY), size=3)
        crew = RayWorkers(Player(SPECS, POLICY))
        assert crew.size == 2
        found, lost = evaluate(crew, candidates, games)
        assert np.array_equal(found, wanted)
        assert lost == 0
        victim, calls = crew.pids[0], 0

        def kill():
            nonlocal calls
            calls += 1
            if calls == 2:
                os.kill(victim, signal.SIGKILL)

        found, lost = evaluate(crew, candidates, games, kill)
        assert np.array_equal(found, wanted)
        assert lost == 1
        crew.close()
        assert ray.is_initialized()
    finally:
        ray.shutdown()


def test_a_cluster_that_is_not_there_is_said():
    with pytest.raises(SpecError, match="no Ray cluster at 'auto'"):
        RayWorkers(Player(SPECS, POLICY))
