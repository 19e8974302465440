"""Playing: tables by id, each in a process of its own."""

from typing import Any

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, ConfigDict, Field

from treeplex.play.web.hosted import Hosts
from treeplex.play.web.named import agent_named, game_named
from treeplex.play.web.playing.choices import choices
from treeplex.play.web.playing.session import Session
from treeplex.play.web.served import Served
from treeplex.storage.files import write_atomically

MOST_TABLES = 6
"""Tables kept; the one not played at for longest is closed for another."""
HANDS = "hands"
"""The folder in the folder served where hands are saved."""


class Seating(BaseModel):
    """What is played, and against whom."""

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


def routes(served: Served) -> APIRouter:
    """What is answered about tables."""
    router = APIRouter(prefix="/api/tables")
    tables = Hosts(Session, MOST_TABLES)
    served.closing.append(tables.close)

    @router.get("/choices")
    def offered() -> dict[str, Any]:
        tables.prepare()
        return choices(tuple(served.own_games))

    @router.get("")
    def held() -> dict[str, Any]:
        return {"tables": tables.names()}

    @router.post("", status_code=201)
    def sit(body: Seating) -> dict[str, Any]:
        game, against = game_named(served, body.game), agent_named(served, body.against)
        name = tables.open(game, against, **body.model_dump(exclude={"game", "against"}))
        return shown(name)

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
        folder = served.folder / HANDS
        folder.mkdir(exist_ok=True)
        count = 1
        while (path := folder / f"hand-{count}.phh").exists():
            count += 1
        write_atomically(path, text)
        return {"file": served.name(path)}

    @router.delete("/{name}")
    def leave(name: str) -> dict[str, Any]:
        tables.drop(name)
        return {}

    return router


def plain(value: Any) -> Any:
    """Numbers that JSON does not have as null, as everywhere in the contract."""
    if isinstance(value, float):
        return value if value - value == 0.0 else None
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value
