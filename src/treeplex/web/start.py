"""Routes for a page's first request: contents of the folder and of the library."""

from functools import cache
from typing import Any

from fastapi import APIRouter

from treeplex.base.storage.memory import available_memory
from treeplex.base.version import own_version
from treeplex.engine.threads import available_cores
from treeplex.games import registry as games
from treeplex.search.named_agents.registry import agents
from treeplex.solvers.registry import algorithms
from treeplex.web.folder.found import listing
from treeplex.web.safety import MOST_BODY
from treeplex.web.served import ServerState


def routes(served: ServerState) -> APIRouter:
    """Routes for the first request."""
    router = APIRouter(prefix="/api")

    @router.get("/start")
    def start() -> dict[str, Any]:
        return {
            "version": own_version(),
            "folder": str(served.folder),
            "opened": None if served.opened is None else served.name(served.opened),
            "own_games": list(served.own_games),
            "machine": {"threads": served.threads or available_cores(), "memory": available_memory()},
            "limits": {"body": MOST_BODY},
            **listing(served),
        }

    @router.get("/library")
    def library() -> dict[str, Any]:
        return library_entries()

    return router


@cache
def library_entries() -> dict[str, Any]:
    """Return the library's games, agents and algorithms, each with a description."""
    return {
        "games": [{"name": name, "about": info.summary} for name, info in games.games().items()],
        "agents": [
            {"name": name, "about": kind.text, "example": kind.example} for name, kind in agents().items() if not kind.external
        ],
        "algorithms": [{"name": name, "about": algorithm.summary} for name, algorithm in algorithms().items()],
    }
