"""Runs that hold with some settings only: found again with the same ones, gone with others."""

import pytest

from papers.common import results


def test_other_settings_take_the_place_of_all_runs(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "PAPERS", tmp_path)
    first, second = {"points": (1, 2)}, {"points": (1, 3)}
    assert results.stored_with("a/b", first) == {}
    for name in ("x", "y"):
        results.store_run_with("a/b", first, ["runs", name], [1.0])
    assert results.stored_with("a/b", first)["runs"] == {"x": [1.0], "y": [1.0]}
    assert results.stored_with("a/b", second) == {}
    results.store_run_with("a/b", second, ["runs", "x"], [2.0])
    assert results.stored_with("a/b", second)["runs"] == {"x": [2.0]}
