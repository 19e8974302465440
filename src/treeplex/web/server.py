"""The server: listens, prints its address, and shuts down cleanly."""

import asyncio
import ipaddress
import logging
import secrets
import socket
import threading
import webbrowser
from dataclasses import dataclass
from types import FrameType
from typing import final

import uvicorn

from treeplex.base.notices import notify
from treeplex.errors import SpecError
from treeplex.web.app import make_app
from treeplex.web.connections import Connection
from treeplex.web.safety import LOOPBACK, Access, is_address
from treeplex.web.served import ServerState

PORT, MOST_TRIED = 8700, 50
"""Default port, and number of further ports to try."""
PATIENCE = 3
"""Seconds for which shutdown waits for running requests."""


@dataclass(frozen=True)
class ServerAddress:
    """The address on which the server listens.

    Attributes:
        socket: the bound socket.
        host: the requested host.
        port: the actual port.
        token: token for access from other machines; None if only this machine has access.
    """

    socket: socket.socket
    host: str
    port: int
    token: str | None

    @property
    def access(self) -> Access:
        """The access rules for this address."""
        names = LOOPBACK | {self.host.lower().rstrip(".")}
        if self.token is None:
            return Access(names=names)
        return Access(names=names | {socket.gethostname().lower()}, addresses=True, token=self.token)

    @property
    def address(self) -> str:
        """The address to open in the browser, including the token."""
        host = self.host
        if is_address(host):
            numeric = ipaddress.ip_address(host)
            host = "127.0.0.1" if numeric.is_unspecified else f"[{host}]" if numeric.version == 6 else host
        return f"http://{host}:{self.port}/" + (f"?token={self.token}" if self.token else "")


def listen(host: str, port: int | None) -> ServerAddress:
    """Bind an address, on the requested port or the first free one from :data:`PORT` upwards.

    Raises:
        SpecError: the address does not belong to this machine, or no port is free.
    """
    loopback = host.lower() == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)
    last: OSError | None = None
    for number in range(PORT, PORT + MOST_TRIED) if port is None else (port,):
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0]
            bound = socket.socket(family, kind, protocol)
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                bound.bind(address)
            except OSError:
                bound.close()
                raise
            return ServerAddress(bound, host, bound.getsockname()[1], None if loopback else secrets.token_urlsafe(24))
        except (OSError, UnicodeError, OverflowError) as error:
            last = error if isinstance(error, OSError) else OSError(str(error))
            if port is not None or isinstance(error, socket.gaierror):
                break
    reason = (last.strerror or str(last)).lower() if last else "no port is free"
    raise SpecError(f"cannot listen on {host}:{port or PORT} ({reason}); choose another --port or --host")


@final
class Server(uvicorn.Server):
    """A server that lets the running job save on the first Ctrl-C and stops immediately on the second."""

    def __init__(self, served: ServerState, access: Access) -> None:
        config = uvicorn.Config(
            make_app(served, access),
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            http=Connection,
            ws="none",
            timeout_graceful_shutdown=PATIENCE,
        )
        super().__init__(config)
        self.served = served

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handle Ctrl-C or SIGTERM."""
        assert self.served.work is not None
        file = self.served.work.writing
        if self.should_exit:
            self.served.work.kill()
            self.force_exit = True
        elif file is not None:
            notify(f"saving {file}; it resumes when the server is started again (Ctrl-C again: stop without saving)")
        self.should_exit = True

    async def on_tick(self, counter: int) -> bool:
        """Check connections; called ten times per second."""
        if counter % 10 == 0:
            now = asyncio.get_running_loop().time()
            for connection in list(self.server_state.connections):
                if isinstance(connection, Connection):
                    connection.check(now)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Shut down, closing the pages' event streams first since they never end on their own."""
        self.served.events.close()
        log = logging.getLogger("uvicorn.error")
        log.disabled = True  # requests cancelled from here on are not errors
        try:
            await super().shutdown(sockets)
        finally:
            log.disabled = False


def serve(served: ServerState, listening: ServerAddress, *, view: str = "", browser: bool = True) -> None:
    """Serve until Ctrl-C or SIGTERM.

    Args:
        served: the server's state.
        listening: the address on which to listen.
        view: path to open in the browser, such as ``#/solution/turn.spot``.
        browser: whether to open a browser.
    """
    if browser:
        threading.Thread(target=open_when_ready, args=(listening, view), daemon=True).start()
    Server(served, listening.access).run(sockets=[listening.socket])


def open_when_ready(listening: ServerAddress, view: str) -> None:
    """Open the browser once the server responds."""
    host = listening.socket.getsockname()[0]
    with socket.create_connection(("127.0.0.1" if host == "0.0.0.0" else host, listening.port), timeout=30):
        pass
    webbrowser.open(listening.address + view)
