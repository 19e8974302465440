"""Reading files that anybody may have made: only regular files, no more bytes and no deeper nesting than is sensible.

Devices, pipes and sockets are refused before a byte is read, so that no file name makes Treeplex wait for ever.
"""

import errno
import json
import os
import stat
from pathlib import Path
from typing import IO, Any

from treeplex.errors import FileError

MOST_TEXT = 500_000_000
"""Bytes of a file that is text: games, policies, records."""
MOST_DEPTH = 64
"""Lists and objects in one another, in JSON."""


def open_regular(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a file for reading bytes.

    Raises:
        OSError: it is missing, not readable, a folder, or a device, pipe or socket.
    """
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        descriptor = os.open(path, flags)
    except ValueError as error:  # a null character in the name
        raise OSError(errno.EINVAL, "no name of a file") from error
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
    """The bytes of a file, ``most`` of them at most.

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
        raise FileError(f"cannot read {path}: it is larger than the memory that is free; check the path") from error
    if most is not None and (large or len(data) > most):
        raise FileError(f"{path}: larger than {most / 1e6:,.0f} MB, the most that is read of such a file; check the path")
    return data


def read_text(path: str | os.PathLike[str], *, most: int = MOST_TEXT) -> str:
    """The text of a UTF-8 file of at most ``most`` bytes, line ends as ``\\n``.

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
    """The lines of a file, none if it does not exist; a last line without its end, left by a crash, does not count.

    Raises:
        FileError: the file cannot be read or is not UTF-8 text.
    """
    return read_text(path).split("\n")[:-1] if path.exists() else []


def parse_json(text: str | bytes) -> Any:
    """Parse a JSON text.

    Raises:
        ValueError: it is not JSON, or nested deeper than :data:`MOST_DEPTH`.
    """
    try:
        found = json.loads(text)
    except RecursionError as error:
        raise ValueError("lists or objects in one another without end") from error
    check_depth(found)
    return found


def check_depth(value: Any) -> None:
    """Refuse lists and dicts nested deeper than :data:`MOST_DEPTH`.

    Raises:
        ValueError: they are.
    """
    level = [value]
    for _ in range(MOST_DEPTH + 1):
        inside = (each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list))
        level = [child for children in inside for child in children if isinstance(child, dict | list)]
        if not level:
            return
    raise ValueError(f"more than {MOST_DEPTH} lists or objects in one another")


def read_json(path: str | os.PathLike[str]) -> Any:
    """Parse a JSON file.

    Raises:
        FileError: the file cannot be read or is too large.
        ValueError: it is not JSON.
    """
    return parse_json(read_bytes(path, most=MOST_TEXT))


def tensor_metadata(data: bytes) -> dict[str, str]:
    """The free metadata of a safetensors file: a little-endian uint64 length, then a JSON header that holds it.

    Raises:
        ValueError: the file has no such header.
    """
    header = parse_json(data[8 : 8 + int.from_bytes(data[:8], "little")])
    about = header.get("__metadata__", {}) if isinstance(header, dict) else None
    if not isinstance(about, dict):
        raise ValueError("the header is not an object")
    return about


def reason(error: OSError) -> str:
    """The operating system's error message without the path."""
    return error.strerror.lower() if error.strerror else str(error)
