"""Reviews many hands: folders, files and texts of hand histories, stored in one SQLite file.

Hands are identified by a digest of their text and by the settings, so that an interrupted review resumes, and a
second run over the same folder reviews only new hands.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

from treeplex.base.spec import shown
from treeplex.base.storage.reading import MOST_TEXT, read_bytes
from treeplex.errors import FileError, SpecError, TreeplexError
from treeplex.forms.compile.rule_errors import said_by
from treeplex.holdem.betting.bet_plan import HOLDEM_STREETS, BetPlan
from treeplex.holdem.cards.ranges import parse_range
from treeplex.holdem.solve.budget import Budget
from treeplex.holdem.study.report.hand_texts import FORMATS, HandText, need_pokerkit, split_hands
from treeplex.holdem.study.report.room_text import UNREADABLE, UnsuitableHandError
from treeplex.holdem.study.review.played_hand import RecordedHand, from_history
from treeplex.holdem.study.review.review import Review, ReviewSettings, first_ranges, judged, words_of_street
from treeplex.holdem.study.review.review_file import ReviewFile, StoredHand
from treeplex.run.job.record import Progress

BUDGET = Budget(None, 10.0)
"""Default budget of each street."""
CUT_OFF, NO_DECISION, UNSOLVABLE = "the text is cut off", "the player made no decision", "cannot be solved"
FAILED = "cannot be judged because of an error"
UNKNOWN_FORMAT = "the file has no known format"
SUFFIXES = (".txt", ".phh", ".phhs", ".log", ".xml", ".hh")
"""Files of a folder that are read."""
MOST_KEPT = 20_000
"""Maximum number of characters that are stored of a text that cannot be reviewed."""
HANDS_SUFFIX = ".sqlite"
HERE = "the hand"


@final
@dataclass(frozen=True)
class HandSource:
    """A text with hands.

    Attributes:
        name: its name in the review, such as a path within the folder.
        text: the text.
    """

    name: str
    text: str


@final
@dataclass(frozen=True)
class BulkProgress:
    """The state of a running review.

    Attributes:
        done, new: reviewed hands of this run, and hands that are to be reviewed in this run.
        known: hands stored earlier.
        seconds_left: expected seconds to the end; None before the first hand is done.
        now: the hand in progress.
    """

    done: int
    new: int
    known: int
    seconds_left: float | None
    now: str

    def __str__(self) -> str:
        left = "" if self.seconds_left is None else f", about {time_text(self.seconds_left)} left"
        return f"hand {min(self.done + 1, self.new):,} of {self.new:,}{left}  {self.now}"


Watch = Callable[[BulkProgress], None]


def time_text(seconds: float) -> str:
    """A duration as text: ``41 s``, ``12 min``, ``2.1 h``."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def sources_of(path: str | os.PathLike[str]) -> Iterator[HandSource]:
    """The texts of a file, or of all files of hand histories in a folder and its subfolders, sorted by name.

    Raises:
        FileError: the path is missing, or its folder has no such files.
    """
    place = Path(path)
    if not place.is_dir():
        yield HandSource(place.name, text_of(place))
        return
    files = sorted(file for file in place.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
    if not files:
        raise FileError(f"{path} has no hand histories ({', '.join(SUFFIXES)}); give another folder")
    for file in files:
        yield HandSource(file.relative_to(place).as_posix(), text_of(file))


def text_of(file: Path) -> str:
    """The text of a file, as UTF-8 or UTF-16 with a byte order mark."""
    data = read_bytes(file, most=MOST_TEXT)
    return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", errors="replace")


@final
class BulkReview:
    """Reviews the hands of some sources that are not yet in a file.

    Attributes:
        file: the file.
        settings: number of the settings in the file.
        waiting: digests and texts of hands that are to be reviewed.
        known: number of hands stored earlier.
    """

    def __init__(
        self, sources: Iterable[HandSource], file: ReviewFile, *, hero: str | None = None, how: ReviewSettings | None = None
    ) -> None:
        """Find the new hands.

        Args:
            sources: the hands.
            file: where they are stored.
            hero: the player to review, as in :func:`.review.review`; default: the player whose cards were dealt face up.
            how: ranges, sizes, accuracy and budget, by default :data:`BUDGET`; ``folder`` is not used.

        Raises:
            SpecError: PokerKit is not installed, or the settings are invalid.
            FileError: a source or the file cannot be read.
        """
        need_pokerkit()
        self.file, self._hero = file, hero
        self._how = replace(how or ReviewSettings(budget=BUDGET), folder=None)
        check_settings(self._how)
        self.settings = file.settings(fields_of(self._how, hero))
        stored = file.known(self.settings)
        self.waiting, seen = dict[str, HandText](), set[str]()
        places = dict[str, list[str]]()  # files of several folders may have the same name
        for source in sources:
            hands = split_hands(source.text) or [HandText(source.text, "")]
            places.setdefault(source.name, []).extend(hand.digest for hand in hands)
            file.place(source.name, places[source.name])
            for hand in hands:
                seen.add(hand.digest)
                if hand.digest not in stored:
                    self.waiting.setdefault(hand.digest, hand)
        self.known = len(seen & stored)

    def run(self, progress: Watch | None = None, say: Callable[[str], None] | None = None) -> None:
        """Review the waiting hands; each is stored when it is done.

        Hands that cannot be reviewed are found first, so that the time left is known soon.

        Args:
            progress: called after each step.
            say: called with a line on the current step before the first hand is solved.

        Raises:
            JobInterrupt, KeyboardInterrupt: Ctrl-C; the hands so far are stored, and the next run resumes.
            FileError: the file cannot be written.
        """
        hands = dict[str, RecordedHand]()
        for number, (digest, text) in enumerate(self.waiting.items(), start=1):
            if say is not None:
                say(f"reading hand {number:,} of {len(self.waiting):,}")
            try:
                hands[digest] = readable(text, self._hero, self._how)
            except Exception as error:  # a hand that fails must not end the review
                self.file.add(self.settings, digest, unsuitable(text, error))
        began = time.monotonic()
        for done, (digest, hand) in enumerate(hands.items()):
            left = (time.monotonic() - began) / done * (len(hands) - done) if done else None
            started = time.monotonic()

            def watch(street: str, state: Progress, pot: float, *, done: int = done, left: float | None = left) -> None:
                if progress is not None:
                    worth = state.numbers.get("exploitability")
                    reached = f", exploitability {worth / pot:.2%} of the pot" if worth is not None else ""
                    progress(BulkProgress(done, len(hands), self.known, left, f"solving the {street}{reached}"))

            if progress is not None:
                progress(BulkProgress(done, len(hands), self.known, left, "building the tree"))
            stored = self._review(self.waiting[digest], hand, watch)
            self.file.add(self.settings, digest, replace(stored, seconds=time.monotonic() - started))
        if progress is not None:
            progress(BulkProgress(len(hands), len(hands), self.known, 0.0, "done"))

    def _review(self, text: HandText, hand: RecordedHand, watch: Callable[[str, Progress, float], None]) -> StoredHand:
        """Review a hand, or record why it cannot be solved."""
        try:
            made: Review = judged(hand, self._how, watch)
        except FileError:
            raise
        except Exception as error:
            return unsuitable(text, error)
        return StoredHand(text.title or f"{hand.names[0]} against {hand.names[1]}", text.format, text.text, review=made)


def review_many(
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str] | None = None,
    *,
    hero: str | None = None,
    settings: ReviewSettings | None = None,
    progress: Watch | None = None,
    say: Callable[[str], None] | None = None,
) -> ReviewFile:
    """Review the hand histories of files and folders, except hands already in the review file.

    Args:
        sources: a file or folder, or several.
        out: the review's file (SQLite); None keeps the review in memory.
        hero: the player to review: a name, ``oop`` or ``ip``; default: the player whose cards were dealt face up.
        settings: ranges, sizes, accuracy and budget; default: 10 s for each street.
        progress: called after each step.
        say: called with a line on the current step before the first hand is solved.

    Returns:
        The open file. :func:`.leaks.leaks` reads its leaks, :func:`.leaks.counts` its numbers of hands.

    Raises:
        FileError: a source cannot be read, or the file is not that of a review.
        SpecError: PokerKit is not installed, or the settings are invalid.
        JobInterrupt: Ctrl-C; with a file, the next call resumes.
    """
    file = ReviewFile(out)
    places = [sources] if isinstance(sources, str | os.PathLike) else sources
    try:
        texts = (source for place in places for source in sources_of(place))
        BulkReview(texts, file, hero=hero, how=settings).run(progress, say)
    except BaseException:
        file.abandon()
        raise
    return file


