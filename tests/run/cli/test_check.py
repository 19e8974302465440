"""``treeplex check``."""

import json

import pytest
from typer.testing import CliRunner

from treeplex.run.cli.main import app

pytestmark = pytest.mark.slow

SPEC = "oshi_zumo(coins=3,size=1,horizon=3)"


def test_rules_are_compared() -> None:
    result = CliRunner().invoke(app, ["check", SPEC, "--playthroughs", "5"])
    assert result.exit_code == 0
    assert f"equal: {SPEC} and its Numba functions, compiled" in result.stdout
    assert "5 playthroughs, " in result.stdout
    found = json.loads(CliRunner().invoke(app, ["check", SPEC, "--against", SPEC, "--playthroughs", "5", "--json"]).stdout)
    assert (found["game"], found["playthroughs"], len(found["others"])) == (SPEC, 5, 3)
