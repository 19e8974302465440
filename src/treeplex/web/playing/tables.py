"""Tables by id, each in its own process and with a file from which it can be resumed."""

import json
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, NamedTuple, final

from fastapi import APIRouter, Query
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, ConfigDict, Field

from treeplex.base.storage.files import write_atomically
from treeplex.base.storage.reading import open_regular, read_json
from treeplex.errors import FileError
from treeplex.web.folder.deleted import DELETED, ORIGIN, delete
from treeplex.web.folder.named import agent_named, game_named
from treeplex.web.hosted import HostedObject, Hosts
from treeplex.web.playing.choices import choices
from treeplex.web.playing.kept import summary_file, summary_of
from treeplex.web.playing.session import SOLUTION, TableSession
from treeplex.web.safety import MOST_BODY
from treeplex.web.served import Refusal, ServerState, claim

MOST_OPEN = 6
"""Maximum number of tables with a process; the least recently used one is closed and resumes from its file when needed."""
MOST_PATIENCE = 60.0
"""Maximum seconds that a request waits for a table."""
KEPT, NAMES = ".jsonl", "names.json"
"""Suffix of tables' files, and the file with the names that users gave to tables."""
HANDS = "hands"
"""Subfolder of the served folder for saved hands."""


class TableRequest(BaseModel):
    """A game, its opponent and the table's options."""

    model_config = ConfigDict(extra="forbid")
    game: str = Field(min_length=1, max_length=2000)
    against: str = Field("", max_length=2000)
    seat: int | None = Field(None, ge=0, le=20)
    iterations: int | None = Field(None, ge=1, le=1_000_000)
    think: str | None = Field(None, max_length=20)
    seed: int | None = Field(None, ge=0, lt=2**53)
    title: str = Field("", max_length=200)
    node: str = Field("", max_length=2000)


class Move(BaseModel):
    """An action by its id, or a typed bet."""

    model_config = ConfigDict(extra="forbid")
    action: int | None = None
    text: str | None = Field(None, max_length=60)


class Deal(BaseModel):
    """A request for the next hand, or to repeat an earlier hand's cards."""

    model_config = ConfigDict(extra="forbid")
    repeat: int | None = Field(None, ge=1)


class Rename(BaseModel):
    """A new name for a table; empty for that of its game."""

    model_config = ConfigDict(extra="forbid")
    name: str = Field(max_length=80)


class TableCall(NamedTuple):
    """A call of a table that may still be running.

    Attributes:
        doing: ``opening`` or ``thinking``, shown while it runs.
        outcome: the table's view, once it is done.
        began: time at which the call was made, by the monotonic clock.
    """

    doing: str
    outcome: Future[dict[str, Any]]
    began: float


