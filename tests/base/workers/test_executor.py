"""Executors: the same numbers whoever does the jobs, in the order of jobs, and none lost with a worker."""

import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.base.workers import jobs
from treeplex.base.workers.crew import Crew, Report
from treeplex.base.workers.executor import AHEAD, Executor, in_threads, make_executor
from treeplex.base.workers.processes import Processes, in_worker
from treeplex.errors import AlgorithmError, SpecError

NUMBERS = np.random.default_rng(1).standard_normal(50)
WANTED = [float(np.cumsum(NUMBERS * np.random.default_rng([5, place]).standard_normal(50))[-1]) for place in range(12)]


@pytest.fixture(scope="module")
def processes():
    with make_executor("processes", 2) as made:
        yield made


@pytest.fixture(params=["inline", "threads", "processes"])
def executor(request):
    """One of each kind."""
    if request.param == "processes":
        yield request.getfixturevalue("processes")
        return
    with make_executor(request.param, 2) as made:
        yield made


def test_the_same_bits_everywhere(executor):
    assert jobs.products(executor, NUMBERS) == WANTED
    assert executor.left() == executor.lost == 0


def test_results_come_in_the_order_of_jobs(executor):
    assert list(executor.map(jobs.late_first, [(x,) for x in range(5)])) == list(range(5))
    assert list(executor.map(jobs.square, [])) == []


def test_workers_keep_what_is_shared_and_get_it_once(processes):
    before = processes.traffic
    shared = processes.share(jobs.Known(NUMBERS))
    found = list(processes.map(jobs.product, [(shared, place, 5) for place in range(12)]))
    told = {pid: [count for _, other, count in found if other == pid] for _, pid, _ in found}
    assert all(sorted(counts) == list(range(1, len(counts) + 1)) for counts in told.values())
    assert os.getpid() not in told
    after, size = processes.traffic, len(pickle.dumps(jobs.Known(NUMBERS), pickle.HIGHEST_PROTOCOL))
    assert after.shared - before.shared == len(told) * size
    assert after.jobs - before.jobs == 12
    assert 0 < (after.sent - before.sent) / 12 < 200 < size
    assert after.seconds >= before.seconds
    processes.forget(shared)
    with pytest.raises(KeyError):
        list(processes.map(jobs.product, [(shared, 0, 5)]))


def test_threads_have_copies_of_their_own():
    known = jobs.Known(NUMBERS)
    with make_executor("threads", 2) as executor:
        shared = executor.share(known)
        list(executor.map(jobs.product, [(shared, place, 5) for place in range(8)]))
    assert known.remembered == []


def test_no_more_jobs_are_asked_for_than_needed():
    asked = []

    def some():
        for x in range(100):
            asked.append(x)
            yield (x,)

    with make_executor("inline") as executor:
        found = executor.map(jobs.square, some())
        assert [next(found) for _ in range(3)] == [0, 1, 4]
        assert len(asked) == 3 + AHEAD
        found.close()
        assert executor.left() == 0
        assert list(executor.map(jobs.square, [(7,)])) == [49]


def test_a_worker_killed_in_the_middle_of_a_job_changes_nothing(processes, tmp_path):
    before, lost = set(processes.crew.pids), processes.lost
    assert jobs.killed_once(processes, tmp_path) == [x * x for x in range(6)]
    assert processes.lost == lost + 1
    assert len(set(processes.crew.pids) - before) == 1
    assert jobs.products(processes, NUMBERS) == WANTED


def test_a_job_that_workers_die_of_ends_in_an_error(processes):
    with pytest.raises(AlgorithmError, match="3 workers died in a row on the same job"):
        list(processes.map(jobs.die, [(1,)]))
    assert list(processes.map(jobs.square, [(3,)])) == [9]


def test_what_a_job_raises_is_raised(executor):
    with pytest.raises(ValueError, match="no 2"):
        list(executor.map(jobs.raise_error, [(2,)]))
    assert list(executor.map(jobs.square, [(3,)])) == [9]


