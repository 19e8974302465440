"""The numbers that the page gets are those of the library."""

import csv
import io
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from tests.web.conftest import RIVER, TURN
from treeplex.holdem.cards.cards import HANDS, cards_to_string, hand_index
from treeplex.holdem.cards.ranges import parse_range
from treeplex.holdem.solve.solution import HoldemSolution
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.files import request_from_options
from treeplex.holdem.study.report.export import node_report
from treeplex.holdem.study.report.runouts import runouts
from treeplex.web.arrays import pack, unpack
from treeplex.web.served import ServerState

Solutions = dict[str, HoldemSolution]
SINGLE = {"rtol": 2e-6, "atol": 2e-5}


def node(client: httpx.Client, file: str, line: str, **more: str) -> tuple[dict[str, Any], dict[str, Any]]:
    answer = client.get("/api/solution/node", params={"file": file, "line": line, **more})
    assert answer.status_code == 200, answer.text
    return unpack(answer.content)


def test_arrays_come_back_as_they_were_packed() -> None:
    arrays = {"a": np.arange(6.0).reshape(2, 3), "b": np.array([np.nan, 1.5]), "none": np.zeros((0, 4))}
    head, found = unpack(pack({"word": "ä"}, arrays))
    assert head == {"word": "ä"}
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
    assert int.from_bytes(pack({"word": "ä"}, arrays)[:4], "little") % 4 == 0


@pytest.mark.parametrize(("file", "line"), [("river.spot", ""), ("river.spot", "x,b50"), ("mine/turn.spot", "x,b50,c,2c,x")])
def test_a_node_is_the_library_s(shared: httpx.Client, solved: Solutions, file: str, line: str) -> None:
    head, arrays = node(shared, file, line)
    view = solved["turn" if "turn" in file else "river"].at(line)
    spot = solved["turn" if "turn" in file else "river"].spot
    assert (head["line"], head["player"], head["pot"]) == (line, view.player, view.pot)
    assert head["board"] == [cards_to_string([card]) for card in view.board]
    for player in (0, 1):
        own = spot.pot / 2 + spot.stack - view.stacks[player]
        np.testing.assert_array_equal(arrays[f"hands{player}"], view.hands_of(player))
        np.testing.assert_allclose(arrays[f"weight{player}"], view.weight_of(player), **SINGLE)
        np.testing.assert_allclose(arrays[f"ev{player}"], view.ev_of(player) + own, **SINGLE)
        np.testing.assert_allclose(arrays[f"equity{player}"], view.equity_of(player), **SINGLE)
        share = view.compatible_of(player) / view.compatible_of(player).sum()
        assert head["sides"][player]["ev"] == pytest.approx(np.nansum(share * (view.ev_of(player) + own)), abs=1e-6)
    assert view.player is not None
    own = spot.pot / 2 + spot.stack - view.stacks[view.player]
    np.testing.assert_allclose(arrays["frequency"], view.strategy, **SINGLE)
    np.testing.assert_allclose(arrays["action_ev"], view.action_ev + own, **SINGLE)
    assert head["children"] == list(view.children())
    assert [each["line"] for each in head["path"]] == ["", "x", "x,b50", "x,b50,c", "x,b50,c,2c"][
        : len(line.split(",")) if line else 0
    ]


def test_net_evs_count_against_half_the_pot(shared: httpx.Client, solved: Solutions) -> None:
    _, arrays = node(shared, "river.spot", "", ev="net")
    np.testing.assert_allclose(arrays["ev0"], solved["river"].at("").ev_of(0), **SINGLE)


def test_the_sum_of_both_evs_is_the_pot_less_the_rake(shared: httpx.Client) -> None:
    head, _ = node(shared, "river.spot", "")
    total = sum(side["ev"] for side in head["sides"])
    assert 97 <= total < 100
    about = shared.get("/api/solution", params={"file": "river.spot"}).json()
    assert sum(about["ev"]) == pytest.approx(total, abs=1e-4)


