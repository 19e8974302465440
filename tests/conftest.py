"""What holds for all tests."""

import gc
import signal
from collections import Counter
from collections.abc import Generator, Mapping
from pathlib import Path

import pytest

from treeplex.base import notices

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def kernels_compile_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """What commands print must not depend on which kernels an earlier run left in the cache."""
    monkeypatch.setattr(notices, "_announced", True)


@pytest.fixture(autouse=True)
def games_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests compile their games; none are read from the cache of an earlier run."""
    monkeypatch.setenv("TREEPLEX_GAMES", "off")


@pytest.fixture(autouse=True, scope="session")
def ctrl_c_reaches_tests() -> None:
    """Some tests send Ctrl-C to themselves, which a shell's background job ignores."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "part K, from 0, of N parts of the slow tests"
    parser.addoption("--shard", type=parse_shard, default=(0, 1), metavar="K/N", help=text)


def parse_shard(text: str) -> tuple[int, int]:
    shard, shards = map(int, text.split("/"))
    if not 0 <= shard < shards:
        raise ValueError
    return shard, shards


def files_of_shard(cases: Mapping[Path, int], shard: int, shards: int) -> set[Path]:
    """The files of a shard: each, the largest first, goes to the shard that has the fewest cases so far."""
    files, load = [set[Path]() for _ in range(shards)], [0] * shards
    for path in sorted(cases, key=lambda path: (-cases[path], path)):
        least = load.index(min(load))
        files[least].add(path)
        load[least] += cases[path]
    return files[shard]


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector: pytest.Collector) -> Generator[None, object, object]:
    """Some cases of a test may be slow: those that ``slow_cases`` names, or all but those that ``quick_cases`` names."""
    made = yield
    if isinstance(made, list) and made:  # all cases of a test, also if one of them is asked for
        for marker in made[0].iter_markers():
            if marker.name in ("slow_cases", "quick_cases"):
                cases = {item.callspec.id: item for item in made}
                if unknown := [name for name in marker.args if name not in cases]:
                    raise collector.CollectError(f"{collector.nodeid}::{made[0].originalname} has no cases {unknown}")
                for name, item in cases.items():
                    if (name in marker.args) == (marker.name == "slow_cases"):
                        item.add_marker(pytest.mark.slow)
    return made


@pytest.hookimpl(tryfirst=True)  # pytest-xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests of a folder share a worker: two that take turns would compile every kernel twice. Slow ones have shards."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            folder = item.path.parent
            item.add_marker(pytest.mark.xdist_group(str(item.path if folder == HERE else folder)))
    slow = [item for item in items if item.get_closest_marker("slow")]
    files = files_of_shard(Counter(item.path for item in slow), *config.getoption("shard"))
    others = {item for item in slow if item.path not in files}
    config.hook.pytest_deselected(items=list(others))
    items[:] = [item for item in items if item not in others]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Modules and tests live until the end; the garbage collector need not look at them again and again."""
    if getattr(session.config.option, "loadgroup", False) and session.items and "@" not in session.items[0].nodeid:
        pytest.exit("pytest-xdist does not see which tests share a worker; install the versions of constraints.txt", 1)
    gc.collect()
    gc.freeze()
