"""Hands that were played at a server, kept in a file as they end."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self, final

from treeplex.base.storage.files import append_line
from treeplex.base.storage.reading import parse_json, read_bytes, reason, whole_lines
from treeplex.errors import FileError
from treeplex.run.job.lock import FileLock


@dataclass(frozen=True)
class ServedHand:
    """A hand that ended.

    Attributes:
        number: of the hand in the match, from 0.
        seat: the agent's; 0 has the big blind.
        cards: the agent's.
        board: the board.
        line: the actions, bets in chips of the street.
        won: chips of the agent.
        adjusted: the same without luck; None where the server does not say.
    """

    number: int
    seat: int
    cards: str
    board: str
    line: str
    won: float
    adjusted: float | None


@final
class HandsFile:
    """The hands of a match, in a file of JSON lines if there is one: what is played, then the hands.

    Used in a ``with`` statement, within which no other process writes the file.

    Args:
        path: of the file; None to keep hands in memory only. One that is there is continued.
        about: what is played; a file of something else is refused.
    """

    def __init__(self, path: Path | None, about: Mapping[str, Any]) -> None:
        self.path, self.about, self.hands = path, dict(about), list[ServedHand]()
        self._lock = None if path is None else FileLock(path.with_name(f"{path.name}.lock"), str(path))

    def __enter__(self) -> Self:
        """Open the file.

        Raises:
            FileError: it cannot be read or written, is being written, or is of another match.
        """
        if self._lock is not None:
            self._lock.acquire()
            try:
                self._open()
            except BaseException:
                self._lock.release()
                raise
        return self

    def __exit__(self, *reason: object) -> None:
        if self._lock is not None:
            self._lock.release()

    def add(self, hand: ServedHand) -> None:
        """Keep a hand.

        Raises:
            FileError: the file cannot be written; the hand counts all the same.
        """
        self.hands.append(hand)
        if self.path is not None:
            append_line(self.path, json.dumps(asdict(hand)))

    def _open(self) -> None:
        assert self.path is not None
        lines = whole_lines(self.path)
        if not lines:
            if self.path.exists() and self.path.stat().st_size:
                raise FileError(f"{self.path} is no file of hands at a server; give --out another name")
            append_line(self.path, json.dumps(self.about))
            return
        found = self._line(lines, 1)
        for name, value in self.about.items():
            if found.get(name) != value:
                raise FileError(
                    f"{self.path} has hands with {name} {found.get(name)!r}, not {value!r}; give --out another name"
                )
        self.hands = [self._hand(lines, number) for number in range(2, len(lines) + 1)]
        self._cut()

    def _cut(self) -> None:
        """Take half a line, left by a crash, off the end."""
        assert self.path is not None
        data = read_bytes(self.path)
        if not data.endswith(b"\n"):
            try:
                os.truncate(self.path, data.rfind(b"\n") + 1)
            except OSError as error:
                raise FileError(f"cannot write {self.path}: {reason(error)}; give --out another name") from error

    def _line(self, lines: list[str], number: int) -> dict[str, Any]:
        try:
            found = parse_json(lines[number - 1])
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise FileError(f"{self.path}:{number}: no hand at a server; give --out another name")
        return found

    def _hand(self, lines: list[str], number: int) -> ServedHand:
        found, kinds = self._line(lines, number), ServedHand.__annotations__
        wrong = [each.name for each in fields(ServedHand) if not isinstance(found.get(each.name), kinds[each.name])]
        if wrong or len(found) != len(kinds):
            raise FileError(f"{self.path}:{number}: a hand with {wrong or list(found)} that is none; mend or remove that line")
        return ServedHand(**found)
