"""Finished runs are kept by all that decides them."""

from pathlib import Path

import pytest

from papers.common import kept as keeping
from papers.common.kept import kept, kept_file, peek


def test_a_run_is_made_once_for_a_key_and_again_for_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "FOLDER", tmp_path)
    made: list[int] = []
    key = {"net": "a", "iterations": 3}
    for each in (key, key, {**key, "iterations": 4}, {**key, "net": "b"}):
        kept(each, lambda: made.append(1) or len(made))
    assert len(made) == 3
    assert (peek(key), peek({**key, "net": "b"}), peek({"net": "c"})) == (1, 3, None)
    files = {kept_file({**key, "net": net}, "chart", ".spot") for net in ("a", "a", "b")}
    assert len(files) == 2
