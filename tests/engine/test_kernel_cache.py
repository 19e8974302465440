"""The cache of compiled kernels: what makes an entry stale, and what happens to broken ones."""

import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from treeplex.engine import kernel_cache, source_digest
from treeplex.engine.kernel import kernel

CALLEE = "from treeplex.engine.kernel import kernel\n\n@kernel()\ndef inner(x):\n    return x + {}\n"
CALLER = (
    "from treeplex.engine.kernel import kernel\nfrom rules.callee import inner\n\n"
    "@kernel()\ndef outer(x):\n    return 2 * inner(x)\n"
)
RUN = "from rules.caller import outer; print(outer(10), sum(outer.stats.cache_misses.values()))"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "source/rules"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "caller.py").write_text(CALLER)
    (folder / "callee.py").write_text(CALLEE.format(1))
    return folder


def start(package: Path, cache: Path) -> "subprocess.Popen[str]":
    paths = os.pathsep.join((str(package.parent), *sys.path))
    environment = os.environ | {"PYTHONPATH": paths, kernel_cache.ENVIRONMENT: str(cache)}
    return subprocess.Popen(
        [sys.executable, "-c", RUN], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def run(package: Path, cache: Path) -> tuple[str, str]:
    """What ``outer(10)`` gives and how often it was compiled, and what was written to stderr."""
    process = start(package, cache)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out.strip(), err


def outer_files(cache: Path) -> list[Path]:
    return sorted(cache.glob("rules.caller.outer-*"))


def test_a_new_version_of_a_callee_compiles_its_caller_again(package: Path, tmp_path: Path) -> None:
    """Numba's own cache gives 22 after the upgrade."""
    cache = tmp_path / "cache"
    assert run(package, cache)[0] == "22 1"
    assert run(package, cache)[0] == "22 0"
    (package / "callee.py").write_text(CALLEE.format(5))
    assert run(package, cache)[0] == "30 1"
    (package / "callee.py").write_text(CALLEE.format(1))
    assert run(package, cache)[0] == "22 0", "after a downgrade the old kernel fits again"
    assert len(outer_files(cache)) == 2


def test_comments_docstrings_and_formatting_recompile_nothing(package: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert run(package, cache)[0] == "22 1"
    documented = CALLEE.format(1).replace("    return", '    """Add one."""\n\n    # to the argument\n    return')
    (package / "callee.py").write_text(f'"""A callee."""\n\n{documented}')
    assert run(package, cache)[0] == "22 0"
    (package / "callee.py").write_text(documented.replace("x + 1", "x - 1"))
    assert run(package, cache)[0] == "18 1"


def test_digests_of_sources_are_stored_and_a_damaged_file_is_replaced(package: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    run(package, cache)
    file = cache / source_digest.FILE
    digests = source_digest.read(file)
    source = (package / "callee.py").read_bytes()
    code = hashlib.sha256(source_digest.code_text(source)).hexdigest()
    assert digests[hashlib.sha256(source).hexdigest()] == code
    file.write_text("{")
    assert run(package, cache)[0] == "22 0"
    assert source_digest.read(file) == digests


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("x = 1  # one", "x = 1", True),
        ("def f():\n    'text'\n    return 1", "def f():\n\n    return (1)", True),
        ("class A:\n    x: int\n    'An attribute.'", "class A:\n    x: int", True),
        ("if a:\n    b()\nelse:\n    'text'\n    c()", "if a:\n    b()\nelse:\n    c()", True),
        ("x = 'text'", "x = 'words'", False),
        ("def f():\n    return 'text'", "def f():\n    return 'words'", False),
        ("x = 1", "x = 1.0", False),
        ("x = 0.0", "x = -0.0", False),
        ("if a:\n    b()\nc()", "if a:\n    b()\n    c()", False),
        ("from a import b", "from a import c", False),
        ("x = (", "x = (  # never closed", False),
    ],
)
def test_code_is_what_the_digest_of_a_source_covers(before: str, after: str, same: bool) -> None:
    texts = [source_digest.code_text(text.encode()) for text in (before, after)]
    assert (texts[0] == texts[1]) == same


def test_a_source_that_changes_while_a_process_runs_is_not_mixed_up(package: Path, tmp_path: Path) -> None:
    """The process has imported the old callee; the new one must not get what it compiles.

    The new text is longer: Python takes a file of one size and second for the one whose bytecode it has.
    """
    cache = tmp_path / "cache"
    callee = package / "callee.py"
    change = f"import rules.caller; open({str(callee)!r}, 'w').write({CALLEE.format(50)!r}); "
    paths = os.pathsep.join((str(package.parent), *sys.path))
    environment = os.environ | {"PYTHONPATH": paths, kernel_cache.ENVIRONMENT: str(cache)}
    old = subprocess.run([sys.executable, "-c", change + RUN], env=environment, capture_output=True, text=True, check=True)
    assert old.stdout.split()[0] == "22"
    assert run(package, cache)[0] == "120 1"


def test_a_set_among_the_options_recompiles_nothing(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each process orders the strings of a set by its own seed."""
    cache = tmp_path / "cache"
    (package / "caller.py").write_text(CALLER.replace("kernel()", "kernel(fastmath={'contract', 'nsz', 'reassoc'})"))
    for seed in range(5):
        monkeypatch.setenv("PYTHONHASHSEED", str(seed))
        assert run(package, cache)[0] == f"22 {int(not seed)}"


def test_two_processes_compile_at_once(package: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    both = [start(package, cache) for _ in range(2)]
    for process in both:
        out, err = process.communicate(timeout=300)
        assert (process.returncode, out.split()[0]) == (0, "22"), err
    assert len(outer_files(cache)) == 1
    assert not [*cache.glob("*.part"), *cache.glob("*.lock")]
    assert run(package, cache)[0] == "22 0"


@pytest.mark.parametrize("kept", [0, 40, -100])
def test_a_truncated_kernel_is_compiled_again_with_one_notice(package: Path, tmp_path: Path, kept: int) -> None:
    cache = tmp_path / "cache"
    run(package, cache)
    (file,) = outer_files(cache)
    file.write_bytes(file.read_bytes()[:kept])
    out, err = run(package, cache)
    assert out == "22 1"
    assert err.count("is damaged") == 1
    assert run(package, cache) == ("22 0", "")


def test_a_changed_kernel_is_never_loaded(package: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    run(package, cache)
    (file,) = outer_files(cache)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    assert run(package, cache)[0] == "22 1"


def test_without_a_folder_to_write_kernels_still_run(package: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    out, err = run(package, tmp_path / "file/cache")
    assert out == "22 1"
    assert err.count(kernel_cache.ENVIRONMENT) == 1


def test_a_package_that_cannot_be_written_has_its_kernels_in_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(kernel_cache.ENVIRONMENT, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    kernel_cache._folders.cache_clear()
    beside = kernel_cache.PACKAGE / "kernels"
    assert kernel_cache.folders() == [tmp_path / "treeplex/kernels", beside, kernel_cache.PREBUILT]
    monkeypatch.setattr(os, "access", lambda path, mode: True)
    kernel_cache._folders.cache_clear()
    assert kernel_cache.folders() == [beside, kernel_cache.PREBUILT]


def test_old_kernels_are_pruned_and_the_least_recently_used_beyond_a_size(tmp_path: Path) -> None:
    for number in range(4):
        file = tmp_path / f"{number}.kernel"
        file.write_bytes(bytes(100))
        os.utime(file, (1e9 + number, 1e9 + number))
    (tmp_path / "new.kernel").write_bytes(bytes(100))
    assert kernel_cache.prune(tmp_path, most_bytes=10_000, longest_seconds=1e12) == 0
    assert kernel_cache.prune(tmp_path, most_bytes=350, longest_seconds=1e12) == 2
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["2", "3", "new"]
    assert kernel_cache.prune(tmp_path, most_bytes=350, longest_seconds=1000.0) == 2


def test_a_kernel_has_no_closure() -> None:
    step = 1
    with pytest.raises(TypeError, match="closure"):

        @kernel()
        def outer(x: int) -> int:
            return x + step


def test_entries_say_what_they_are_and_can_be_removed(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(package, tmp_path / "cache")
    monkeypatch.setenv(kernel_cache.ENVIRONMENT, str(tmp_path / "cache"))
    found = {entry.kernel: entry for entry in kernel_cache.entries()}
    assert found.keys() == {"rules.caller.outer", "rules.callee.inner"}
    assert found["rules.caller.outer"].signature == "int64"
    assert kernel_cache.clear() == 2
    assert not list(kernel_cache.entries())


def test_kernels_compiled_ahead_are_there_when_they_are_needed(package: Path, tmp_path: Path) -> None:
    (package / "caller.py").write_text(CALLER.replace("@kernel()", '@kernel(ahead="rules.ahead:compile_late")'))
    (package / "late.py").write_text(CALLEE.format(7).replace("inner", "late"))
    (package / "ahead.py").write_text("from rules.late import late\n\ndef compile_late(signature):\n    late(1)\n")
    cache = tmp_path / "cache"
    assert run(package, cache)[0] == "22 1"
    deadline = time.monotonic() + 120
    while not list(cache.glob("rules.late.late-*.kernel")) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert list(cache.glob("rules.late.late-*.kernel"))
