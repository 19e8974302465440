"""A lock on a folder or a file for one writer at a time; it is released when its process ends."""

import contextlib
import os
import socket
from pathlib import Path
from typing import final

from treeplex.base.storage.files import remedy
from treeplex.base.storage.reading import reason
from treeplex.errors import FileError

try:
    import fcntl
except ImportError:  # this system has no such locks
    fcntl = None  # type: ignore[assignment]


@final
class FileLock:
    """A lock file with the process id and host of its holder.

    The kernel holds the lock (``flock``) and releases it when the process ends, however it ends.

    Args:
        path: the lock file; removed on release.
        what: the name of the locked object in messages.
    """

    def __init__(self, path: Path, what: str) -> None:
        self.path, self.what = path, what
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Acquire the lock, unless this object already holds it.

        Raises:
            FileError: another process holds it, or its file cannot be written; no new file remains.
        """
        if self._descriptor is not None or fcntl is None:
            return
        while True:
            try:
                descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
            except OSError as error:
                raise self._unwritable(error) from error
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                holder = os.read(descriptor, 200).decode(errors="replace").strip() or "another process"
                os.close(descriptor)
                raise FileError(f"{self.what} is being written by {holder}; wait for it to end, or stop it first") from error
            except OSError:  # the file system has no locks
                os.close(descriptor)
                return
            if self._is_in_place(descriptor):
                break
            os.close(descriptor)  # its holder has just removed it
        self._descriptor = descriptor
        try:
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        except OSError as error:
            self.release()
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> FileError:
        return FileError(f"cannot write {self.path}: {reason(error)}; {remedy(error, self.path)}")

    def _is_in_place(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), os.stat(self.path))
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Release the lock if it is held."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                self.path.unlink()
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> "FileLock":
        self.acquire()
        return self

    def __exit__(self, *reason: object) -> None:
        self.release()
