"""Budgets on the page: the plan is the terminal's, jobs respect it, and a preview comes first."""

import json
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from tests.web.conftest import RIVER, running
from tests.web.jobs.test_routes import add, do, in_state, wait
from treeplex.holdem.solve.budget import Budget, fit_spot, wished
from treeplex.holdem.solve.solution import load_solution
from treeplex.holdem.spots.files import request_from_options
from treeplex.web.arrays import unpack
from treeplex.web.jobs.process import Preview
from treeplex.web.served import ServerState

OPEN = {name: value for name, value in RIVER.items() if name not in ("bets", "raises")}
FLOP = {
    "board": "Ks 7h 2d",
    "oop": "22+,A2s+,KTs+,QTs+,JTs,AJo+,KQo",
    "ip": "22+,A2s+,K7s+,Q9s+,J8s+,ATo+,KJo+",
    "pot": "11",
    "stack": "97",
}


def check(client: httpx.Client, fields: dict[str, Any], budget: str) -> dict[str, Any]:
    checked: dict[str, Any] = client.post("/api/spots/check", json={"fields": fields, "budget": budget}).json()
    return checked


def prepared(client: httpx.Client) -> float:
    """The pace, once a process has compiled what it needs and measured it."""
    for _ in range(15):
        pace: float | None = client.post("/api/jobs/prepare", json={}).json()["pace"]
        if pace is not None:
            return pace
    raise AssertionError("the pace is not measured")


def test_the_plan_is_that_of_the_library(shared: httpx.Client) -> None:
    checked = check(shared, FLOP, "4 GB, 60 s")
    fitted = fit_spot(wished(request_from_options(FLOP)).spot(), Budget.read("4GB,60s"), threads=1)
    assert checked["ok"]
    assert checked["plan"]["fields"] == fitted.fields()
    assert checked["plan"]["left_out"] == list(fitted.left_out) != []
    assert checked["plan"]["memory"] == fitted.memory <= 4e9
    assert checked["estimate"]["numbers"] == fitted.estimate.size.stored
    assert "turn: 75%" in checked["text"]  # the spot file has the sizes, so that the terminal solves the same spot


@pytest.mark.parametrize(("budget", "words"), [("4", "cannot read '4'"), ("1MB", "smallest betting tree"), ("", "is empty")])
def test_budgets_that_cannot_be_met(shared: httpx.Client, budget: str, words: str) -> None:
    (problem,) = check(shared, FLOP, budget)["problems"]
    assert problem["field"] == "budget"
    assert words in problem["message"]
    answer = shared.post("/api/jobs", json={"fields": FLOP, "budget": budget})
    assert (answer.status_code, answer.json()["field"]) == (400, "budget")
    assert words in answer.json()["error"]


def test_a_budget_needs_a_new_spot(shared: httpx.Client) -> None:
    answer = shared.post("/api/jobs", json={"resume": "river.spot", "budget": "4GB"})
    assert answer.status_code == 400
    assert "'budget' applies only with 'fields'" in answer.json()["error"]


@pytest.mark.slow
def test_a_prepared_process_measures_the_pace_and_solves_within_the_budget(client: httpx.Client, folder: Path) -> None:
    pace = prepared(client)
    assert pace > 0
    assert client.post("/api/jobs/prepare", json={}).json()["pace"] == pace
    job = add(client, fields=OPEN, budget="1 GB, 20 s", name="fit")
    found = wait(client, job, in_state("finished"))
    assert (found["budget"], found["left_out"]) == ("1 GB, 20 s", [])
    assert 0 < found["memory"] < 1e9
    assert found["exploitability"] <= found["target"] == pytest.approx(0.5)
    solution = load_solution(folder / "fit.spot")
    assert len(solution.at("").actions) == 4
    assert (folder / ".web" / "jobs" / f"{job['id']}.log").exists()
    assert not (folder / ".web" / "jobs" / "next.log").exists()


@pytest.mark.slow
def test_the_time_of_a_budget_counts_over_pauses(folder: Path) -> None:
    endless = {**OPEN, "target": "0.0000001c", "iterations": "100000000"}
    with running(ServerState(folder, threads=1)) as client:
        job = add(client, fields=endless, budget="1GB, 6s")  # two seconds are for the start
        wait(client, job, lambda job: job["seconds"] > 1)
        do(client, job, "pause")
        paused = wait(client, job, in_state("paused"))
        assert paused["seconds"] < 3
        do(client, job, "go-on")
        found = wait(client, job, in_state("finished"))
        assert found["seconds"] == pytest.approx(4 / 1.2, abs=0.7)


@pytest.mark.slow
def test_a_preview_comes_before_the_first_iteration(folder: Path) -> None:
    with running(ServerState(folder, threads=1)) as client:
        prepared(client)
        job = add(client, fields={**FLOP, "bets": "50%", "raises": "none", "target": "0"})
        shown = wait(client, job, lambda job: job["viewable"])
        assert shown["records"] == []
        head, arrays = unpack(client.get(f"/api/jobs/{job['id']}/node").content)
        assert "turns and" in head["note"]
        np.testing.assert_allclose(arrays["frequency"].sum(axis=0), 1, atol=1e-5)
        ends = time.monotonic() + 120
        while head["note"] and time.monotonic() < ends:
            time.sleep(0.3)
            head, refined = unpack(client.get(f"/api/jobs/{job['id']}/node").content)
        assert head["note"] is None
        np.testing.assert_array_equal(refined["hands0"], arrays["hands0"])
        do(client, job, "stop")
        wait(client, job, in_state("stopped"))


def test_previews_have_the_first_decision_of_the_spot() -> None:
    spot = request_from_options({**FLOP, "bets": "33%, 75%", "raises": "3x"}).spot()
    preview = Preview.of(spot, 1)
    assert preview is not None
    assert [str(action) for action in preview.policy.at("").actions] == ["check", "bet 3.6", "bet 8.3"]
    assert Preview.of(request_from_options(RIVER).spot(), 1) is None


def test_a_stored_job_keeps_its_budget(folder: Path) -> None:
    with running(ServerState(folder, threads=1)) as client:
        job = add(client, fields={**OPEN, "target": "0"}, budget="1GB,30s")
        kept = json.loads((folder / ".web" / "jobs" / f"{job['id']}.json").read_text())
        assert kept["request"]["budget"] == "1GB,30s"
        assert kept["request"]["fields"]["bets"] == {"river": "33%,75%,150%,a"}
        do(client, job, "stop")
