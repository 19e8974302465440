"""Jobs: what the page solves is what the library solves; they stop, go on, and survive the server."""

import csv
import json
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from tests.processes import spawned
from tests.web.conftest import RIVER, TURN, running
from treeplex.holdem.solve.solution import load_solution
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.files import request_from_options
from treeplex.web.arrays import unpack
from treeplex.web.jobs import queue as queue_module
from treeplex.web.jobs.queue import PageJob
from treeplex.web.jobs.running import JobProcess
from treeplex.web.served import ServerState

ENDLESS = {**TURN, "target": "0", "iterations": 1_000_000, "threads": 1}
PATIENCE = 90.0


def add(client: httpx.Client, **request: Any) -> dict[str, Any]:
    answer = client.post("/api/jobs", json=request)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def do(client: httpx.Client, job: dict[str, Any], step: str) -> httpx.Response:
    return client.post(f"/api/jobs/{job['id']}/{step}", headers={"content-type": "application/json"})


def wait(client: httpx.Client, job: dict[str, Any], ready: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The job once it is as it is to be."""
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        found: dict[str, Any] = client.get(f"/api/jobs/{job['id']}").json()
        if ready(found):
            return found
        assert found["state"] != "failed", found["error"]
        time.sleep(0.05)
    raise AssertionError(found)


def in_state(*states: str) -> Callable[[dict[str, Any]], bool]:
    return lambda job: job["state"] in states


@pytest.mark.slow
def test_a_river_solved_with_pytorch(client: httpx.Client, folder: Path) -> None:
    pytest.importorskip("torch")
    fields = {**RIVER, "iterations": 40, "target": "0", "device": "torch-cpu"}
    found = wait(client, add(client, fields=fields, name="tensors"), in_state("finished"))
    solution = load_solution(folder / found["file"])
    assert solution.settings.device == "torch-cpu"
    assert found["exploitability"] == pytest.approx(solution.policy.judge().exploitability, rel=1e-3)


@pytest.mark.slow
def test_a_river_solved_and_solved_again_with_a_painted_lock(client: httpx.Client, folder: Path) -> None:
    job = add(client, fields={**RIVER, "iterations": 40, "target": "0"}, name="mine")
    found = wait(client, job, in_state("finished"))
    wanted = solve_spot(request_from_options({**RIVER, "target": "0"}).spot(), iterations=40, threads=1)
    assert found["file"] == "mine.spot"
    assert found["exploitability"] == pytest.approx(wanted.exploitability, rel=1e-6)
    assert [record[0] for record in found["records"]] == [10, 20, 30, 40]
    head, arrays = unpack(client.get(f"/api/jobs/{job['id']}/node", params={"line": "x"}).content)
    np.testing.assert_allclose(arrays["frequency"], wanted.at("x").strategy, atol=1e-6)

    rows, table = arrays["hands1"].astype(int)[:5].tolist(), np.zeros((len(head["actions"]), 5))
    table[0] = 1.0
    lock = {"line": "x", "rows": rows, "strategy": table.tolist()}
    again = add(client, **{"from": "mine.spot"}, locks=[lock], iterations=20)
    assert wait(client, again, in_state("finished"))["file"] == "mine-locked.spot"
    head, locked = unpack(client.get("/api/solution/node", params={"file": "mine-locked.spot", "line": "x"}).content)
    assert head["locked"] == 5
    assert locked["hands1"][locked["locked"] > 0].tolist() == rows
    np.testing.assert_array_equal(locked["frequency"][0][:5], 1)
    words = {"line": "b50", "hands": "KK", "strategy": "f 100%"}
    third = wait(client, add(client, **{"from": "mine-locked.spot"}, locks=[words], iterations=10), in_state("finished"))
    solution = load_solution(folder / third["file"])
    assert solution.policy.locked("x").sum() == 5
    place = solution.policy.locked("b50")
    assert 0 < place.sum() <= 6
    np.testing.assert_array_equal(solution.at("b50").strategy[0][place], 1)


@pytest.mark.slow
def test_a_job_is_looked_at_paused_and_goes_on(client: httpx.Client, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_module, "MOST_AT_ONCE", 1)
    job, other = add(client, fields=ENDLESS), add(client, fields=RIVER, name="second")
    third = add(client, fields=RIVER, name="third")
    wait(client, job, lambda job: job["done"] > 0)
    assert client.get(f"/api/jobs/{other['id']}").json()["place"] == 1
    assert do(client, third, "first").json()["place"] == 1
    assert do(client, other, "stop").json()["state"] == "stopped"
    head, arrays = unpack(client.get(f"/api/jobs/{job['id']}/node", params={"line": "x,x,2c"}).content)
    assert head["street"] == "river"
    np.testing.assert_allclose(arrays["frequency"].sum(axis=0), 1, atol=1e-5)
    assert client.get(f"/api/jobs/{job['id']}/node", params={"line": "b7"}).status_code == 400
    assert client.post("/api/jobs", json={"resume": job["file"]}).status_code in (404, 409)
    assert client.delete(f"/api/jobs/{job['id']}").status_code == 409
    assert do(client, job, "go-on").status_code == 409
    do(client, job, "pause")
    paused = wait(client, job, in_state("paused"))
    assert paused["done"] == load_solution(folder / job["file"]).iterations > 0
    wait(client, third, in_state("running", "finished"))
    do(client, third, "stop")
    do(client, job, "go-on")
    wait(client, job, lambda job: job["done"] > paused["done"])
    do(client, job, "stop")
    ended = wait(client, job, in_state("stopped"))
    assert load_solution(folder / job["file"]).iterations == ended["done"] > paused["done"]
    assert ended["records"] == sorted(ended["records"])
    assert client.delete(f"/api/jobs/{job['id']}").status_code == 200
    assert (folder / job["file"]).exists()
    assert client.delete(f"/api/jobs/{job['id']}").status_code == 404
    assert client.delete(f"/api/jobs/{third['id']}").status_code == 200


@pytest.mark.slow
def test_a_solution_of_the_command_line_goes_on(folder: Path) -> None:
    with running(ServerState(folder, threads=1)) as client:
        job = add(client, resume="river.spot", iterations=80)
        assert job["done"] == 60
        assert wait(client, job, in_state("finished"))["done"] == 80
    assert load_solution(folder / "river.spot").iterations == 80


@pytest.mark.slow
def test_a_new_server_goes_on(folder: Path) -> None:
    with running(ServerState(folder, threads=1)) as client:
        job = add(client, fields=ENDLESS)
        wait(client, job, lambda job: job["done"] > 0)
    before = load_solution(folder / job["file"]).iterations
    kept = json.loads((folder / ".web" / "jobs" / f"{job['id']}.json").read_text())
    assert kept["state"] == "running"
    (folder / ".web" / "jobs" / "bad.json").write_text("{}")
    with running(ServerState(folder, threads=1)) as client:
        assert wait(client, job, lambda job: job["done"] > before)["state"] == "running"
        do(client, job, "stop")
        wait(client, job, in_state("stopped"))


def test_what_cannot_be_done_is_said(client: httpx.Client, folder: Path) -> None:
    for request, word in (
        ({"from": "none.spot"}, "none.spot"),
        ({"from": "../x.spot"}, "not a file name"),
        ({"resume": "river.spot", "target": "5q"}, "5q"),
        ({"fields": RIVER, "resume": "river.spot"}, "exactly one of"),
        ({"fields": RIVER, "locks": [{"line": "x", "strategy": "x 100%"}]}, "'locks' applies only with 'from'"),
        (
            {"from": "river.spot", "locks": [{"line": "x", "rows": [1], "strategy": "x 100%"}]},
            "'rows' with a strategy",
        ),
        ({}, "exactly one of"),
        ({"fields": RIVER, "iterations": 0}, "iterations"),
    ):
        answer = client.post("/api/jobs", json=request)
        assert answer.status_code in (400, 403, 404), request
        assert word in answer.json()["error"]
    for path in ("none", "0" * 12):
        assert client.get(f"/api/jobs/{path}").status_code == 404
    assert not list((folder / ".web" / "jobs").glob("*.json"))


@pytest.mark.slow
def test_a_lock_that_fits_nowhere_fails_with_a_line(client: httpx.Client) -> None:
    job = add(client, **{"from": "river.spot"}, locks=[{"line": "x,x,x", "strategy": "x 100%"}])
    found = wait(client, job, in_state("failed"))
    assert "the hand is over" in found["error"]
    assert found["records"] == []


def test_a_job_without_its_file_is_kept_as_data_only(served: ServerState) -> None:
    text = PageJob(id="0" * 12, name="x", file="x.spot", request={"fields": {}}, created=1, order=1).saved_text()  # type: ignore[arg-type]
    assert PageJob.model_validate_json(text).request.fields == {}


@contextmanager
def web(folder: Path) -> Iterator[tuple[Any, httpx.Client]]:
    """The command in a process of its own, and a client of it."""
    with spawned("web", folder, "--no-browser", "--port", "0", "--threads", "1") as process:
        line = process.stdout.readline()
        address = re.search(r"http://\S+/", line)
        assert address, line + process.stderr.read()
        with httpx.Client(base_url=address[0], timeout=60) as client:
            ends = time.monotonic() + PATIENCE
            while time.monotonic() < ends:
                try:
                    client.get("/api/jobs")
                    break
                except httpx.ConnectError:
                    time.sleep(0.1)
            yield process, client


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_the_server_is_killed_mid_solve_and_started_again(folder: Path, how: signal.Signals) -> None:
    with web(folder) as (process, client):
        job = add(client, fields=ENDLESS)
        wait(client, job, lambda job: job["done"] > 0)
        process.send_signal(how)
        process.wait(60)
        assert "Traceback" not in process.stderr.read()
    with web(folder) as (process, client):
        found = wait(client, job, lambda job: job["done"] > 0 and job["state"] == "running")
        assert found["records"]
        do(client, job, "stop")
        wait(client, job, in_state("stopped"))
        process.send_signal(signal.SIGINT)
        assert process.wait(60) in (0, 130)


RIVERS = "Td9d6hQc2s, Td9d6hQc3s:2, Td9d6hQcKs"
OPEN = {name: value for name, value in RIVER.items() if name != "board"}


@pytest.mark.slow
def test_many_boards_are_solved_as_one_job_and_go_on_with_a_new_server(folder: Path) -> None:
    """The rows of the report are those of each board solved by itself."""
    with running(ServerState(folder, threads=1)) as client:
        job = add(client, fields={**OPEN, "iterations": 40, "target": "0"}, boards=RIVERS, name="many", keep=True)
        assert (job["kind"], job["total"], job["file"]) == ("batch", 3, "many")
        wait(client, job, lambda found: found["done"] >= 1)
        assert client.get(f"/api/jobs/{job['id']}/node").status_code == 400
    with running(ServerState(folder, threads=1)) as client:
        assert wait(client, job, in_state("finished"))["done"] == 3
        report = client.get("/api/batch", params={"file": "many"}).json()
        assert [(row["board"], row["weight"]) for row in report["rows"]] == [
            ("Td9d6hQc2s", 1),
            ("Td9d6hQc3s", 2),
            ("Td9d6hQcKs", 1),
        ]
        assert {row["unit"] for row in report["rows"]} == {"chips"}
        for row in report["rows"]:
            fields = {**OPEN, "board": row["board"], "target": "0"}
            alone = solve_spot(request_from_options(fields).spot(), iterations=40, threads=1)
            assert list(row["lines"][""]["actions"].values()) == pytest.approx(alone.at("").frequency.tolist(), abs=1e-6)
            assert client.get("/api/solution", params={"file": row["spot"]}).json()["iterations"] == 40
        average = [*csv.DictReader((folder / "many" / "report.csv").read_text().splitlines())][-1]
        chances = [row["chance"] for row in report["rows"]]
        assert float(average["ev_oop"]) == pytest.approx(np.average([row["ev"][0] for row in report["rows"]], weights=chances))
        start = client.get("/api/start").json()
        assert [each["file"] for each in start["batches"]] == ["many"]
        ranges = request_from_options({**OPEN, "board": RIVER["board"]}).spot().ranges
        river = next(each for each in start["solutions"] if each["file"] == "river.spot")
        assert river["combos"] == [weights.sum() for weights in ranges]


@pytest.mark.parametrize(
    ("request_", "field", "said"),
    [
        ({"fields": OPEN, "boards": "/etc/hosts"}, "boards", "only be used on the command line"),
        ({"fields": OPEN, "boards": "subset:x"}, "boards", "write subset:25"),
        ({"fields": OPEN, "boards": ""}, "boards", "boards is empty"),
        ({"fields": {**OPEN, "oop": "AsKd"}, "boards": "subset:5"}, "boards", "suit-specific"),
        ({"fields": {**OPEN, "pot": "-1"}, "boards": "Td9d6h"}, "pot", "too small"),
        ({"resume": "river.spot", "boards": "all"}, None, "apply only with 'fields'"),
    ],
)
def test_boards_that_cannot_be_solved(shared: httpx.Client, request_: dict[str, Any], field: str | None, said: str) -> None:
    answer = shared.post("/api/jobs", json=request_)
    assert (answer.status_code, answer.json()["field"]) == (400, field)
    assert said in answer.json()["error"]
    if "fields" in request_:
        checked = shared.post("/api/spots/check", json=request_).json()
        assert checked["estimate"] is None
        assert checked["problems"]


def test_the_size_of_many_boards_is_that_of_the_first(shared: httpx.Client) -> None:
    """Ranges of classes tell no suits apart, though a board blocks some of their hands."""
    checked = shared.post("/api/spots/check", json={"fields": OPEN, "boards": "subset:5"}).json()
    assert (checked["ok"], checked["boards"], len(checked["board"])) == (True, 5, 3)
    assert checked["estimate"]["seconds_typical"] > 0


@pytest.mark.slow
def test_jobs_run_side_by_side_and_a_long_iteration_is_paused_at_once(
    client: httpx.Client, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With no time to save, a paused process is stopped where it is; it keeps its memory, and goes on from there."""
    first, second = add(client, fields=ENDLESS, name="first"), add(client, fields=ENDLESS, name="second")
    for job in (first, second):
        wait(client, job, lambda job: job["state"] == "running" and job["done"] > 0)
    monkeypatch.setattr(queue_module, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(JobProcess, "stop", lambda process: None)  # as if its iteration did not end
    do(client, first, "pause")
    paused = wait(client, first, in_state("paused"))
    assert paused["in_memory"]
    time.sleep(0.5)
    later = client.get(f"/api/jobs/{first['id']}").json()
    time.sleep(0.5)
    assert client.get(f"/api/jobs/{first['id']}").json()["done"] == later["done"]
    assert client.get(f"/api/jobs/{second['id']}").json()["state"] == "running"
    do(client, first, "go-on")
    wait(client, first, lambda job: job["state"] == "running" and job["done"] > later["done"])
    monkeypatch.undo()
    for job in (first, second):
        do(client, job, "stop")
        wait(client, job, in_state("stopped"))
        assert (folder / job["file"]).exists()


@pytest.mark.slow
def test_a_job_waits_while_its_memory_is_taken(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_module, "available_memory", lambda: 0)
    first, second = add(client, fields=ENDLESS, name="first"), add(client, fields=ENDLESS, name="second")
    wait(client, first, lambda job: job["done"] > 0)
    assert client.get(f"/api/jobs/{second['id']}").json()["state"] == "waiting"
    monkeypatch.undo()
    do(client, first, "stop")
    wait(client, second, lambda job: job["done"] > 0)
    do(client, second, "stop")
    wait(client, second, in_state("stopped"))