def test_a_node_says_what_its_hands_are(shared: httpx.Client) -> None:
    head, arrays = node(shared, "river.spot", "")
    place = list(arrays["hands0"]).index(hand_index(*(4 * 10 + 1, 4 * 10 + 2)))  # QdQh on Td9d6hQc2s
    assert head["groupings"]["made"][int(arrays["made0"][place])] == "set"


def test_a_solution_as_a_whole(shared: httpx.Client, solved: Solutions) -> None:
    found = shared.get("/api/solution", params={"file": "mine/turn.spot"}).json()
    solution = solved["turn"]
    assert found["exploitability"] == solution.exploitability
    assert found["records"][-1][0] == solution.iterations == found["iterations"]
    assert found["streets"] == ["turn", "river"]
    assert found["resumable"]
    again = request_from_options(found["fields"]).spot()
    assert again.identity == solution.spot.identity


@pytest.mark.parametrize(
    ("locks", "places"),
    [
        (["x,b50% [AA]: f 100%", "x,x: x 100%"], {"x,b50": (0, 1), "x,x": (0, 48)}),
        (["x,x,7s,x [KK]: b50% 100%"], {"x,x,7s,x": (1, 1)}),
    ],
)
def test_locks_are_listed_with_their_lines(
    client: httpx.Client, folder: Any, locks: list[str], places: dict[str, tuple[int, int]]
) -> None:
    spot = request_from_options({**TURN, "locks": locks}).spot()
    solve_spot(spot, iterations=1, threads=1, out=folder / "locked.spot")
    found = client.get("/api/solution", params={"file": "locked.spot"}).json()["locks"]
    assert {each["line"]: (each["player"], each["boards"]) for each in found} == places
    for line in places:
        head, _ = node(client, "locked.spot", "x,x,2c" if line == "x,x" else line)
        assert head["locked"] == next(each["hands"] for each in found if each["line"] == line) or line == "x,x"
        assert head["locked"] > 0


def test_a_lock_after_three_cards_is_listed_with_all_of_them(client: httpx.Client, folder: Any) -> None:
    fields = {"format": "small(ranks=4,suits=2,hole=2,deal=[0,3])", "board": "", "oop": "all", "ip": "all"}
    more = {"pot": "2", "stack": "4", "bets": "100%", "raises": "none", "locks": ["x,x,QcJdJc,x: x 100%"]}
    solve_spot(request_from_options({**fields, **more}).spot(), iterations=1, threads=1, out=folder / "locked.spot")
    (found,) = client.get("/api/solution", params={"file": "locked.spot"}).json()["locks"]
    head, _ = node(client, "locked.spot", found["line"])
    assert head["board"] == ["Qc", "Jd", "Jc"]
    assert head["locked"] == found["hands"] > 0


def test_runouts_are_the_library_s(shared: httpx.Client, solved: Solutions) -> None:
    found = shared.get("/api/solution/runouts", params={"file": "mine/turn.spot", "line": "x,x", "then": "x"}).json()
    wanted = runouts(solved["turn"], "x,x,2c,x")
    assert (found["line"], found["then"], found["player"]) == ("x,x", "x", 1)
    cards = [each for each in found["cards"] if each]
    assert [each["card"] for each in cards] == [cards_to_string([int(card)]) for card in wanted.cards]
    np.testing.assert_allclose([each["frequency"] for each in cards], wanted.frequency.T, atol=1e-6)
    np.testing.assert_allclose([each["ev"] for each in cards], wanted.ev.T, atol=1e-6)
    assert sum(each["chance"] for each in cards) == pytest.approx(1, abs=1e-4)
    one = node_report(solved["turn"], "x,x,3h,x").from_the_pot()
    assert found["cards"][4 + 2]["ev"][0] == pytest.approx(one.sides[0].mean(one.sides[0].ev), abs=1e-6)


def test_the_range_at_a_node_reads_back(shared: httpx.Client, solved: Solutions) -> None:
    text = shared.get("/api/solution/range", params={"file": "river.spot", "line": "x", "player": 0}).json()["text"]
    view, weights = solved["river"].at("x"), parse_range(text)
    np.testing.assert_allclose(weights[view.hands_of(0)], view.weight_of(0) / view.weight_of(0).max(), atol=6e-4)


