"""When a job is saved: every 40 seconds, or so seldom that saving takes a twentieth of the time."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from treeplex.holdem.solve.solution import SPOT
from treeplex.run.job import job as frame
from treeplex.run.job.job import Job, Session
from treeplex.run.job.record import Record


class Slow(Job):
    """Saving it takes ten seconds."""

    kind, name, identity, done, total = SPOT, "slow", "slow", 0, 10

    def __init__(self, clock: list[float]) -> None:
        super().__init__()
        self.now, self.saved = clock, list[float]()

    saving_seconds = 10.0

    def step(self, count: int) -> None: ...

    def about(self) -> Mapping[str, Any]:
        return {}

    def keep(self, records: Sequence[Record], status: str) -> None:
        self.saved.append(self.now[0])
        self.now[0] += 10.0


def test_saving_takes_a_twentieth_of_the_time_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(frame, "perf_counter", lambda: clock[0])
    session = Session(job := Slow(clock))
    for _ in range(70):
        session.save_now_and_then()
        clock[0] += 10.0
    assert job.saved == [200.0, 410.0, 620.0]
