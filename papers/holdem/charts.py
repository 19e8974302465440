"""Shared code of the preflop studies: cached solutions, and errors of equities on some boards."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.holdem import HoldemSolution
from treeplex.holdem.cards.class_equities import class_equities, equities_on
from treeplex.holdem.study.preflop_charts import read_solved

FOLDER = Path("runs/preflop")
LINES = {"": "first", "c": "after a limp", "r2": "after a raise", "a": "after all-in"}


def solved_once(path: Path, solve: Callable[[], HoldemSolution]) -> HoldemSolution:
    """The solution in a file, solved and written first if the file does not exist."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        found = solve()
        found.save(path, resumable=False, streets=1)
        seconds, mbb = found.records[-1].cpu_seconds, 1000 * found.exploitability
        print(path.stem, f"{seconds:.0f} s", f"{mbb:.1f} mbb", flush=True)
    solution = read_solved(str(path))
    assert solution is not None
    return solution


def equity_errors(boards: NDArray[np.uint8], weights: Floats) -> tuple[float, float]:
    """Root mean square error of equities of hand classes, weighted by pairs of hands, and the largest error."""
    exact = class_equities()
    away = equities_on(boards, weights) - exact.equity
    return float(np.sqrt((away**2 * exact.pairs).sum() / exact.pairs.sum())), float(np.abs(away).max())
