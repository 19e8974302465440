"""A table in a file: what happens is added line by line, so that a server that ends, however it does, loses nothing."""

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, final

from treeplex.base.storage.reading import open_regular
from treeplex.errors import FileError
from treeplex.search.tables.judging import Decided
from treeplex.search.tables.results import Hand


@dataclass
class KeptTable:
    """What a file of a table holds: finished hands, the last deal, and the moves made after it."""

    hands: list[Hand] = field(default_factory=list)
    deal: dict[str, Any] = field(default_factory=dict)
    moves: list[dict[str, Any]] = field(default_factory=list)

    @property
    def under_way(self) -> bool:
        """Whether the hand of the last deal is not over."""
        return bool(self.deal) and self.deal["number"] > len(self.hands)


@final
class Kept:
    """The file of a table, lines of JSON: who sits down to what; then deals, moves and finished hands as they happen.

    A deal without a finished hand behind it is the hand under way; the moves since then were made in it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, kind: str, event: Any) -> None:
        """Add what has happened.

        Raises:
            FileError: the file cannot be written.
        """
        try:
            with self.path.open("a") as file:
                file.write(json.dumps({kind: event}) + "\n")
        except OSError as error:
            raise FileError(f"cannot keep the table: {error.strerror or error}; free some space") from error

    def finish(self, hand: Hand) -> None:
        """Add a hand that is over."""
        self.add("hand", asdict(hand))

    def read(self) -> "KeptTable":
        """What has happened so far; a line that was being written when the server ended is taken out.

        Raises:
            FileError: the file cannot be read.
        """
        found, whole = KeptTable(), 0
        try:
            with open_regular(self.path) as file:
                for text in file:
                    if not text.endswith(b"\n"):
                        break
                    whole += len(text)
                    ((kind, event),) = json.loads(text).items()
                    if kind == "hand":
                        found.hands.append(hand_of(event))
                    elif kind == "deal":
                        found.deal, found.moves = event, []
                    elif kind == "move":
                        found.moves.append(event)
            os.truncate(self.path, whole)
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise FileError(f"the table in {self.path.name} cannot be read ({error}); sit down anew") from error
        return found


def hand_of(data: dict[str, Any]) -> Hand:
    """A hand as :meth:`Kept.finish` wrote it."""
    lists = ("options", "values", "policy")
    decided = [Decided(**(each | {name: tuple(each[name]) for name in lists})) for each in data["decided"]]
    return Hand(**{**data, "decided": decided})
