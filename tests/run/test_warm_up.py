"""Compiling the kernels before the first run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from treeplex.base.notices import COMPILING
from treeplex.run import warm_up as module
from treeplex.run.warm_up import warm_up

SPOT = ("--oop", "AA", "--ip", "KK", "--pot", "20", "--stack", "60", "--bets", "a")
RUNS = [
    ("solve", "leduc_poker", "-n", "2"),
    ("solve", "leduc_poker", "-a", "pcfr+", "-n", "2"),
    ("solve", "--board", "Td 9d 6h Qc 2s", *SPOT, "-n", "2"),
    ("solve", "--board", "Td 9d 6h Qc", *SPOT, "-n", "2"),
]


@pytest.mark.skipif(not os.environ.get("TREEPLEX_SLOW"), reason="TREEPLEX_SLOW is not set: it compiles everything anew")
def test_after_it_nothing_is_compiled(tmp_path: Path) -> None:
    environment = os.environ | {"TREEPLEX_KERNELS": str(tmp_path)}
    code = "from treeplex.run.cli.main import main; main()"

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        found = [sys.executable, "-c", code, *arguments]
        return subprocess.run(found, capture_output=True, text=True, env=environment, check=True)

    assert COMPILING in run(*RUNS[0]).stderr
    assert "kernels compiled in" in run("kernels", "warm").stdout
    for arguments in RUNS:
        assert run(*arguments).stderr == "", arguments


def test_jobs_run_and_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "jobs", lambda: {"one": sys.getrecursionlimit, "two": os.getpid})
    seen: list[list[str]] = []
    warm_up(lambda left: seen.append(list(left)))
    assert seen[0] == ["one", "two"]
    assert seen[-1] == []


def test_an_error_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "jobs", lambda: {"wrong": len})
    with pytest.raises(TypeError):
        warm_up()
