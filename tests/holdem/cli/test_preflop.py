"""``treeplex holdem preflop`` of charts that ship, and of names that are none."""

from typer.testing import CliRunner

from treeplex.run.cli.main import app


def test_a_name_that_is_nothing_lists_the_charts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(app, ["holdem", "preflop", "73bb"])
    assert found.exit_code != 0
    assert "'73bb'; use 20bb, 50bb, 100bb, 200bb, a solved spot (.spot)" in " ".join(found.stderr.split())


def test_a_chart_says_how_far_a_network_is_from_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(app, ["holdem", "preflop", "100bb"])
    assert "a chart by a network over all 1,755 flops" in found.stdout.splitlines()[-1]
