"""``seconds`` counts work, not compiling of kernels; the time left is that to the target."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

import treeplex as tp
from tests.base.workers import jobs
from treeplex.base import work_clock
from treeplex.base.work_clock import compiling_ended, compiling_started, work_time
from treeplex.base.workers.executor import make_executor
from treeplex.run.job import job as frame
from treeplex.run.job.job import Clock, Job, Session, units_to_target
from treeplex.run.job.record import Progress, Record
from treeplex.run.solve.settings import SOLVE


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The wall clock, to be moved."""
    clock = [100.0]
    for module in (frame, work_clock):
        monkeypatch.setattr(module, "perf_counter", lambda: clock[0])
    return clock


class Worker(Job):
    """A step takes a second; before it kernels are compiled if there are none."""

    kind, name, identity, total, done = SOLVE, "worker", "worker", 1000, 0

    def __init__(self, now: list[float], compiling: float, target: float | None = None) -> None:
        super().__init__()
        self.now, self.compiling, self.goal = now, compiling, target

    def step(self, count: int) -> None:
        if self.compiling:
            compiling_started()
            compiling_started()  # a kernel that another one calls
            self.now[0] += self.compiling
            compiling_ended()
            compiling_ended()
            self.compiling = 0.0
        self.now[0] += count
        self.done += count

    @property
    def target(self) -> tuple[str, float] | None:
        return None if self.goal is None else ("exploitability", self.goal)

    def measure(self) -> Mapping[str, Any]:
        worth = self.done**-0.5
        measured = {"exploitability": worth, "nash_conv": 2.0 * worth, "value": (0.0, 0.0), "gains": (worth, worth)}
        return measured | {"nodes": self.done, "measures": {}}

    def points(self) -> Iterator[int]:
        return iter(range(1, 1001))

    def about(self) -> Mapping[str, Any]:
        return {}


def test_compiling_does_not_count(now: list[float]) -> None:
    """Ten seconds are ten steps, whether kernels take a minute to compile or are there."""
    for compiling in (0.0, 60.0):
        began, job = now[0], Worker(now, compiling)
        outcome = Session(job).run(seconds=10.0)
        assert (outcome.status, job.done, job.clock.seconds) == ("time up", 10, 10.0)
        assert now[0] - began == 10.0 + compiling


def test_the_clock_stands_while_kernels_compile(now: list[float]) -> None:
    began, clock = work_time(), Clock()
    with clock.running():
        compiling_started()
        now[0] += 5.0
        assert work_time() == began  # seen from another thread meanwhile
        compiling_ended()
        now[0] += 2.0
    assert (work_time() - began, clock.seconds) == (2.0, 2.0)


def test_compiling_in_workers_does_not_count() -> None:
    """Two workers compile for 30 seconds each, side by side: 30 seconds of work are lost."""
    before, _ = work_clock.compile_times()
    with make_executor("processes", 2) as executor:
        assert list(executor.map(jobs.compiled, [(30.0,), (30.0,)])) == [None, None]
    after, _ = work_clock.compile_times()
    assert after - before == pytest.approx(30.0, abs=0.5)


def test_numba_stops_the_clock() -> None:
    from numba import njit

    before = work_clock.compile_times()
    njit(lambda x: x + 1)(1)
    after = work_clock.compile_times()
    assert after[0] > before[0]
    assert after[1] > before[1]


@pytest.mark.parametrize("target", [0.1, 0.001, None])
def test_time_left_is_that_to_the_target(now: list[float], target: float | None) -> None:
    """Exploitability falls with the square root: 100 iterations to 0.1, all 1000 to 0.001; one takes a second."""
    seen: list[Progress] = []
    outcome = Session(Worker(now, 60.0, target)).run(progress=seen.append)
    end = 100 if target == 0.1 else 1000
    assert outcome.records[-1].done == end
    assert all(each.rate == pytest.approx(1.0) for each in seen if each.done)
    left = {each.done: each.seconds_left for each in seen if each.done > 2}
    assert left == pytest.approx({done: end - done for done in left}, abs=0.02)
    if target is not None:
        assert seen[1].seconds_left is None  # one record tells nothing of how it falls


