"""Review of a hand history in its own process, which writes progress and result to files in a folder."""

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
"""Seconds between progress updates."""


class Reviewer:
    """Reviews a hand."""

    def __init__(self, text: str, folder: str, hero: str | None, settings: dict[str, Any]) -> None:
        """Parse the hand.

        Args:
            text: hand history in PokerStars, GGPoker or PHH format.
            folder: folder to save solved streets in.
            hero: player whose decisions are evaluated; None for the player whose cards are known.
            settings: ``number`` of the hand in the text, and ``oop``, ``ip``, ``street`` and ``threads`` as in
                :class:`ReviewSettings`.

        Raises:
            FileError, SpecError: the text is not a hand, or the hand cannot be reviewed.
        """
        self.folder, self._told = Path(folder), 0.0
        given = f"{text}\n"  # the line break marks it as text rather than a file name
        self.hand = played_hand(given, number=settings.get("number", 1), hero=hero)
        self.settings = ReviewSettings(
            ranges=(settings["oop"], settings["ip"]),
            first=settings["street"],
            threads=settings["threads"],
            folder=self.folder,
        )

    def about(self) -> dict[str, Any]:
        """The hand's title, players, positions, cards and hero."""
        hand = self.hand
        positions = [part.position for part in hand.parts]
        return {"title": hand.title, "names": hand.names, "positions": positions, "cards": hand.cards, "hero": hand.hero}

    def run(self) -> None:
        """Solve the streets and evaluate the decisions; writes the result to the folder.

        Raises:
            SpecError: a street does not fit in memory.
        """
        result = review_json(judged(self.hand, self.settings, self._watch))
        for street in result["streets"]:
            street["file"] = None if street["file"] is None else Path(street["file"]).name
        write_atomically(self.folder / RESULT, json.dumps(result))

    def _watch(self, street: str, progress: Progress, pot: float) -> None:
        """Write a street's progress, at most once every ``EVERY`` seconds."""
        now = time.monotonic()
        if now - self._told < EVERY:
            return
        self._told = now
        worth = progress.numbers.get("exploitability")
        note = {"street": street, "done": progress.done, "pot": pot, "exploitability": worth, "left": progress.seconds_left}
        write_atomically(self.folder / PROGRESS, json.dumps(note))
