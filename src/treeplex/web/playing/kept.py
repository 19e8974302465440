"""A table's file: events are appended line by line, so that a server crash loses nothing."""

import errno
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, final

from treeplex.base.storage.files import write_atomically
from treeplex.base.storage.reading import open_regular, read_json
from treeplex.errors import FileError
from treeplex.search.tables.judging import DecisionReview
from treeplex.search.tables.results import Hand


@dataclass
class TableRecord:
    """Contents of a table's file: finished hands, the last deal, and the moves after it."""

    hands: list[Hand] = field(default_factory=list)
    deal: dict[str, Any] = field(default_factory=dict)
    moves: list[dict[str, Any]] = field(default_factory=list)

    @property
    def under_way(self) -> bool:
        """Whether the last deal's hand is unfinished."""
        return bool(self.deal) and self.deal["number"] > len(self.hands)


@final
class TableFile:
    """A table's file as JSON lines: the seating, then deals, moves and finished hands in chronological order.

    A deal without a finished hand after it is the current hand; the moves after it belong to that hand.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, kind: str, event: Any) -> None:
        """Append an event, or nothing if there is no room for all of it; a file that was deleted is not created again.

        Raises:
            FileError: the file cannot be written.
        """
        line = (json.dumps({kind: event}) + "\n").encode()
        try:
            with self.path.open("r+b", buffering=0) as file:
                end = file.seek(0, os.SEEK_END)
                if file.write(line) < len(line):
                    file.truncate(end)
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            raise FileError(f"cannot save the table: {error.strerror or error}; free some space") from error

    def finish(self, hand: Hand, summary: dict[str, Any]) -> None:
        """Append a finished hand, and write the table's summary beside its file.

        Raises:
            FileError: the hand cannot be written.
        """
        self.add("hand", asdict(hand))
        with suppress(FileError):
            write_atomically(summary_file(self.path), json.dumps(summary))

    def read(self) -> "TableRecord":
        """Read the events so far; ignores an incomplete last line left by a crash.

        Raises:
            FileError: the file cannot be read.
        """
        record, whole = TableRecord(), 0
        try:
            with open_regular(self.path) as file:
                for text in file:
                    if not text.endswith(b"\n"):
                        break
                    whole += len(text)
                    ((kind, event),) = json.loads(text).items()
                    if kind == "hand":
                        record.hands.append(hand_of(event))
                    elif kind == "deal":
                        record.deal, record.moves = event, []
                    elif kind == "move":
                        record.moves.append(event)
            os.truncate(self.path, whole)
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise FileError(f"cannot read the table in {self.path.name} ({error}); open a new table") from error
        return record


def summary_file(path: Path) -> Path:
    """Return the path of the summary of a table's file."""
    return path.with_suffix(".json")


def summary_of(path: Path) -> dict[str, Any]:
    """Return a table's summary: ``hands``, and if known ``won``, ``lost``, ``mistakes`` and ``big_blind``.

    The hands of tables without a summary are counted; for an unreadable file the result is empty.
    """
    try:
        return dict(read_json(summary_file(path)))
    except (FileError, OSError, ValueError, TypeError):
        with suppress(OSError), open_regular(path) as file:
            return {"hands": sum(line.startswith(b'{"hand"') for line in file)}
        return {}


def hand_of(data: dict[str, Any]) -> Hand:
    """Parse a hand that :meth:`TableFile.finish` wrote."""
    return Hand(**{**data, "decided": [review_of(decision) for decision in data["decided"]]})


def review_of(data: dict[str, Any]) -> DecisionReview:
    """Parse an evaluated decision."""
    return DecisionReview(**(data | {name: tuple(data[name]) for name in ("options", "values", "policy")}))
