"""Bulk reviews of the served folder: their folders, and the process of the one that runs."""

import json
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, final

from pydantic import BaseModel, ConfigDict, Field

from treeplex.base.storage.files import write_atomically
from treeplex.base.storage.reading import read_json
from treeplex.errors import TreeplexError
from treeplex.holdem.cards.ranges import parse_range
from treeplex.holdem.solve.budget import Budget
from treeplex.holdem.study.review.bulk import BUDGET, BulkProgress, BulkReview, sources_of
from treeplex.holdem.study.review.leaks import counts, values_of
from treeplex.holdem.study.review.review import ReviewSettings
from treeplex.holdem.study.review.review_file import ReviewFile
from treeplex.web.hosted import Hosts
from treeplex.web.playing.tables import plain
from treeplex.web.served import Refusal, ServerState

REVIEWS, ASKED, PROGRESS, RESULT, TEXTS = "reviews", "asked.json", "progress.json", "review.sqlite", "hands"
"""The folder of reviews, and the files in each review's folder: request, progress, result, and pasted hands."""
MOST_RUNNING, MOST_TEXTS = 1, 5000
"""Maximum numbers of running reviews, and of texts per review."""
EVERY = 0.5
"""Seconds between progress updates."""


class BulkRequest(BaseModel):
    """A request for a review: its name, a folder of hands on the server if any, the player, and settings."""

    model_config = ConfigDict(extra="forbid")
    name: str = Field("review", max_length=80)
    folder: str | None = Field(None, max_length=500)
    hero: str | None = Field(None, max_length=80)
    oop: str | None = Field(None, max_length=20_000)
    ip: str | None = Field(None, max_length=20_000)
    street: str | None = Field(None, pattern="^(flop|turn|river)$")
    budget: str | None = Field(None, max_length=80)

    def settings(self, threads: int | None) -> ReviewSettings:
        """The library's settings.

        Raises:
            Refusal: a range or the budget cannot be parsed.
        """
        for field in ("oop", "ip", "budget"):
            try:
                text = getattr(self, field)
                if text:
                    Budget.read(text) if field == "budget" else parse_range(text)
            except TreeplexError as error:
                raise Refusal(400, str(error).removeprefix("budget: "), field) from error
        budget = Budget.read(self.budget) if self.budget else BUDGET
        return ReviewSettings(ranges=(self.oop or None, self.ip or None), first=self.street, budget=budget, threads=threads)


class BulkReviewer:
    """Reviews the hands of a folder and of a review's texts, in a process of its own."""

    def __init__(self, folder: str, sources: list[str], request: dict[str, Any], threads: int | None) -> None:
        """Read the request.

        Args:
            folder: folder of the review.
            sources: folders of hands.
            request: a :class:`BulkRequest`.
            threads: number of threads for solving.
        """
        self.folder, self._sources, self._told = Path(folder), sources, 0.0
        self._request, self._threads = BulkRequest(**request), threads

    def run(self) -> None:
        """Review the hands that are new.

        Raises:
            FileError: a file cannot be read or written.
        """
        how = self._request.settings(self._threads)
        with ReviewFile(self.folder / RESULT) as file:
            texts = (text for source in self._sources for text in sources_of(source))
            BulkReview(texts, file, hero=self._request.hero or None, how=how).run(self._watch, self._say)
        self._write({"finished": True})

    def _watch(self, state: BulkProgress) -> None:
        self._tell({"done": state.done, "new": state.new, "known": state.known, "left": state.seconds_left, "now": state.now})

    def _say(self, line: str) -> None:
        self._tell({"now": line})

    def _tell(self, progress: dict[str, Any]) -> None:
        """Write the progress, at most once every ``EVERY`` seconds."""
        now = time.monotonic()
        if now - self._told >= EVERY:
            self._told = now
            self._write(progress)

    def _write(self, progress: dict[str, Any]) -> None:
        write_atomically(self.folder / PROGRESS, json.dumps(progress))


