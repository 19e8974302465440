"""Safe reading of untrusted files: only regular files, with limits on size and nesting.

Devices, pipes and sockets are refused before a byte is read, so that reading never blocks.
"""

import errno
import json
import os
import stat
from pathlib import Path
from typing import IO, Any

from treeplex.errors import FileError

MOST_TEXT = 500_000_000
"""Largest size in bytes of a text file: games, policies, records."""
MOST_DEPTH = 64
"""Deepest nesting of lists and objects in JSON."""


def open_regular(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a file for reading bytes.

    Raises:
        OSError: it is missing, not readable, a folder, or a device, pipe or socket.
    """
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        descriptor = os.open(path, flags)
    except ValueError as error:  # the name contains a null character
        raise OSError(errno.EINVAL, "not a file name") from error
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_bytes(path: str | os.PathLike[str], *, most: int | None = None) -> bytes:
    """Read the bytes of a file of at most ``most`` bytes.

    Raises:
        FileError: the file is missing, a folder, not a regular file, not readable or too large.
    """
    try:
        with open_regular(path) as file:
            large = most is not None and os.fstat(file.fileno()).st_size > most
            data = b"" if large else file.read() if most is None else file.read(most + 1)
    except OSError as error:
        raise FileError(f"cannot read {path}: {reason(error)}; check the path") from error
    except MemoryError as error:
        raise FileError(f"cannot read {path}: file is larger than the free memory; check the path") from error
    if most is not None and (large or len(data) > most):
        raise FileError(f"{path}: larger than the limit of {most / 1e6:,.0f} MB; check the path")
    return data


def read_text(path: str | os.PathLike[str], *, most: int = MOST_TEXT) -> str:
    """Read a UTF-8 file of at most ``most`` bytes; line endings are converted to ``\\n``.

    Raises:
        FileError: the file is missing, not readable, too large or not UTF-8 text.
    """
    data = read_bytes(path, most=most)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise FileError(f"{path}:{line}: not UTF-8 text; save the file as UTF-8") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def whole_lines(path: Path) -> list[str]:
    """Return a file's complete lines, or an empty list if the file does not exist. An unterminated last line is dropped.

    Raises:
        FileError: the file cannot be read or is not UTF-8 text.
    """
    return read_text(path).split("\n")[:-1] if path.exists() else []


def parse_json(text: str | bytes, *, unique: bool = False) -> Any:
    """Parse JSON text; ``unique`` refuses objects that give a key twice, of which the last would win.

    Raises:
        ValueError: the text is not JSON, is nested deeper than :data:`MOST_DEPTH`, or repeats a key.
    """
    try:
        data = json.loads(text, object_pairs_hook=unique_keys if unique else None)
    except RecursionError as error:
        raise ValueError("lists or objects nested too deeply") from error
    check_depth(data)
    return data


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Convert a JSON object to a dict; raise :class:`ValueError` if it gives a key twice."""
    members = dict(pairs)
    if len(members) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"{next(key for key in keys if keys.count(key) > 1)!r} is given twice")
    return members


def check_depth(value: Any) -> None:
    """Check that lists and dicts are nested at most :data:`MOST_DEPTH` deep.

    Raises:
        ValueError: they are nested deeper.
    """
    level = [value]
    for _ in range(MOST_DEPTH + 1):
        inside = (item.values() if isinstance(item, dict) else item for item in level if isinstance(item, dict | list))
        level = [child for children in inside for child in children if isinstance(child, dict | list)]
        if not level:
            return
    raise ValueError(f"lists or objects are nested more than {MOST_DEPTH} levels deep")


def read_json(path: str | os.PathLike[str]) -> Any:
    """Parse a JSON file.

    Raises:
        FileError: the file cannot be read or is too large.
        ValueError: it is not JSON.
    """
    return parse_json(read_bytes(path, most=MOST_TEXT))


def tensor_metadata(data: bytes) -> dict[str, str]:
    """Return the metadata of a safetensors file: a little-endian uint64 length, then a JSON header.

    Raises:
        ValueError: the file has no such header.
    """
    header = parse_json(data[8 : 8 + int.from_bytes(data[:8], "little")])
    about = header.get("__metadata__", {}) if isinstance(header, dict) else None
    if not isinstance(about, dict):
        raise ValueError("header is not a JSON object")
    return about


def reason(error: OSError) -> str:
    """Return the operating system's error message without the path."""
    return error.strerror.lower() if error.strerror else str(error)
