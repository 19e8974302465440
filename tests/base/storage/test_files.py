"""Atomic writes and readable errors."""

import os
from pathlib import Path

import pytest

from treeplex.base.storage.files import write_atomically
from treeplex.base.storage.reading import read_text
from treeplex.errors import FileError


def test_writes_text_and_bytes(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a.txt", "é\n")
    assert (tmp_path / "a.txt").read_bytes() == "é\n".encode()
    write_atomically(tmp_path / "a.txt", b"\x00")
    assert (tmp_path / "a.txt").read_bytes() == b"\x00"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_keeps_the_mode_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "a").touch(0o600)
    write_atomically(tmp_path / "a", "x")
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600


def test_follows_links(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_atomically(tmp_path / "link", "x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "x"


def test_missing_folder_names_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot write .*no such file.*create the folder"):
        write_atomically(tmp_path / "no" / "a.txt", "x")


def test_folder_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(FileError, match="instead of a folder"):
        write_atomically(tmp_path / "a", "x")
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(FileError, match="no space left on device; free disk space"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_unwritable_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", denied)
    with pytest.raises(FileError, match="permission denied; choose a writable folder"):
        write_atomically(tmp_path / "a.txt", "x")


def test_reading(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file"):
        read_text(tmp_path / "a.txt")
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\r\n\xff")
    with pytest.raises(FileError, match=r"a\.txt:3: not UTF-8"):
        read_text(tmp_path / "a.txt")
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo")
    assert read_text(tmp_path / "a.txt") == "one\ntwo"
