"""Playing: tables by id, each in a process of its own and in a file from which it goes on."""

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
from treeplex.web.hosted import Hosted, Hosts
from treeplex.web.playing.choices import choices
from treeplex.web.playing.session import SOLUTION, TableSession
from treeplex.web.safety import MOST_BODY
from treeplex.web.served import Served, claim

MOST_OPEN = 6
"""Tables in processes; the one not played at for longest goes on from its file when it is asked for again."""
MOST_KEPT = 60
"""Tables in files; the one not played at for longest is removed for another."""
KEPT = ".jsonl"
HANDS = "hands"
"""The folder in the folder served where hands are saved."""


class Seating(BaseModel):
    """A game and its opponent."""

    model_config = ConfigDict(extra="forbid")
    game: str = Field(min_length=1, max_length=2000)
    against: str = Field("", max_length=2000)
    seat: int | None = Field(None, ge=0, le=20)
    iterations: int | None = Field(None, ge=1, le=1_000_000)
    think: str | None = Field(None, max_length=20)
    seed: int | None = Field(None, ge=0, lt=2**53)
    title: str = Field("", max_length=200)


class Move(BaseModel):
    """An action by its id, or a bet as people type it."""

    model_config = ConfigDict(extra="forbid")
    action: int | None = None
    text: str | None = Field(None, max_length=60)


class Deal(BaseModel):
    """The next hand, or the cards of an earlier one again."""

    model_config = ConfigDict(extra="forbid")
    repeat: int | None = Field(None, ge=1)


@final
class Tables:
    """The tables of a folder: some in processes, all in files, from which they are opened again when they are asked for."""

    def __init__(self, served: Served) -> None:
        self.served, self.hosts = served, Hosts(TableSession, MOST_OPEN)
        self._guard = threading.Lock()
        self._opening: dict[str, threading.Lock] = {}

    @property
    def folder(self) -> Path:
        """The folder of tables.

        Raises:
            Refused: a link leads out of the folder there.
        """
        return self.served.inside(self.served.own / "tables")

    def sit(self, body: Seating) -> str:
        """Sit down at a new table; its id.

        Raises:
            Refused, TreeplexError: no such game or agent.
        """
        with self._guard:
            self.folder.mkdir(parents=True, exist_ok=True)
            kept = self.kept()
            for path in kept[MOST_KEPT - 1 :]:
                path.unlink(missing_ok=True)
            name = str(1 + max((int(path.stem) for path in kept), default=0))
            path = self.folder / f"{name}{KEPT}"
            write_atomically(path, json.dumps({"table": body.model_dump()}) + "\n")
            opening = self._opening[name] = threading.Lock()
            opening.acquire()  # whoever finds the file meanwhile must not open the table a second time
        try:
            self._open(name, path, body)
        except Exception:
            path.unlink(missing_ok=True)
            raise
        finally:
            opening.release()
        return name

    def _open(self, name: str, path: Path, body: Seating) -> Hosted:
        game, against = game_named(self.served, body.game), agent_named(self.served, body.against)
        more = body.model_dump(exclude={"game", "against"})
        return self.hosts[self.hosts.open(game, against, called=name, keep=str(path), **more)]

    def __getitem__(self, name: str) -> Hosted:
        """The table of an id, opened again where it is only in its file.

        Raises:
            Refused: there is none.
            TreeplexError: its game or agent is not there any more.
        """
        path = self.folder / f"{name}{KEPT}"
        with self._guard:
            opening = self._opening.setdefault(name, threading.Lock()) if name in self.names() else threading.Lock()
        with opening:
            if name in self.hosts.names() or path not in self.kept():
                return self.hosts[name]
            return self._open(name, path, seating(path))

    def kept(self) -> list[Path]:
        """The files of tables, the one played at last first."""
        found = []
        for path in self.folder.glob(f"*{KEPT}"):
            with suppress(OSError):
                if path.stem.isascii() and path.stem.isdecimal():
                    found.append((path.stat().st_mtime, path))
        return [path for _, path in sorted(found, reverse=True)]

    def names(self) -> list[str]:
        """The ids of all tables, the one played at last first."""
        return [path.stem for path in self.kept()]

    def listed(self) -> list[dict[str, Any]]:
        """All tables: what is played there, against whom, and when somebody last did."""
        found = []
        for path in self.kept():
            with suppress(FileError, OSError):
                body = seating(path)
                about = {"id": path.stem, "game": body.title or body.game, "against": body.against or SOLUTION}
                found.append({**about, "modified": path.stat().st_mtime})
        return found

    def leave(self, name: str) -> None:
        """Close a table for good."""
        if name in self.names():
            (self.folder / f"{name}{KEPT}").unlink(missing_ok=True)
        self.hosts.drop(name)


def seating(path: Path) -> Seating:
    """The seating of a table's file.

    Raises:
        FileError: it cannot be read.
    """
    try:
        with open_regular(path) as file:
            return Seating.model_validate(json.loads(file.readline(MOST_BODY))["table"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FileError(f"the table in {path.name} cannot be read; sit down anew") from error


def routes(served: Served) -> APIRouter:
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
    def sit(body: Seating) -> dict[str, Any]:
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
        path = claim(folder / f"hand-{each}.phh" for each in count(1))
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
    """Numbers that JSON does not have as null, as everywhere in the contract."""
    if isinstance(value, float):
        return value if value - value == 0.0 else None
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value
