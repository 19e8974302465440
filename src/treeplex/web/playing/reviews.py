"""Bulk reviews of hand histories: jobs in their own process, and queries on their files."""

import json
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from treeplex.base.storage.files import write_atomically
from treeplex.base.storage.reading import read_json
from treeplex.errors import TreeplexError
from treeplex.holdem.cards.ranges import parse_range
from treeplex.holdem.solve.budget import Budget
from treeplex.holdem.study.review.bulk import BUDGET, BulkProgress, BulkReview, sources_of
from treeplex.holdem.study.review.leaks import counts, csv_text, hands_of, leaks, phh_export, skipped_hands, values_of
from treeplex.holdem.study.review.review import ReviewSettings
from treeplex.holdem.study.review.review_file import ReviewFile
from treeplex.web.hosted import Hosts
from treeplex.web.playing.tables import plain
from treeplex.web.served import Refusal, ServerState

REVIEWS, ASKED, PROGRESS, RESULT, TEXTS = "reviews", "asked.json", "progress.json", "review.sqlite", "hands"
"""Folder of all reviews; in each, its request, its progress, its file, and the folder of its texts."""
MOST_RUNNING, MOST_TEXTS, LONGEST = 1, 5000, 3_500_000
"""Maximum numbers of running reviews, of texts per review, and of characters per text."""
EVERY = 0.5
"""Seconds between progress updates."""
MOST_HANDS = 200


class Named(BaseModel):
    """A review, by its folder."""

    model_config = ConfigDict(extra="forbid")
    file: str = Field(max_length=500)


class AddedText(Named):
    """A text with hands for a review."""

    text: str = Field(min_length=1, max_length=LONGEST)


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
    """Reviews the hands of a folder and of a review's texts."""

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


