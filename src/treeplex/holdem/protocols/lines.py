"""Lines over a connection, each awaited for a limited time."""

import contextlib
import socket
from time import monotonic
from typing import final

from treeplex.errors import GameError

LONGEST = 65_536
"""Bytes of a line."""


class LateError(GameError):
    """The other side says nothing, or takes nothing, for too long."""


class LeftError(GameError):
    """The other side has closed the connection."""


@final
class Lines:
    """Both directions of a connection, in lines of ASCII.

    Args:
        connection: to the other side; it is not closed.
        who: what messages call the other side.
    """

    def __init__(self, connection: socket.socket, who: str) -> None:
        self.connection, self.who, self._buffer = connection, who, b""
        with contextlib.suppress(OSError):  # a local pair has no such option
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def read(self, seconds: float) -> str:
        """The next line that is not empty and no comment.

        Args:
            seconds: how long to wait at most.

        Raises:
            LateError, LeftError: none comes.
            GameError: a line that does not end.
        """
        until = monotonic() + seconds
        while True:
            while b"\n" in self._buffer:
                line, self._buffer = self._buffer.split(b"\n", 1)
                text = line.decode("ascii", "replace").rstrip("\r")
                if text and text[0] not in "#;":
                    return text
            if len(self._buffer) > LONGEST:
                raise GameError(f"{self.who} sends a line without an end; it speaks another protocol")
            left = until - monotonic()
            if left <= 0:
                raise LateError(f"{self.who} says nothing for {seconds:.4g} s")
            try:
                self.connection.settimeout(left)
                piece = self.connection.recv(4096)
            except TimeoutError:
                continue
            except OSError as error:
                raise LeftError(f"{self.who} has left ({error.strerror or error})") from error
            if not piece:
                raise LeftError(f"{self.who} has left")
            self._buffer += piece

    def send(self, line: str, seconds: float) -> None:
        """Send a line.

        Raises:
            LateError, LeftError: it is not taken within this time.
        """
        try:
            self.connection.settimeout(seconds)
            self.connection.sendall(f"{line}\r\n".encode())
        except TimeoutError as error:
            raise LateError(f"{self.who} takes no line for {seconds:.4g} s") from error
        except OSError as error:
            raise LeftError(f"{self.who} has left ({error.strerror or error})") from error
