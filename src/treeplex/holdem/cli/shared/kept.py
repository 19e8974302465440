"""Saving the hands that a person plays: a text log, and hand histories in PHH."""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, final

from treeplex.base.spec import quoted
from treeplex.base.storage.files import remedy, write_atomically
from treeplex.base.storage.reading import read_text, reason
from treeplex.errors import FileError, GameError, SpecError
from treeplex.holdem.cli.shared.requests import check_parent
from treeplex.holdem.whole.hand import HandRules
from treeplex.holdem.whole.phh import check_written, phh_of
from treeplex.run.cli.shared.console import say

if TYPE_CHECKING:
    from treeplex.holdem.tables.whole import WholeTable

MANY = ".phhs"
NAME = re.compile(r"hand-(\d+)\.phh")
"""File name of a hand in a folder of hands."""


@final
class KeptHands:
    """Writes finished hands; each is appended to the files.

    Attributes:
        log: the text file, if any.
        phh: the folder of hand histories, or a ``.phhs`` file, if any.
    """

    def __init__(self, log: Path | None, phh: Path | None, rules: HandRules, title: str) -> None:
        """Check that the files can be written.

        Args:
            log, phh: see the attributes; a folder is created if necessary.
            rules: rules of the hands.
            title: text before the first hand.

        Raises:
            SpecError: the rules have no hand histories, or the file is for a single hand.
            FileError: a file cannot be written, or holds something else.
        """
        self.log, self.phh, self._count, self._last = log, phh, 0, 0
        self._title = title
        self._judged: int | None = None
        if phh is not None:
            self._last = self._opened(phh, rules)
        if log is not None:
            append_text(log, "")

    def _opened(self, phh: Path, rules: HandRules) -> int:
        """The number of the last saved hand."""
        try:
            check_written(rules)
        except GameError as error:
            raise SpecError(f"--phh: {error}; leave out --phh") from None
        if phh.suffix == ".phh":
            raise SpecError(
                f"--phh: a file {phh} holds only one hand; give a folder, or {phh.with_suffix(MANY)} to write all "
                "hands to one file"
            )
        check_parent(phh)
        if phh.suffix == MANY:
            return last_in_file(phh)
        try:
            phh.mkdir(exist_ok=True)
        except OSError as error:
            raise FileError(f"cannot write {phh}: {reason(error)}; choose another name") from error
        return max((int(match[1]) for entry in phh.iterdir() if (match := NAME.fullmatch(entry.name))), default=0)

    def add(self, table: "WholeTable", person: int, story: Sequence[str]) -> None:
        """Save one finished hand.

        Args:
            table: the table at which it was played.
            person: the person's player number.
            story: the hand as text, line by line.

        Raises:
            FileError: a file cannot be written.
        """
        self._count += 1
        if self.log is not None:
            title = [self._title, ""] if self._count == 1 else []
            append_text(self.log, "".join(f"{line}\n" for line in (*title, *story, "")))
        if self.phh is None:
            return
        self._last += 1
        later = table.betting.line.partition("/")[2].strip("/")
        if later and table.players == 2 and not table.rules.betting.limits:
            self._judged = self._last
        text = phh_of(table.history(), [table.seat(player) for player in range(table.players)])
        if self.phh.suffix == MANY:
            append_text(self.phh, f"[{self._last}]\n{text}\n")
        else:
            write_atomically(self.phh / f"hand-{self._last}.phh", text)

    def tell(self) -> None:
        """Print the files that the hands were saved to."""
        places = [str(path) for path in (self.log, self.phh) if path is not None]
        if places:
            say(f"{self._count} hand{'s' if self._count != 1 else ''} saved in {' and '.join(places)}")

    def review(self) -> str | None:
        """The command that reviews the last hand with postflop bets; None if no hand had any."""
        if self.phh is None or self._judged is None:
            return None
        if self.phh.suffix == MANY:
            return f"treeplex holdem review {quoted(str(self.phh))} --hand {self._judged} --hero you"
        return f"treeplex holdem review {quoted(str(self.phh / f'hand-{self._judged}.phh'))} --hero you"


def last_in_file(path: Path) -> int:
    """The number of the last hand in a ``.phhs`` file; 0 if the file does not exist.

    Raises:
        FileError: the file holds something else, or cannot be read.
    """
    if not path.exists():
        return 0
    try:
        numbers = [int(name) for name in tomllib.loads(read_text(path))]
    except (tomllib.TOMLDecodeError, ValueError) as error:
        raise FileError(f"{path} is not a file of hand histories ({error}); give another name") from None
    return max(numbers, default=0)


def append_text(path: Path, text: str) -> None:
    """Append text to a file.

    Raises:
        FileError: the file cannot be written.
    """
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise FileError(f"cannot write {path}: {reason(error)}; {remedy(error, path)}") from error
