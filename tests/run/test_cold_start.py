"""How many kernels the first run of a command compiles: each takes about half a second."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from treeplex.engine.compile_ahead import ENVIRONMENT as COMPILE_AHEAD
from treeplex.engine.kernel_cache import ENVIRONMENT as KERNELS
from treeplex.engine.kernel_cache import SUFFIX

RIVER = str(Path(__file__).parents[2] / "examples/spots/river.yaml")


@pytest.mark.slow
@pytest.mark.parametrize(("game", "most"), [("leduc_poker", 12), (RIVER, 48)], ids=["Leduc poker", "a river"])
def test_a_first_solve_compiles_no_more_kernels_than_it_did(game: str, most: int, tmp_path: Path) -> None:
    environment = os.environ | {KERNELS: str(tmp_path), COMPILE_AHEAD: "0"}
    command = [sys.executable, "-m", "treeplex", "solve", game, "-n", "2", "--target", "1000", "--json"]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    compiled = sorted(path.name for path in tmp_path.glob(f"*{SUFFIX}"))
    assert 0 < len(compiled) <= most, compiled
