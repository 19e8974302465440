"""Judges of one's own in the records of a run, from Python and from a file; the example judge against the built-in one."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import treeplex as tp
from treeplex.errors import SpecError
from treeplex.run.cli.main import app

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "extending"
OWN = """\
import treeplex as tp


def gain(game, policy, factor=1.0):
    return factor * tp.exploitability(game, policy)


class Judge:
    def __init__(self, factor=2.0):
        self.factor = factor

    def __call__(self, game, policy):
        return gain(game, policy, self.factor)


def nothing(game, policy):
    return None


def short(game):
    return 1.0


NUMBER = 3
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.py").write_text(OWN)
    return tmp_path


@pytest.fixture
def short_sighted_gain(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(EXAMPLES)
    import short_sighted_judge

    yield short_sighted_judge.short_sighted_gain
    del sys.modules["short_sighted_judge"]


@pytest.mark.slow
def test_measures_stand_in_every_record_and_survive_a_resume(folder: Path) -> None:
    measures = {"double": lambda game, policy: 2 * tp.exploitability(game, policy)}
    tp.solve("kuhn_poker", iterations=20, measures=measures, out="run")
    solution = tp.solve(resume="run", iterations=40, measures=measures)
    assert [record.measure("double") for record in solution.records] == [2 * each.exploitability for each in solution.records]
    lines = [json.loads(line) for line in (folder / "run/metrics.jsonl").read_text().splitlines()]
    assert all(line["measures"]["double"] == 2 * line["exploitability"] for line in lines)
    assert tp.solve(resume="run", iterations=60).measures == {}
    assert solution.plot("double.png", y="double") is not None
    assert (folder / "double.png").exists()


def test_measures_in_files() -> None:
    texts = ["my.py:gain", "my.py:gain(factor=3)", "my.py:Judge(factor=4)"]
    solution = tp.solve("kuhn_poker", iterations=20, measures=texts)
    assert list(solution.measures) == ["gain", "gain(factor=3)", "Judge(factor=4)"]
    found = [solution.measures[name] / solution.exploitability for name in solution.measures]
    assert found == pytest.approx([1.0, 3.0, 4.0])


def test_measures_of_a_solver_stay() -> None:
    solution = tp.solve("kuhn_poker(players=3)", "cfr-jr", iterations=5, measures={"one": lambda game, policy: 1.0})
    assert solution.measures["one"] == 1.0
    assert solution.objective in solution.measures


def test_comparisons_show_measures() -> None:
    comparison = tp.compare("kuhn_poker", ["cfr", "dcfr"], iterations=10, measures=["my.py:gain(factor=2)"])
    assert "gain(factor=2)" in comparison.columns
    for solution, row in zip(comparison.ranked, comparison.table(), strict=True):
        assert row[comparison.columns.index("gain(factor=2)")] == f"{2 * solution.exploitability:.3e}"


def test_on_the_command_line() -> None:
    result = CliRunner().invoke(app, ["solve", "kuhn_poker", "-n", "10", "--measure", "my.py:gain(factor=2)", "--json"])
    found = json.loads(result.stdout)
    assert found["gain(factor=2)"] == pytest.approx(2 * found["exploitability"])
    result = CliRunner().invoke(app, ["compare", "kuhn_poker", "-a", "dcfr,cfr", "-n", "10", "--measure", "my.py:gain"])
    assert result.exit_code == 0
    assert "gain" in result.stdout


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        (["my.py:gian"], r"my\.py defines no 'gian'; did you mean 'gain'"),
        (["my.py:gain(facto=2)"], r"unexpected keyword argument 'facto'; its signature is \(game, policy, factor=1\.0\)"),
        (["my.py:short"], r"'my\.py:short': too many positional arguments; its signature is \(game\)"),
        (["my.py:NUMBER"], "measure 'my.py:NUMBER' must be a function of a game and a policy, not 3"),
        (["my.py:nothing"], "measure 'nothing' must return a finite number, not None"),
        ({"mine": 3}, "measure 'mine' must be a function of a game and a policy, not 3"),
        ({"nash_conv": max}, "every run reports nash_conv already; give the measure another name"),
    ],
)
def test_refusals(measures: Any, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        tp.solve("kuhn_poker", iterations=5, measures=measures)


def test_spots_have_no_measures() -> None:
    with pytest.raises(SpecError, match="measures is not an option for hold'em spots"):
        tp.solve("turn_endgame", measures={"one": lambda game, policy: 1.0})


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker(ranks=2)", "kuhn_poker(players=3)"])
def test_the_example_judge_lies_between_nothing_and_exploitability(short_sighted_gain: Any, name: str) -> None:
    solution = tp.solve(name, "dcfr", iterations=5)
    found = [short_sighted_gain(solution.game, solution.policy, decisions) for decisions in range(7)]
    assert found[0] == 0.0
    assert found == sorted(found)
    assert found[1] > 0.0
    assert found[-1] == pytest.approx(solution.exploitability, abs=1e-14)


def test_the_example_judge_is_short() -> None:
    body = (EXAMPLES / "short_sighted_judge.py").read_text().partition("def short_sighted_gain")[2]
    assert sum(bool(line.strip()) for line in body.splitlines()) <= 40
