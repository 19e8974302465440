"""Strategies on game trees: numbers against the judge's and published ones, and paths that lead where they should."""

from pathlib import Path
from time import monotonic, sleep

import httpx
import pytest

import treeplex as tp
from treeplex.errors import SpecError
from treeplex.run.judge import infostate_regrets
from treeplex.web.browsing.browser import Browser


def test_kuhn_at_the_beginning() -> None:
    """Kuhn 1950: the game is worth -1/18 to the first player, who never bets the middle card."""
    browser = Browser("kuhn_poker")
    node = browser.node([])
    assert node["value"] == pytest.approx(-1 / 18, abs=1e-3)
    assert [row["hand"] for row in node["infosets"]] == ["J", "Q", "K"]
    assert node["infosets"][1]["actions"][1]["probability"] == pytest.approx(0.0, abs=1e-3)
    end = browser.node([1, 1])
    assert end["payoffs"]["cells"] == [[None, -2.0, -2.0], [2.0, None, -2.0], [2.0, 2.0, None]]


@pytest.mark.slow_cases("leduc_poker")
@pytest.mark.parametrize("game", ["leduc_poker", "goofspiel(num_cards=3)", "examples/mygame.py"])
def test_numbers_are_the_librarys(game: str) -> None:
    browser = Browser(game, "uniform")
    about, judged = browser.about(), tp.judge(game, "uniform")
    assert about["exploitability"] == pytest.approx(judged.exploitability)
    assert about["gains"] == pytest.approx(list(judged.gains))
    regrets = infostate_regrets(game, "uniform")
    found = browser.infosets()
    assert found["total"] == len(regrets)
    for row in found["infosets"]:
        assert row["regret"] == pytest.approx(regrets[row["player"], row["infostate"]], abs=1e-12)
        here = [each for each in browser.node(row["path"])["infosets"] if each["infostate"] == row["infostate"]]
        assert [each["value"] for each in here] == [row["value"]]


def test_best_responses_are_shown() -> None:
    browser = Browser("kuhn_poker", "uniform")
    _, response = tp.best_response("kuhn_poker", "uniform", 1)
    for row in browser.node([1])["infosets"]:
        chosen = response[1, row["infostate"]]
        assert [action["response"] for action in row["actions"]] == [share > 0.5 for share in chosen.values()]


def test_probabilities_and_reach_add_up() -> None:
    browser = Browser("goofspiel(num_cards=3)")
    waiting, ends = [list[int]()], 0.0
    while waiting:
        path = waiting.pop()
        node = browser.node(path)
        if node["over"]:
            ends += node["reach"]
            assert node["expected"] == pytest.approx(node["returns"])
        else:
            assert sum(child["probability"] for child in node["children"]) == pytest.approx(1.0)
        waiting += [[*path, step] for step in range(len(node["children"]))]
    assert ends == pytest.approx(1.0)


def test_an_infostate_is_found_by_its_text() -> None:
    browser = Browser("leduc_poker", "uniform")
    found = browser.infosets(player=1, find="private: 5")
    assert found["total"] == 78
    assert all("[Private: 5]" in row["infostate"] and row["player"] == 1 for row in found["infosets"])


def test_a_game_of_openspiel() -> None:
    pytest.importorskip("pyspiel")
    browser = Browser("openspiel:kuhn_poker")
    assert browser.node([0, 0])["player"] == 0
    assert browser.about()["exploitability"] < 1e-3


def test_a_large_game_is_walked_without_values() -> None:
    browser = Browser("phantom_ttt")
    assert not browser.about()["whole"]
    node = browser.node([0, 0])
    assert node["infosets"][0]["actions"][0]["value"] is None
    assert node["steps"][1]["options"][0] == "o(0,0)"


@pytest.mark.slow
def test_a_large_game_is_worked_out_on_request(client: httpx.Client) -> None:
    """Leduc poker with thirteen ranks: 1,179,777 histories, and as many infosets for both."""
    game = {"game": "leduc_poker(ranks=13)", "policy": "uniform"}
    first = client.post("/api/games", json=game).json()
    assert not first["whole"]
    told, ends = list[str](), monotonic() + 300
    while "working" in (found := client.post("/api/games", json={**game, "whole": True}).json()):
        assert client.get(f"/api/games/{first['id']}/node").status_code == 200  # while the other one is worked out
        assert monotonic() < ends
        told.append(found["working"]["told"])
        sleep(0.2)
    assert any("histories" in each for each in told)
    assert (found["whole"], found["histories"], found["infosets"]) == (True, 1_179_777, [9828, 9828])
    assert found["exploitability"] == pytest.approx(tp.judge("leduc_poker(ranks=13)", "uniform").exploitability)
    assert client.post("/api/games", json={**game, "whole": True}).json()["id"] == found["id"]
    too_large = {"game": "phantom_ttt", "whole": True}
    while client.post("/api/games", json=too_large).status_code != 400:
        assert monotonic() < ends
        sleep(0.2)


def test_a_path_that_is_none_is_refused() -> None:
    with pytest.raises(SpecError, match="cannot continue with action 7 after 1 step"):
        Browser("kuhn_poker").node([0, 7])


def test_a_policy_of_a_run_folder(tmp_path: Path) -> None:
    tp.solve("kuhn_poker", iterations=50, out=str(tmp_path))
    browser = Browser("kuhn_poker", str(tmp_path))
    assert browser.about()["exploitability"] == pytest.approx(tp.judge("kuhn_poker", str(tmp_path)).exploitability)