@final
class Tables:
    """The tables of a folder. All are stored in files; those without a running process are reopened on request.

    A search may take any time: calls run in threads of their own, and a request that is not answered within its patience gets
    the last view with ``busy``, and asks again. No table is ended for being slow.
    """

    def __init__(self, served: ServerState) -> None:
        self.served, self.hosts = served, Hosts(TableSession, MOST_OPEN, within=None)
        self._guard = threading.Lock()
        self._opening: dict[str, threading.Lock] = {}
        self._threads = ThreadPoolExecutor(2 * MOST_OPEN, "table")
        self._calls: dict[str, TableCall] = {}
        self._views: dict[str, dict[str, Any]] = {}

    @property
    def folder(self) -> Path:
        """The folder of table files.

        Raises:
            Refusal: a link leads outside the served folder.
        """
        return self.served.inside(self.served.own_folder / "tables")

    def sit(self, body: TableRequest, patience: float) -> dict[str, Any]:
        """Open a new table; returns its view, see :meth:`ask`.

        Raises:
            Refusal, TreeplexError: no such game or agent.
        """
        game_named(self.served, body.game)
        agent_named(self.served, body.against)
        with self._guard:
            self.folder.mkdir(parents=True, exist_ok=True)
            name = str(1 + max(self._numbers(), default=0))
            self._forget(name)
            path = self.folder / f"{name}{KEPT}"
            write_atomically(path, json.dumps({"table": body.model_dump()}) + "\n")
            opening = self._opening[name] = threading.Lock()
            opening.acquire()  # locked so that a concurrent request that sees the file does not open the table twice

        def first() -> dict[str, Any]:
            try:
                hosted = self._open(name, path, body)
            except Exception:
                path.unlink(missing_ok=True)
                raise
            finally:
                opening.release()
            return dict(plain(hosted.call_within(None, "view")))

        with self._guard:
            call = self._calls[name] = TableCall("opening", self._threads.submit(first), monotonic())
        return self._answer(name, call, patience)

    def _forget(self, name: str) -> None:
        """Remove what is left of a table with this id that was deleted long ago."""
        self._views.pop(name, None)
        named = self._named()
        if named.pop(name, None) is not None:
            write_atomically(self.folder / NAMES, json.dumps(named))

    def _numbers(self) -> list[int]:
        """Return the numbers of all tables, also of deleted ones, whose ids are not used again."""
        deleted = list[str]()
        for origin in (self.served.own_folder / DELETED).glob(f"*/{ORIGIN}"):
            with suppress(FileError, OSError, ValueError):
                deleted += [Path(file).stem for file in read_json(origin) if str(file).endswith(KEPT)]
        return [int(name) for name in (*self.names(), *deleted) if name.isdecimal()]

    def _open(self, name: str, path: Path, body: TableRequest) -> HostedObject:
        game, against = game_named(self.served, body.game), agent_named(self.served, body.against)
        more = body.model_dump(exclude={"game", "against"})
        return self.hosts[self.hosts.open(game, against, called=name, keep=str(path), **more)]

    def __getitem__(self, name: str) -> HostedObject:
        """Return the table with an id, reopening it from its file if necessary.

        Raises:
            Refusal: no such table.
            TreeplexError: the table's game or agent no longer exists.
        """
        path = self.folder / f"{name}{KEPT}"
        with self._guard:
            opening = self._opening.setdefault(name, threading.Lock()) if name in self.names() else threading.Lock()
        with opening:
            if name in self.hosts.names() or path not in self.table_files():
                return self.hosts[name]
            return self._open(name, path, seating(path))

    def ask(self, name: str, patience: float, method: str, *arguments: Any) -> dict[str, Any]:
        """Call a method of a table and return the view that it returns, with the table's ``id``, ``name`` and ``busy``.

        While a call runs, another ``view`` waits for its result, and other calls are rejected.

        Args:
            name: the table.
            patience: seconds after which the last view is returned, with ``busy`` not None.
            method, arguments: the call.

        Raises:
            Refusal: no such table (404), or an earlier call is still running (409).
            TreeplexError: the call failed.
        """
        with self._guard:
            call = self._calls.get(name)
            if call is not None and method != "view":
                if not call.outcome.done():
                    raise Refusal(409, "the opponent is still thinking; wait for its action")
                call = None
            if call is None:
                if name not in self.names():
                    raise Refusal(404, "there is no such table; it may have been deleted")
                doing = "thinking" if name in self.hosts.names() else "opening"
                outcome = self._threads.submit(lambda: dict(plain(self[name].call_within(None, method, *arguments))))
                call = self._calls[name] = TableCall(doing, outcome, monotonic())
        return self._answer(name, call, patience)

    def _answer(self, name: str, call: TableCall, patience: float) -> dict[str, Any]:
        about = {"id": name, "name": self._named().get(name, "")}
        try:
            view = call.outcome.result(timeout=patience)
        except TimeoutError:
            if call.outcome.done():
                raise
            seconds = monotonic() - call.began
            return {**self._views.get(name, {}), **about, "busy": {"doing": call.doing, "seconds": seconds}}
        except Exception:
            self._done(name, call)
            raise
        self._views[name] = view
        self._done(name, call)
        return {**view, **about, "busy": None}

    def _done(self, name: str, call: TableCall) -> None:
        with self._guard:
            if self._calls.get(name) is call:
                del self._calls[name]

    def table_files(self) -> list[Path]:
        """Return the files of all tables, most recently used first."""
        files = []
        for path in self.folder.glob(f"*{KEPT}"):
            with suppress(OSError):
                if path.stem.isascii() and path.stem.isdecimal():
                    files.append((path.stat().st_mtime, path))
        return [path for _, path in sorted(files, reverse=True)]

    def names(self) -> list[str]:
        """Return the ids of all tables, most recently used first."""
        return [path.stem for path in self.table_files()]

    def listed(self) -> list[dict[str, Any]]:
        """List all tables: id, name, game, opponent, time of last use, and a summary of their hands."""
        rows, named = [], self._named()
        for path in self.table_files():
            with suppress(FileError, OSError):
                body = seating(path)
                about = {"id": path.stem, "game": body.title or body.game, "against": body.against or SOLUTION}
                summary = {"won": None, "lost": None, "mistakes": None, "big_blind": None, **summary_of(path)}
                rows.append({**about, "name": named.get(path.stem, ""), "modified": path.stat().st_mtime, **plain(summary)})
        return rows

    def _named(self) -> dict[str, str]:
        """Return the names that users gave to tables, by id."""
        try:
            return {str(name): str(text) for name, text in read_json(self.folder / NAMES).items()}
        except (FileError, OSError, ValueError, AttributeError):
            return {}

    def rename(self, name: str, text: str) -> None:
        """Name a table.

        Raises:
            Refusal: no such table.
        """
        with self._guard:
            if name not in self.names():
                raise Refusal(404, "there is no such table; it may have been deleted")
            write_atomically(self.folder / NAMES, json.dumps({**self._named(), name: text.strip()}))

    def delete(self, name: str) -> str:
        """Close a table and delete its files; returns the id of the deletion, see :mod:`treeplex.web.folder.deleted`.

        Raises:
            Refusal: no such table.
        """
        if name not in self.names():
            raise Refusal(404, "there is no such table; it may have been deleted")
        self.hosts.drop(name)
        with self._guard:
            self._calls.pop(name, None)
        path = self.folder / f"{name}{KEPT}"
        return delete(self.served, path, summary_file(path))

    def close(self) -> None:
        """End all tables' processes; their files remain."""
        self.hosts.close()
        self._threads.shutdown(wait=False, cancel_futures=True)


