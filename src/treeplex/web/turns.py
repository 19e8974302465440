"""Turns: a few expensive requests of a kind at a time; the others wait, or are refused."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import final

from treeplex.web.served import Refused

WAITING_SECONDS = 30.0
"""How long a request waits for its turn."""
WAITING_EACH = 4
"""Requests that wait, for each one that is answered at a time."""
OPENING = "opening"
"""The kind of requests that start a process and make something in it."""
OPENS = frozenset({("POST", "/api/games"), ("POST", "/api/tables"), ("POST", "/api/hands/review")})
LOOKING = "looking"
"""The kind of requests that ask for a node of a running job."""
AT_ONCE: Mapping[str, int] = {
    OPENING: 4,
    "games": 8,
    "tables": 12,
    "hands": 6,
    "preflop": 4,
    "spots": 6,
    "solution": 6,
    LOOKING: 12,
    "batch": 4,
    "runs": 4,
    "start": 4,
}
"""Requests answered at a time, by kind. Those of other kinds are cheap."""
THREADS = sum(AT_ONCE.values()) + 16
"""Threads that answer requests, with some for the cheap ones."""
STREAMS: Mapping[str, int] = {"events": 256, "upload": 16}
"""Requests at a time that take no thread, by kind."""


@final
class Turns:
    """Who is next, for each kind of request."""

    def __init__(self) -> None:
        self._most = {**AT_ONCE, **STREAMS}
        self._free = {kind: asyncio.Semaphore(most) for kind, most in self._most.items()}
        self._waiting = dict.fromkeys(self._most, 0)

    @asynccontextmanager
    async def turn(self, method: str, path: str) -> AsyncIterator[None]:
        """Wait for a turn, and keep it until the request is answered.

        Raises:
            Refused: too many wait already, or it takes too long (503).
        """
        kind = kind_of(method, path)
        if kind not in self._free:
            yield
            return
        busy = Refused(503, "the server is busy with requests of this kind; try again in a few seconds")
        if self._free[kind].locked() and self._waiting[kind] >= WAITING_EACH * self._most[kind]:
            raise busy
        self._waiting[kind] += 1
        try:
            async with asyncio.timeout(WAITING_SECONDS):
                await self._free[kind].acquire()
        except TimeoutError:
            raise busy from None
        finally:
            self._waiting[kind] -= 1
        try:
            yield
        finally:
            self._free[kind].release()


def kind_of(method: str, path: str) -> str:
    """The kind of a request: :data:`OPENING`, :data:`LOOKING`, else what follows ``/api/`` in its path."""
    if (method, path) in OPENS:
        return OPENING
    parts = path.split("/")
    if parts[1:2] != ["api"] or len(parts) < 3:
        return ""
    return LOOKING if (parts[2], parts[-1]) == ("jobs", "node") else parts[2]
