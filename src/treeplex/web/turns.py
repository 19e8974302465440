"""Limits on concurrent expensive requests; excess requests wait or are rejected."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import final

from treeplex.web.served import Refusal

WAITING_SECONDS = 30.0
"""Seconds that a request waits for its turn."""
WAITING_EACH = 4
"""Maximum number of waiting requests per concurrent one."""
OPENING = "opening"
"""Type of requests that start a process with an object."""
OPENS = frozenset(
    {("POST", "/api/games"), ("POST", "/api/tables"), ("POST", "/api/hands/review"), ("POST", "/api/reviews/start")}
)
LOOKING = "looking"
"""Type of requests for a node of a running job."""
AT_ONCE: Mapping[str, int] = {
    OPENING: 4,
    "games": 8,
    "tables": 12,
    "hands": 6,
    "reviews": 6,
    "preflop": 4,
    "spots": 6,
    "solution": 6,
    "drill": 4,
    LOOKING: 12,
    "batch": 4,
    "runs": 4,
    "start": 4,
}
"""Maximum number of concurrent requests by type; requests of other types are cheap."""
THREADS = sum(AT_ONCE.values()) + 16
"""Number of threads for requests, including some for cheap ones."""
STREAMS: Mapping[str, int] = {"events": 256, "upload": 16}
"""Maximum number of concurrent requests that need no thread, by type."""


@final
class Turns:
    """Limits concurrency for each type of request."""

    def __init__(self) -> None:
        self._most = {**AT_ONCE, **STREAMS}
        self._free = {kind: asyncio.Semaphore(most) for kind, most in self._most.items()}
        self._waiting = dict.fromkeys(self._most, 0)

    @asynccontextmanager
    async def turn(self, method: str, path: str) -> AsyncIterator[None]:
        """Wait for a turn, and hold it for the duration of the request.

        Raises:
            Refusal: too many requests are waiting, or the wait is too long (503).
        """
        kind = request_type(method, path)
        if kind not in self._free:
            yield
            return
        busy = Refusal(503, "the server is busy with requests of this kind; try again in a few seconds")
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


def request_type(method: str, path: str) -> str:
    """Return a request's type: :data:`OPENING`, :data:`LOOKING`, or the path segment after ``/api/``."""
    if (method, path) in OPENS:
        return OPENING
    parts = path.split("/")
    if parts[1:2] != ["api"] or len(parts) < 3:
        return ""
    return LOOKING if (parts[2], parts[-1]) == ("jobs", "node") else parts[2]
