"""What holds for all tests."""

import gc
import signal
from pathlib import Path

import pytest

from treeplex import notices

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def kernels_compile_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """What commands print must not depend on which kernels an earlier run left in the cache."""
    monkeypatch.setattr(notices, "_announced", True)


@pytest.fixture(autouse=True, scope="session")
def ctrl_c_reaches_tests() -> None:
    """Some tests send Ctrl-C to themselves, which a shell's background job ignores."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of a folder share a worker: two that take turns would compile every kernel twice."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            folder = item.path.parent
            item.add_marker(pytest.mark.xdist_group(str(item.path if folder == HERE else folder)))


def pytest_collection_finish() -> None:
    """Modules and tests live until the end; the garbage collector need not look at them again and again."""
    gc.collect()
    gc.freeze()