def check_settings(how: ReviewSettings) -> None:
    """Check settings that would otherwise be refused hand by hand.

    Raises:
        SpecError: the street, a range or a size is invalid.
    """
    if how.first is not None and how.first not in HOLDEM_STREETS[1:]:
        raise SpecError(
            f"the first street is {shown(how.first)}; choose {', '.join(HOLDEM_STREETS[1:-1])} or {HOLDEM_STREETS[-1]}"
        )
    for name, text in zip(("oop", "ip"), how.ranges, strict=True):
        if text is not None:
            try:
                parse_range(text)
            except SpecError as error:
                raise SpecError(f"{name}: {error}") from None
    BetPlan.same(how.bets or "none", how.raises or "none")


def fields_of(how: ReviewSettings, hero: str | None) -> dict[str, Any]:
    """The settings on which a review's results depend."""
    budget = how.budget and (how.budget.memory, how.budget.seconds)
    return {
        "hero": hero and hero.lower(),
        "ranges": how.ranges,
        "first": how.first,
        "bets": how.bets,
        "raises": how.raises,
        "share": how.share,
        "budget": budget,
    }


def readable(text: HandText, hero: str | None, how: ReviewSettings) -> RecordedHand:
    """The hand of a text, if it can be reviewed and its player has a decision.

    Raises:
        SpecError, FileError: it cannot.
    """
    if not text.format:
        raise UnsuitableHandError(f"not a hand history; give {FORMATS}", UNKNOWN_FORMAT)
    if text.cut_off:
        raise UnsuitableHandError("the end of the hand is missing; give its whole text", CUT_OFF)
    hand = from_history(text.history(), hero, HERE, guess=False)
    first_ranges(hand, how)
    streets = [street for street in hand.streets if how.first is None or street.street >= HOLDEM_STREETS.index(how.first)]
    if not streets:
        raise UnsuitableHandError(f"the hand has no heads-up {how.first}", f"ended before the {how.first}")
    if not any(words_of_street(street.line)[hand.hero :: 2] for street in streets):
        raise UnsuitableHandError("the player made no decision", NO_DECISION)
    return hand


def unsuitable(text: HandText, error: BaseException) -> StoredHand:
    """A hand that cannot be reviewed, with the reason."""
    if isinstance(error, TreeplexError):
        detail = str(error).removeprefix(f"{HERE}: ").removesuffix("; give another hand")
        kind = UNREADABLE if isinstance(error, FileError) else UNSOLVABLE
    else:
        memory = isinstance(error, MemoryError)
        kind, detail = (UNSOLVABLE, "not enough memory") if memory else (FAILED, said_by(error))
    kind = error.reason if isinstance(error, UnsuitableHandError) else kind
    return StoredHand(text.title or "PHH", text.format, text.text[:MOST_KEPT], kind, detail)
