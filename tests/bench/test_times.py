"""Benchmarks time the work that they name."""

import argparse
import json
import subprocess
from typing import Any

import pytest

from bench import growth, long_runs


def test_games_are_compiled_where_compiling_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A game from the cache on disk is read in a fraction of the time."""
    caches = []

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        caches.append((options.get("env") or {}).get("TREEPLEX_GAMES"))
        return subprocess.CompletedProcess(command, 0, json.dumps({"size": 1}), "")

    monkeypatch.setattr(subprocess, "run", run)
    long_runs.repeated("kuhn_poker", argparse.Namespace(iterations=1, repeats=1))
    growth.one_point("tree", {}, {}, 1.0)
    assert caches == ["off", "off"]


def test_building_a_search_is_timed_neither_for_kernels_nor_for_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from bench import torch_search

    now = 0.0

    class SlowlyBuilt(torch_search.SubgameSearch):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            nonlocal now
            super().__init__(*arguments, **options)
            now += 1000.0

    def clock() -> float:
        nonlocal now
        now += 1.0
        return now

    monkeypatch.setattr(torch_search, "SubgameSearch", SlowlyBuilt)
    monkeypatch.setattr(torch_search.time, "process_time", clock)
    found = torch_search.one_case("kuhn_poker", 8, torch_search.torch_device("torch-cpu"), quick=True)
    assert found["carrying_seconds"] < 100
    assert found["kernels_per_second"] == found["tensors_per_second"]
