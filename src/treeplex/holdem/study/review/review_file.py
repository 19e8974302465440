"""The SQLite file of a bulk review: hands by digest and settings, and their decisions.

Each hand is stored in one transaction, so that a killed review loses only the hand in progress. Opening a file checks its
integrity and its schema, and refuses triggers and views, so that reading a foreign file runs nothing.
"""

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self, final

from treeplex.base.storage.reading import open_regular, reason
from treeplex.errors import FileError
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.study.batches.boards import texture_of
from treeplex.holdem.study.review.review import Choice, Review, StreetReview, noise_of, review_json

APPLICATION, VERSION = 0x74705276, 1
"""SQLite's ``application_id`` of these files, and their ``user_version``."""
HEAD = b"SQLite format 3\x00"
TABLES: Final = {
    "settings": "id INTEGER PRIMARY KEY, fields TEXT NOT NULL UNIQUE",
    "places": "source TEXT, number INTEGER, digest TEXT NOT NULL, PRIMARY KEY (source, number)",
    "hands": (
        "id INTEGER PRIMARY KEY, digest TEXT NOT NULL, settings INTEGER NOT NULL REFERENCES settings, title TEXT, format TEXT, "
        "reason TEXT, detail TEXT, hero TEXT, position TEXT, opponent TEXT, cards TEXT, board TEXT, big_blind REAL, "
        "lost_bb REAL, seconds REAL, text TEXT NOT NULL, review TEXT, UNIQUE (digest, settings)"
    ),
    "decisions": (
        "hand INTEGER NOT NULL REFERENCES hands, number INTEGER NOT NULL, street TEXT, line TEXT, position TEXT, side TEXT, "
        "facing TEXT, action TEXT, best TEXT, suits TEXT, pairing TEXT, high TEXT, connected TEXT, pot_bb REAL, "
        "frequency REAL, lost_bb REAL, noise_bb REAL, accuracy REAL, verdict TEXT, PRIMARY KEY (hand, number)"
    ),
}
"""Tables and columns. ``reason`` is NULL for reviewed hands. Losses are in big blinds. ``noise_bb`` is the loss up to
which EVs count as equal, and ``accuracy`` the solution's exploitability as a share of the pot at the start of the street."""
COLUMNS: Final = ("street", "position", "side", "facing", "action", "best", "suits", "pairing", "high", "connected", "verdict")
"""Columns of decisions by which decisions are grouped and filtered."""


@final
@dataclass(frozen=True)
class StoredHand:
    """A stored hand: its review, or the reason why it was not reviewed.

    Attributes:
        title: the hand's title in its source.
        format: its format.
        text: its text.
        reason, detail: why it cannot be reviewed, as a phrase and as a line; empty if it was.
        review: its review.
        seconds: the time that its review took.
    """

    title: str
    format: str
    text: str
    reason: str = ""
    detail: str = ""
    review: Review | None = None
    seconds: float = 0.0


