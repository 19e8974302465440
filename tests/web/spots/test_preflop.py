"""Charts before the flop over HTTP: they are the library's."""

from pathlib import Path

import httpx
import numpy as np
import pytest

import treeplex as tp
from treeplex.holdem.blueprint.policy import HoldemBlueprint
from treeplex.holdem.blueprint.preflop import preflop_chart
from treeplex.holdem.cards.cards import CLASSES
from treeplex.holdem.study.flop_ranges import flop_ranges
from treeplex.holdem.study.preflop_charts import read_solved, shipped_charts, solution_chart
from treeplex.holdem.study.push_fold import push_fold


def test_push_or_fold_is_the_librarys(shared: httpx.Client) -> None:
    found = shared.get("/api/preflop/pushfold", params={"stack": 10}).json()
    wanted = push_fold(10)
    assert found["push"] == pytest.approx(wanted.push.tolist(), abs=1e-6)
    assert found["value"] == wanted.value
    chart = shared.get("/api/preflop/chart", params={"to": 8}).json()
    assert chart["push"][CLASSES.index("T3s")] == 7.5  # HoldemResources: pushed up to 7.7 big blinds
    assert chart["push"][CLASSES.index("AA")] == 8


def test_solved_charts_are_the_librarys(shared: httpx.Client) -> None:
    solution = read_solved("50bb")
    assert solution is not None
    assert shared.get("/api/preflop/charts").json() == {"charts": list(shipped_charts())}
    found = shared.get("/api/preflop/solved", params={"file": "50bb", "line": "r3"}).json()
    wanted = solution_chart(solution, "r2.5")
    assert (found["line"], found["path"], found["faced"], found["pot"]) == ("r2.5", [""], 2.5, 3.5)
    assert found["big_blind"] == 1
    assert "a raise to 3 is read as the nearest size, 2.5" in found["notes"][0]
    assert found["next"] == [None, None, "r2.5,r10"]
    assert np.allclose(found["shares"], wanted.shares, atol=1e-4)
    assert found["ev"][0] == [0] * 169
    aces, worst = CLASSES.index("AA"), CLASSES.index("72o")
    assert found["ev"][2][aces] == pytest.approx(wanted.ev[2, aces], abs=1e-4)  # type: ignore[index]
    assert found["ev"][2][aces] > 5
    assert found["ev"][1][worst] is None  # never called: what it plays after a call means nothing
    about = shared.get("/api/preflop/ranges", params={"file": "50bb"}).json()
    assert [each["line"] for each in about["lines"]] == [each.line for each in flop_ranges(solution)]
    assert "exploitability 7.5 mbb/hand" in about["made"]
    oop = about["lines"][1]["ranges"][0]
    assert shared.post("/api/spots/range", json={"text": oop["text"]}).json()["combos"] == pytest.approx(oop["combos"])


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("solved?file=40bb", 404),
        ("solved?file=50bb&line=r2.5,c", 400),
        ("solved?file=50bb&line=r40", 400),
        ("ranges?file=../a", 403),
    ],
)
def test_charts_that_do_not_exist(shared: httpx.Client, query: str, status: int) -> None:
    answer = shared.get(f"/api/preflop/{query}")
    assert (answer.status_code, bool(answer.json()["error"])) == (status, True)


@pytest.mark.slow
def test_charts_of_a_blueprint_are_the_librarys(client: httpx.Client, folder: Path) -> None:
    settings = {"boards": 20, "buckets": (169, 2, 2, 2)}
    tp.train("holdem(stack=10,preflop=[2.5bb;a],sizes=[a])", "blueprint", settings=settings, out=str(folder / "deep"))
    blueprint = HoldemBlueprint.load(folder / "deep")
    waiting, seen = [""], list[str]()
    while waiting:
        line = waiting.pop()
        found = client.get("/api/preflop/blueprint", params={"file": "deep", "line": line}).json()
        wanted = preflop_chart(blueprint, line)
        assert found["actions"] == list(wanted.actions)
        assert np.allclose(found["shares"], wanted.shares, atol=1e-4)
        seen.append(line)
        waiting += [each for each in found["next"] if each is not None]
    assert {"", "c", "r5"} <= {*seen}
    answer = client.get("/api/preflop/blueprint", params={"file": "deep", "line": "ff"})
    assert (answer.status_code, "ff" in answer.json()["error"]) == (400, True)
    assert client.get("/api/preflop/blueprint", params={"file": "mine"}).status_code == 400
    assert client.get("/api/preflop/blueprint", params={"file": "../x"}).status_code == 403


@pytest.mark.slow
def test_a_table_is_solved(shared: httpx.Client) -> None:
    found = shared.get("/api/preflop/table", params={"stacks": "6, 6", "payouts": "70 30"}, timeout=300).json()
    wanted = push_fold(6)
    assert found["seats"] == ["SB", "BB"]
    assert [node["title"] for node in found["nodes"]] == ["SB", "BB, after an all-in of SB"]
    assert found["before"] == pytest.approx([50, 50])
    assert found["nodes"][0]["share"] == pytest.approx(wanted.pushed, abs=0.05)
    assert found["nash_conv"][0] <= found["nash_conv"][1] < 0.1
    assert "NashConv between" in found["summary"]


@pytest.mark.parametrize(
    "query",
    [
        "table?stacks=6,a",
        "table?stacks=6",
        "table?stacks=6,nan",
        "table?stacks=6,6&payouts=1,2",
        "table?stacks=6,6&ante=9",
        "table",
    ],
)
def test_tables_that_cannot_be_solved(shared: httpx.Client, query: str) -> None:
    answer = shared.get(f"/api/preflop/{query}")
    assert (answer.status_code, bool(answer.json()["error"])) == (400, True)


@pytest.mark.parametrize(
    "query", ["pushfold?stack=0.5", "pushfold?stack=nan", "pushfold?stack=10&ante=-1", "chart?to=51", "chart"]
)
def test_what_cannot_be_charted_is_said(shared: httpx.Client, query: str) -> None:
    answer = shared.get(f"/api/preflop/{query}")
    assert (answer.status_code, set(answer.json())) == (400, {"error", "field"})