def seating(path: Path) -> TableRequest:
    """Read the seating from a table's file.

    Raises:
        FileError: the file cannot be read.
    """
    try:
        with open_regular(path) as file:
            return TableRequest.model_validate(json.loads(file.readline(MOST_BODY))["table"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileError(f"cannot read the table in {path.name}; open a new table") from error


def routes(served: ServerState) -> APIRouter:
    """Routes for tables."""
    router = APIRouter(prefix="/api/tables")
    tables = Tables(served)
    served.closing.append(tables.close)
    Patience = Annotated[float, Query(ge=0, le=MOST_PATIENCE, alias="wait")]

    @router.get("/choices")
    def offered() -> dict[str, Any]:
        tables.hosts.prepare()
        return choices(tuple(served.own_games))

    @router.get("")
    def held() -> dict[str, Any]:
        return {"tables": tables.listed()}

    @router.post("", status_code=201)
    def sit(body: TableRequest, patience: Patience = MOST_PATIENCE) -> dict[str, Any]:
        return tables.sit(body, patience)

    @router.get("/{name}")
    def look(name: str, patience: Patience = MOST_PATIENCE) -> dict[str, Any]:
        return tables.ask(name, patience, "view")

    @router.post("/{name}/play")
    def play(name: str, body: Move, patience: Patience = MOST_PATIENCE) -> dict[str, Any]:
        return tables.ask(name, patience, "play", body.action, body.text)

    @router.post("/{name}/next")
    def deal(name: str, body: Deal, patience: Patience = MOST_PATIENCE) -> dict[str, Any]:
        return tables.ask(name, patience, "next", body.repeat)

    @router.post("/{name}/rename")
    def rename(name: str, body: Rename) -> dict[str, Any]:
        tables.rename(name, body.name)
        return {}

    @router.get("/{name}/hands/{number}")
    def hand(name: str, number: int) -> dict[str, Any]:
        return dict(plain(tables[name].call("reviewed", number)))

    @router.get("/{name}/hands/{number}/phh")
    def written(name: str, number: int) -> PlainTextResponse:
        text = tables[name].call("phh", number)
        return PlainTextResponse(text, headers={"content-disposition": f'attachment; filename="hand-{number}.phh"'})

    @router.post("/{name}/hands/{number}/save", status_code=201)
    def save(name: str, number: int) -> dict[str, Any]:
        text = tables[name].call("phh", number)
        folder = served.inside(served.folder / HANDS)
        folder.mkdir(exist_ok=True)
        path = claim(folder / f"hand-{index}.phh" for index in count(1))
        try:
            write_atomically(path, text)
        except FileError:
            path.unlink(missing_ok=True)
            raise
        return {"file": served.name(path)}

    @router.delete("/{name}")
    def remove(name: str) -> dict[str, Any]:
        return {"deleted": tables.delete(name)}

    return router


def plain(value: Any) -> Any:
    """Replace NaN and infinities by None, as in the rest of the API."""
    if isinstance(value, float):
        return value if value - value == 0.0 else None
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value