def test_two_solutions_side_by_side(shared: httpx.Client, solved: Solutions) -> None:
    answer = shared.get("/api/solution/compare", params={"file": "river.spot", "with": "river.spot", "line": "x"})
    head, arrays = unpack(answer.content)
    assert head["same_spot"]
    np.testing.assert_array_equal(np.nan_to_num(arrays["difference1"]), 0)
    np.testing.assert_array_equal(arrays["hands0"], solved["river"].at("x").hands_of(0))
    answer = shared.get("/api/solution/compare", params={"file": "river.spot", "with": "mine/turn.spot"})
    assert answer.status_code == 400
    assert "boards differ" in answer.json()["error"]


def test_exports(shared: httpx.Client, solved: Solutions) -> None:
    answer = shared.get("/api/solution/export", params={"file": "river.spot", "line": "x", "as": "csv"})
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    view = solved["river"].at("x")
    first = next(row for row in rows if row["player"] == "IP")
    hand = sorted((first["hand"][:2], first["hand"][2:]))
    place = next(k for k, n in enumerate(view.hands_of(1)) if sorted(cards_to_string([card]) for card in HANDS[n]) == hand)
    assert float(first["check"]) == pytest.approx(float(view.strategy[0, place]), abs=1e-6)
    one = shared.get("/api/solution/export", params={"file": "river.spot", "line": "x", "as": "json"}).json()
    assert one["node"]["line"] == "x"
    lines = shared.get("/api/solution/export", params={"file": "river.spot", "as": "jsonl", "depth": 1}).text.splitlines()
    assert [json.loads(line).get("line") for line in lines] == [None, "", "x", "b50", "a"]
    page = shared.get("/api/solution/page", params={"file": "river.spot"})
    assert page.text.lstrip().lower().startswith("<!doctype html>")


@pytest.mark.parametrize("kind", ["csv", "json", "jsonl"])
def test_exports_of_a_file_with_any_name(client: httpx.Client, folder: Path, kind: str) -> None:
    (folder / "river.spot").rename(folder / 'é "č".spot')
    answer = client.get("/api/solution/export", params={"file": 'é "č".spot', "as": kind})
    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == f"attachment; filename*=utf-8''%C3%A9%20%22%C4%8D%22.{kind}"


