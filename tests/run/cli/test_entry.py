"""The command line as a process: Ctrl-C and SIGTERM at any time end it in one line."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from treeplex.run.job.folder import kind_of
from treeplex.run.job.interrupt import NOTICE

READY = "from treeplex.__main__ import main; print('ready', flush=True); main()"


def started(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", READY, *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_while_it_is_imported(number: int) -> None:
    process = started("games")
    time.sleep(0.02)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (out, err, process.returncode) == ("", "error: stopped\n", 130)


@pytest.mark.parametrize("kilobytes", [100_000, 350_000, 470_000])
def test_too_little_memory_is_one_line(kilobytes: int) -> None:
    command = f"ulimit -v {kilobytes} && exec {sys.executable} -m treeplex games"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"error: out of memory: \d+ MB of address space are allowed and 560 MB needed; raise .*\n", done.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_while_it_solves(tmp_path: Path, number: int) -> None:
    process = started("solve", "kuhn_poker", "-n", "100000000", "--out", str(tmp_path / "run"))
    deadline = time.monotonic() + 120
    while not (tmp_path / "run" / "metrics.jsonl").exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert re.fullmatch(rf"{NOTICE}\nerror: stopped after [\d,]+ iterations and saved; resume with .*\n", err)
    assert kind_of(tmp_path / "run") == "solve"
    assert os.path.exists(tmp_path / "run" / "state.safetensors")