@final
class ReviewFile:
    """The SQLite file of a bulk review.

    Attributes:
        path: its path; None for a review in memory.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, *, create: bool = True) -> None:
        """Open a file, creating it if it does not exist.

        Raises:
            FileError: it cannot be opened, is damaged, or is not a review file.
        """
        self.path, self._used = None if path is None else Path(path), 0
        self._new = self.path is not None and not self.path.exists()
        there = self.path is not None and self.path.exists() and (self.path.stat().st_size > 0 or not create)
        if self.path is not None and not there and not create:
            raise FileError(f"{path} does not exist; start the review with --out {path}")
        try:
            if there:
                with open_regular(self.path or "") as file:
                    if file.read(len(HEAD)) != HEAD:
                        raise FileError(f"{path} is not a review file; choose another name, such as review.sqlite")
            self.data = sqlite3.connect(":memory:" if self.path is None else self.path, timeout=30, check_same_thread=False)
            try:
                self._prepare(new=not there)
            except BaseException:
                self.data.close()
                raise
        except (OSError, sqlite3.Error) as error:
            said = reason(error) if isinstance(error, OSError) else str(error)
            raise FileError(f"cannot open {path}: {said}; choose another file, or remove it and review again") from error

    def _prepare(self, *, new: bool) -> None:
        """Create the tables, or check the file."""
        execute = self.data.execute
        execute("PRAGMA trusted_schema = OFF")
        if new:
            execute("PRAGMA journal_mode = WAL")
            with self.data:
                for name, columns in TABLES.items():
                    execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns})")
                execute("CREATE INDEX IF NOT EXISTS places_of ON places (digest)")
                execute(f"PRAGMA application_id = {APPLICATION}")
                execute(f"PRAGMA user_version = {VERSION}")
            return
        (application,), (version,) = execute("PRAGMA application_id").fetchone(), execute("PRAGMA user_version").fetchone()
        if application != APPLICATION:
            raise FileError(f"{self.path} is not a review file; choose another name, such as review.sqlite")
        if version != VERSION:
            line = f"{self.path} has version {version}, and this Treeplex reads version {VERSION}"
            raise FileError(f"{line}; review the hands again into a new file")
        if (said := execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
            raise FileError(f"{self.path} is damaged ({said}); remove it and review the hands again")
        made = {name: sql.partition("(")[2] for name, sql in execute("SELECT name, sql FROM sqlite_master WHERE sql NOT NULL")}
        if made != {**{name: f"{columns})" for name, columns in TABLES.items()}, "places_of": "digest)"}:
            raise FileError(f"{self.path} does not have the tables of a review; remove it and review the hands again")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self.data.close()

    def abandon(self) -> None:
        """Close the file after an error; a new file without hands is removed."""
        empty = self._new and not self.data.execute("SELECT EXISTS (SELECT * FROM hands)").fetchone()[0]
        self.close()
        if empty and self.path is not None:
            self.path.unlink(missing_ok=True)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction.

        Raises:
            FileError: the file cannot be written.
        """
        try:
            with self.data:
                yield self.data
        except sqlite3.Error as error:
            raise FileError(f"cannot write {self.path}: {error}; free space on the disk, then resume the review") from error

    def settings(self, fields: Mapping[str, Any]) -> int:
        """The number of these settings, which are added if they are new."""
        text = json.dumps(fields, sort_keys=True)
        with self.writing() as data:
            data.execute("INSERT OR IGNORE INTO settings (fields) VALUES (?)", (text,))
        self._used = int(self.data.execute("SELECT id FROM settings WHERE fields = ?", (text,)).fetchone()[0])
        return self._used

    def last_settings(self) -> int:
        """The number of the settings used since the file was opened, else of the newest hand; 0 if there is none."""
        if self._used:
            return self._used
        row = self.data.execute("SELECT settings FROM hands ORDER BY id DESC LIMIT 1").fetchone()
        return int(row[0]) if row else 0

    def place(self, source: str, digests: Sequence[str]) -> None:
        """Record the digests of a source's hands, in their order; they replace earlier ones of this source."""
        with self.writing() as data:
            data.execute("DELETE FROM places WHERE source = ?", (source,))
            rows = [(source, number, digest) for number, digest in enumerate(digests, start=1)]
            data.executemany("INSERT INTO places VALUES (?, ?, ?)", rows)

    def known(self, settings: int) -> set[str]:
        """The digests of the hands stored with these settings."""
        return {digest for (digest,) in self.data.execute("SELECT digest FROM hands WHERE settings = ?", (settings,))}

    def add(self, settings: int, digest: str, hand: StoredHand) -> None:
        """Store a hand with its decisions.

        Raises:
            FileError: the file cannot be written.
        """
        row: dict[str, Any] = {"digest": digest, "settings": settings, "title": hand.title, "format": hand.format}
        row |= {"text": hand.text, "reason": hand.reason or None, "detail": hand.detail or None, "seconds": hand.seconds}
        decisions: list[dict[str, Any]] = []
        if hand.review is not None:
            recorded = hand.review.hand
            decisions = [
                decision_row(hand.review, street, choice)
                for street in hand.review.streets
                for choice in street.choices
                if len(choice.actions) > 1
            ]
            row |= {
                "hero": recorded.names[recorded.hero],
                "position": recorded.parts[recorded.hero].position,
                "opponent": recorded.parts[1 - recorded.hero].position,
                "cards": recorded.cards[recorded.hero],
                "board": hand.review.streets[-1].hand.board,
                "big_blind": recorded.big_blind,
                "lost_bb": sum(decision["lost_bb"] for decision in decisions),
                "review": json.dumps(review_json(hand.review)),
            }
        with self.writing() as data:
            added = data.execute(insert("hands", row), row)
            if added.rowcount:
                for number, decision in enumerate(decisions):
                    placed = {"hand": added.lastrowid, "number": number, **decision}
                    data.execute(insert("decisions", placed), placed)

    def hand(self, number: int) -> dict[str, Any]:
        """A stored hand with its review as JSON data, by its id.

        Raises:
            FileError: there is no such hand.
        """
        found = next(self.rows("SELECT * FROM hands WHERE id = ?", number), None)
        if found is None:
            raise FileError(f"there is no hand {number} in this review; choose one from its list")
        return {**found, "review": None if found["review"] is None else json.loads(found["review"])}

    def rows(self, query: str, *values: Any) -> Iterator[dict[str, Any]]:
        """The rows of a query as dictionaries.

        Raises:
            FileError: the file cannot be read.
        """
        try:
            cursor = self.data.execute(query, values)
            names = [column[0] for column in cursor.description]
            for row in cursor:
                yield dict(zip(names, row, strict=True))
        except sqlite3.Error as error:
            raise FileError(f"cannot read {self.path}: {error}; remove it and review the hands again") from error


