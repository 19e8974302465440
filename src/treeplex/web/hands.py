"""Hand histories: replays of hands played at tables, and reviews of hands from poker sites."""

import json
import shutil
import threading
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from treeplex.base.storage.files import write_atomically
from treeplex.base.storage.reading import read_json, read_text
from treeplex.errors import TreeplexError
from treeplex.web.hosted import Hosts
from treeplex.web.playing.hands import HandReplay
from treeplex.web.playing.reviewer import ASKED, PROGRESS, RESULT, Reviewer
from treeplex.web.playing.tables import HANDS, plain
from treeplex.web.served import Refusal, ServerState

LONGEST = 200_000
"""Maximum length of a hand history in characters."""
MOST_REVIEWS, PATIENCE = 2, 3 * 3600.0
"""Maximum number of concurrent reviews, and seconds per review."""


class HandText(BaseModel):
    """A hand history."""

    model_config = ConfigDict(extra="forbid")
    text: str = Field(min_length=1, max_length=LONGEST)


class ReviewRequest(HandText):
    """A request to review a hand history, with ranges; ``file`` repeats or resumes a review."""

    hero: str | None = Field(None, max_length=80)
    oop: str | None = Field(None, max_length=20_000)
    ip: str | None = Field(None, max_length=20_000)
    street: str | None = Field(None, pattern="^(flop|turn|river)$")
    number: int = Field(1, ge=1, le=100_000)
    file: str | None = Field(None, max_length=500)


def routes(served: ServerState) -> APIRouter:
    """Routes for hand histories."""
    router = APIRouter(prefix="/api/hands")
    reviews, running, failed, guard = Hosts(Reviewer, MOST_REVIEWS), set[str](), dict[str, str](), threading.Lock()
    served.closing.append(reviews.close)

    @router.get("")
    def saved() -> dict[str, Any]:
        return {"hands": newest(served, "*.phh"), "reviews": newest(served, f"*/{ASKED}")}

    @router.get("/replay")
    def replay(file: str) -> dict[str, Any]:
        path = served.path(file)
        if path.suffix != ".phh":
            raise Refusal(400, f"{file[:80]!r} is not a hand; give a .phh file", "file")
        return dict(plain(HandReplay.of(read_text(path)).steps()))

    @router.post("/replay")
    def replay_text(body: HandText) -> dict[str, Any]:
        return dict(plain(HandReplay.of(body.text).steps()))

    @router.post("/review", status_code=201)
    def begin(body: ReviewRequest) -> dict[str, Any]:
        with guard:
            if len(running) >= MOST_REVIEWS:
                raise Refusal(503, f"{MOST_REVIEWS} hands are being reviewed; try again once one is done")
            folder = new_folder(served.inside(served.folder / HANDS)) if body.file is None else review_folder(served, body.file)
            name = served.name(folder)
            if name in running:
                raise Refusal(409, f"{name[:80]!r} is being reviewed; wait, or start a new review", "file")
            running.add(name)
            failed.pop(name, None)
        try:
            settings = {"oop": body.oop or None, "ip": body.ip or None, "street": body.street, "threads": served.threads}
            settings["number"] = body.number
            number = reviews.open(body.text, str(folder), body.hero or None, settings)
            about = reviews[number].call("about")
            for old in (RESULT, PROGRESS):
                (folder / old).unlink(missing_ok=True)
            write_atomically(folder / ASKED, json.dumps({**body.model_dump(exclude={"file"}), "about": about}))
        except Exception:
            running.discard(name)
            if body.file is None:
                shutil.rmtree(folder, ignore_errors=True)
            raise
        threading.Thread(target=finish, args=(number, name), daemon=True).start()
        return state_of(name)

    def finish(number: str, name: str) -> None:
        """Wait for a review to end, and store any error for later requests."""
        try:
            reviews[number].call_within(PATIENCE, "run")
        except (TreeplexError, Refusal) as error:
            failed[name] = str(error)
        finally:
            reviews.drop(number)
            running.discard(name)

    def state_of(name: str) -> dict[str, Any]:
        folder = review_folder(served, name)
        request = read_json(folder / ASKED)
        if not isinstance(request, dict):
            raise Refusal(404, f"{name[:80]!r} is not a review of a hand; choose one from the list", "file")
        result = read_json(folder / RESULT) if (folder / RESULT).is_file() else None
        progress = read_json(folder / PROGRESS) if (folder / PROGRESS).is_file() else None
        state = "running" if name in running else "done" if result else "failed" if name in failed else "stopped"
        return {
            "file": name,
            "state": state,
            "error": failed.get(name),
            "about": request.get("about"),
            "asked": {key: request.get(key) for key in ("text", "hero", "oop", "ip", "street")}
            | {"number": request.get("number", 1)},
            "progress": plain(progress),
            "result": plain(result) if state == "done" else None,
        }

    @router.get("/review")
    def look(file: str) -> dict[str, Any]:
        return state_of(file)

    return router


def newest(served: ServerState, pattern: str) -> list[str]:
    """Return names of saved hands or review folders, newest first."""
    paths = [path for path in (served.folder / HANDS).glob(pattern) if served.link_out(path) is None]
    newest_first = sorted(paths, key=lambda path: -path.stat().st_mtime)[:500]
    return [served.name(path if path.suffix == ".phh" else path.parent) for path in newest_first]


def review_folder(served: ServerState, name: str) -> Path:
    """The folder of a hand's review.

    Raises:
        Refusal: there is none.
    """
    folder = served.path(name)
    if folder.parent != served.folder / HANDS or not (folder / ASKED).is_file():
        raise Refusal(404, f"{name[:80]!r} is not a review of a hand; choose one from the list", "file")
    return folder


def new_folder(folder: Path) -> Path:
    """Create a folder for a review; concurrent requests get different folders."""
    folder.mkdir(exist_ok=True)
    for number in count(1):
        with suppress(FileExistsError):
            (folder / f"review-{number}").mkdir()
            break
    return folder / f"review-{number}"
