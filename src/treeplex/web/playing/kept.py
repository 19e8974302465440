"""A table's file: events are appended line by line, so that a server crash loses nothing."""

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, final

from treeplex.base.storage.reading import open_regular
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
        """Append an event.

        Raises:
            FileError: the file cannot be written.
        """
        try:
            with self.path.open("a") as file:
                file.write(json.dumps({kind: event}) + "\n")
        except OSError as error:
            raise FileError(f"cannot save the table: {error.strerror or error}; free some space") from error

    def finish(self, hand: Hand) -> None:
        """Append a finished hand."""
        self.add("hand", asdict(hand))

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


def hand_of(data: dict[str, Any]) -> Hand:
    """Parse a hand that :meth:`TableFile.finish` wrote."""
    lists = ("options", "values", "policy")
    decided = [DecisionReview(**(decision | {name: tuple(decision[name]) for name in lists})) for decision in data["decided"]]
    return Hand(**{**data, "decided": decided})
