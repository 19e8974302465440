"""The process of a job, without a server."""

import json
import subprocess
import sys
from pathlib import Path

from tests.web.conftest import RIVER


def test_a_process_ends_by_itself_while_its_commands_stay_open(tmp_path: Path) -> None:
    order = {"request": {"fields": RIVER}, "file": str(tmp_path / "river.spot"), "origin": None, "total": None, "threads": 1}
    command = [sys.executable, "-P", "-m", "treeplex.web.jobs.process"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(json.dumps(order).encode() + b"\n")
        process.stdin.flush()
        events = [json.loads(line) for line in process.stdout]
        assert process.wait(60) == 0, process.stderr.read()
    assert events[-1]["event"] == "end"
    assert (tmp_path / "river.spot").exists()