@pytest.mark.parametrize(
    ("path", "status", "word"),
    [
        ("node?file=river.spot&line=b7c", 400, "line"),
        ("node?file=river.spot&ev=gross", 400, "pot or net"),
        ("runouts?file=river.spot&line=x", 400, "no card is dealt"),
        ("range?file=river.spot&player=2", 400, "player"),
        ("range?file=river.spot&player=x", 400, "player"),
        ("export?file=river.spot&as=pdf", 400, "csv"),
        ("export?file=river.spot&as=csv&depth=-1", 400, "depth"),
        ("node", 400, "file"),
        ("node?file=none.spot", 404, "none.spot"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(shared: httpx.Client, path: str, status: int, word: str) -> None:
    answer = shared.get(f"/api/solution/{path}")
    assert answer.status_code == status
    assert word in answer.json()["error"]
    assert "\n" not in answer.json()["error"]


def test_a_damaged_file_is_refused(client: httpx.Client, folder: Any) -> None:
    data = bytearray((folder / "river.spot").read_bytes())
    data[len(data) // 2] ^= 1
    (folder / "bad.spot").write_bytes(data)
    (folder / "text.spot").write_text("pot: 200")
    for name in ("bad.spot", "text.spot"):
        assert client.get("/api/solution", params={"file": name}).status_code == 400
    assert {each["file"] for each in client.get("/api/start").json()["solutions"]} >= {"river.spot", "mine/turn.spot"}


def test_a_strategy_that_nobody_judged_can_be_looked_at(client: httpx.Client, folder: Any, solved: Solutions) -> None:
    last = replace(solved["river"].last, numbers={"exploitability": math.nan})
    replace(solved["river"], records=(last,), ev=(math.nan, math.nan)).save(folder / "unjudged.spot")
    for path in ("/api/solution", "/api/solution/export?as=json"):
        answer = client.get(path, params={"file": "unjudged.spot", "as": "json"})
        assert answer.status_code == 200
        assert answer.json()["exploitability"] is None
    listed = {each["file"]: each for each in client.get("/api/start").json()["solutions"]}
    assert listed["unjudged.spot"]["exploitability"] is None


def test_a_file_that_changed_is_read_again(client: httpx.Client, folder: Any, solved: Solutions) -> None:
    assert client.get("/api/solution", params={"file": "river.spot"}).json()["streets"] == ["river"]
    (folder / "river.spot").write_bytes((folder / "mine" / "turn.spot").read_bytes())
    assert client.get("/api/solution", params={"file": "river.spot"}).json()["streets"] == ["turn", "river"]


def test_two_solutions_renamed_at_once_get_different_names(
    client: httpx.Client, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name is taken by another request between the search for it and the renaming."""
    free, taken = ServerState.free_file, folder / "same.spot"

    def late(served: ServerState, *arguments: Any) -> Path:
        path = free(served, *arguments)
        if not taken.exists():
            taken.write_bytes(b"another")
        return path

    monkeypatch.setattr(ServerState, "free_file", late)
    renamed = client.post("/api/solution/rename", json={"file": "river.spot", "name": "same"}).json()["file"]
    assert (renamed, taken.read_bytes()) == ("same-2.spot", b"another")
    assert client.get("/api/solution", params={"file": renamed}).status_code == 200


def test_a_solution_is_renamed_deleted_and_restored(client: httpx.Client, folder: Any) -> None:
    renamed = client.post("/api/solution/rename", json={"file": "mine/turn.spot", "name": "my turn"}).json()["file"]
    assert renamed == "mine/my-turn.spot"
    (folder / "mine" / "other.spot").write_bytes((folder / "river.spot").read_bytes())
    for name, free in (("river", "river"), ("my turn", "my-turn-2")):  # names in the folder of the file count
        other = client.post("/api/solution/rename", json={"file": "mine/other.spot", "name": name})
        assert other.json()["file"] == f"mine/{free}.spot"
        (folder / "mine" / f"{free}.spot").rename(folder / "mine" / "other.spot")
    taken = client.post("/api/solution/rename", json={"file": "river.spot", "name": "../mine"})
    assert taken.json()["file"] == "mine.spot"
    token = client.delete("/api/solution", params={"file": renamed}).json()["deleted"]
    assert not (folder / renamed).exists()
    assert client.post(f"/api/deleted/{token}/restore", json={}).json() == {"file": renamed}
    assert (folder / renamed).is_file()
    assert client.post(f"/api/deleted/{token}/restore", json={}).status_code == 404
    assert client.post("/api/deleted/..%2F..%2Fx/restore", json={}).status_code in (403, 404, 405)
    assert client.delete("/api/solution", params={"file": "mine"}).status_code == 404


def test_amounts_have_the_unit_of_the_spot(client: httpx.Client, folder: Any) -> None:
    fields = {**RIVER, "pot": "5bb", "stack": "10bb", "rake": "5%"}
    solve_spot(request_from_options(fields).spot(), iterations=2, threads=1, out=folder / "blinds.spot")
    about = client.get("/api/solution", params={"file": "blinds.spot"}).json()
    assert (about["spot"]["unit"], about["fields"]["pot"], about["fields"]["stack"]) == ("bb", "5bb", "10bb")
    listed = {each["file"]: each["unit"] for each in client.get("/api/start").json()["solutions"]}
    assert (listed["blinds.spot"], listed["river.spot"]) == ("bb", "chips")
    head, _ = unpack(client.get("/api/solution/node", params={"file": "blinds.spot"}).content)
    assert head["unit"] == "bb"