def insert(table: str, row: Mapping[str, Any]) -> str:
    """The SQL statement that adds a row with these columns, unless it exists."""
    return f"INSERT OR IGNORE INTO {table} ({', '.join(row)}) VALUES ({', '.join(f':{name}' for name in row)})"


def decision_row(review: Review, street: StreetReview, choice: Choice) -> dict[str, Any]:
    """One decision as a row of the table ``decisions``, without hand and number."""
    hand = review.hand
    best = max(range(len(choice.ev)), key=lambda action: (choice.ev[action], choice.frequency[action]))
    return {
        "street": street.street,
        "line": choice.line,
        "position": hand.parts[hand.hero].position,
        "side": ("out of position", "in position")[hand.hero],
        "facing": facing(choice.line),
        "action": action_kind(choice.actions[choice.played]),
        "best": action_kind(choice.actions[best]),
        **texture_of(parse_cards(street.hand.board))._asdict(),
        "pot_bb": choice.pot / hand.big_blind,
        "frequency": choice.frequency[choice.played],
        "lost_bb": choice.lost / hand.big_blind,
        "noise_bb": noise_of(street.solution) / hand.big_blind,
        "accuracy": street.solution.exploitability / street.solution.spot.opening_pot,
        "verdict": choice.verdict,
    }


def facing(line: str) -> str:
    """What a decision answers: ``first to act``, ``check``, ``bet`` or ``raise``."""
    words = line.split(",") if line else []
    if not words:
        return "first to act"
    aggressive = sum(word[0] in "abr" for word in words)
    return "check" if not aggressive else "bet" if aggressive == 1 else "raise"


def action_kind(action: str) -> str:
    """The kind of an action: ``fold``, ``check``, ``call``, ``bet``, ``raise`` or ``all-in``."""
    return action.partition(" ")[0].replace("allin", "all-in")
