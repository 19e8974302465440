"""Executors on Ray, where it is installed: the numbers of this process, whatever dies."""

import os
import signal
import time

import numpy as np
import pytest

from tests.base.workers import jobs
from tests.base.workers.local_cluster import local_cluster
from treeplex.base.workers import on_ray
from treeplex.base.workers.executor import make_executor
from treeplex.errors import AlgorithmError, SpecError

ray = pytest.importorskip("ray")
services = pytest.importorskip("ray._private.services")
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.xdist_group("ray")]
NUMBERS = np.random.default_rng(1).standard_normal(200_000)


@pytest.fixture(scope="module", autouse=True)
def cluster():
    with local_cluster():
        yield


@pytest.fixture(scope="module")
def executor():
    with make_executor("auto") as made:
        yield made


def product(known, place):
    """A number of what is shared and of the job, and where it was found."""
    known.remembered.append(place)
    return float(np.cumsum(known.numbers[place::7] ** 2)[-1]), os.getpid(), len(known.remembered)


def test_the_same_bits_and_what_is_shared_is_there_once(executor):
    assert executor.size == 2
    shared = executor.share(jobs.Known(NUMBERS))
    found = list(executor.map(product, [(shared, place) for place in range(12)]))
    here = jobs.Known(NUMBERS)
    assert [value for value, _, _ in found] == [product(here, place)[0] for place in range(12)]
    told = {pid: sorted(count for _, other, count in found if other == pid) for _, pid, _ in found}
    assert set(told) <= set(executor.crew.pids) - {os.getpid()}
    assert all(counts == list(range(1, len(counts) + 1)) for counts in told.values())
    assert executor.traffic.shared == pytest.approx(NUMBERS.nbytes, rel=0.01)
    assert executor.traffic.sent < 12 * 200
    executor.forget(shared)
    assert list(executor.map(jobs.late_first, [(x,) for x in range(5)])) == list(range(5))


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_of_a_job_changes_nothing(executor, tmp_path):
    before, lost = set(executor.crew.pids), executor.lost
    assert jobs.killed_once(executor, tmp_path) == [x * x for x in range(6)]
    assert executor.lost == lost + 1
    assert len(set(executor.crew.pids) - before) == 1


def test_a_worker_killed_from_outside(executor):
    victim, calls, lost = executor.crew.pids[0], 0, executor.lost

    def kill():
        nonlocal calls
        calls += 1
        if calls == 1:
            os.kill(victim, signal.SIGKILL)

    assert list(executor.map(jobs.square, [(x,) for x in range(40)], kill)) == [x * x for x in range(40)]
    assert executor.lost == lost + 1


@pytest.mark.slow
def test_a_job_that_workers_die_of_and_one_that_raises(executor):
    with pytest.raises(AlgorithmError, match="3 workers died in a row on the same job"):
        list(executor.map(jobs.die, [(1,)]))
    with pytest.raises(ValueError, match="no 2"):
        list(executor.map(jobs.raise_error, [(2,)]))
    with pytest.raises(AlgorithmError, match="Unfit: too odd"):
        list(executor.map(jobs.raise_unfit, [(2,)]))
    assert list(executor.map(jobs.square, [(3,)])) == [9]


def test_too_few_cpus_are_said_and_the_connection_of_others_stays():
    with pytest.raises(SpecError, match="has 2 CPUs, too few for 3 workers"):
        make_executor("auto", 3)
    assert ray.is_initialized()


class Deadly:
    """What does not even start, as on a machine without Treeplex."""

    def __init__(self):
        os._exit(1)

    def versions(self):
        """Never comes to be."""


class Older(on_ray.RayBench):
    """What runs in an actor of another version."""

    def versions(self):
        """What it runs."""
        return "Treeplex 0.1 on Python 3.9"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "error", "words"),
    [
        (Deadly, AlgorithmError, "died 3 times at startup; install the same Treeplex version on every machine"),
        (
            Older,
            SpecError,
            r"a machine of the Ray cluster has Treeplex 0\.1 on Python 3\.9, but this one has .*; install the same",
        ),
    ],
)
def test_actors_that_do_not_fit_are_an_error(kind, error, words, executor, monkeypatch):
    executor.crew.close()  # there is room for no more
    monkeypatch.setattr(on_ray, "RayBench", kind)
    with make_executor("auto", 1) as unfit, pytest.raises(error, match=words):
        list(unfit.map(jobs.square, [(1,)]))


@pytest.mark.slow
def test_a_cluster_that_is_not_there_is_said(executor):
    executor.crew.close()
    ray.shutdown()
    patience = time.monotonic() + 60.0  # what is shut down takes a while to end, and is found until then
    while services.find_gcs_addresses() and time.monotonic() < patience:
        time.sleep(0.1)
    with pytest.raises(SpecError, match="no Ray cluster at 'auto'"):
        make_executor("auto")
    with pytest.raises(SpecError, match="no Ray cluster at 'ray://127"):
        make_executor("ray://127.0.0.1:1")