class Evaluated(Worker):
    """An evaluation after every tenth step takes five seconds, which are not solver time; values fall faster at the end."""

    kind = replace(SOLVE, solver_time=True)

    def measure(self) -> Mapping[str, Any]:
        self.now[0] += 5.0
        return super().measure()

    def points(self) -> Iterator[int]:
        return iter(range(10, 1001, 10))


def test_time_left_includes_evaluations(now: list[float]) -> None:
    """It is wall-clock time: 15 seconds for ten steps. It is not 0 before the evaluation that meets the target."""
    seen: list[tuple[Progress, float]] = []
    outcome = Session(Evaluated(now, 0.0, 0.1)).run(progress=lambda state: seen.append((state, now[0])))
    assert outcome.records[-1].done == 100
    for state, at in seen:
        if 30 < state.done < 100:
            assert state.seconds_left == pytest.approx(now[0] - at, rel=0.15, abs=7.5)
    early = Session(Evaluated(now, 0.0, 0.1))
    now[0] += 0.2  # the start takes 0.2 seconds, and the first steps 3 ms
    early.job.done = 1  # type: ignore[misc]
    assert early.progress(0, 0.003, 48.0).seconds_left == pytest.approx(48.0, rel=0.25)
    hasty = Evaluated(now, 0.0, 0.1)
    session = Session(hasty)
    session.records = curve({10: 1.0, 20: 0.3})  # would be met at step 26
    hasty.done = 27
    session._point = 30
    left = session.progress(20, 7.0, None).seconds_left
    assert left is not None
    assert left >= 3.0


def test_a_limit_of_time_bounds_the_time_left(now: list[float]) -> None:
    seen: list[Progress] = []
    Session(Worker(now, 60.0, 0.001)).run(seconds=20.0, progress=seen.append)
    assert [each.seconds_left for each in seen] == pytest.approx([20.0, *range(19, -1, -1)], abs=0.02)


def curve(values: Mapping[int, float]) -> list[Record]:
    return [Record(done, 0.0, 0.0, {"exploitability": value, "measures": {}}) for done, value in values.items()]


def test_units_to_a_target() -> None:
    falling = curve({0: 5.0, 1: 1.0, 10: 0.1, 100: 0.01})
    assert units_to_target(falling, "exploitability", 1e-4) == pytest.approx(1e4)
    assert units_to_target(falling[:2], "exploitability", 1e-4) is None
    assert units_to_target(curve({1: 1.0, 10: 1.0}), "exploitability", 0.1) == math.inf
    assert units_to_target(curve({1: 1.0, 10: 0.5}), "exploitability", 0.0) == math.inf
    assert units_to_target(curve({1: 1.0, 10: 0.999}), "exploitability", 1e-9) == math.inf


def test_only_the_fall_after_a_rise_is_fitted() -> None:
    """Of DCFR on a deep turn, in percent of the pot: 0.2 was reached after 750 iterations."""
    values = "0.28 0.269 0.26 0.25 0.242 0.235 0.292 0.306 0.313 0.325 0.335 0.337 0.329 0.319 0.307 0.297 0.286"
    records = curve(dict(zip(range(480, 650, 10), map(float, values.split()), strict=True)))
    for known in range(15, 18):
        assert units_to_target(records[:known], "exploitability", 0.2) == pytest.approx(750.0, rel=0.1)


def test_the_estimate_of_a_real_run_is_near() -> None:
    """Of DCFR on Leduc poker, at a quarter of the way: within a factor of two of the iterations that it takes."""
    records = tp.solve("leduc_poker", "dcfr", target=1e-4, progress=False).records
    end = records[-1].done
    early = [record for record in records if record.done <= end // 4]
    found = units_to_target(early, "exploitability", 1e-4)
    assert found is not None
    assert end / 2 < found < 2 * end
