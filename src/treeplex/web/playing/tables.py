"""Tables by id, each in its own process and with a file from which it can be resumed."""

import json
import threading
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, final

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, ConfigDict, Field

from treeplex.base.storage.files import write_atomically
from treeplex.base.storage.reading import open_regular
from treeplex.errors import FileError
from treeplex.web.folder.named import agent_named, game_named
from treeplex.web.hosted import HostedObject, Hosts
from treeplex.web.playing.choices import choices
from treeplex.web.playing.session import SOLUTION, TableSession
from treeplex.web.safety import MOST_BODY
from treeplex.web.served import ServerState, claim

MOST_OPEN = 6
"""Maximum number of tables with a process; the least recently used one is closed and resumes from its file when needed."""
MOST_KEPT = 60
"""Maximum number of stored tables; the least recently used one is deleted to make room."""
KEPT = ".jsonl"
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


class Move(BaseModel):
    """An action by its id, or a typed bet."""

    model_config = ConfigDict(extra="forbid")
    action: int | None = None
    text: str | None = Field(None, max_length=60)


class Deal(BaseModel):
    """A request for the next hand, or to repeat an earlier hand's cards."""

    model_config = ConfigDict(extra="forbid")
    repeat: int | None = Field(None, ge=1)


@final
class Tables:
    """The tables of a folder. All are stored in files; those without a running process are reopened on request."""

    def __init__(self, served: ServerState) -> None:
        self.served, self.hosts = served, Hosts(TableSession, MOST_OPEN)
        self._guard = threading.Lock()
        self._opening: dict[str, threading.Lock] = {}

    @property
    def folder(self) -> Path:
        """The folder of table files.

        Raises:
            Refusal: a link leads outside the served folder.
        """
        return self.served.inside(self.served.own_folder / "tables")

    def sit(self, body: TableRequest) -> str:
        """Open a new table; returns its id.

        Raises:
            Refusal, TreeplexError: no such game or agent.
        """
        with self._guard:
            self.folder.mkdir(parents=True, exist_ok=True)
            table_files = self.table_files()
            for path in table_files[MOST_KEPT - 1 :]:
                path.unlink(missing_ok=True)
            name = str(1 + max((int(path.stem) for path in table_files), default=0))
            path = self.folder / f"{name}{KEPT}"
            write_atomically(path, json.dumps({"table": body.model_dump()}) + "\n")
            opening = self._opening[name] = threading.Lock()
            opening.acquire()  # locked so that a concurrent request that sees the file does not open the table twice
        try:
            self._open(name, path, body)
        except Exception:
            path.unlink(missing_ok=True)
            raise
        finally:
            opening.release()
        return name

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
        """List all tables: id, game, opponent and time of last use."""
        rows = []
        for path in self.table_files():
            with suppress(FileError, OSError):
                body = seating(path)
                about = {"id": path.stem, "game": body.title or body.game, "against": body.against or SOLUTION}
                rows.append({**about, "modified": path.stat().st_mtime})
        return rows

    def leave(self, name: str) -> None:
        """Close a table and delete its file."""
        if name in self.names():
            (self.folder / f"{name}{KEPT}").unlink(missing_ok=True)
        self.hosts.drop(name)


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
    served.closing.append(tables.hosts.close)

    @router.get("/choices")
    def offered() -> dict[str, Any]:
        tables.hosts.prepare()
        return choices(tuple(served.own_games))

    @router.get("")
    def held() -> dict[str, Any]:
        return {"tables": tables.listed()}

    @router.post("", status_code=201)
    def sit(body: TableRequest) -> dict[str, Any]:
        return shown(tables.sit(body))

    def shown(name: str) -> dict[str, Any]:
        return {"id": name, **plain(tables[name].call("view"))}

    @router.get("/{name}")
    def look(name: str) -> dict[str, Any]:
        return shown(name)

    @router.post("/{name}/play")
    def play(name: str, body: Move) -> dict[str, Any]:
        return {"id": name, **plain(tables[name].call("play", body.action, body.text))}

    @router.post("/{name}/next")
    def deal(name: str, body: Deal) -> dict[str, Any]:
        return {"id": name, **plain(tables[name].call("next", body.repeat))}

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
    def leave(name: str) -> dict[str, Any]:
        tables.leave(name)
        return {}

    return router


def plain(value: Any) -> Any:
    """Replace NaN and infinities by None, as in the rest of the API."""
    if isinstance(value, float):
        return value if value - value == 0.0 else None
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value