def test_what_does_not_travel_is_said(processes):
    with pytest.raises(AlgorithmError, match="Unfit: too odd"):
        list(processes.map(jobs.raise_unfit, [(2,)]))
    with pytest.raises(AlgorithmError, match=r"Can't (pickle|get)|cannot pickle"):
        list(processes.map(jobs.give_unfit, [(2,)]))
    with pytest.raises(SpecError, match=r"cannot send the job to a worker .*; use a module-level function"):
        list(processes.map(lambda x: x, [(2,)]))
    assert list(processes.map(jobs.square, [(3,)])) == [9]


def test_what_the_watch_raises_leaves_the_workers_idle(processes):
    calls = 0

    def stop():
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        list(processes.map(jobs.sleep, [(600,), (600,)], stop))
    assert time.monotonic() - began < 60
    assert jobs.products(processes, NUMBERS) == WANTED


def test_closed_workers_are_gone():
    executor = make_executor("processes", 1)
    children = [process for process, _ in executor.crew._workers]
    executor.close()
    assert [process.is_alive() for process in children] == [False]


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_share_what_is_here(threads):
    found = np.zeros(5)

    def put(x):
        found[x] = x
        return x

    assert list(in_threads(threads, put, range(5))) == list(range(5)) == found.tolist()


class Mortal(Crew):
    """Workers that die of some jobs."""

    size = 2

    def __init__(self, deaths):
        self.deaths, self.tasks = deaths, {}

    def share(self, number, value):
        raise AssertionError

    forget = share

    def give(self, worker, task):
        self.tasks[worker] = task

    def finished(self, seconds):
        tasks, self.tasks = self.tasks, {}
        found = []
        for worker, (function, (x,)) in tasks.items():
            died = x == 3 and self.deaths > 0
            self.deaths -= died
            found.append(Report(worker, died=True) if died else Report(worker, function(x)))
        return found

    def give_up(self):
        self.tasks = {}

    def close(self):
        pass


def test_what_a_dead_worker_was_doing_is_done_again():
    executor = Executor(Mortal(2))
    assert list(executor.map(jobs.square, [(x,) for x in range(6)])) == [x * x for x in range(6)]
    assert executor.lost == 2
    with pytest.raises(AlgorithmError, match="3 workers died"):
        list(Executor(Mortal(3)).map(jobs.square, [(3,)]))


def test_jobs_by_name():
    executor = Executor(Mortal(0))
    for x in range(4):
        executor.add(str(x), jobs.square, x)
    assert executor.jobs() == {str(x): (x,) for x in range(4)}
    found = {}
    while executor.left():
        found |= dict(executor.finished(0.0))
    assert found == {str(x): x * x for x in range(4)}


def test_places_that_are_none():
    with pytest.raises(SpecError, match=r"unknown executor 'here'; use inline, threads, processes, or for Ray: "):
        make_executor("here")


def test_ray_that_is_missing_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SpecError, match=r"pip install .*\[ray\]'"):
        make_executor("local")


def test_workers_know_that_they_are_workers(processes):
    assert list(processes.map(in_worker, [()])) == [True]
    assert not in_worker()


PARENT = """
import time
from tests.base.workers.jobs import sleep
from treeplex.base.workers.crew import Task
from treeplex.base.workers.processes import Processes, in_worker
if __name__ == "__main__":
    crew = Processes(2)
    crew.give(0, Task(sleep, (600,)))
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


@pytest.mark.quick_cases("0-None")
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
    deadline = time.monotonic() + 30.0
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(alive, pids))


def test_the_end_of_a_process_says_nothing_about_others():
    with make_executor("processes", 2) as executor:
        assert isinstance(executor.crew, Processes)
        first, second = executor.crew.pids
        os.kill(first, signal.SIGKILL)
        while not executor.lost:
            executor.finished(0.1)
        assert executor.crew.pids[1] == second
        assert list(executor.map(jobs.square, [(x,) for x in range(4)])) == [0, 1, 4, 9]
