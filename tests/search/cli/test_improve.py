"""``treeplex improve``: few bets become many."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import treeplex as tp
from treeplex.run.cli.main import app

REAL, FEW = "no_limit_leduc(sizes=[50%;100%;a],stack=700)", "no_limit_leduc(stack=700)"


def call(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["improve", *map(str, arguments)])
    assert result.exit_code == code, (arguments, result.output, result.exception)
    return result.output if code else result.stdout


@pytest.mark.slow
def test_less_is_lost_and_the_policy_is_saved(tmp_path: Path) -> None:
    few, better = tp.solve(FEW, "cfr+", iterations=300).save(tmp_path / "few"), tmp_path / "better.json"
    out = json.loads(call(REAL, few, "--times", 1, "--bets", 3, "-n", 100, "--out", better, "--json"))
    assert out["exploitability"][1] < 0.9 * out["exploitability"][0]
    assert len(out["added"][0]) == 3
    assert all(path.endswith("bet 100") or "raise" in path or "bet" in path for path in out["added"][0])
    assert tp.exploitability(REAL, better) == pytest.approx(out["exploitability"][1])


@pytest.mark.slow
def test_it_prints_and_solves_by_itself() -> None:
    out = call(REAL, "--times", 1, "--bets", 1, "-n", 30, "--against", "uniform")
    assert "translated" in out
    assert "bet 100" in out.splitlines()[-1]


def test_it_ends_where_no_bet_is_unknown() -> None:
    out = call("no_limit_leduc(stack=300)", "--times", 3, "-n", 5)
    assert out.splitlines()[-1] == "no bets to add"
    assert "translated" in out.splitlines()[-2]


@pytest.mark.slow
def test_errors_name_the_remedy(tmp_path: Path) -> None:
    few = tp.solve(FEW, iterations=2).save(tmp_path / "few")
    assert "give the sizes with which it was solved" in call(REAL, few, "--sizes", "a", code=2)
    assert "unknown gadget" in call(REAL, "--gadget", "margin", code=2)
    assert "has no bets" in call("liars_dice(dice_sides=3)", code=2)
    assert "is neither a share of the pot nor all-in" in call(REAL, "--sizes", "2x", code=2)
