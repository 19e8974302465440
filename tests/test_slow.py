"""Which cases are slow, and how slow tests are divided among shards: what ``conftest.py`` does."""

from collections import Counter
from pathlib import Path

import pytest

from tests import conftest

pytest_plugins = ["pytester"]
CASES = """
    import pytest

    @pytest.mark.{marker}({names})
    @pytest.mark.parametrize("letter", ["a", "b", "c"])
    def test_letters(letter):
        pass
"""


@pytest.fixture(autouse=True)
def same_conftest(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they would be imported anew each time
    hooks = "pytest_addoption, pytest_pycollect_makeitem, pytest_collection_modifyitems"
    pytester.makeconftest(f"from tests.conftest import {hooks}")
    pytester.makeini("[pytest]\nmarkers =\n  slow:\n  slow_cases:\n  quick_cases:\n")


def collected(pytester: pytest.Pytester, *words: str) -> set[str]:
    lines = pytester.runpytest_inprocess("--strict-markers", "--collect-only", "-q", *words).outlines
    return {line.partition("::")[2] for line in lines if "::" in line}


@pytest.mark.parametrize(("marker", "slow"), [("slow_cases", "ab"), ("quick_cases", "c")])
def test_cases_are_slow_or_quick_by_name(pytester: pytest.Pytester, marker: str, slow: str) -> None:
    names = {f"test_letters[{letter}]" for letter in slow}
    pytester.makepyfile(CASES.format(marker=marker, names=", ".join(map(repr, slow))))
    marked, others = collected(pytester, "-m", "slow"), collected(pytester, "-m", "not slow")
    assert (marked if marker == "slow_cases" else others) == names
    assert marked | others == {f"test_letters[{letter}]" for letter in "abc"}
    assert not marked & others


def test_a_case_that_is_not_there_is_an_error_even_if_another_is_asked_for(pytester: pytest.Pytester) -> None:
    path = pytester.makepyfile(CASES.format(marker="slow_cases", names="'a', 'd'"))
    found = pytester.runpytest_inprocess(f"{path}::test_letters[b]")
    assert found.ret != 0
    found.stdout.fnmatch_lines(["*test_letters has no cases [[]'d']"])


def test_every_file_has_a_shard_and_shards_are_alike() -> None:
    cases = Counter({Path(f"test_{number}.py"): number for number in range(1, 40)})
    shards = [conftest.files_of_shard(cases, shard, 4) for shard in range(4)]
    assert set().union(*shards) == set(cases)
    assert sum(map(len, shards)) == len(cases)
    loads = [sum(cases[path] for path in shard) for shard in shards]
    assert max(loads) - min(loads) <= 2


def test_shards_leave_quick_tests_alone(pytester: pytest.Pytester) -> None:
    for name in "xyz":
        text = f"import pytest\n@pytest.mark.slow\ndef test_{name}(): pass\ndef test_quick(): pass"
        pytester.makepyfile(**{f"test_{name}": text})
    assert collected(pytester, "-m", "not slow", "--shard", "1/2") == {"test_quick"}
    assert collected(pytester, "-m", "slow", "--shard", "0/2") == {"test_x", "test_z"}
    assert collected(pytester, "-m", "slow", "--shard", "1/2") == {"test_y"}
    with pytest.raises(pytest.UsageError, match="--shard"):
        pytester.parseconfig("--shard", "2/2")
