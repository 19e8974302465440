"""Recognises files of solved spots by their first bytes."""

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
    """Reject a solved spot where a spot file is expected.

    Raises:
        FileError: the file is a solved spot; the message names the commands that read it.
    """
    if is_solved_spot(path):
        raise FileError(
            f"{path} is a solved spot, not a spot file; show it with treeplex show {path}, or resume it with "
            f"treeplex solve --resume {path}"
        )
