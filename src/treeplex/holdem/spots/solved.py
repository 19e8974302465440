"""How the file of a solved spot begins, for what must tell it from other files without reading it."""

import os

from treeplex.base.storage.reading import open_regular
from treeplex.errors import FileError

MAGIC = b"treeplex poker solution\n"


def is_solved_spot(path: str | os.PathLike[str]) -> bool:
    """Whether a file holds a solved spot."""
    try:
        with open_regular(path) as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def refuse_solved_spot(path: str | os.PathLike[str]) -> None:
    """Refuse a solved spot where a spot file is expected.

    Raises:
        FileError: it is one; the message says what reads it.
    """
    if is_solved_spot(path):
        raise FileError(
            f"{path} is a solved spot, not a spot file; look at it with treeplex show {path}, or resume solving it with "
            f"treeplex solve --resume {path}"
        )
