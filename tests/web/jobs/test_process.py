"""The process of a job, without a server."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.web.conftest import RIVER
from treeplex.errors import FileError
from treeplex.holdem.solve.solution import HoldemSolution
from treeplex.web.jobs.process import Line, Order, asked_of
from treeplex.web.jobs.requests import JobRequest


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


def test_a_solution_to_resume_that_was_removed(tmp_path: Path) -> None:
    order = Order(JobRequest(resume="river.spot"), tmp_path / "river.spot", None, None, 1)
    with pytest.raises(FileError, match=r"river\.spot: the solution to resume was removed"):
        asked_of(order, Line(io.BytesIO(), io.BytesIO()))


def test_a_file_with_another_spot_is_not_resumed(tmp_path: Path, solved: dict[str, HoldemSolution]) -> None:
    file, line = tmp_path / "river.spot", Line(io.BytesIO(), io.BytesIO())
    solved["river"].save(file)
    mine, other = (Order(JobRequest(fields=fields), file, None, None, 1) for fields in (RIVER, {**RIVER, "pot": "7"}))
    assert asked_of(mine, line)[1].resume.iterations == solved["river"].iterations
    with pytest.raises(FileError, match=r"river\.spot is now the solution of another spot"):
        asked_of(other, line)
