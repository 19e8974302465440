"""Runs: solve, compare, run folders, plots."""

from treeplex.runs.compare import Comparison, compare
from treeplex.runs.folder import RunFolder
from treeplex.runs.record import Progress, Record, Settings
from treeplex.runs.solution import Solution
from treeplex.runs.solve import SolveInterrupted, solve

__all__ = [
    "Comparison",
    "Progress",
    "Record",
    "RunFolder",
    "Settings",
    "Solution",
    "SolveInterrupted",
    "compare",
    "solve",
]
