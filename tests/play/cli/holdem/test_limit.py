import json

import pytest
from typer.testing import CliRunner

from treeplex.play.cli.holdem.main import holdem


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("TREEPLEX_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


def run(*words):
    return CliRunner().invoke(holdem, [str(word) for word in words])


def test_solve_show_and_match(tmp_path):
    small = ("--cards", "royal", "--boards", 30, "--evaluations", 2)
    for name, count in (("two", "2"), ("three", "3,2,2,1")):
        done = run("limit", "solve", *small, "--buckets", count, "-n", 2000, "--out", tmp_path / name)
        assert done.exit_code == 0, done.output
        assert "exploitability" in done.output
    more = run("limit", "solve", "--resume", "--out", tmp_path / "two", "-n", 3000, "--json")
    assert [record["iteration"] for record in json.loads(more.output)["records"]][-1] == 3000
    shown = run("limit", "show", tmp_path / "three", "--line", "r")
    assert "big blind after r" in shown.output
    match = run("limit", "match", tmp_path / "two", tmp_path / "three", "--deals", 200, "--json")
    means = json.loads(match.output)["means"]
    assert means[0][1] == -means[1][0] != 0


def test_buckets_of_hands():
    groups = json.loads(run("buckets", "--cards", "royal", "--buckets", "3", "--json").output)
    assert groups[2][0] == "AA"
    looked = run("buckets", "--cards", "royal", "--hand", "AsKs", "--board", "TcJdJh")
    assert "flop" in looked.output
    assert "turn" not in looked.output


@pytest.mark.parametrize("count", ["many", "1,2", "0"])
def test_wrong_counts_are_one_line(count):
    wrong = run("buckets", "--cards", "royal", "--buckets", count)
    assert wrong.exit_code == 2
    assert "buckets" in wrong.output
