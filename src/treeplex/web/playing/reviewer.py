"""A hand history judged in a process of its own: what it says of its progress, and what it found, as files of a folder."""

import json
import time
from pathlib import Path
from typing import Any

from treeplex.base.storage.files import write_atomically
from treeplex.holdem.study.review.played_hand import played_hand
from treeplex.holdem.study.review.review import ReviewSettings, judged, review_json
from treeplex.run.job.record import Progress

ASKED, PROGRESS, RESULT = "asked.json", "progress.json", "review.json"
"""Files of a review: its request, its progress and its result."""
EVERY = 0.5
"""Seconds between two notes of progress."""


class Reviewer:
    """One hand, and how it is judged."""

    def __init__(self, text: str, folder: str, hero: str | None, settings: dict[str, Any]) -> None:
        """Read a hand.

        Args:
            text: of PokerStars, GGPoker or PHH.
            folder: where the solved streets are kept.
            hero: whose actions; None for whose cards are known.
            settings: ``oop``, ``ip``, ``street`` and ``threads``, as :class:`ReviewSettings` has them.

        Raises:
            FileError, SpecError: no hand, or none that can be judged.
        """
        self.folder, self._told = Path(folder), 0.0
        self.hand = played_hand(f"{text}\n", hero=hero)  # with a line break it is a text, and never the name of a file
        self.settings = ReviewSettings(
            ranges=(settings["oop"], settings["ip"]),
            first=settings["street"],
            threads=settings["threads"],
            folder=self.folder,
        )

    def about(self) -> dict[str, Any]:
        """The hand in words."""
        hand = self.hand
        positions = [part.position for part in hand.parts]
        return {"title": hand.title, "names": hand.names, "positions": positions, "cards": hand.cards, "hero": hand.hero}

    def run(self) -> None:
        """Solve the streets and judge the decisions; the result is in the folder then.

        Raises:
            SpecError: a street that does not fit into memory.
        """
        found = review_json(judged(self.hand, self.settings, self._watch))
        for street in found["streets"]:
            street["file"] = None if street["file"] is None else Path(street["file"]).name
        write_atomically(self.folder / RESULT, json.dumps(found))

    def _watch(self, street: str, progress: Progress, pot: float) -> None:
        """Note how far a street is."""
        now = time.monotonic()
        if now - self._told < EVERY:
            return
        self._told = now
        worth = progress.numbers.get("exploitability")
        note = {"street": street, "done": progress.done, "pot": pot, "exploitability": worth, "left": progress.seconds_left}
        write_atomically(self.folder / PROGRESS, json.dumps(note))
