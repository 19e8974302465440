import json

import pytest
from typer.testing import CliRunner

from treeplex.holdem.cli.main import group as holdem


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("TREEPLEX_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


def run(*words):
    return CliRunner().invoke(holdem, [str(word) for word in words])


@pytest.mark.slow
def test_buckets_of_hands():
    groups = json.loads(run("buckets", "--cards", "royal", "--buckets", "3", "--json").output)
    assert groups[2][0] == "AA"
    looked = run("buckets", "--cards", "royal", "--hand", "AsKs", "--board", "TcJdJh")
    assert "flop" in looked.output
    assert "turn" not in looked.output


def test_a_board_is_of_a_hand():
    assert "add --hand" in run("buckets", "--cards", "royal", "--board", "TcJdJh").output


@pytest.mark.parametrize("count", ["many", "1,2", "0"])
def test_wrong_counts_are_one_line(count):
    wrong = run("buckets", "--cards", "royal", "--buckets", count)
    assert wrong.exit_code == 2
    assert "buckets" in wrong.output
