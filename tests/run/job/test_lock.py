"""Locks on folders and files."""

import errno
import os
from pathlib import Path
from typing import NoReturn

import pytest

from treeplex.errors import FileError
from treeplex.run.job.lock import FileLock


def test_a_full_disk_names_the_file_and_leaves_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    lock = FileLock(tmp_path / ".lock", "the run")
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(FileError, match=r"cannot write .*\.lock: no space left on device; free disk space") as caught:
            lock.acquire()
    assert isinstance(caught.value.__cause__, OSError)
    assert not (tmp_path / ".lock").exists()
    with lock:
        assert (tmp_path / ".lock").read_text().startswith(f"process {os.getpid()} on ")
    assert not (tmp_path / ".lock").exists()
