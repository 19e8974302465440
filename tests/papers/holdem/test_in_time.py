"""Tables of the study of time and memory at play."""

from importlib import import_module
from time import perf_counter

import numpy as np
import pytest

from papers.holdem.in_time import CLOCKS, TimedDecision, peak_memory, row_of


def test_rows_have_medians_and_extremes():
    solved = [TimedDecision(1, seconds, iterations, 6) for seconds, iterations in ((1.0, 10), (3.0, 30), (2.0, 40))]
    assert row_of([*solved, TimedDecision(1, 0.0, 0, 0)]) == ["1.50", "3.00", "30", "10", "6"]
    assert row_of([TimedDecision(0, 0.5, 0, 0)]) == ["0.50", "0.50", "", "", ""]


@pytest.mark.slow
def test_peak_memory_is_in_bytes_and_never_falls():
    before = peak_memory()
    block = np.ones(50_000_000)
    grown = peak_memory()
    assert grown >= before
    assert grown >= block.nbytes
    del block
    assert peak_memory() >= grown


def test_clocks_are_where_searches_look():
    assert all(import_module(f"treeplex.{name}").perf_counter is perf_counter for name in CLOCKS)
