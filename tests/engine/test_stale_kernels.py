"""Kernels compiled before the last change of any kernel's source are dropped."""

import os
from pathlib import Path

import pytest

import treeplex.engine as engine


def test_only_older_kernels_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "__pycache__"
    cache.mkdir()
    for name, time in (
        ("a.py", 100),
        ("b.py", 200),
        ("__pycache__/a.nbi", 150),
        ("__pycache__/b.nbi", 250),
        ("__pycache__/a.pyc", 50),
    ):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time, time))
    monkeypatch.setattr(engine, "__file__", str(tmp_path / "__init__.py"))
    engine.drop_stale_kernels()
    assert sorted(path.name for path in cache.iterdir()) == ["a.pyc", "b.nbi"]
    engine.drop_stale_kernels()
    assert sorted(path.name for path in cache.iterdir()) == ["a.pyc", "b.nbi"]
