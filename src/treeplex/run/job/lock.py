"""One writer at a time: a lock on a folder or a file that ends with the process that holds it."""

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
except ImportError:  # no such lock on this system
    fcntl = None  # type: ignore[assignment]


@final
class FileLock:
    """A lock file with the process id and the host of who holds it.

    The kernel holds the lock (``flock``), so that it is gone as soon as the process is, however it ended.

    Args:
        path: the lock file; removed on release.
        what: what messages call that which is locked.
    """

    def __init__(self, path: Path, what: str) -> None:
        self.path, self.what = path, what
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Take the lock, unless this object holds it already.

        Raises:
            FileError: another process holds it, or its file cannot be written; then no new file stays.
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
            except OSError:  # a file system without locks
                os.close(descriptor)
                return
            if self._is_in_place(descriptor):
                break
            os.close(descriptor)  # its holder removed it just now
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
        """Give the lock back, if it is held."""
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
