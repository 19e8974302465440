"""What long jobs say on stderr: that kernels are compiled, and only then."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from treeplex import notices
from treeplex.notices import COMPILING, compilation_announced, notify, on_compilation, tell, telling

CLI = "from treeplex.play.cli.main import main; main()"
PYTHON = "import treeplex as tp; tp.solve('rock_paper_scissors', 'cfr+', iterations=2, progress={})"


def stderr_of(code: str, *arguments: str, cache: Path) -> str:
    """What a process of its own says, with the kernels of this cache."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    found = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=environment, check=True, timeout=500
    )
    return found.stderr


@pytest.mark.slow
def test_the_first_run_says_that_it_compiles(tmp_path: Path) -> None:
    """On a pipe as well; the next one finds the kernels and is silent."""
    solving = ("solve", "rock_paper_scissors", "-a", "cfr+", "-n", "2")
    assert stderr_of(CLI, *solving, cache=tmp_path) == f"{COMPILING}\n"
    assert stderr_of(CLI, *solving, cache=tmp_path) == ""


@pytest.mark.slow
def test_in_python_it_is_said_with_progress(tmp_path: Path) -> None:
    assert stderr_of(PYTHON.format("print"), cache=tmp_path / "told") == f"{COMPILING}\n"
    assert stderr_of(PYTHON.format("None"), cache=tmp_path / "silent") == ""


@pytest.mark.parametrize(("wishes", "said"), [((True, False), True), ((False, True), False), ((), False)])
def test_the_outermost_decides_and_it_is_said_once(
    wishes: tuple[bool, ...], said: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(notices, "_announced", False)
    contexts = [compilation_announced(wish) for wish in wishes]
    for context in contexts:
        context.__enter__()
    on_compilation()
    on_compilation()
    for context in reversed(contexts):
        context.__exit__(None, None, None)
    assert capsys.readouterr().err == (f"{COMPILING}\n" if said else "")


def test_nobody_reads_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = list[str]()

    class Gone:
        def write(self, text: str) -> int:
            tried.append(text)
            raise BrokenPipeError

        def flush(self) -> None:
            raise BrokenPipeError

    monkeypatch.setattr("sys.stderr", Gone())
    notify("anything")
    assert "anything" in tried[0]


def test_what_a_preparation_tells_is_heard_by_the_innermost_listener() -> None:
    outer, inner = list[str](), list[str]()
    tell("nobody hears this")
    with telling(outer.append):
        tell("one")
        with telling(inner.append):
            tell("two")
        tell("three")
    tell("nobody hears this")
    assert (outer, inner) == (["one", "three"], ["two"])
