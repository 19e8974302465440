"""Tables, games and runs over HTTP: processes behind them, what is refused, and what is read from folders."""

import json
import random
from pathlib import Path
from typing import Any

import httpx
import pytest

import treeplex as tp
from tests.web.conftest import running
from treeplex.web.folder.named import agent_named, game_named
from treeplex.web.playing.choices import choices
from treeplex.web.served import ServerState

FOREIGN: list[tuple[dict[str, Any], int]] = [
    ({"game": "evil.py:Game"}, 403),
    ({"game": "turn_based(game=evil.py:Game)"}, 403),
    ({"game": 'turn_based(game="evil\\x2epy:Game")'}, 403),
    ({"game": "../secret.efg"}, 403),
    ({"game": "/etc/passwd.efg"}, 403),
    ({"game": "matrix(file=/etc/passwd)"}, 403),
    ({"game": "leduc_poker", "against": "evil.py:Agent"}, 403),
    ({"game": "leduc_poker", "against": "search(leaf=evil.py:Leaf)"}, 403),
    ({"game": "leduc_poker", "against": "blueprint(file=/etc/passwd)"}, 403),
    ({"game": "leduc_poker", "against": "blueprint(file=../secret)"}, 403),
    ({"game": "leduc_poker", "against": "lbr(against=\"blueprint(file='/etc/passwd')\")"}, 403),
    ({"game": "leduc_poker", "against": "nobody"}, 404),
    ({"game": "nothing"}, 400),
    ({"game": ""}, 400),
    ({"game": "leduc_poker(" * 50}, 400),
    ({"game": "\0"}, 400),
    ({"game": "leduc_poker", "against": "\0"}, 404),
    ({"game": "leduc_poker", "against": "blueprint(file='\0')"}, 400),
    ({}, 400),
]


@pytest.mark.slow
def test_code_and_files_from_elsewhere_are_refused(client: httpx.Client) -> None:
    for body, status in FOREIGN:
        answer = client.post("/api/tables", json=body)
        assert (answer.status_code, set(answer.json())) == (status, {"error", "field"}), body
        if "against" not in body:
            assert client.post("/api/games", json=body).status_code == status, body


@pytest.mark.slow
def test_a_table_a_game_and_their_ends(folder: Path) -> None:
    """One table and one game in their processes: hands of the wire are the library's, and faults stay one line."""
    with running(ServerState(folder, own_games=("examples/mygame.py",), threads=1)) as client:
        table = client.post("/api/tables", json={"game": "river.spot", "seat": 0, "title": "a river"}).json()
        assert (table["game"], table["judged"], table["over"]) == ("a river", "solution", False)
        address = f"/api/tables/{table['id']}"
        while not table["over"]:
            table = client.post(f"{address}/play", json={"action": table["options"][0]["id"]}).json()
        assert client.get(address).json()["hand"] == client.get(f"{address}/hands/1").json()
        assert client.post(f"{address}/next", json={"repeat": 1}).json()["number"] == 2
        assert client.post(f"{address}/play", json={"action": 77}).status_code == 400
        assert client.get(f"{address}/hands/1/phh").status_code == 400
        (kept,) = client.get("/api/tables").json()["tables"]
        assert (kept["id"], kept["game"], kept["against"]) == (table["id"], "a river", "solution")
        assert list(client.request("DELETE", address, headers={"content-type": "application/json"}).json()) == ["deleted"]
        assert client.get(address).status_code == 404
        game = client.post("/api/games", json={"game": "examples/mygame.py"}).json()
        assert game["exploitability"] == pytest.approx(3.25e-5, rel=0.01)
        node = client.get(f"/api/games/{game['id']}/node", params={"path": "0,1"}).json()
        assert node["player"] == 0
        for path in ("9", "x", "1,,99999999999", "-1"):
            assert client.get(f"/api/games/{game['id']}/node", params={"path": path}).status_code == 400
        assert client.post("/api/games", json={"game": "examples/mygame.py"}).json()["id"] == game["id"]