@final
class BulkReviews:
    """The reviews of a served folder, of which one runs at a time."""

    def __init__(self, served: ServerState) -> None:
        """Start without a running review.

        Args:
            served: the server's state.
        """
        self.served, self._hosts = served, Hosts(BulkReviewer, MOST_RUNNING)
        self._running, self._failed = dict[str, str](), dict[str, str]()
        self._guard, self._adding = threading.Lock(), threading.Lock()

    def close(self) -> None:
        """End the running review."""
        self._hosts.close()

    def names(self, most: int) -> list[str]:
        """At most ``most`` reviews by their folders, the newest first."""
        paths = (self.served.folder / REVIEWS).glob(f"*/{ASKED}")
        found = [path.parent for path in paths if self.served.link_out(path) is None]
        newest = sorted(found, key=lambda folder: -(folder / ASKED).stat().st_mtime)
        return [self.served.name(folder) for folder in newest[:most]]

    def folder_of(self, name: str) -> Path:
        """The folder of a review.

        Raises:
            Refusal: there is none.
        """
        folder = self.served.path(name)
        if folder.parent != self.served.folder / REVIEWS or not (folder / ASKED).is_file():
            raise Refusal(404, f"{name[:80]!r} is not a review of hands; choose one from the list", "file")
        return folder

    @contextmanager
    def opened(self, name: str) -> Iterator[ReviewFile]:
        """The file of a review."""
        with ReviewFile(self.folder_of(name) / RESULT, create=False) as file:
            yield file

    def state(self, name: str) -> dict[str, Any]:
        """A review's request, state, progress, counts and values of columns, as JSON data."""
        folder = self.folder_of(name)
        progress = read_json(folder / PROGRESS) if (folder / PROGRESS).is_file() else {}
        known = progress if isinstance(progress, dict) else {}
        finished = "done" if known.get("finished") else "stopped"
        state = "running" if name in self._running else "failed" if name in self._failed else finished
        result: dict[str, Any] = {"counts": None, "values": {}}
        if (folder / RESULT).is_file():
            try:
                with self.opened(name) as file:
                    result = {"counts": counts(file).to_json(), "values": values_of(file)}
            except TreeplexError:
                if state != "running":  # a running review may just be creating its file
                    raise
        request = {"asked": read_json(folder / ASKED), "progress": known}
        return {"file": name, "state": state, "error": self._failed.get(name), **request, **plain(result)}

    def create(self, request: BulkRequest) -> str:
        """Create a review's folder; returns its name.

        Raises:
            Refusal: a setting or the folder of hands is invalid.
        """
        served = self.served
        request.settings(None)
        if request.folder is not None and not served.path(request.folder).is_dir():
            raise Refusal(400, f"{request.folder[:80]!r} is not a folder", "folder")
        parent = served.inside(served.folder / REVIEWS)
        parent.mkdir(exist_ok=True)
        wanted = served.free_file(f"{REVIEWS}-{request.name}", "").name.removeprefix(f"{REVIEWS}-")
        for number in count(1):
            with suppress(FileExistsError):
                folder = parent / (wanted if number == 1 else f"{wanted}-{number}")
                folder.mkdir()
                break
        (folder / TEXTS).mkdir()
        write_atomically(folder / ASKED, request.model_dump_json())
        return served.name(folder)

    def add(self, name: str, text: str) -> int:
        """Add a text with hands; returns the number of texts.

        Raises:
            Refusal: there is no such review, or it has too many texts.
        """
        folder = self.served.inside(self.folder_of(name) / TEXTS)
        with self._adding:
            number = len(list(folder.glob("*.txt"))) + 1
            if number > MOST_TEXTS:
                limit = f"a review has at most {MOST_TEXTS} texts"
                raise Refusal(400, f"{limit}; put the files into a folder of the server", "text")
            write_atomically(folder / f"{number:05}.txt", text)
        return number

    def start(self, name: str) -> None:
        """Start or resume a review.

        Raises:
            Refusal: there are no hands, or another review is running.
        """
        folder = self.folder_of(name)
        asked = BulkRequest(**read_json(folder / ASKED))
        sources = [str(self.served.path(asked.folder))] if asked.folder is not None else []
        sources += [str(folder / TEXTS)] if any((folder / TEXTS).glob("*.txt")) else []
        if not sources:
            raise Refusal(400, "there are no hands; paste some, choose files, or name a folder", "text")
        with self._guard:
            if self._running:
                raise Refusal(409, "another review is running; stop it, or try again once it is done")
            self._running[name] = ""
        self._failed.pop(name, None)
        (folder / PROGRESS).unlink(missing_ok=True)
        try:
            number = self._hosts.open(str(folder), sources, asked.model_dump(), self.served.threads)
        except BaseException:
            with self._guard:
                self._running.pop(name, None)
            raise
        with self._guard:
            stopped = name not in self._running
            if not stopped:
                self._running[name] = number
        if stopped:  # while the process started
            self._hosts.drop(number)
            return
        threading.Thread(target=self._finish, args=(number, name), daemon=True).start()

    def _finish(self, number: str, name: str) -> None:
        """Wait for a review to end, and store any error for later requests."""
        try:
            self._hosts[number].call_within(None, "run")
        except (TreeplexError, Refusal) as error:
            if self._running.get(name) == number:  # not stopped on request
                self._failed[name] = str(error)
        finally:
            self._hosts.drop(number)
            with self._guard:
                if self._running.get(name) == number:
                    self._running.pop(name)

    def stop(self, name: str) -> None:
        """Stop a review, also while its process starts; reviewed hands are kept."""
        with self._guard:
            number = self._running.pop(name, None)
        if number:
            self._hosts.drop(number)

    def remove(self, name: str) -> None:
        """Delete a review with its results.

        Raises:
            Refusal: it is running.
        """
        folder = self.folder_of(name)
        if name in self._running:
            raise Refusal(409, "the review is running; stop it first")
        shutil.rmtree(self.served.inside(folder))
        self._failed.pop(name, None)
