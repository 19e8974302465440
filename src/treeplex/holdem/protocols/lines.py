"""Lines of text over a network connection, with timeouts."""

import contextlib
import socket
from time import monotonic
from typing import final

from treeplex.errors import GameError

LONGEST = 65_536
"""Maximum bytes in a line."""


class LateError(GameError):
    """Raised if the other side neither sends nor accepts data within the time limit."""


class LeftError(GameError):
    """Raised if the other side has closed the connection."""


@final
class Lines:
    """Both directions of a connection, carrying lines of ASCII text.

    Args:
        connection: to the other side; it is not closed.
        who: name of the other side in messages.
    """

    def __init__(self, connection: socket.socket, who: str) -> None:
        self.connection, self.who, self._buffer = connection, who, b""
        with contextlib.suppress(OSError):  # a local socket pair has no such option
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def read(self, seconds: float) -> str:
        """The next line that is neither empty nor a comment.

        Args:
            seconds: longest wait.

        Raises:
            LateError, LeftError: no line arrives.
            GameError: the line is too long.
        """
        until = monotonic() + seconds
        while True:
            while b"\n" in self._buffer:
                line, self._buffer = self._buffer.split(b"\n", 1)
                text = line.decode("ascii", "replace").rstrip("\r")
                if text and text[0] not in "#;":
                    return text
            if len(self._buffer) > LONGEST:
                raise GameError(f"{self.who} sent a line without a newline; check that it uses the ACPC protocol")
            left = until - monotonic()
            if left <= 0:
                raise LateError(f"{self.who} sent nothing for {seconds:.4g} s")
            try:
                self.connection.settimeout(left)
                piece = self.connection.recv(4096)
            except TimeoutError:
                continue
            except OSError as error:
                raise LeftError(f"{self.who} has disconnected ({error.strerror or error})") from error
            if not piece:
                raise LeftError(f"{self.who} has disconnected")
            self._buffer += piece

    def send(self, line: str, seconds: float) -> None:
        """Send a line.

        Raises:
            LateError, LeftError: the line is not accepted in time.
        """
        try:
            self.connection.settimeout(seconds)
            self.connection.sendall(f"{line}\r\n".encode())
        except TimeoutError as error:
            raise LateError(f"{self.who} accepted no data for {seconds:.4g} s") from error
        except OSError as error:
            raise LeftError(f"{self.who} has disconnected ({error.strerror or error})") from error