@pytest.mark.slow
def test_a_table_outlives_its_server(folder: Path) -> None:
    with running(ServerState(folder, threads=1)) as client:
        first = client.post("/api/tables", json={"game": "kuhn_poker", "seat": 0, "against": "uniform"}).json()
        address = f"/api/tables/{first['id']}"
        stood = client.post(f"{address}/play", json={"action": first["options"][0]["id"]}).json()
    tables = folder / ".web" / "tables"
    (tables / "2.jsonl").write_text('{"table": {"game": "evil.py:Game"}}\n')
    (tables / "3.jsonl").write_text("[]\n")
    with running(ServerState(folder, threads=1)) as client:
        assert client.get(address).json() | {"dice": 0} == stood | {"dice": 0}
        assert [client.get(f"/api/tables/{name}").status_code for name in ("2", "3", "4")] == [403, 400, 404]
        assert {each["id"] for each in client.get("/api/tables").json()["tables"]} == {"1", "2"}


@pytest.mark.slow
def test_runs_and_their_curves(client: httpx.Client, folder: Path) -> None:
    solved = tp.solve("kuhn_poker", "cfr+", iterations=64, out=str(folder / "a"))
    tp.solve("kuhn_poker", "dcfr", iterations=32, out=str(folder / "mine" / "b"))
    runs = client.get("/api/runs").json()["runs"]
    assert {run["file"]: run["algorithm"] for run in runs} == {"a": "cfr+", "mine/b": "dcfr"}
    first, second = client.get("/api/runs/curves", params={"file": ["a", "mine/b"]}).json()["curves"]
    assert first["effort"]["done"] == [record.done for record in solved.records]
    assert first["numbers"]["exploitability"] == [record.exploitability for record in solved.records]
    assert second["settings"]["iterations"] == "32"
    with (folder / "a" / "metrics.jsonl").open("a") as file:
        file.write('{"done": 70, "exploit')  # a line that is being written
    assert client.get("/api/runs/curves", params={"file": "a"}).json()["curves"][0]["count"] == first["count"]
    (folder / "c").mkdir()
    (folder / "c" / "run.json").write_text("{")
    assert len(client.get("/api/runs").json()["runs"]) == 2
    for name, status in (("c", 404), ("nothing", 404), ("../a", 403)):
        assert client.get("/api/runs/curves", params={"file": name}).status_code == status


def test_hands_are_saved_and_opened(client: httpx.Client) -> None:
    answer = client.post("/api/hands/replay", json={"text": "variant = 'NT'"})
    assert (answer.status_code, "not a PHH hand" in answer.json()["error"]) == (400, True)
    assert client.get("/api/hands/replay", params={"file": "../x.phh"}).status_code == 403
    assert client.get("/api/hands/replay", params={"file": "river.spot"}).status_code == 400
    assert client.get("/api/hands/review", params={"file": "mine"}).status_code == 404
    assert client.post("/api/hands/review", json={"text": "x", "street": "preflop"}).status_code == 400
    assert client.get("/api/hands").json() == {"hands": [], "reviews": []}
    assert json.loads(client.get("/api/tables/choices").text)["offered"][0]["against"][0] == "resolver"


def test_every_opponent_on_offer_is_understood(folder: Path) -> None:
    served = ServerState(folder, threads=1)
    offered = choices(())["offered"]
    assert len(offered) > 5
    for each in offered:
        game_named(served, each["game"])
        for opponent in each["against"]:
            assert agent_named(served, opponent) == opponent


