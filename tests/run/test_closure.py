"""What solving a game of the core imports: nothing of a wing, and not much of the core."""

import json
import subprocess
import sys

import pytest

CODE = """
import json, sys
import treeplex
names = lambda: [name for name in sys.modules if name.split(".")[0] == "treeplex"]
first = names()
{use}
print(json.dumps([first, names()]))
"""
WINGS = ("search", "holdem", "learn", "web")
SOLVE = 'treeplex.solve("leduc_poker", iterations=10)'
MOST_MODULES, MOST_AT_FIRST = 150, 6


def imported(use: str) -> tuple[list[str], list[str]]:
    """Treeplex's modules after ``import treeplex``, and after its use."""
    run = subprocess.run([sys.executable, "-c", CODE.format(use=use)], capture_output=True, text=True, check=True)
    first, last = json.loads(run.stdout.splitlines()[-1])
    return first, last


def parts_of_wings(names: list[str]) -> list[str]:
    """Those that lie in a wing."""
    return [name for name in names if name.split(".")[1:2] and name.split(".")[1] in WINGS]


def test_solving_imports_no_wing_and_not_much_of_the_core() -> None:
    first, last = imported(SOLVE)
    assert len(first) <= MOST_AT_FIRST, first
    assert parts_of_wings(last) == []
    assert 50 < len(last) <= MOST_MODULES


@pytest.mark.parametrize(
    "use",
    [
        'treeplex.judge("kuhn_poker", "uniform")',
        'treeplex.sample("kuhn_poker", iterations=2, playouts=2)',
        'treeplex.compare("kuhn_poker", ["cfr", "dcfr"], iterations=2)',
        'treeplex.check_rules("kuhn_poker", playthroughs=2)',
    ],
)
def test_other_doors_of_the_core_import_no_wing(use: str) -> None:
    assert parts_of_wings(imported(use)[1]) == []


def test_a_spot_imports_its_wing() -> None:
    assert parts_of_wings(imported('treeplex.load("turn_endgame")')[1])
