"""The commands of limit hold'em in buckets."""

import pytest

from papers.cfr2007.limit import main

GAME = "bucketed_holdem(cards=royal,buckets={},boards=30,river_boards=30)"


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("TREEPLEX_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.mark.slow
def test_solve_show_and_match(tmp_path, capsys):
    def run(*words):
        main([str(word) for word in words])
        return capsys.readouterr().out

    for name, counts in (("two", "2"), ("three", "[3;2;2;1]")):
        done = run("solve", "--game", GAME.format(counts), "--evaluations", 2, "-n", 2000, "--out", tmp_path / name)
        assert "finished; mbb/hand**" in done
    assert "\n| 3,000 |" in run("solve", "--resume", "--out", tmp_path / "two", "-n", 3000)
    with pytest.raises(SystemExit, match="was run with algorithm sampled, not dcfr; start a new run"):
        run("solve", "--resume", "--out", tmp_path / "two", "-n", 4000, "-a", "dcfr")
    with pytest.raises(SystemExit, match="was run with game"):
        run("solve", "--resume", "--out", tmp_path / "two", "-n", 4000, "--game", GAME.format("3"))
    run("solve", "--resume", "--out", tmp_path / "two", "-n", 3000, "--game", GAME.format("2"))
    assert "big blind after r" in run("show", tmp_path / "three", "--line", "r")
    rows = run("match", tmp_path / "two", tmp_path / "three", "--deals", 200).splitlines()[-2:]
    means = [float(part) for row in rows for part in [next(cell for cell in row.split("|")[2:] if "±" in cell).split()[0]]]
    assert means[0] == -means[1] != 0
    with pytest.raises(SystemExit, match="at least 1"):
        run("match", tmp_path / "two", tmp_path / "three", "--deals", 0)
