import json

import pytest
from typer.testing import CliRunner

from treeplex.errors import SpecError
from treeplex.holdem.cli.main import group as holdem
from treeplex.search.named_agents.registry import agent


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("TREEPLEX_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


def run(*words):
    return CliRunner().invoke(holdem, [str(word) for word in words])


@pytest.mark.slow
def test_solve_show_and_match(tmp_path):
    small = ("--cards", "royal", "--boards", 30, "--evaluations", 2)
    for name, count in (("two", "2"), ("three", "3,2,2,1")):
        done = run("limit", "solve", *small, "--buckets", count, "-n", 2000, "--out", tmp_path / name)
        assert done.exit_code == 0, done.output
        assert "exploitability" in done.output
    more = run("limit", "solve", "--resume", "--out", tmp_path / "two", "-n", 3000, "--json")
    assert [record["iteration"] for record in json.loads(more.output)["records"]][-1] == 3000
    other = run("limit", "solve", "--resume", "--out", tmp_path / "two", "-n", 4000, "-a", "dcfr")
    assert other.exit_code == 2
    assert "was run with algorithm sampled, not dcfr" in " ".join(other.output.split())
    more_buckets = run("limit", "solve", *small, "--resume", "--out", tmp_path / "two", "-n", 4000, "--buckets", 3)
    assert more_buckets.exit_code == 2
    same = run("limit", "solve", *small, "--resume", "--out", tmp_path / "two", "-n", 3000, "--buckets", 2, "--json")
    assert same.exit_code == 0, same.output
    shown = run("limit", "show", tmp_path / "three", "--line", "r")
    assert "big blind after r" in shown.output
    match = run("limit", "match", tmp_path / "two", tmp_path / "three", "--deals", 200, "--json")
    means = json.loads(match.output)["means"]
    assert means[0][1] == -means[1][0] != 0
    assert run("limit", "match", tmp_path / "two", tmp_path / "three", "--deals", 0).exit_code == 2


@pytest.mark.slow
def test_buckets_of_hands():
    groups = json.loads(run("buckets", "--cards", "royal", "--buckets", "3", "--json").output)
    assert groups[2][0] == "AA"
    looked = run("buckets", "--cards", "royal", "--hand", "AsKs", "--board", "TcJdJh")
    assert "flop" in looked.output
    assert "turn" not in looked.output


def test_a_board_is_of_a_hand():
    assert "give --hand" in run("buckets", "--cards", "royal", "--board", "TcJdJh").output


@pytest.mark.parametrize("count", ["many", "1,2", "0"])
def test_wrong_counts_are_one_line(count):
    wrong = run("buckets", "--cards", "royal", "--buckets", count)
    assert wrong.exit_code == 2
    assert "buckets" in wrong.output


@pytest.mark.slow
def test_play_against_a_run_folder(tmp_path):
    small = ("--cards", "royal", "--boards", 30, "--evaluations", 1)
    assert run("limit", "solve", *small, "--buckets", 2, "-n", 500, "--out", tmp_path / "two").exit_code == 0
    asked = ["limit", "play", str(tmp_path / "two"), "--seed", "1"]
    out = (
        CliRunner().invoke(holdem, [*asked, "-n", "2", "--log", str(tmp_path / "log.txt")], input="raise\n" + "c\n" * 20).output
    )
    about = "hold'em, limit, blinds 0.5 and 1 bb, stacks 100 bb, bets 1 and 2 bb, 20 cards"
    assert out.startswith(f"{about}; against {tmp_path / 'two'}: 2 x 2 x 2 x 2 buckets\n")
    assert "  1 fold   2 call 0.5 bb   3 raise to 2 bb\n" in out
    assert "hand 2: you are the big blind\n" in out
    assert "\n2 hands: " in out
    assert (tmp_path / "log.txt").read_text().count("hand ") == 2
    left = CliRunner().invoke(holdem, asked, input="c\nquit\n").output
    assert "the hand under way does not count\nno hand was finished" in left
    wrong = CliRunner().invoke(holdem, [*asked, "--phh", str(tmp_path / "hands")])
    assert isinstance(wrong.exception, SystemExit)
    assert "52 cards" in wrong.output
    nowhere = CliRunner().invoke(holdem, ["limit", "play", str(tmp_path / "nowhere")])
    assert nowhere.exit_code == 2
    assert nowhere.output.count("\n") == 1


@pytest.mark.slow
def test_a_run_folder_is_an_agent(tmp_path):
    """By its path, at the table of the game that it was solved for."""
    small = ("--cards", "royal", "--boards", 30, "--evaluations", 1)
    assert run("limit", "solve", *small, "--buckets", 2, "-n", 200, "--out", tmp_path / "two").exit_code == 0
    game = "holdem(bets=[2;2;4;4],raises=[3;4;4;4],ranks=5)"
    assert agent(str(tmp_path / "two"), game).strategy.name == "two"
    with pytest.raises(SpecError, match="two plays holdem"):
        agent(f"limit(folder={tmp_path / 'two'})", "holdem(stack=100)")
    with pytest.raises(SpecError, match="plays limit hold'em"):
        agent(f"limit(folder={tmp_path / 'two'})", "kuhn_poker")
