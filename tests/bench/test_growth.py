"""Curves of time and memory against size, and memory predicted before solving."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench import growth
from bench.common import record


def measured(kind: str, smallest: dict[str, Any], point: dict[str, Any], games: Path) -> dict[str, Any]:
    """A point measured in a process of its own, with a folder of compiled games."""
    command = [sys.executable, "-m", "bench.common.growth_points", kind, json.dumps([smallest, point])]
    done = subprocess.run(
        command, cwd=record.ROOT, capture_output=True, text=True, check=True, env=os.environ | {"TREEPLEX_GAMES": str(games)}
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


TURN = {"board": "Td9d6hQc"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [{}, {"threads": 2}, {"storage": "int16"}, {"algorithm": "pcfr+"}],
    ids=["float32", "two threads", "int16", "pcfr+"],
)
def test_memory_of_a_spot_is_predicted_within_five_percent(options: dict[str, Any], tmp_path: Path) -> None:
    found = measured("spot", {**TURN, **options}, {**TURN, "sizes": 3, "hands": 1081, **options}, tmp_path)
    assert found["peak_bytes"] > 100e6
    assert found["predicted_bytes"] == pytest.approx(found["peak_bytes"], rel=0.05)


@pytest.mark.slow
def test_memory_of_a_tree_from_the_cache_is_predicted_within_five_percent(tmp_path: Path) -> None:
    small, large = {"game": "leduc_poker(ranks=2)"}, {"game": "leduc_poker(ranks=52)"}
    measured("tree", small, large, tmp_path)
    found = measured("tree", small, large, tmp_path)
    assert found["peak_bytes"] > 100e6
    assert found["predicted_bytes"] == pytest.approx(found["peak_bytes"], rel=0.05)


def test_slopes_are_exponents_of_the_largest_points() -> None:
    points = [{"size": size, "seconds": 5.0 + size**2} for size in (1, 1000, 2000, 4000)]
    assert growth.slope(points, "seconds") == pytest.approx(2.0, abs=0.01)
    assert growth.slope(points[:2], "seconds") is None


def test_speed_ups_on_more_cores() -> None:
    """If two threads are 1.6 times as fast as one, a quarter of the work is serial."""
    one = [{"settings": {"game": "g"}, "size": 1000, "seconds": 1.0, "peak_bytes": 1}]
    two = [{"settings": {"game": "g", "threads": 2}, "size": 1000, "seconds": 0.625, "peak_bytes": 1}]
    tree, flop = "a tree, dense payoffs", "a flop"
    assert growth.more_cores({tree: one, f"{tree}, 2 threads": two, flop: one, f"{flop}, 2 threads": two, "a river": one}) == [
        [tree, "1,000", "1.60", "3.37", "-"],
        [flop, "1,000", "1.60", "3.37", "3.82"],
    ]


def test_stored_points_are_not_measured_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = []
    name = "a river"
    points = growth.SERIES[name][1]

    def one_point(kind: str, smallest: Any, point: Any, limit: float) -> dict[str, Any] | None:
        asked.append(point)
        return {"size": 1} if len(asked) < len(points) - 1 else None

    monkeypatch.setattr(growth, "one_point", one_point)
    monkeypatch.setattr(growth, "PARTIAL", tmp_path / "partial.jsonl")
    options = argparse.Namespace(quick=False, seconds=1.0)
    stored: list[dict[str, Any]] = [{"commit": "now"}, {"run": [name, dict(points[0])], "value": {"size": 7}}]
    found = growth.climb(name, options, stored)
    assert asked == points[1:]
    assert [point["size"] for point in found] == [7] + [1] * (len(points) - 2)
    assert growth.read_lines(tmp_path / "partial.jsonl") == stored
