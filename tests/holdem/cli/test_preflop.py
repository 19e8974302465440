"""``treeplex holdem preflop`` of charts that ship, and of names that are none."""

import json

import pytest
from typer.testing import CliRunner

from treeplex.run.cli.main import app


def test_a_name_that_is_nothing_lists_the_charts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(app, ["holdem", "preflop", "73bb"])
    assert found.exit_code != 0
    assert "'73bb'; use 10bb, 20bb, 30bb, 50bb, 100bb, 200bb, 300bb, a solved spot (.spot)" in " ".join(found.stderr.split())


def test_a_chart_says_how_far_a_network_is_from_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(app, ["holdem", "preflop", "100bb"])
    assert "a chart by a network over all 1,755 flops" in found.stdout.splitlines()[-1]


def test_a_raise_of_another_size_is_translated(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(app, ["holdem", "preflop", "100bb", "--line", "r3"])
    assert "big blind, 100 bb, after r2.5" in found.stdout
    assert "a raise to 3 is read as the nearest size, 2.5" in " ".join(found.stdout.split())


def test_push_or_fold_at_a_table(tmp_path):
    words = ["holdem", "pushfold", "--stacks", "8,8,8", "--payouts", "50,50", "--deals", "40000"]
    found = CliRunner().invoke(app, [*words, "--csv", str(tmp_path / "table.csv")])
    assert found.exit_code == 0, found.output
    assert "BB, after all-ins of BTN and SB: call with " in found.stdout
    assert "NashConv between " in found.stdout
    rows = (tmp_path / "table.csv").read_text().splitlines()
    assert (rows[0].startswith('hand,"BTN","SB",'), len(rows)) == (True, 170)
    data = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert data["before"] == pytest.approx([100 / 3] * 3)
    assert sum(data["values"]) == pytest.approx(100)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--stacks", "8,x"], "write numbers such as 10,12,8"),
        (["--stacks", "8,8", "--stack", "8"], "--stacks cannot be combined with --stack"),
        (["--stack", "8", "--payouts", "1"], "--payouts and --deals need --stacks"),
        (["--stacks", "8"], "push or fold takes 2 to 6 players"),
    ],
)
def test_tables_that_cannot_be_solved(words, message):
    found = CliRunner().invoke(app, ["holdem", "pushfold", *words])
    assert found.exit_code != 0
    assert message in " ".join(found.stderr.split())
