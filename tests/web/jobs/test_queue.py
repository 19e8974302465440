"""The queue with processes that only pretend to solve: memory, pauses, and events in any order."""

import asyncio
import random
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.web.conftest import RIVER
from treeplex.holdem.solve.solution import HoldemSolution
from treeplex.web.jobs import queue as queue_module
from treeplex.web.jobs.queue import ENDED, MOST_AT_ONCE, PageJob, Queue
from treeplex.web.jobs.requests import JobRequest
from treeplex.web.jobs.running import ignore
from treeplex.web.served import Refusal, ServerState

MEMORY = 10


class FakeProcess:
    """A process that takes one unit of memory per digit of its job's name, and ends when the test says so."""

    living: list["FakeProcess"]

    def __init__(self, log: Path) -> None:
        self.on_event = ignore
        self.alive, self.ready, self.frozen, self.stopping, self.finished, self.killed = True, False, False, False, False, False
        self.saves = self.measures = False
        self.resident, self.name = 0.0, ""
        self._changed = asyncio.Event()

    async def start(self, preparation: dict[str, Any]) -> None:
        self.measures = preparation["measure"]

    async def measured(self) -> float | None:
        return 5.0 if self.measures else None

    async def run(self, order: dict[str, Any]) -> int:
        self.name = order["request"]["name"]
        self.resident = need(self.name)
        self.living.append(self)
        try:
            while True:
                if self.killed:
                    return -9
                if not self.frozen and (self.finished or (self.stopping and self.saves)):
                    self.on_event("end", {"status": "finished" if self.finished else "interrupted"})
                    return 0
                await self._changed.wait()
                self._changed.clear()
        finally:
            self.living.remove(self)

    def change(self, **values: bool) -> None:
        vars(self).update(values)
        self._changed.set()

    def move_log(self, log: Path) -> None: ...

    def stop(self) -> None:
        self.change(stopping=True)

    def go(self) -> None:
        self.change(stopping=False, frozen=False)

    def freeze(self) -> bool:
        self.change(frozen=True)
        return True

    def thaw(self) -> None:
        self.change(frozen=False)

    def kill(self) -> None:
        self.change(killed=True)

    def last_words(self) -> str:
        return ""


