"""``treeplex show`` on a made-up solved spot."""

import json
import re

import pytest
from typer.testing import CliRunner

from tests.holdem.fake_holdem import NODES, FakeSolution
from treeplex.holdem.cli.shared import node
from treeplex.holdem.cli.shared.texts import amount
from treeplex.holdem.sources import SolvedSpots
from treeplex.holdem.study.pages import holdem as holdem_page
from treeplex.run.cli.main import app


@pytest.fixture
def call(monkeypatch):
    monkeypatch.setattr(node, "load_solution", lambda path: FakeSolution())
    monkeypatch.setattr(SolvedSpots, "reads", lambda self, source: source == "made.up")

    def called(*arguments, code=0):
        result = CliRunner().invoke(app, ["show", "made.up", *map(str, arguments)])
        assert result.exit_code == code, (result.output, result.exception)
        if code:
            assert result.stdout == ""
            assert result.stderr.startswith("error: ")
            assert result.stderr.count("\n") == 1
            return result.stderr
        return result.stdout

    return called


def test_the_player_who_acts(call):
    text = call("--line", "x,b100")
    assert text.startswith("Td 9d 6h Qc   x,b100   OOP acts\n")
    for part in (
        "pot     300",
        "900 OOP, 800 IP",
        "exploitability 0.61 chips (0.305% of the pot)",
        "A allin 900   1 raise 300",
    ):
        assert part in text
    assert "raise 300 (50%)" in text
    assert "treeplex show made.up --line x,b100,r300" in text
    assert all(len(line) < 110 for line in text.split("\n"))


def test_the_other_player(call):
    text = call("--player", "ip")
    assert "IP, equity in percent" in text
    assert "action " not in text


def test_hands(call):
    text = call("--hand", "AsKs,QQ")
    hands = [line.split()[0] for line in text.split("\n") if "%" in line and line[:2] in ("As", "Qs", "Qh", "Qd")]
    assert sorted(hands) == ["AsKs", "QhQd", "QsQd", "QsQh"]
    assert "no hand of OOP here is in '32o'" in call("--hand", "32o", code=2)
    assert "error" in call("--hand", "XX", code=2)
    assert len(call("--hand", "all").split("\n")) > 600


def test_values_in_the_pot(call):
    net, back, usual = (
        call("--line", "x,b100", *ev).split("OOP  ")[1].split()[1] for ev in (["--ev", "net"], ["--ev", "pot"], [])
    )
    assert float(back) == pytest.approx(float(net) + 100, abs=0.011)
    assert usual == back
    ev = [json.loads(call("--json", "--line", "x,b100", "--ev", ev))["node"]["oop"]["ev"] for ev in ("net", "pot")]
    assert ev[1] == pytest.approx(ev[0] + 100, abs=1e-5)
    assert f"{ev[1]:.2f}" == back
    assert "write pot or net" in call("--ev", "gross", code=2)


def test_amounts():
    assert [amount(each, False) for each in (-0.004, 1.006, float("nan"))] == ["0.00", "1.01", "-"]
    assert [amount(each, True) for each in (-0.004, 1.006, -3)] == ["+0.00", "+1.01", "-3.00"]


def test_json(call):
    whole = json.loads(call("--json", "--line", "b100"))
    assert (whole["board"], whole["pot"], whole["exploitability"], whole["ev_oop"]) == ("Td9d6hQc", 200, 0.61, 95.5)
    assert json.loads(call("--json", "--ev", "net"))["ev_oop"] == -4.5
    assert whole["oop"]
    node = whole["node"]
    assert (node["line"], node["player"], node["stacks"]) == ("b100", "ip", [800, 900])
    assert sum(action["frequency"] for action in node["actions"]) == pytest.approx(1, abs=1e-5)
    hand = node["ip"]["hands"]["AsKs"]
    assert sum(hand["frequency"]) == pytest.approx(1, abs=1e-5)
    assert set(hand) == {"weight", "ev", "equity", "frequency", "action_ev"}
    assert set(node["oop"]["hands"]["AsKs"]) == {"weight", "ev", "equity"}


def test_json_of_a_tree_streams(call):
    first, *nodes = map(json.loads, call("--json", "--depth", "all").splitlines())
    assert first["kind"] == "treeplex holdem nodes"
    lines = [node["line"] for node in nodes]
    assert lines[0] == ""
    assert set(NODES) < set(lines)
    assert len(lines) == len(set(lines)) == 1 + 4 + 3 + 4 + 4 + 3
    assert [node["line"] for node in map(json.loads, call("--json", "--depth", 1).splitlines()[1:])] == [
        "",
        "x",
        "b100",
        "b200",
        "a",
    ]
    assert "give a number of actions and cards, or all" in call("--json", "--depth", "x", code=2)


@pytest.mark.slow
def test_page_and_picture(call, tmp_path):
    text = call("--line", "x,b100", "--html", tmp_path / "p.html", "--png", tmp_path / "g.png")
    assert text.split() == ["wrote", str(tmp_path / "p.html"), "wrote", str(tmp_path / "g.png")]
    page = (tmp_path / "p.html").read_text()
    assert all(f'"{line}":{{"line"' in page for line in ("", "x", "x,b100", "x,b100,r300"))
    assert '"b100":{"line"' not in page
    assert "create it, or choose another name" in call("--html", tmp_path / "no" / "p.html", code=2)
    assert "end the name in" in call("--png", tmp_path / "g.xyz", code=2)


def test_a_page_that_is_too_large_names_a_depth_that_is_not(call, tmp_path, monkeypatch):
    monkeypatch.setattr(node, "MOST_NODES", 10)
    monkeypatch.setattr(holdem_page, "MOST_NODES", 10)
    said = call("--depth", "2", "--html", tmp_path / "p.html", code=2)
    assert "a page holds at most 10 nodes, but there are more; use --depth 1 (5 nodes), or start further down" in said
    assert "--depth 1 (5 nodes)" in call("--html", tmp_path / "p.html", code=2)
    call("--depth", "1", "--html", tmp_path / "p.html")
    start = re.search(r"--line '([^']+)'", said)[1]
    call("--line", start, "--html", tmp_path / "p.html")


def test_depth_without_what_it_is_for(call, tmp_path):
    assert "--depth needs --html or --json; add one of them" in call("--depth", "6", code=2)
    assert "--depth needs" in call("--depth", "6", "--png", tmp_path / "g.png", code=2)


def test_a_page_knows_its_file_and_how_evs_count(call, tmp_path):
    call("--html", tmp_path / "p.html")
    page = (tmp_path / "p.html").read_text()
    assert '"command":"treeplex show made.up","ev":"pot"' in page
    call("--html", tmp_path / "p.html", "--ev", "net")
    assert '"ev":"net"' in (tmp_path / "p.html").read_text()


def test_mistakes(call):
    assert "write oop" in call("--player", "btn", code=2)
    assert "line 'zz'" in call("--line", "zz", code=2)
