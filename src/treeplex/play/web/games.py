"""Any game's tree with a strategy on it, each game in a process of its own."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from treeplex.play.web.browsing.browser import Browser
from treeplex.play.web.hosted import Hosts
from treeplex.play.web.named import game_named
from treeplex.play.web.served import Refused, Served
from treeplex.play.web.tables import plain
from treeplex.runs.solve.solvable import UNIFORM

MOST_GAMES = 4
LONGEST_PATH = 1000


class Opened(BaseModel):
    """A game, and which policy is looked at: empty for a solution, ``uniform``, or a file in the folder."""

    model_config = ConfigDict(extra="forbid")
    game: str = Field(min_length=1, max_length=2000)
    policy: str = Field("", max_length=2000)


def routes(served: Served) -> APIRouter:
    """What is answered about games."""
    router = APIRouter(prefix="/api/games")
    games, known = Hosts(Browser, MOST_GAMES), dict[tuple[str, str], str]()
    served.closing.append(games.close)

    @router.post("", status_code=201)
    def begin(body: Opened) -> dict[str, Any]:
        game = game_named(served, body.game)
        policy = body.policy if body.policy in ("", UNIFORM) else str(served.path(body.policy))
        name = known.get((game, policy))
        if name is None or name not in games.names():
            name = known[game, policy] = games.open(game, policy)
        return {"id": name, **plain(games[name].call("about"))}

    @router.get("/{name}/node")
    def node(name: str, path: str = "") -> dict[str, Any]:
        return dict(plain(games[name].call("node", steps_of(path))))

    @router.get("/{name}/infosets")
    def infosets(name: str, player: int | None = None, find: str = "") -> dict[str, Any]:
        return dict(plain(games[name].call("infosets", player, find[:200])))

    return router


def steps_of(path: str) -> list[int]:
    """A path from its text, ``0,2,1``.

    Raises:
        Refused: it is none.
    """
    parts = [part for part in path.split(",") if part]
    if len(parts) > LONGEST_PATH or not all(part.isdecimal() and part.isascii() and len(part) < 9 for part in parts):
        raise Refused(400, f"{path[:40]!r} is no path; write numbers and commas, such as 0,2,1", "path")
    return [int(part) for part in parts]
