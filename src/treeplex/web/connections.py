"""Time limits for slow or idle connections, which are closed first if there are too many connections."""

import asyncio
from typing import Any, final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 512
HEAD_SECONDS = 10.0
"""Seconds for the head of a request, from the start of the connection or the end of the last response."""
BODY_SECONDS, SLOWEST = 60.0, 10_000
"""Seconds for the body, and the minimum rate in bytes per second beyond them."""
SILENCE = 20.0
"""Maximum seconds between bytes of a body."""
UNREAD = 60.0
"""Seconds within which a client must read from a response."""


@final
class Connection(H11Protocol):
    """A connection with time limits; :class:`Server` calls :meth:`check` about once per second.

    Attributes:
        began: time at which waiting for the current request began, in the loop's seconds.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.began = self._heard = self.loop.time()
        self._received, self._unread_since = 0, 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection; if there are too many, close the one that has waited longest for a complete request."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            idle = [
                connection for connection in self.connections if isinstance(connection, Connection) and connection.unfinished
            ]
            min(idle, key=lambda connection: connection.began).abort()

    def data_received(self, data: bytes) -> None:
        """Receive a part of a request."""
        self._heard, self._received = self.loop.time(), self._received + len(data)
        super().data_received(data)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self.began, self._received = self.loop.time(), 0
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Record that the client reads too slowly."""
        self._unread_since = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """Record that the client has caught up."""
        self._unread_since = 0.0
        super().resume_writing()

    @property
    def unfinished(self) -> bool:
        """Whether the connection waits for a complete request."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def check(self, now: float) -> None:
        """Close the connection if it is too slow."""
        waited = now - self.began
        if self._unread_since:
            late = now - self._unread_since > UNREAD
        elif self.conn.their_state is h11.IDLE:
            late = waited > HEAD_SECONDS
        elif self.flow.read_paused:
            late, self._heard = False, now
        elif self.conn.their_state is h11.SEND_BODY:
            late = now - self._heard > SILENCE or waited > BODY_SECONDS + self._received / SLOWEST
        else:
            late = False
        if late:
            self.abort()

    def abort(self) -> None:
        """Close the connection at once."""
        self.connections.discard(self)
        self.transport.abort()
