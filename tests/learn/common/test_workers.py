"""Crews: the same numbers whoever plays, and no candidate lost with a worker."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from treeplex.errors import AlgorithmError, SpecError
from treeplex.learn.common import workers
from treeplex.learn.common.ray_workers import RayWorkers
from treeplex.learn.common.workers import Alone, Player, Processes, evaluate
from treeplex.learn.discount.evolution import Evolution
from treeplex.learn.discount.evolution_trainer import EvolutionTrainer
from treeplex.learn.discount.fitness import exploitability_of, fitness_on, training_games
from treeplex.solvers.rules.discount_policy import fresh_policy

SPECS = ("kuhn_poker", "small_matrix")
POLICY = fresh_policy(horizon=30, hidden=(8,), seed=1)


@pytest.fixture(scope="module")
def games():
    return training_games(SPECS)


@pytest.fixture(scope="module")
def crew():
    made = Processes(Player(SPECS, POLICY), 2)
    yield made
    made.close()


@pytest.fixture(scope="module")
def candidates():
    return POLICY.parameters + 0.5 * np.random.default_rng(0).standard_normal((9, len(POLICY.parameters)))


@pytest.fixture(scope="module")
def wanted(games, candidates):
    return np.array([exploitability_of(POLICY.with_parameters(row), games) for row in candidates])


def test_alone_finds_what_each_policy_reaches(games, candidates, wanted):
    found, lost = evaluate(Alone(Player(SPECS, POLICY)), candidates, games)
    assert np.array_equal(found, wanted)
    assert lost == 0
    assert len(np.unique(found[:, 0])) == len(found)


def test_processes_find_the_same(games, crew, candidates, wanted):
    found, lost = evaluate(crew, candidates, games)
    assert np.array_equal(found, wanted)
    assert lost == 0
    assert len(set(crew.pids) | {os.getpid()}) == 3


def test_one_candidate_and_more_workers_than_jobs(games, crew, candidates, wanted):
    found, _ = evaluate(crew, candidates[:1], games)
    assert np.array_equal(found, wanted[:1])


def test_a_killed_worker_is_replaced_and_counted(games, crew, candidates, wanted):
    before = crew.pids
    calls = 0

    def kill():
        nonlocal calls
        calls += 1
        if calls == 1:
            os.kill(before[0], signal.SIGKILL)

    found, lost = evaluate(crew, candidates, games, kill)
    assert np.array_equal(found, wanted)
    assert lost == 1
    assert crew.pids[0] != before[0]
    assert crew.pids[1] == before[1]
    again, lost = evaluate(crew, candidates, games)
    assert np.array_equal(again, wanted)
    assert lost == 0


def test_a_training_is_the_same_with_any_number_of_workers_and_deaths(games, crew):
    def trained(crew, watch=None):
        trainer = EvolutionTrainer(POLICY, games, fitness_on(games, 30), evolution=Evolution(8, seed=3), crew=crew)
        if watch:
            trainer.watch = watch
        reports = [trainer.step() for _ in range(3)]
        return trainer.state(), reports

    first, calls = crew.pids[1], 0

    def kill():
        nonlocal calls
        calls += 1
        if calls == 1:
            os.kill(first, signal.SIGKILL)

    alone, reports = trained(None)
    together, others = trained(crew, kill)
    assert all(np.array_equal(alone[name], together[name]) for name in alone)
    assert [report.fitness for report in reports] == [report.fitness for report in others]
    assert [report.lost for report in others] == [1, 0, 0]


class Deadly(Player):
    """A player that takes its process with it; the exit status of a worker says nothing about others."""

    def play(self, job):
        os._exit(7)


def test_a_job_that_workers_die_of_ends_in_an_error(games, candidates):
    deadly = Processes(Deadly(SPECS, POLICY), 1)
    try:
        with pytest.raises(AlgorithmError, match=r"3 workers died.*small_matrix|3 workers died.*kuhn_poker"):
            evaluate(deadly, candidates[:1], games)
    finally:
        deadly.close()


class Failing(Player):
    """A player that raises."""

    def play(self, job):
        raise ValueError("no such game")


def test_what_a_worker_raises_is_raised(games, candidates):
    failing = Processes(Failing(SPECS, POLICY), 2)
    try:
        with pytest.raises(ValueError, match="no such game"):
            evaluate(failing, candidates, games)
    finally:
        failing.close()
    with pytest.raises(ValueError, match="no such game"):
        evaluate(Alone(Failing(SPECS, POLICY)), candidates, games)


def test_what_the_watch_raises_leaves_the_crew_idle(games, crew, candidates, wanted):
    calls = 0

    def stop():
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(crew, candidates, games, stop)
    found, _ = evaluate(crew, candidates, games)
    assert np.array_equal(found, wanted)


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


class Sleeping:
    """A player that is at it for long."""

    def play(self, job):
        time.sleep(600)


PARENT = """
import time
from tests.learn.common.test_workers import Sleeping
from treeplex.learn.common.workers import Processes
if __name__ == "__main__":
    crew = Processes(Sleeping(), 2)
    crew.give(0, None)
    print(*crew.pids, flush=True)
    time.sleep(float({wait}))
    crew.close()
"""


def alive(pid):
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.parametrize(("wait", "end"), [(600, signal.SIGKILL), (600, signal.SIGTERM), (0, None)])
def test_workers_end_with_the_process_that_started_them(tmp_path, wait, end):
    (tmp_path / "parent.py").write_text(PARENT.format(wait=wait))
    root = Path(__file__).parents[3]
    paths = os.pathsep.join([str(root / "src"), str(root)])
    parent = subprocess.Popen(
        [sys.executable, str(tmp_path / "parent.py")],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(pids) == 2
    if end is not None:
        assert all(map(alive, pids))
        parent.send_signal(end)
    parent.communicate(timeout=30)
    deadline = time.monotonic() + 2.0
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(alive, pids))


def test_closed_workers_are_gone():
    crew = Processes(Player(SPECS, POLICY), 1)
    processes = [process for process, _ in crew._workers]
    crew.close()
    assert [process.is_alive() for process in processes] == [False]


def test_ray_that_is_missing_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SpecError, match=r"treeplex\[ray\]"):
        RayWorkers(Player(SPECS, POLICY))


def test_jobs_are_spread_over_the_workers(games, candidates, monkeypatch):
    class Counting:
        size = 2

        def __init__(self):
            self.alone, self.jobs = Alone(Player(SPECS, POLICY)), []

        def give(self, worker, job):
            self.jobs.append((worker, job.game, len(job.parameters)))
            self.pending = [*getattr(self, "pending", []), (worker, job)]

        def finished(self, seconds):
            worker, job = self.pending.pop(0)
            return [(worker, workers.attempt(Player(SPECS, POLICY), job))]

    counting = Counting()
    evaluate(counting, candidates, games)
    assert {worker for worker, _, _ in counting.jobs} == {0, 1}
    assert sum(count for _, game, count in counting.jobs if game == 0) == len(candidates)
    assert max(count for _, _, count in counting.jobs) <= 2
