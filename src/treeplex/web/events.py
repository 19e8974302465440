"""Server-sent events: one stream per open page, fed from any thread."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, final

HEARTBEAT = 15.0
"""Seconds after which a silent stream gets a comment to keep it alive."""
MOST_WAITING = 1000
"""Maximum number of queued events for a slow page; beyond it the stream is closed, and the page reconnects."""


@final
class Events:
    """Sends events to all open pages.

    Attributes:
        greetings: events sent first to each new page, as names and functions that return their data.
    """

    def __init__(self) -> None:
        self.greetings: dict[str, Callable[[], Mapping[str, Any]]] = {}
        self._listeners: set[asyncio.Queue[bytes | None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    def send(self, name: str, data: Mapping[str, Any]) -> None:
        """Send an event to every page; may be called from any thread."""
        if self._listeners and self._loop is not None and not self._closed:
            self._loop.call_soon_threadsafe(self._spread, event(name, data))

    def _spread(self, message: bytes) -> None:
        for waiting in list(self._listeners):
            if waiting.qsize() >= MOST_WAITING:
                self._listeners.discard(waiting)
                waiting.put_nowait(None)
            else:
                waiting.put_nowait(message)

    async def stream(self) -> AsyncIterator[bytes]:
        """Yield all further events as ``text/event-stream``."""
        self._loop = asyncio.get_running_loop()
        waiting: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._listeners.add(waiting)
        try:
            for name, find in self.greetings.items():
                yield event(name, find())
            while not self._closed:
                try:
                    message = await asyncio.wait_for(waiting.get(), HEARTBEAT)
                except TimeoutError:
                    message = b": still there\n\n"
                if message is None:
                    return
                yield message
        finally:
            self._listeners.discard(waiting)

    def close(self) -> None:
        """End all streams, so that the server can stop."""
        self._closed = True
        for waiting in list(self._listeners):
            waiting.put_nowait(None)


def event(name: str, data: Mapping[str, Any]) -> bytes:
    """Format an event for the stream."""
    return f"event: {name}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n".encode()