def routes(served: ServerState) -> APIRouter:
    """Routes for bulk reviews."""
    router = APIRouter(prefix="/api/reviews")
    hosts, running, failed, guard = Hosts(BulkReviewer, MOST_RUNNING), dict[str, str](), dict[str, str](), threading.Lock()
    served.closing.append(hosts.close)

    def folder_of(name: str) -> Path:
        folder = served.path(name)
        if folder.parent != served.folder / REVIEWS or not (folder / ASKED).is_file():
            raise Refusal(404, f"{name[:80]!r} is not a review of hands; choose one from the list", "file")
        return folder

    @contextmanager
    def opened(name: str) -> Iterator[ReviewFile]:
        with ReviewFile(folder_of(name) / RESULT, create=False) as file:
            yield file

    def state_of(name: str) -> dict[str, Any]:
        folder = folder_of(name)
        progress = read_json(folder / PROGRESS) if (folder / PROGRESS).is_file() else {}
        known = progress if isinstance(progress, dict) else {}
        state = "running" if name in running else "failed" if name in failed else "done" if known.get("finished") else "stopped"
        result: dict[str, Any] = {"counts": None, "values": {}}
        if (folder / RESULT).is_file():
            try:
                with opened(name) as file:
                    result = {"counts": counts(file).to_json(), "values": values_of(file)}
            except TreeplexError:
                if state != "running":  # a running review may just be creating its file
                    raise
        asked = read_json(folder / ASKED)
        return {"file": name, "state": state, "error": failed.get(name), "asked": asked, "progress": known, **plain(result)}

    @router.get("")
    def listed() -> dict[str, Any]:
        found = [path.parent for path in (served.folder / REVIEWS).glob(f"*/{ASKED}") if served.link_out(path) is None]
        newest = sorted(found, key=lambda folder: -(folder / ASKED).stat().st_mtime)[:MOST_HANDS]
        return {"reviews": [served.name(folder) for folder in newest]}

    @router.post("", status_code=201)
    def create(body: BulkRequest) -> dict[str, Any]:
        body.settings(None)
        if body.folder is not None and not served.path(body.folder).is_dir():
            raise Refusal(400, f"{body.folder[:80]!r} is not a folder", "folder")
        parent = served.inside(served.folder / REVIEWS)
        parent.mkdir(exist_ok=True)
        folder = served.free_file(f"{REVIEWS}-{body.name}", "").name.removeprefix(f"{REVIEWS}-")
        for number in count(1):
            with suppress(FileExistsError):
                place = parent / (folder if number == 1 else f"{folder}-{number}")
                place.mkdir()
                break
        (place / TEXTS).mkdir()
        write_atomically(place / ASKED, body.model_dump_json())
        return state_of(served.name(place))

    @router.post("/texts", status_code=201)
    def add(body: AddedText) -> dict[str, Any]:
        folder = served.inside(folder_of(body.file) / TEXTS)
        number = len(list(folder.glob("*.txt"))) + 1
        if number > MOST_TEXTS:
            raise Refusal(400, f"a review has at most {MOST_TEXTS} texts; put the files into a folder of the server", "text")
        write_atomically(folder / f"{number:05}.txt", body.text)
        return {"texts": number}

    @router.post("/start")
    def start(body: Named) -> dict[str, Any]:
        name = body.file
        folder = folder_of(name)
        asked = BulkRequest(**read_json(folder / ASKED))
        sources = [str(served.path(asked.folder))] if asked.folder is not None else []
        sources += [str(folder / TEXTS)] if any((folder / TEXTS).glob("*.txt")) else []
        if not sources:
            raise Refusal(400, "there are no hands; paste some, choose files, or name a folder", "text")
        with guard:
            if running:
                raise Refusal(409, "another review is running; stop it, or try again once it is done")
            running[name] = ""
        failed.pop(name, None)
        (folder / PROGRESS).unlink(missing_ok=True)
        try:
            number = running[name] = hosts.open(str(folder), sources, asked.model_dump(), served.threads)
        except Exception:
            running.pop(name, None)
            raise
        threading.Thread(target=finish, args=(number, name), daemon=True).start()
        return state_of(name)

    def finish(number: str, name: str) -> None:
        """Wait for a review to end, and store any error for later requests."""
        try:
            hosts[number].call_within(None, "run")
        except (TreeplexError, Refusal) as error:
            if running.get(name) == number:  # not stopped on request
                failed[name] = str(error)
        finally:
            hosts.drop(number)
            if running.get(name) == number:
                running.pop(name, None)

    @router.post("/stop")
    def stop(body: Named) -> dict[str, Any]:
        number = running.pop(body.file, None)
        if number:
            hosts.drop(number)
        return state_of(body.file)

    @router.delete("")
    def remove(file: str) -> dict[str, Any]:
        folder = folder_of(file)
        if file in running:
            raise Refusal(409, "the review is running; stop it first")
        shutil.rmtree(served.inside(folder))
        return {}

    @router.get("/state")
    def state(file: str) -> dict[str, Any]:
        return state_of(file)

    @router.get("/leaks")
    def grouped(file: str, by: str = "street", where: str = "") -> dict[str, Any]:
        with opened(file) as data:
            return {"leaks": [asdict(leak) for leak in leaks(data, by.split(","), filters(where))]}

    @router.get("/hands")
    def hands(file: str, where: str = "") -> dict[str, Any]:
        with opened(file) as data:
            return {"hands": plain(hands_of(data, filters(where), most=MOST_HANDS))}

    @router.get("/skipped")
    def skipped(file: str, reason: str) -> dict[str, Any]:
        with opened(file) as data:
            return {"hands": skipped_hands(data, reason)[:MOST_HANDS]}

    @router.get("/hand")
    def hand(file: str, id: Annotated[int, Query(ge=0, lt=2**63)]) -> dict[str, Any]:
        with opened(file) as data:
            return dict(plain(data.hand(id)))

    @router.get("/export")
    def export(file: str, kind: Literal["csv", "phh"], where: str = "") -> Response:
        with opened(file) as data:
            text = csv_text(data, filters(where)) if kind == "csv" else "".join(phh_export(data, filters(where)))
        name = f"{Path(file).name}.{'csv' if kind == 'csv' else 'phhs'}"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(text, media_type="text/csv" if kind == "csv" else "text/plain", headers=headers)

    return router


def filters(where: str) -> dict[str, str]:
    """Filters such as ``street=flop;position=BTN``."""
    return {name: value for name, _, value in (part.partition("=") for part in where.split(";") if part)}
