"""State of a server: the served folder, and possibly one more file."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path, PurePosixPath
from typing import Protocol

from treeplex.errors import FileError
from treeplex.web.events import Events
from treeplex.web.spots.held import Solutions

OWN = ".web"
"""Name of the subfolder for the server's own files."""
OUTSIDE = ":"
"""Prefix of the opened file's name in requests if the file is outside the folder."""
LONGEST_NAME = 80


class Refusal(Exception):  # noqa: N818 (an answer, no fault of ours)
    """Error for a rejected request, answered with a status and one line.

    Attributes:
        status: HTTP status, 4xx, or 503 if the server is busy.
        field: the invalid field of the request; None for none.
    """

    def __init__(self, status: int, line: str, field: str | None = None) -> None:
        super().__init__(line)
        self.status, self.field = status, field


class Work(Protocol):
    """Protocol of the job queue, as the server uses it."""

    @property
    def writing(self) -> str | None: ...
    def writes(self, path: Path) -> bool: ...
    def may_write(self, path: Path) -> bool: ...
    def renamed(self, before: Path, after: Path) -> None: ...
    async def open(self) -> None: ...
    async def close(self) -> None: ...
    def kill(self) -> None: ...


@dataclass
class ServerState:
    """The state of a server.

    Attributes:
        folder: folder for reading and writing; no other files are used, except ``opened``.
        opened: the file given when the server was started; None for none.
        own_games: specs of custom games given on the command line.
        threads: number of threads for solving; None for one per available core.
        solutions: solved spots held in memory.
        pace: measured seconds per iteration of a spot, divided by the estimate's; None before it is measured.
        work: the job queue; None before the application exists.
        closing: functions called when the server shuts down.
    """

    folder: Path
    opened: Path | None = None
    own_games: Sequence[str] = ()
    threads: int | None = None
    events: Events = field(default_factory=Events)
    solutions: Solutions = field(default_factory=Solutions)
    pace: float | None = None
    work: Work | None = None
    closing: list[Callable[[], None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"cannot make the folder {self.folder}: {error.strerror or error}; choose another") from error
        self.folder = self.folder.resolve()
        link = self.link_out(self.own_folder)
        if link is not None:
            raise FileError(f"{link} is a link that leads outside {self.folder}; remove it, or serve another folder")
        self.opened = None if self.opened is None else self.opened.resolve()

    @property
    def own_folder(self) -> Path:
        """The folder for the server's own files."""
        return self.folder / OWN

    def name(self, path: Path) -> str:
        """Return a path's name in requests: relative to the folder, with slashes."""
        path = Path(os.path.abspath(path))
        if path.is_relative_to(self.folder):
            return path.relative_to(self.folder).as_posix()
        return f"{OUTSIDE}{path.name}"

    def path(self, file: str, *, there: bool = True) -> Path:
        """Return the path of a file that a request names.

        Raises:
            Refusal: the file is outside the folder or hidden (403), or ``there`` is set and it does not exist (404).
        """
        if self.opened is not None and file == self.name(self.opened):
            return self.opened
        plain = PurePosixPath(file)
        if not file or plain.is_absolute() or "\\" in file or any(part.startswith((".", OUTSIDE)) for part in plain.parts):
            raise Refusal(
                403, f"{file[:LONGEST_NAME]!r} is not a file name in the folder; names are listed by /api/start", "file"
            )
        path = self.folder / plain
        try:
            exists = path.exists()
            self.inside(path)
        except (OSError, ValueError):
            there, exists = True, False
        if there and not exists:
            raise Refusal(404, f"there is no {file[:LONGEST_NAME]!r} in the folder; it may have been moved or removed", "file")
        return path

    def inside(self, path: Path) -> Path:
        """Return ``path``, after checking that neither it nor any link in it leads outside the folder.

        Raises:
            Refusal: there is such a link (403).
        """
        link = self.link_out(path)
        if link is not None:
            raise Refusal(403, f"{self.name(link)!r} is a link that leads outside the folder; copy the file into it", "file")
        return path

    def link_out(self, path: Path) -> Path | None:
        """Find a link that leads outside the folder, first at or above ``path``, then below it; None if there is none."""
        waiting, seen = [path], set[Path]()
        while waiting:
            current = waiting.pop()
            try:
                real = current.resolve()
            except RuntimeError:  # circular links
                return current
            if not real.is_relative_to(self.folder):
                return current
            if real not in seen and real.is_dir():
                seen.add(real)
                with suppress(OSError), os.scandir(real) as entries:
                    waiting += [Path(entry.path) for entry in entries if entry.is_symlink() or entry.is_dir()]
        return None

    def free_file(self, name: str, suffix: str, folder: Path | None = None) -> Path:
        """Return an unused path with a name based on ``name``.

        Args:
            name: the wanted name.
            suffix: suffix of the file.
            folder: the served folder or one of its subfolders; None for the served folder.

        Raises:
            Refusal: the name has no valid characters.
        """
        stem = re.sub(r"[^\w+=-]+", "-", name.removesuffix(suffix)).strip("-")[:LONGEST_NAME]
        if not stem:
            raise Refusal(400, f"{name[:LONGEST_NAME]!r} is not a file name; use letters and digits", "name")
        number = 1
        while True:
            path = (folder or self.folder) / f"{stem if number == 1 else f'{stem}-{number}'}{suffix}"
            if not os.path.lexists(path) and not (self.work is not None and self.work.may_write(path)):
                return path
            number += 1

    def reserve(self, name: str, suffix: str, folder: Path | None = None) -> Path:
        """Create an empty file at :meth:`free_file`, so that concurrent requests get different names.

        Raises:
            Refusal: the name has no valid characters.
            OSError: the file cannot be created.
        """
        return claim(self.free_file(name, suffix, folder) for _ in count())


def claim(paths: Iterable[Path]) -> Path:
    """Create an empty file at the first unused of infinitely many paths.

    Raises:
        OSError: the file cannot be created.
    """
    for path in paths:
        with suppress(FileExistsError):
            path.open("xb").close()
            return path
    raise AssertionError("'paths' must be an infinite iterator")
