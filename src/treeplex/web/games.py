"""Game trees with a strategy, each in its own process."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from time import monotonic
from typing import Any, NamedTuple, final

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from treeplex.run.policy_source import UNIFORM
from treeplex.web.browsing.browser import Browser
from treeplex.web.folder.named import game_named
from treeplex.web.hosted import FileVersions, HostedObject, Hosts, file_versions
from treeplex.web.playing.tables import plain
from treeplex.web.served import Refusal, ServerState

MOST_GAMES, MOST_WHOLE = 4, 2
"""Maximum number of games held in processes, and of large games being computed or queued."""
SILENT = 1800.0
"""Seconds without progress after which the computation of a large game is cancelled."""
LONGEST_PATH = 1000


class GameRequest(BaseModel):
    """A request for a game and a policy: empty to solve the game, ``uniform``, or a file in the folder."""

    model_config = ConfigDict(extra="forbid")
    game: str = Field(min_length=1, max_length=2000)
    policy: str = Field("", max_length=2000)
    whole: bool = False


class Computation(NamedTuple):
    """The computation of a large game.

    Attributes:
        hosted: the process that computes it.
        outcome: the id of the computed game, once it is done.
        versions: those of the files of the game and the policy, when it began.
        began: time at which it began, by the monotonic clock.
    """

    hosted: HostedObject
    outcome: Future[str]
    versions: FileVersions
    began: float


@final
class Workshop:
    """Computes large games in separate processes, one at a time, without blocking other requests."""

    def __init__(self, games: Hosts) -> None:
        self.games = games
        self._turn = ThreadPoolExecutor(1, "workshop")
        self._work: dict[tuple[str, str], Computation] = {}
        self._made: dict[tuple[str, str], tuple[str, FileVersions]] = {}
        self._guard = threading.Lock()

    def ask(self, game: str, policy: str) -> str | dict[str, Any]:
        """Return the id of a computed game, or the progress of its computation, which is started if necessary.

        A result is returned at least once; then it is computed again if the game's or the policy's file has changed.

        Raises:
            TreeplexError: the computation failed; the next request starts it again.
            Refusal: too many games are being computed (503).
        """
        with self._guard:
            key, versions = (game, policy), file_versions(game, policy)
            name, known = self._made.get(key, ("", versions))
            if name in self.games.names() and known == versions:
                return name
            if key not in self._work:
                if sum(not work.outcome.done() for work in self._work.values()) >= MOST_WHOLE:
                    raise Refusal(503, f"{MOST_WHOLE} games are being computed; try again once one is done")
                hosted = self.games.begin()
                outcome = self._turn.submit(self._make, hosted, game, policy)
                self._work[key] = Computation(hosted, outcome, versions, monotonic())
            work = self._work[key]
            if not work.outcome.done():
                return {"told": work.hosted.progress or "waiting", "seconds": monotonic() - work.began}
            del self._work[key]
            if work.outcome.exception() is None:
                self._made[key] = work.outcome.result(), work.versions
        return work.outcome.result()

    def _make(self, hosted: HostedObject, game: str, policy: str) -> str:
        try:
            hosted.make(Browser, game, policy, whole=True, within=SILENT)
        except Exception:
            self.games.give_up(hosted)
            raise
        return self.games.hold(hosted)

    def close(self) -> None:
        """Reject new computations; running ones end with their processes."""
        self._turn.shutdown(wait=False, cancel_futures=True)


def routes(served: ServerState) -> APIRouter:
    """Routes for games."""
    router = APIRouter(prefix="/api/games")
    games = Hosts(Browser, MOST_GAMES)
    workshop = Workshop(games)
    served.closing += [workshop.close, games.close]

    @router.post("", status_code=201)
    def begin(body: GameRequest) -> dict[str, Any]:
        game = game_named(served, body.game)
        policy = body.policy if body.policy in ("", UNIFORM) else str(served.path(body.policy))
        if body.whole:
            answer = workshop.ask(game, policy)
            if not isinstance(answer, str):
                return {"working": answer}
            return {"id": answer, **plain(games[answer].call("about"))}
        name = games.find(game, policy)
        return {"id": name, **plain(games[name].call("about"))}

    @router.get("/{name}/node")
    def node(name: str, path: str = "") -> dict[str, Any]:
        return dict(plain(games[name].call("node", steps_of(path))))

    @router.get("/{name}/infosets")
    def infosets(name: str, player: int | None = None, find: str = "") -> dict[str, Any]:
        return dict(plain(games[name].call("infosets", player, find[:200])))

    return router


def steps_of(path: str) -> list[int]:
    """Parse a path such as ``0,2,1``.

    Raises:
        Refusal: the text is not a path.
    """
    parts = [part for part in path.split(",") if part]
    if len(parts) > LONGEST_PATH or not all(part.isdecimal() and part.isascii() and len(part) < 9 for part in parts):
        raise Refusal(400, f"{path[:40]!r} is not a path; write numbers and commas, such as 0,2,1", "path")
    return [int(part) for part in parts]
