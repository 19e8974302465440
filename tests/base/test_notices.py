"""What long work reports: one updating line where a person looks, log records in scripts, and that kernels are compiled."""

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import treeplex as tp
from tests.base.workers import jobs
from treeplex.base import notices
from treeplex.base.notices import COMPILING, Line, notify, on_compilation, reporting, tell, telling
from treeplex.base.workers.executor import make_executor

CLI = "from treeplex.run.cli.main import main; main()"
PYTHON = (
    "import logging, treeplex as tp; logging.basicConfig(level={}, format='%(message)s'); "
    "tp.solve('rock_paper_scissors', 'cfr+', iterations=2, progress={})"
)


def stderr_of(code: str, *arguments: str, cache: Path) -> str:
    """What a process of its own says, with the kernels of this cache."""
    environment = os.environ | {"TREEPLEX_KERNELS": str(cache)}
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
def test_scripts_log_at_info_that_kernels_compile(tmp_path: Path) -> None:
    assert COMPILING in stderr_of(PYTHON.format("'INFO'", None), cache=tmp_path / "info")
    assert stderr_of(PYTHON.format("'INFO'", False), cache=tmp_path / "off") == ""
    assert stderr_of(PYTHON.format("'WARNING'", None), cache=tmp_path / "warning") == ""


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever takes any time is shown, and every text of it."""
    monkeypatch.setattr(notices, "PATIENCE_SECONDS", 0.0)
    for output in (notices.LogOutput, notices.NotebookOutput):
        monkeypatch.setattr(output, "seconds", 0.0)
    # the timer starts the line in this thread, so that nothing depends on which thread is first
    monkeypatch.setattr(threading, "Timer", lambda seconds, start: Immediate(start))
    return


class Immediate:
    """A timer that is up when it starts."""

    def __init__(self, start: object) -> None:
        self.start, self.daemon = start, False

    def cancel(self) -> None:
        """Too late."""

    def join(self) -> None:
        """It has ended."""


class Cells:
    """A notebook's outputs."""

    def __init__(self) -> None:
        self.outputs: list[list[str]] = []

    def display(self, data: dict[str, str], raw: bool, display_id: bool) -> "Cells":
        self.outputs.append([data["text/plain"]])
        return self

    def update(self, data: dict[str, str], raw: bool) -> None:
        self.outputs[-1].append(data["text/plain"])


@pytest.fixture
def cells(monkeypatch: pytest.MonkeyPatch) -> Cells:
    """A notebook in which this runs."""
    made, ipython = Cells(), ModuleType("IPython")
    ipython.get_ipython = type("ZMQInteractiveShell", (), {})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=made.display))
    return made


def test_nothing_is_shown_of_what_is_quick(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str], cells: Cells
) -> None:
    assert notices.PATIENCE_SECONDS == 2.0
    with caplog.at_level(logging.INFO, "treeplex"), reporting(None, "quick"):
        tell("quickly done")
    assert (cells.outputs, caplog.records, capsys.readouterr()) == ([], [], ("", ""))


@pytest.mark.usefixtures("at_once")
def test_scripts_see_records_at_info(caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]) -> None:
    with caplog.at_level(logging.INFO, "treeplex"), reporting(None, "sampling"):
        tell("sampling: 10 of 20")
    found = [(each.name, each.levelname, each.message) for each in caplog.records]
    assert found == [("treeplex", "INFO", "sampling"), ("treeplex", "INFO", "sampling: 10 of 20")]
    caplog.clear()
    with caplog.at_level(logging.INFO, "treeplex"), reporting(False, "sampling"):
        tell("sampling: 10 of 20")
    with caplog.at_level(logging.WARNING, "treeplex"), reporting(None, "sampling"):
        tell("sampling: 10 of 20")
    assert (caplog.records, capsys.readouterr()) == ([], ("", ""))


def test_records_are_ten_seconds_apart(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    now = 100.0
    monkeypatch.setattr(threading, "Timer", lambda seconds, start: Immediate(start))
    monkeypatch.setattr(notices, "perf_counter", lambda: now)
    with caplog.at_level(logging.INFO, "treeplex"), Line() as line:
        for now in range(100, 125):
            line.say(f"{now - 100} s")
    assert [each.message for each in caplog.records] == ["10 s", "20 s"]


@pytest.mark.usefixtures("at_once")
def test_a_notebook_has_one_line_that_shows_compiling_and_then_the_work_again(cells: Cells) -> None:
    with reporting(None, "judging"), reporting(None, "judging more"):
        on_compilation(True)
        on_compilation(False)
        tell("judged")
    assert cells.outputs == [["", "judging", "judging more", COMPILING, "judging more", "judged", ""]]


@pytest.mark.slow_cases("None")
@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("progress", [None, False])
def test_public_functions_report(progress: bool | None, cells: Cells) -> None:
    """All that may take long; ``progress=False`` turns it off."""
    rules = tp.load("kuhn_poker")
    game = tp.compile(rules, progress=progress)
    policy = tp.solve(game, iterations=5, progress=progress).policy
    device = tp.correlation.from_policy(policy, progress=progress)
    tp.correlation.judge(device, progress=progress)
    tp.judge(game, policy, progress=progress)
    tp.best_response(game, policy, 0, progress=progress)
    tp.compare(game, ["cfr"], iterations=2, progress=progress)
    tp.sample("kuhn_poker", iterations=5, playouts=2, progress=progress)
    tp.match("kuhn_poker", ["uniform", "uniform"], hands=20, sampled=True, progress=progress)
    tp.structure("kuhn_poker", progress=progress)
    tp.search.agent_policy(tp.agent("search(iterations=2)", "kuhn_poker"), game, plays=2, progress=progress)
    tp.arena.local_best_response("leduc_poker", "uniform", hands=4, progress=progress)
    shown = " ".join(text for output in cells.outputs for text in output)
    words = [
        "compiling the game",
        "dcfr",
        "plans",
        "joint plans: deviation gains of player",
        "judging",
        "best response",
        "es-mccfr",
        "hands 20",
    ]
    words += ["walking the game", "draw 2 of 2", "local best response"]
    assert [word for word in words if word in shown] == (words if progress is None else [])
    assert len(cells.outputs) == (12 if progress is None else 0)


def test_workers_report_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with make_executor("processes", 1) as executor:
        assert list(executor.map(jobs.reported, [()])) == [(True, [])]


@pytest.mark.parametrize(("announces", "said"), [(True, True), (False, False)])
def test_the_command_line_says_once_that_it_compiles(
    announces: bool, said: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(notices, "_announced", False)
    with Line() as line, Line(False):
        line.announces = announces
        for now in (True, False, True):
            on_compilation(now)
    assert capsys.readouterr().err == (f"{COMPILING}\n" if said else "")


def test_solvers_stepped_by_hand_say_that_kernels_compile_once_that_took_long(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(notices, "_announced", False)
    caplog.set_level(logging.INFO, "treeplex")
    for seconds, messages in ((0.5, []), (2.5, [COMPILING]), (3.0, [COMPILING])):
        monkeypatch.setattr(notices, "compile_times", lambda seconds=seconds: (seconds, seconds))
        on_compilation(False)
        assert [each.message for each in caplog.records] == messages


def test_nobody_reads_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = list[str]()

    class ClosedStream:
        def write(self, text: str) -> int:
            tried.append(text)
            raise BrokenPipeError

        def flush(self) -> None:
            raise BrokenPipeError

    monkeypatch.setattr("sys.stderr", ClosedStream())
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