def test_tables_keep_their_hands_until_they_are_deleted(folder: Path) -> None:
    tables = folder / ".web" / "tables"
    tables.mkdir(parents=True)
    (tables / "names.json").write_text('{"1": "of a table deleted long ago"}')
    with running(ServerState(folder, threads=1)) as client:
        table = client.post("/api/tables", json={"game": "kuhn_poker", "against": "uniform", "seed": 3}).json()
        name = table["id"]
        assert (name, table["name"]) == ("1", "")
        for _ in range(2):
            while not table["over"]:
                table = client.post(f"/api/tables/{name}/play", json={"action": table["options"][0]["id"]}).json()
            table = client.post(f"/api/tables/{name}/next", json={}).json()
        (row,) = client.get("/api/tables").json()["tables"]
        assert (row["hands"], row["won"]) == (2, sum(hand["payoff"] for hand in table["results"]["hands"]))
        client.post(f"/api/tables/{name}/rename", json={"name": "evening"}).raise_for_status()
        assert client.get(f"/api/tables/{name}").json()["name"] == "evening"
        token = client.delete(f"/api/tables/{name}").json()["deleted"]
        assert client.get("/api/tables").json()["tables"] == []
        assert client.get(f"/api/tables/{name}").status_code == 404
        other = client.post("/api/tables", json={"game": "kuhn_poker", "against": "uniform"}).json()
        assert other["id"] != name
        client.post(f"/api/deleted/{token}/restore", json={}).raise_for_status()
        again = client.get(f"/api/tables/{name}").json()
        assert (len(again["results"]["hands"]), again["name"], again["number"]) == (2, "evening", table["number"])


def test_an_answer_that_takes_long_is_asked_for_again(folder: Path) -> None:
    """A process takes longer to start than no time at all: the table says so, and its answer comes later."""
    with running(ServerState(folder, threads=1)) as client:
        table = client.post("/api/tables?wait=0", json={"game": "kuhn_poker", "against": "uniform"}).json()
        assert table["busy"]["doing"] == "opening"
        busy = client.get(f"/api/tables/{table['id']}?wait=0").json()["busy"]
        assert busy is None or busy["seconds"] > table["busy"]["seconds"]
        if busy is not None:
            assert client.post(f"/api/tables/{table['id']}/next?wait=0", json={}).status_code == 409
        table = client.get(f"/api/tables/{table['id']}").json()
        assert table["busy"] is None
        assert table["options"]
        wrong = client.post("/api/tables?wait=0", json={"game": "kuhn_poker", "against": "resolver"}).json()
        assert client.get(f"/api/tables/{wrong['id']}").status_code == 400
        assert [each["id"] for each in client.get("/api/tables").json()["tables"]] == [table["id"]]


def test_the_strongest_agent_is_offered_first_and_by_name() -> None:
    first, *others = choices()["offered"]
    assert first["game"].startswith("holdem(")
    assert first["against"][0] == "resolver"
    assert [each["poker"] for each in [first, *others]].count(True) == len(
        [each for each in [first, *others] if "poker" in each["game"] or "holdem" in each["game"] or "turn" in each["game"]]
    )


def test_random_play_is_never_the_first_opponent() -> None:
    offered = choices(("mine.py",))["offered"]
    assert {each["against"][0] for each in offered} == {"resolver", "rules(style=regular)", "solution", "rebel"}


@pytest.mark.slow
def test_the_solution_plays_a_game_that_is_too_large_to_judge(client: httpx.Client) -> None:
    """Tic-tac-toe: the opponent never loses to a person who plays at random."""
    table = client.post("/api/tables", json={"game": "tic_tac_toe", "seed": 4}).json()
    assert table["judged"] is None
    assert 0 <= float(table["about"].rpartition("exploitability ")[2]) < 0.02
    won, draw, address = list[float](), random.Random(5), f"/api/tables/{table['id']}"
    for _ in range(6):
        while not table["over"]:
            table = client.post(f"{address}/play", json={"action": draw.choice(table["options"])["id"]}).json()
        won.append(table["hand"]["payoff"])
        table = client.post(f"{address}/next", json={}).json()
    assert max(won) <= 0
    assert min(won) < 0
    answer = client.post("/api/tables", json={"game": "phantom_ttt"})
    assert (answer.status_code, "too large to solve" in answer.json()["error"]) == (400, True)
