"""Atomic file writes, with errors that name the file and the remedy."""

import contextlib
import os
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from treeplex.base.storage.reading import reason
from treeplex.errors import FileError

TEMPORARY = re.compile(r"\.(.+)\.([0-9]+)-[0-9a-f]{12}\.tmp")
DAY = 86_400.0


def write_atomically(path: str | os.PathLike[str], content: bytes | str) -> Path:
    """Write ``content`` (strings as UTF-8) to ``path`` atomically; return the path.

    Raises:
        FileError: the folder is missing or not writable, the disk is full, or ``path`` is a folder.
    """
    with replacing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return Path(os.path.realpath(path))


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces ``path`` on success.

    Symbolic links are followed. The temporary name contains the process id, so that :func:`sweep` can remove the files of
    killed processes.

    Raises:
        FileError: the file cannot be written; an existing file is unchanged.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name[:100]}.{os.getpid()}-{os.urandom(6).hex()}.tmp")
    try:
        try:
            with open(temporary, "xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
                with contextlib.suppress(OSError):  # a new file has the usual mode
                    os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        raise FileError(f"cannot write {path}: {reason(error)}; {remedy(error, target)}") from error


def sweep(folder: Path, name: str = "") -> None:
    """Remove temporary files of dead processes from a folder and its subfolders.

    Args:
        folder: the folder to search.
        name: only temporary files of this target in ``folder`` itself; empty for all.
    """
    places = [folder] if name else [folder, *(path_inside for path_inside in folder.iterdir() if path_inside.is_dir())]
    for directory in places:
        for path in directory.glob(".*.tmp"):
            match = TEMPORARY.fullmatch(path.name)
            if match and name[:100] in ("", match[1]) and is_left_behind(path, int(match[2])):
                with contextlib.suppress(OSError):
                    path.unlink()


def is_left_behind(path: Path, pid: int) -> bool:
    """Return whether a temporary file is a day old or its writing process has ended."""
    if hasattr(os, "fork"):  # on other systems os.kill(pid, 0) ends the process
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        except OSError:
            pass
    try:
        return time.time() - path.stat().st_mtime > DAY
    except OSError:
        return False


def append_line(path: Path, text: str) -> None:
    """Append one line to a file; a full disk leaves no partial line.

    Raises:
        FileError: the file cannot be written.
    """
    line = (text + "\n").encode()
    try:
        with path.open("ab", buffering=0) as file:
            size = file.tell()
            try:
                if file.write(line) != len(line):
                    raise OSError(28, os.strerror(28))
            except OSError:
                with contextlib.suppress(OSError):
                    file.truncate(size)
                raise
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror or error}; free disk space and resume") from error


def remedy(error: OSError, target: Path) -> str:
    """Return the remedy for an error when writing ``target``."""
    if not target.parent.exists():
        return f"create the folder {target.parent} first"
    if target.is_dir():
        return "give a file name instead of a folder"
    if isinstance(error, PermissionError):
        return f"choose a writable folder instead of {target.parent}"
    return "free disk space or choose another folder"
