"""Spots from nothing: what the page sends is read as a spot file is."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from tests.web.conftest import RIVER, TURN
from treeplex.holdem.betting.tree import betting_tree
from treeplex.holdem.cards.ranges import parse_range
from treeplex.holdem.solve.estimate import estimate_spot
from treeplex.holdem.spots.as_fields import fields_text
from treeplex.holdem.spots.files import read_spot_file, request_from_options
from treeplex.learn.common import device
from treeplex.web.spots.fields import DEFAULT, PRESETS

EXAMPLES = Path(__file__).parents[3] / "examples" / "spots"


def check(client: httpx.Client, fields: Any) -> Any:
    answer = client.post("/api/spots/check", json={"fields": fields})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_default_is_fit_to_be_solved(shared: httpx.Client) -> None:
    found = check(shared, shared.get("/api/spots/default").json()["fields"])
    assert found["ok"]
    assert found["estimate"]["fits"]["float32"]
    assert 0 < found["estimate"]["seconds_typical"] < 60


def test_ranges_both_ways(shared: httpx.Client) -> None:
    found = shared.post("/api/spots/range", json={"text": "QQ+, AKs:0.5"}).json()
    np.testing.assert_array_equal(found["weights"], parse_range("QQ+, AKs:0.5"))
    assert found["combos"] == 20
    assert shared.post("/api/spots/range", json={"weights": found["weights"]}).json()["text"] == found["text"]
    for wrong in ({"text": "QX"}, {"weights": [1.0]}, {"weights": [-1.0] * 1326}, {}, {"text": "AA", "weights": []}):
        answer = shared.post("/api/spots/range", json=wrong)
        assert answer.status_code == 400
        assert answer.json()["error"]


@pytest.mark.parametrize("fields", [RIVER, TURN, DEFAULT])
def test_a_spot_is_measured_as_the_library_does(shared: httpx.Client, fields: Any) -> None:
    found, spot = check(shared, fields), request_from_options(fields).spot()
    wanted = estimate_spot(spot, threads=1)
    assert found["ok"]
    assert found["opening_pot"] == spot.opening_pot
    assert found["combos"] == [float(weights.sum()) for weights in spot.ranges]
    estimate = found["estimate"]
    assert (estimate["nodes"], estimate["infosets"]) == (wanted.size.nodes, wanted.size.infosets)
    assert estimate["memory"] == wanted.memory
    assert estimate["seconds_per_iteration"] == pytest.approx(wanted.seconds)


def test_a_gpu_is_offered_where_there_seems_to_be_one(
    shared: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "which", lambda name: None)
    for driver, packages, offered in (
        (tmp_path, "json", True),
        (tmp_path, "no_such_package", False),
        (tmp_path / "x", "json", False),
    ):
        monkeypatch.setattr(device, "DRIVER", driver)
        monkeypatch.setattr(device, "find_spec", lambda name, packages=packages: find_spec(packages))
        device.gpu_expected.cache_clear()
        assert check(shared, {**RIVER, "device": "auto"})["gpu"] is offered
    device.gpu_expected.cache_clear()


def test_all_that_is_wrong_is_said_at_once_and_where(shared: httpx.Client) -> None:
    wrong = {"board": "Td 9d 6x", "oop": "66+", "pot": "zz", "stack": 900, "betz": 1, "raises": "0.5x"}
    found = check(shared, wrong)
    problems = {each["field"]: each["message"] for each in found["problems"]}
    assert set(problems) == {"board", "ip", "pot", "betz", "raises"}
    assert "6x" in problems["board"]
    assert "did you mean 'bets'" in problems["betz"]
    assert not any(("field " in message and name != "betz") or "--" in message for name, message in problems.items())
    assert found["estimate"] is None
    assert check(shared, {})["problems"][0]["field"] == "board"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("bets", {"river": {"oop": "1zz"}}),
        ("rake", {"rate": "200%"}),
        ("locks", [{"strategy": "x 50%"}]),
        ("storage", "int4"),
        ("chip", "0"),
        ("threads", 0),
        ("device", "gpu"),
        ("algorithm", "my.py:RULE"),
        ("algorithm", 'es-mccfr(variant="my\\x2epy:V")'),
        ("algorithm", 'ddcfr(policy="/etc/passwd")'),
        ("algorithm", "lp"),
        ("storage", "disk:/tmp/elsewhere"),
        ("storage", "disk:inside"),
        ("until", "turn"),
        ("algorithm", "nonsense"),
        ("target", "5q"),
        ("board", ["Td", "9d"]),
        ("oop", {"a": 1}),
    ],
)
def test_a_wrong_field_is_blamed(shared: httpx.Client, field: str, value: Any) -> None:
    found = check(shared, {**RIVER, field: value})
    assert next(each["field"] for each in found["problems"]) == field, found["problems"]
    answer = shared.post("/api/jobs", json={"fields": {**RIVER, field: value}})
    assert answer.status_code == 400
    assert answer.json()["field"] == field
    assert not shared.get("/api/jobs").json()["jobs"]


@pytest.mark.quick_cases("turn")
@pytest.mark.parametrize("name", ["river", "turn"])
def test_spot_files_come_and_go(client: httpx.Client, folder: Path, name: str) -> None:
    text = (EXAMPLES / f"{name}.yaml").read_text()
    (folder / f"{name}.yaml").write_text(text)
    read = client.post("/api/spots/read", json={"text": text}).json()["fields"]
    assert client.get("/api/spots/file", params={"file": f"{name}.yaml"}).json()["fields"] == read
    (folder / "again.yaml").write_text(check(client, read)["text"])
    wanted, again = (read_spot_file(path).spot() for path in (EXAMPLES / f"{name}.yaml", folder / "again.yaml"))
    assert again.identity == wanted.identity
    assert [each["file"] for each in client.get("/api/start").json()["spot_files"]].count("again.yaml") == 1


def test_texts_that_are_no_spot_files(shared: httpx.Client) -> None:
    for text in ("", "- a", "pot: [", "potz: 1", "a: " * 100, "&a [*a]"):
        answer = shared.post("/api/spots/read", json={"text": text})
        assert answer.status_code == 400
        assert answer.json()["error"]


def test_presets_are_kept(client: httpx.Client, folder: Path) -> None:
    offered = client.get("/api/presets").json()["presets"]
    assert {each["name"] for each in offered} == set(PRESETS)
    for each in offered:
        assert parse_range(each["text"]).any()
    assert client.post("/api/presets", json={"name": "mine", "text": "QZ"}).status_code == 400
    client.post("/api/presets", json={"name": "mine", "text": "QQ+"})
    assert client.get("/api/presets").json()["presets"][0] == {"name": "mine", "text": "QQ+", "own": True}
    (folder / ".web" / "presets.json").write_text("[")
    assert len(client.get("/api/presets").json()["presets"]) == len(PRESETS)
    assert client.delete("/api/presets", params={"name": "mine"}).status_code == 400  # damaged: nothing is written over it


def test_ambiguous_text_is_explained(shared: httpx.Client) -> None:
    weights = [float(hand % 3 == 0) for hand in range(1326)]
    found = shared.post("/api/spots/range", json={"text": " ".join(map(str, weights))}).json()
    assert found["weights"] == weights
    assert "write pio: before the first number" in found["note"]
    assert shared.post("/api/spots/range", json={"text": "QQ+"}).json()["note"] == ""


def test_fields_as_text_are_a_spot_file(tmp_path: Path) -> None:
    path = tmp_path / "spot.yaml"
    path.write_text(fields_text(RIVER))
    assert read_spot_file(path).spot().identity == request_from_options(RIVER).spot().identity


def test_leads_of_the_first_street_are_bets_out_of_position(shared: httpx.Client) -> None:
    """What the page sends for "Leads: none": out of position nobody bets the flop, and in position somebody still may."""
    fields = {
        "board": "Kh 7d 2c",
        "oop": "TT, KQs",
        "ip": "AA, QJs",
        "pot": "6",
        "stack": "20",
        "bets": {"default": "50%", "flop": {"oop": "none", "ip": "50%"}},
        "raises": "a",
        "donk": "none",
    }
    assert shared.post("/api/spots/check", json={"fields": fields}).json()["ok"]
    tree = betting_tree(request_from_options(fields).spot())
    root = tree.nodes[0]
    assert [action.kind for action in root.actions] == ["check"]
    assert [action.kind for action in tree.nodes[root.children[0]].actions] == ["check", "bet"]
