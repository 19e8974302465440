"""``treeplex holdem ranges``: of charts, saved by name, and pasted."""

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from treeplex.errors import SpecError
from treeplex.holdem.cards.ranges import parse_range
from treeplex.holdem.spots.files import read_spot_file
from treeplex.holdem.spots.saved_ranges import MOST, save_range
from treeplex.holdem.study.flop_ranges import flop_ranges
from treeplex.holdem.study.preflop_charts import read_solved
from treeplex.run.cli.main import app


def run(*words: str) -> str:
    """What the command prints on standard output."""
    found = CliRunner().invoke(app, ["holdem", "ranges", *words])
    assert found.exit_code == 0, found.output
    return found.stdout


def test_a_line_is_a_spot_file(tmp_path: Path) -> None:
    text = run("50bb", "--line", "r2.5,c")
    file = tmp_path / "srp.yaml"
    file.write_text(text + "board: Td9d6h\nbets: 50%\n")
    spot, solution = read_spot_file(file).spot(), read_solved("50bb")
    assert solution is not None
    line = next(each for each in flop_ranges(solution) if each.line == "r2.5,c")
    assert (spot.pot, spot.stack) == (line.pot, line.stack) == (5.0, 47.5)
    assert yaml.safe_load(text)["oop"] == line.fields()["oop"]
    listed = run("50bb")
    for each in flop_ranges(solution):
        assert f"{each.line}: {each.title}" in listed
    assert "exploitability 7.5 mbb/hand" in listed


def test_ranges_are_saved_and_named(tmp_path: Path) -> None:
    folder = ("--folder", str(tmp_path))
    text = run("50bb", "--line", "r2.5,c", "--player", "sb", "--save", "open", *folder).strip()
    assert run("open", *folder).strip() == text
    assert json.loads(run("--json", *folder))["saved"]["open"] == text
    assert run("[50]AKs[/50] QQ", "--save", "mine", *folder).strip() == "QQ,AKs:0.5"
    assert "mine: [50]AKs[/50] QQ" in run(*folder)
    assert parse_range(run("mine", *folder)).sum() == 8


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["AKz"], "cannot read 'AKz'"),
        (["50bb", "--line", "r2.5"], "does not see a flop with chips behind; write c,x; r2.5,c"),
        (["50bb", "--line", "r2.5,c", "--player", "utg"], "charts are heads-up; write bb or sb"),
        (["50bb", "--save", "x"], "--save needs one range"),
        (["AA", "--player", "bb"], "--line and --player need a chart"),
        (["AA", "--save", "x" * 61], "give a name of 1 to 60"),
    ],
)
def test_requests_that_cannot_be_met(words: list[str], message: str, tmp_path: Path) -> None:
    found = CliRunner().invoke(app, ["holdem", "ranges", *words, "--folder", str(tmp_path)])
    assert found.exit_code != 0
    assert message in " ".join(found.stderr.split())
    assert not (tmp_path / ".web").exists()


def test_saved_ranges_are_limited(tmp_path: Path) -> None:
    file = tmp_path / "ranges.json"
    file.write_text(json.dumps({str(name): "AA" for name in range(MOST)}))
    assert len(save_range(file, "0", "KK")) == MOST
    with pytest.raises(SpecError, match=f"{MOST} ranges are already saved"):
        save_range(file, "new", "KK")
