"""Who may ask what: the name asked for, where a request comes from, a token, and how large it may be.

A page of another site that is open in the same browser can send requests to a server on this machine. Three checks keep it out:
its name in ``Host`` (a name of that site that was made to mean this machine, *DNS rebinding*, is none of ours), its ``Origin``
(cross-site request forgery), and that what writes must be JSON, which no foreign form can send without asking first.
"""

import hmac
import ipaddress
import json
import sys
from asyncio import CancelledError
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final
from urllib.parse import parse_qs, urlsplit

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from treeplex.forms.compile.rule_errors import said_by
from treeplex.run.cli.shared.failures import place_of
from treeplex.web.served import Refused
from treeplex.web.turns import Turns

MOST_BODY = 4 * 1024 * 1024
"""Bytes of the body of a request; uploads of files have their own limit."""
UPLOAD = "/api/upload"
MOST_UPLOAD = 512 * 1024 * 1024
MOST_ADDRESS = 8192
"""Bytes of a path with its query."""
RETRY_SECONDS = 5
"""What an answer of 503 tells a client to wait."""
READS = ("GET", "HEAD")
WRITES = ("POST", "DELETE")
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
COOKIE = "treeplex_token"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}
ADDED = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
"""The headers of every answer."""


@dataclass(frozen=True)
class Access:
    """Who is let in.

    Attributes:
        names: what ``Host`` may say, without port.
        addresses: whether any address in numbers will do as well; no site can take one as its name.
        token: to be shown by every request; None where only this machine can ask.
    """

    names: frozenset[str] = LOOPBACK
    addresses: bool = False
    token: str | None = None

    def knows(self, host: str) -> bool:
        """Whether ``Host`` names this server."""
        try:
            name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
        except ValueError:
            return False
        return name in self.names or (self.addresses and is_address(name))


def is_address(name: str) -> bool:
    """Whether a name is an address in numbers."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


@final
class Guard:
    """Stands before an application: refuses what must not come in, adds headers, and turns faults into one line."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access
        self.turns = Turns()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = False

        async def answer(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                message = {**message, "headers": [*message.get("headers", ()), *ADDED]}
            await send(message)

        try:
            headers = headers_of(scope)
            self.check(scope, headers)
            if self.access.token is not None and await self.lets_in(scope, answer):
                return
            receive = await limited(scope, headers, receive)
            async with self.turns.turn(scope["method"], scope["path"]):
                await self.app(scope, receive, answer)
        except ClientDisconnect:
            return
        except CancelledError:  # the server ends
            if not begun:
                await refuse(answer, 503, "the server is ending; try again once it is started", None)
        except Refused as refused:
            await refuse(answer, refused.status, str(refused), refused.field)
        except Exception as error:
            print(f"error: {scope['method']} {scope['path']!r}: {said_by(error)} ({place_of(error)})", file=sys.stderr)
            if not begun:
                await refuse(answer, 500, f"{said_by(error)}; a fault of Treeplex, please report it", None)

    def check(self, scope: Scope, headers: Mapping[str, str]) -> None:
        """Refuse a request by its first lines alone.

        Raises:
            Refused: why.
        """
        method, path = scope["method"], scope["path"]
        if len(scope.get("raw_path", b"")) + len(scope["query_string"]) > MOST_ADDRESS:
            raise Refused(414, f"an address of more than {MOST_ADDRESS} bytes; shorten it")
        if not self.access.knows(headers.get("host", "")):
            raise Refused(403, "this server is not known by that name; open the address that it printed when it was started")
        if method not in READS + WRITES:
            raise Refused(405, f"{method[:20]} is not understood; use GET, POST or DELETE")
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
        if origin is not None and origin not in (f"http://{headers['host']}", f"https://{headers['host']}"):
            raise Refused(403, "requests from other sites are refused; open the page of this server itself")
        if path.startswith("/api/") and site not in ("same-origin", "none"):
            raise Refused(403, "requests from other sites are refused; open the page of this server itself")
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if method == "POST" and kind != ("application/octet-stream" if path == UPLOAD else "application/json"):
            raise Refused(415, "send application/json (files: application/octet-stream)")

    async def lets_in(self, scope: Scope, answer: Send) -> bool:
        """Check the token; whether the request is answered already, by a cookie and the address without the token.

        Raises:
            Refused: a token is missing or wrong.
        """
        assert self.access.token is not None
        headers, query = headers_of(scope), parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=50)
        given = query.get("token", [""])[0]
        if given and same(given, self.access.token) and scope["method"] == "GET":
            cookie = f"{COOKIE}={self.access.token}; Path=/; HttpOnly; SameSite=Strict"
            place = [(b"location", b"/"), (b"set-cookie", cookie.encode())]
            await answer({"type": "http.response.start", "status": 303, "headers": place})
            await answer({"type": "http.response.body", "body": b""})
            return True
        cookies = dict(part.strip().partition("=")[::2] for part in headers.get("cookie", "").split(";"))
        bearer = headers.get("authorization", "").removeprefix("Bearer ").strip()
        if not any(same(each, self.access.token) for each in (cookies.get(COOKIE, ""), bearer)):
            raise Refused(401, "this server asks for its token; open the address that it printed when it was started")
        return False


def same(given: str, token: str) -> bool:
    """Whether a token is the right one, in a time that says nothing about it."""
    return hmac.compare_digest(given.encode(), token.encode())


def headers_of(scope: Scope) -> dict[str, str]:
    """The headers of a request by name.

    Raises:
        Refused: one that says who asks is there twice.
    """
    found: dict[str, str] = {}
    for raw, value in scope["headers"]:
        name = raw.decode("latin-1").lower()
        if name in found and name in ("host", "origin", "content-type", "content-length"):
            raise Refused(400, f"the header {name} is there twice; send it once")
        found[name] = value.decode("latin-1")
    return found


async def limited(scope: Scope, headers: Mapping[str, str], receive: Receive) -> Receive:
    """What hands a request's body on, read to its end and not too long; files that are uploaded are counted on their way.

    Raises:
        Refused: it is too long.
    """
    if scope["method"] not in WRITES:
        return receive
    most = MOST_UPLOAD if scope["path"] == UPLOAD else MOST_BODY
    too_long = Refused(413, f"more than {most // 1024**2} MB; send less")
    length = headers.get("content-length", "0")
    if not length.isdigit() or int(length[:15]) > most:
        raise too_long
    if scope["path"] == UPLOAD:
        return receive
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return once(message)
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > most:
            raise too_long
    return once({"type": "http.request", "body": bytes(body), "more_body": False}, receive)


def once(message: Message, then: Receive | None = None) -> Receive:
    """What gives one message, and then what comes further."""
    waiting = [message]

    async def receive() -> Message:
        if waiting:
            return waiting.pop()
        return await then() if then is not None else {"type": "http.disconnect"}

    return receive


async def refuse(send: Send, status: int, line: str, field: str | None) -> None:
    """Answer with an error."""
    headers = [(name.encode(), value.encode()) for name, value in retry(status).items()]
    headers.append((b"content-type", b"application/json"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(problem(line, field)).encode()})


def retry(status: int) -> dict[str, str]:
    """The headers that say when to ask again, of an answer that the server is busy."""
    return {"retry-after": f"{RETRY_SECONDS}"} if status == 503 else {}


def problem(line: str, field: str | None = None) -> dict[str, Any]:
    """The body of every error."""
    return {"error": " ".join(line.split()), "field": field}
