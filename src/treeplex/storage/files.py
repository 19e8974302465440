"""Writing files: whole or not at all, with errors that name the file and the remedy."""

import contextlib
import os
import secrets
from pathlib import Path

from treeplex.errors import FileError
from treeplex.storage.reading import reason


def write_atomically(path: str | os.PathLike[str], content: bytes | str) -> Path:
    """Write ``content`` (text as UTF-8) to ``path``; a reader sees the old file or the whole new one, never a part.

    The bytes go to a temporary file in the same folder, which then takes the name. A symbolic link is followed.

    Raises:
        FileError: the folder is missing or not writable, the disk is full, or ``path`` is a folder.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
    data = content.encode() if isinstance(content, str) else content
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        raise FileError(f"cannot write {path}: {reason(error)}; {remedy(error, target)}") from error
    return target


def append_line(path: Path, text: str) -> None:
    """Add one line to a file; when the disk is full, no half line stays.

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
        raise FileError(f"cannot write {path}: {error.strerror or error}; free some space and resume") from error


def remedy(error: OSError, target: Path) -> str:
    """What to do about an error in writing ``target``."""
    if not target.parent.exists():
        return f"make the folder {target.parent} first"
    if target.is_dir():
        return "give the name of a file, not of a folder"
    if isinstance(error, PermissionError):
        return f"choose a folder you may write to instead of {target.parent}"
    return "free some space or choose another folder"
