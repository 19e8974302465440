"""The process of a job, without a server."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.web.conftest import RIVER, TURN
from treeplex.errors import FileError
from treeplex.holdem.solve.session import spot_session
from treeplex.holdem.solve.solution import HoldemSolution
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.files import request_from_options
from treeplex.web.jobs.process import Line, Order, asked_of, run
from treeplex.web.jobs.requests import JobRequest, Lock


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


@pytest.mark.parametrize("storage", ["int16", "int8", "packed"])
def test_a_solution_in_small_numbers_is_solved_again_with_a_lock(tmp_path: Path, storage: str) -> None:
    """The page offers no storage for it, and a budget may have chosen int16."""
    origin, line = tmp_path / "turn.spot", Line(io.BytesIO(), io.BytesIO())
    solve_spot(request_from_options(TURN).spot(), iterations=1, threads=1, storage=storage, out=origin)
    request = JobRequest(origin="turn.spot", locks=[Lock(line="x", strategy="x 100%")], iterations=1)
    with spot_session(*asked_of(Order(request, tmp_path / "locked.spot", origin, None, 1), line)) as session:
        session.run()
        assert session.job.solver.locks
    plain = JobRequest(origin="turn.spot", iterations=1)
    assert asked_of(Order(plain, tmp_path / "plain.spot", origin, None, 1), line)[1].options["storage"] == storage


def test_the_time_of_a_budget_applies_to_each_board(tmp_path: Path) -> None:
    """Both boards stop far from their target; the results say with which limit."""
    fields = {**{name: value for name, value in TURN.items() if name != "board"}, "target": "0", "iterations": "1000000"}
    request, (commands, server) = JobRequest(fields=fields, boards="Td9d6hQc, Td9d6h2s", budget="1GB,1s"), os.pipe()
    with os.fdopen(commands, "rb") as read, os.fdopen(server, "wb"):  # a job stops at the end of its commands
        run(Order(request, tmp_path / "many", None, None, 1), Line(read, io.BytesIO()))
    rows = [json.loads(path.read_text()) for path in (tmp_path / "many" / "boards").glob("*.json")]
    assert len(rows) == 2
    assert all(row["iterations"] < 1000000 and row["seconds"] < 5 for row in rows)
    assert all(row["settings"]["seconds"] == pytest.approx(1 / 1.2) for row in rows)
