"""Files of hands played against a server."""

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
    """One finished hand.

    Attributes:
        number: number of the hand in the match, from 0.
        seat: the agent's seat; 0 has the big blind.
        cards: the agent's cards.
        board: the board.
        line: the actions, with bets in chips on the street.
        won: chips won by the agent.
        adjusted: luck-adjusted winnings; None if the server does not send them.
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
    """The hands of a match, optionally stored in a JSON Lines file: a header, then one hand per line.

    Use it in a ``with`` statement, which locks the file for other processes.

    Args:
        path: path of the file; None to keep hands in memory only. An existing file is continued.
        about: header of the match; a file with another header is rejected.
    """

    def __init__(self, path: Path | None, about: Mapping[str, Any]) -> None:
        self.path, self.about, self.hands = path, dict(about), list[ServedHand]()
        self._lock = None if path is None else FileLock(path.with_name(f"{path.name}.lock"), str(path))

    def __enter__(self) -> Self:
        """Open the file.

        Raises:
            FileError: the file cannot be read or written, is in use, or belongs to another match.
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
        """Add a hand and write it to the file.

        Raises:
            FileError: the file cannot be written; the hand is still part of the match.
        """
        self.hands.append(hand)
        if self.path is not None:
            append_line(self.path, json.dumps(asdict(hand)))

    def _open(self) -> None:
        assert self.path is not None
        lines = whole_lines(self.path)
        if not lines:
            if self.path.exists() and self.path.stat().st_size:
                raise FileError(f"{self.path} is not a log of hands played on a server; choose another file with --out")
            append_line(self.path, json.dumps(self.about))
            return
        header = self._line(lines, 1)
        for name, value in self.about.items():
            if header.get(name) != value:
                raise FileError(
                    f"{self.path} contains hands with {name} {header.get(name)!r}, not {value!r}; choose another "
                    "file with --out"
                )
        self.hands = [self._hand(lines, number) for number in range(2, len(lines) + 1)]
        self._cut()

    def _cut(self) -> None:
        """Remove an incomplete last line, which a crash may leave behind."""
        assert self.path is not None
        data = read_bytes(self.path)
        if not data.endswith(b"\n"):
            try:
                os.truncate(self.path, data.rfind(b"\n") + 1)
            except OSError as error:
                raise FileError(f"cannot write {self.path}: {reason(error)}; choose another file with --out") from error

    def _line(self, lines: list[str], number: int) -> dict[str, Any]:
        try:
            record = parse_json(lines[number - 1])
        except ValueError:
            record = None
        if not isinstance(record, dict):
            raise FileError(f"{self.path}:{number}: not a server hand record; choose another file with --out")
        return record

    def _hand(self, lines: list[str], number: int) -> ServedHand:
        record, kinds = self._line(lines, number), ServedHand.__annotations__
        wrong = [field.name for field in fields(ServedHand) if not isinstance(record.get(field.name), kinds[field.name])]
        if wrong or len(record) != len(kinds):
            raise FileError(f"{self.path}:{number}: invalid hand fields {wrong or list(record)}; fix or remove this line")
        return ServedHand(**record)