def need(name: str) -> float:
    return float(sum(map(int, name)))


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Queue], Coroutine[Any, Any, None]]], None]:
    """Run a coroutine with a queue of pretended processes."""
    monkeypatch.setattr(FakeProcess, "living", [], raising=False)
    monkeypatch.setattr(queue_module, "JobProcess", FakeProcess)
    monkeypatch.setattr(queue_module, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(queue_module, "MEMORY_SECONDS", 0.01)
    monkeypatch.setattr(queue_module, "available_memory", lambda: MEMORY - sum(each.resident for each in FakeProcess.living))
    monkeypatch.setattr(Queue, "_memory_of", lambda queue, job: need(job.name))

    def run(events: Callable[[Queue], Coroutine[Any, Any, None]]) -> None:
        async def main() -> None:
            queue = Queue(ServerState(tmp_path, threads=1))
            await queue.open()
            await events(queue)
            assert queue._pump is not None
            assert not queue._pump.done()
            queue._pump.cancel()

        asyncio.run(main())

    return run


def add(queue: Queue, name: str) -> PageJob:
    return queue.add(JobRequest(fields=RIVER, name=name))


async def settle(ready: Callable[[], bool]) -> None:
    """Wait until something holds; fail if it does not."""
    for _ in range(400):
        if ready():
            return
        await asyncio.sleep(0.005)
    raise AssertionError([(each.name, vars(each)) for each in FakeProcess.living])


def process(name: str) -> FakeProcess:
    return next(each for each in FakeProcess.living if each.name == name)


def names() -> list[str]:
    return sorted(each.name for each in FakeProcess.living)


@pytest.mark.parametrize(
    ("waiting", "started"),
    [pytest.param("678", ["6"], id="memory"), pytest.param("000000", ["0"] * MOST_AT_ONCE, id="no estimates")],
)
def test_jobs_that_waited_do_not_start_all_at_once(check: Any, waiting: str, started: list[str]) -> None:
    async def events(queue: Queue) -> None:
        for name in ("99", *waiting):
            add(queue, name)
        await settle(lambda: names() == ["99"] and len(queue._needs) == 1 + len(waiting))
        process("99").change(finished=True)
        await settle(lambda: names() == started)
        await asyncio.sleep(0.05)
        assert names() == started

    check(events)


def test_a_stopped_job_without_a_file_keeps_its_name(check: Any) -> None:
    async def events(queue: Queue) -> None:
        queue.served.work = queue
        first = add(queue, "8")
        queue.stop(first)
        second = add(queue, "8")
        assert (first.file, second.file) == ("8.spot", "8-2.spot")
        queue.go_on(first)
        queue.remove(second)
        assert add(queue, "8").file == "8-2.spot"

    check(events)


def test_a_paused_job_that_holds_the_memory_is_saved(check: Any) -> None:
    async def events(queue: Queue) -> None:
        first = add(queue, "8")
        await settle(lambda: names() == ["8"])
        queue.pause(first)
        await settle(lambda: first.state == "paused" and process("8").frozen)
        process("8").change(saves=True)
        second = add(queue, "7")
        await settle(lambda: names() == ["7"])
        assert (first.state, second.state) == ("paused", "running")

    check(events)


def test_a_job_is_paused_before_its_process_starts(check: Any) -> None:
    async def events(queue: Queue) -> None:
        job = add(queue, "99")
        while job.state == "waiting":
            await asyncio.sleep(0)
        queue.stop(job)
        with pytest.raises(Refusal):
            queue.remove(job)
        await settle(lambda: names() == ["99"])
        process("99").change(saves=True)
        await settle(lambda: job.state == "stopped")

    check(events)


def test_a_job_removed_while_its_memory_is_estimated_never_starts(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def events(queue: Queue) -> None:
        async def slow(work: Any, *arguments: Any) -> Any:
            queue.remove(job)
            return work(*arguments)

        monkeypatch.setattr(queue_module.to_thread, "run_sync", slow)
        job = add(queue, "1")
        await settle(lambda: not queue.jobs)
        await asyncio.sleep(0.05)
        assert not names()
        assert not list(queue.folder.glob("*.json"))

    check(events)


def test_a_job_starts_once_other_programs_release_memory(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def events(queue: Queue) -> None:
        free = 0
        monkeypatch.setattr(queue_module, "available_memory", lambda: free)
        add(queue, "1")
        add(queue, "2")
        await settle(lambda: names() == ["1"] and len(queue._needs) == 2)
        free = MEMORY
        await settle(lambda: names() == ["1", "2"])

    check(events)


def test_a_record_ends_the_first_iteration(check: Any) -> None:
    async def events(queue: Queue) -> None:
        job = add(queue, "1")
        await settle(lambda: names() == ["1"])
        begun = {"algorithm": "dcfr", "total": 90, "target": 0.0, "opening_pot": 1.0, "locks": 0, "memory": 5, "records": []}
        process("1").on_event("begun", {**begun, "done": 0})
        assert "first iteration" in str(job.phase)
        process("1").on_event("records", {"records": [[10, 0.1, 0.5]]})
        assert (job.phase, job.done) == (None, 10)
        queue.pause(job)
        process("1").on_event("records", {"records": [[20, 0.2, 0.4]]})
        assert job.phase == "pausing"

    check(events)


def test_the_pace_is_measured_once_nothing_runs(check: Any) -> None:
    async def events(queue: Queue) -> None:
        add(queue, "1")
        await settle(lambda: names() == ["1"])
        assert await queue.prepare() is None
        process("1").change(finished=True)
        await settle(lambda: not names() and not queue._running)
        assert await queue.prepare() == 5.0

    check(events)


def test_an_estimate_that_fails_does_not_stop_the_queue(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(queue_module, "spot_of", lambda fields: {}["missing"])
    with pytest.raises(KeyError):
        queue_module.spot_of({})
    queue = Queue(ServerState(Path(), threads=1))
    job = PageJob(id="0" * 12, name="", file="", request=JobRequest(fields=RIVER), created=0.0, order=0.0)
    assert queue._memory_of(job) == 0


def test_a_job_does_not_go_on_while_another_one_writes_its_file(
    check: Any, tmp_path: Path, solved: dict[str, HoldemSolution]
) -> None:
    solved["river"].save(tmp_path / "1.spot")

    async def events(queue: Queue) -> None:
        first = queue.add(JobRequest(resume="1.spot", name="1"))
        await settle(lambda: names() == ["1"])
        process("1").change(saves=True)
        queue.stop(first)
        await settle(lambda: first.state == "stopped")
        second = queue.add(JobRequest(resume="1.spot", name="1"))
        with pytest.raises(Refusal, match="already being solved by another job"):
            queue.go_on(first)
        await settle(lambda: names() == ["1"])
        process("1").change(finished=True)
        await settle(lambda: second.state == "finished")
        queue.go_on(first)
        await settle(lambda: first.state == "running")

    check(events)


def test_a_job_goes_on_without_the_solution_from_which_it_started(
    check: Any, tmp_path: Path, solved: dict[str, HoldemSolution]
) -> None:
    solved["river"].save(tmp_path / "old.spot")

    async def events(queue: Queue) -> None:
        job = queue.add(JobRequest(origin="old.spot", name="1"))
        (tmp_path / "old.spot").rename(tmp_path / "new.spot")
        queue.renamed(tmp_path / "old.spot", tmp_path / "new.spot")
        assert (job.request.origin, job.file) == ("new.spot", "1.spot")
        await settle(lambda: names() == ["1"])
        process("1").change(saves=True)
        queue.pause(job)
        await settle(lambda: not names() and job.state == "paused")
        (tmp_path / "new.spot").rename(tmp_path / "1.spot")  # as if saved, and the origin deleted
        queue.go_on(job)
        await settle(lambda: names() == ["1"])
        assert (job.state, job.error) == ("running", None)

    check(events)


def test_the_memory_of_a_resumed_job_is_that_of_its_own_file(tmp_path: Path) -> None:
    (tmp_path / "x.spot").write_bytes(bytes(100))
    request = JobRequest(origin="deleted.spot")
    job = PageJob(id="0" * 12, name="x", file="x.spot", request=request, created=0.0, order=0.0)
    assert Queue(ServerState(tmp_path, threads=1))._memory_of(job) == 100 * queue_module.LOADED


@pytest.mark.parametrize("seed", range(20))
def test_any_order_of_events_ends_with_every_job_ended(check: Any, seed: int) -> None:
    chance = random.Random(seed)

    async def happen(queue: Queue) -> None:
        jobs = list(queue.jobs.values())
        steps = [queue.pause, queue.stop, queue.go_on, queue.first, queue.remove]
        if chance.random() < 0.3 or not jobs:
            add(queue, str(chance.choice([0, 1, 3, 5, 8, 99])))
        elif FakeProcess.living and chance.random() < 0.4:
            change = chance.choice(["finished", "killed", "saves", "saves"])
            chance.choice(FakeProcess.living).change(**{change: True})
        else:
            with suppress(Refusal):
                chance.choice(steps)(chance.choice(jobs))
        for _ in range(chance.randrange(4)):
            await asyncio.sleep(chance.choice([0, 0, 0.002]))

    async def events(queue: Queue) -> None:
        for _ in range(150):
            resumed = {id(each) for each in FakeProcess.living}
            await happen(queue)
            if {id(each) for each in FakeProcess.living} - resumed:
                used = sum(each.resident for each in FakeProcess.living)
                assert used <= MEMORY or len(FakeProcess.living) == 1

        def ended() -> bool:
            for job in queue.jobs.values():
                if job.state == "paused":
                    queue.go_on(job)
            for each in FakeProcess.living:
                each.change(finished=True)
            return not FakeProcess.living and all(job.state in ENDED for job in queue.jobs.values())

        await settle(ended)

    check(events)
