import pytest

from treeplex.engine.threads import available_cores, checked_threads
from treeplex.errors import SpecError


def test_threads_count_the_cores_that_this_process_may_use(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 64)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {1, 5, 7}, raising=False)
    assert available_cores() == checked_threads(None) == 3
    with pytest.raises(SpecError, match="threads is 4, but this process may use 3 cores; give 1 to 3"):
        checked_threads(4)
    monkeypatch.delattr("os.sched_getaffinity")
    assert available_cores() == 64
