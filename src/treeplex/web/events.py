"""Events for every open page: one stream for each, fed from whatever thread something happens in."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, final

HEARTBEAT = 15.0
"""Seconds after which a silent stream gets a comment, so that it is not taken for dead."""
MOST_WAITING = 1000
"""Events that wait for a slow page; it is let go when there are more, and connects again."""


@final
class Events:
    """Sends what happens to all who listen.

    Attributes:
        greetings: what a new listener is sent first: the name of an event, and what finds its data.
    """

    def __init__(self) -> None:
        self.greetings: dict[str, Callable[[], Mapping[str, Any]]] = {}
        self._listeners: set[asyncio.Queue[bytes | None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    def send(self, name: str, data: Mapping[str, Any]) -> None:
        """Tell every page; from any thread."""
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
        """All events from now on, as ``text/event-stream``."""
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
    """One event as it travels."""
    return f"event: {name}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n".encode()
