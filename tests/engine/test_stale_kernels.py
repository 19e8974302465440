"""Compiled kernels that are older than a source they were built from are dropped."""

import os
from pathlib import Path

import pytest

from treeplex.engine import drop_stale_kernels


def write(folder: Path, name: str, text: str, time: int) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (time, time))


def test_kernels_go_when_a_source_they_import_is_newer(tmp_path: Path) -> None:
    write(tmp_path, "base.py", "", 100)
    write(tmp_path, "middle.py", "from treeplex.engine.base import x\n", 100)
    write(tmp_path, "inner/top.py", "from treeplex.engine.middle import (\n    y,\n)\n", 100)
    write(tmp_path, "other.py", "from treeplex.base.spec import z\n", 100)
    cached = ["__pycache__/base.f.nbi", "__pycache__/middle.f.nbi", "__pycache__/other.f.nbi", "inner/__pycache__/top.f.nbi"]
    for name in (*cached, "__pycache__/other.pyc"):
        write(tmp_path, name, "", 150)

    def left() -> list[str]:
        return [name for name in cached if (tmp_path / name).exists()]

    drop_stale_kernels(tmp_path, "treeplex.engine")
    assert left() == cached
    write(tmp_path, "middle.py", "from treeplex.engine.base import x\n", 200)
    drop_stale_kernels(tmp_path, "treeplex.engine")
    assert left() == ["__pycache__/base.f.nbi", "__pycache__/other.f.nbi"]
    write(tmp_path, "base.py", "", 300)
    drop_stale_kernels(tmp_path, "treeplex.engine")
    assert left() == ["__pycache__/other.f.nbi"]
    assert (tmp_path / "__pycache__/other.pyc").exists()


def test_sources_are_read_once_after_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "base.py", "", 100)
    write(tmp_path, "other.py", "", 200)
    write(tmp_path, "__pycache__/base.f.nbi", "", 150)
    reads: list[Path] = []
    read_text = Path.read_text
    monkeypatch.setattr(Path, "read_text", lambda path, *rest: reads.append(path) or read_text(path, *rest))
    drop_stale_kernels(tmp_path, "treeplex.engine")
    assert len(reads) == 2
    drop_stale_kernels(tmp_path, "treeplex.engine")
    assert len(reads) == 2, "nothing has changed since"
    assert (tmp_path / "__pycache__/base.f.nbi").exists()
