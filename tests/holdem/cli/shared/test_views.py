"""``treeplex show`` of a spot: groups of hands, ranges as text and runouts, against the data that they show."""

import json

import pytest
from typer.testing import CliRunner

import treeplex as tp
from treeplex.holdem.study.report.export import node_report
from treeplex.holdem.study.report.runouts import runouts
from treeplex.run.cli.main import app


@pytest.fixture(scope="module")
def turn(tmp_path_factory):
    spot = tp.holdem.spot("Td 9d 6h Qc", "AA,TT,AdJd,KdQd", "KK,QTs,JTs", pot=100, stack=150, bets="50%", raises="a")
    file = tmp_path_factory.mktemp("views") / "turn.spot"
    return tp.solve(spot, iterations=20, threads=1, out=file), file


@pytest.fixture
def call(turn):
    def called(*arguments, code=0):
        result = CliRunner().invoke(app, ["show", str(turn[1]), *map(str, arguments)])
        assert result.exit_code == code, (result.output, result.exception)
        return result.stderr if code else result.stdout

    return called


def test_groups(call):
    text = call("--line", "x", "--by", "made")
    assert text.startswith("IP, Td9d6hQc   x   by made\n")
    assert [line.split()[0] for line in text.splitlines()[2:-1]] == ["two", "overpair", "second"]
    found = json.loads(call("--line", "x", "--by", "draw", "--json"))
    assert [group["name"] for group in found["groups"]] == ["open-ended", "gutshot", "no draw"]
    assert sum(group["share"] for group in found["groups"]) == pytest.approx(1, abs=1e-5)
    assert "made, draw, suits, class" in call("--by", "colour", code=2)


def test_some_hands(call):
    text = call("--only", "overpair", "--hand", "all")
    assert [line[:4] for line in text.splitlines() if line[:1] == "A" and line[2:3] == "A"] == [
        "AsAh",
        "AsAd",
        "AsAc",
        "AhAd",
        "AhAc",
        "AdAc",
    ]
    assert "KdQd" not in text
    assert "is not a group of hands" in call("--only", "overpears", code=2)


def test_a_range_that_other_commands_read(call):
    weights = tp.holdem.parse_range(call("--line", "x", "--range"))
    assert weights.max() == 1
    assert json.loads(call("--line", "x", "--range", "--player", "oop", "--json"))["player"] == "oop"
    assert "--by and --range are different views" in call("--by", "made", "--range", code=2)


def test_runouts(call, turn):
    found, data = runouts(turn[0], "x,x"), json.loads(call("--line", "x,x", "--runouts", "--json"))
    assert (len(data["cards"]), data["cards"][0], data["player"]) == (48, "2c", "oop")
    assert data["equity"][0][5] == pytest.approx(found.equity[0, 5], abs=1e-6)
    text = call("--line", "x,x", "--runouts")
    assert text.count("\ns  ") == len(found.actions) + 2
    assert "no card is dealt" in call("--line", "x", "--runouts", code=2)
    assert "leave it out" in call("--line", "x,x", "--runouts", "--only", "set", code=2)


def test_what_a_bet_asks_for(call, turn):
    text = call("--line", "b50%")
    assert "pot odds: 25.0% equity calls 50 into 150   MDF 66.7%, defends" in text
    node = node_report(turn[0], "b50%")
    side = node.from_the_pot().sides[0]
    eqr = side.mean(side.ev) / (150 * side.mean(side.equity))
    assert f"{100 * eqr:.1f}%" in next(line for line in text.splitlines() if line.startswith("OOP "))
    assert "pot odds" not in call()
