"""Access control: host name, origin, token, and size of requests.

Pages of other sites in the same browser can send requests to a local server. Three checks prevent this. The ``Host`` name must
be known, which rejects a site's name that resolves to this machine (*DNS rebinding*). The ``Origin`` must match, which prevents
cross-site request forgery. Requests that write must send JSON, which a form on another site cannot do without a preflight
request.
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
from treeplex.web.served import Refusal
from treeplex.web.turns import Turns

MOST_BODY = 4 * 1024 * 1024
"""Maximum bytes of a request's body; uploads have a separate limit."""
UPLOAD = "/api/upload"
MOST_UPLOAD = 512 * 1024 * 1024
MOST_ADDRESS = 8192
"""Maximum bytes of a path with its query."""
RETRY_SECONDS = 5
"""Value of the header ``Retry-After`` in 503 responses, in seconds."""
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
"""Headers added to every response."""


@dataclass(frozen=True)
class Access:
    """Access rules.

    Attributes:
        names: accepted ``Host`` names, without ports.
        addresses: whether numeric addresses are also accepted; they are safe, since no site can have one as its name.
        token: token that every request must contain; None if only this machine has access.
    """

    names: frozenset[str] = LOOPBACK
    addresses: bool = False
    token: str | None = None

    def knows(self, host: str) -> bool:
        """Whether a ``Host`` header names this server."""
        try:
            name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
        except ValueError:
            return False
        return name in self.names or (self.addresses and is_address(name))


def is_address(name: str) -> bool:
    """Whether a name is a numeric address."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


@final
class Guard:
    """ASGI middleware that rejects invalid requests, adds headers, and reports errors in one line."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access
        self.turns = Turns()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request."""
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
            receive = await limit_body(scope, headers, receive)
            async with self.turns.turn(scope["method"], scope["path"]):
                await self.app(scope, receive, answer)
        except ClientDisconnect:
            return
        except CancelledError:  # the server is shutting down
            if not begun:
                await refuse(answer, 503, "the server is shutting down; try again once it is restarted", None)
        except Refusal as refused:
            await refuse(answer, refused.status, str(refused), refused.field)
        except Exception as error:
            print(f"error: {scope['method']} {scope['path']!r}: {said_by(error)} ({place_of(error)})", file=sys.stderr)
            if not begun:
                await refuse(answer, 500, f"{said_by(error)}; this is a bug in Treeplex, please report it", None)

    def check(self, scope: Scope, headers: Mapping[str, str]) -> None:
        """Check a request by its method, path and headers.

        Raises:
            Refusal: the request is not allowed.
        """
        method, path = scope["method"], scope["path"]
        if len(scope.get("raw_path", b"")) + len(scope["query_string"]) > MOST_ADDRESS:
            raise Refusal(414, f"the address is longer than {MOST_ADDRESS} bytes; shorten it")
        if not self.access.knows(headers.get("host", "")):
            raise Refusal(403, "unknown host name; open the address that the server printed at startup")
        if method not in READS + WRITES:
            raise Refusal(405, f"method {method[:20]} is not supported; use GET, POST or DELETE")
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
        if origin is not None and origin not in (f"http://{headers['host']}", f"https://{headers['host']}"):
            raise Refusal(403, "requests from other sites are refused; open the page of this server itself")
        if path.startswith("/api/") and site not in ("same-origin", "none"):
            raise Refusal(403, "requests from other sites are refused; open the page of this server itself")
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if method == "POST" and kind != ("application/octet-stream" if path == UPLOAD else "application/json"):
            raise Refusal(415, "send application/json (files: application/octet-stream)")

    async def lets_in(self, scope: Scope, answer: Send) -> bool:
        """Check the token; returns whether a redirect was sent that sets a cookie and removes the token from the
        address.

        Raises:
            Refusal: the token is missing or wrong.
        """
        assert self.access.token is not None
        headers, query = headers_of(scope), parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=50)
        given = query.get("token", [""])[0]
        if given and token_matches(given, self.access.token) and scope["method"] == "GET":
            cookie = f"{COOKIE}={self.access.token}; Path=/; HttpOnly; SameSite=Strict"
            redirect = [(b"location", b"/"), (b"set-cookie", cookie.encode())]
            await answer({"type": "http.response.start", "status": 303, "headers": redirect})
            await answer({"type": "http.response.body", "body": b""})
            return True
        cookies = dict(part.strip().partition("=")[::2] for part in headers.get("cookie", "").split(";"))
        bearer = headers.get("authorization", "").removeprefix("Bearer ").strip()
        if not any(token_matches(candidate, self.access.token) for candidate in (cookies.get(COOKIE, ""), bearer)):
            raise Refusal(401, "the token is missing or wrong; open the address that the server printed at startup")
        return False


def token_matches(given: str, token: str) -> bool:
    """Compare a token in constant time."""
    return hmac.compare_digest(given.encode(), token.encode())


def headers_of(scope: Scope) -> dict[str, str]:
    """The headers of a request by name.

    Raises:
        Refusal: a header that must be unique occurs twice.
    """
    headers: dict[str, str] = {}
    for raw, value in scope["headers"]:
        name = raw.decode("latin-1").lower()
        if name in headers and name in ("host", "origin", "content-type", "content-length"):
            raise Refusal(400, f"the header {name} occurs twice; send it once")
        headers[name] = value.decode("latin-1")
    return headers


async def limit_body(scope: Scope, headers: Mapping[str, str], receive: Receive) -> Receive:
    """Read a request's body up to its size limit; returns a function that passes it on.

    The size of uploads is checked as they arrive.

    Raises:
        Refusal: the body is too large.
    """
    if scope["method"] not in WRITES:
        return receive
    most = MOST_UPLOAD if scope["path"] == UPLOAD else MOST_BODY
    too_long = Refusal(413, f"the request exceeds {most // 1024**2} MB; send less")
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
    """Return a receive function that yields one message, then those of ``then``."""
    waiting = [message]

    async def receive() -> Message:
        if waiting:
            return waiting.pop()
        return await then() if then is not None else {"type": "http.disconnect"}

    return receive


async def refuse(send: Send, status: int, line: str, field: str | None) -> None:
    """Respond with an error."""
    headers = [(name.encode(), value.encode()) for name, value in retry(status).items()]
    headers.append((b"content-type", b"application/json"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(problem(line, field)).encode()})


def retry(status: int) -> dict[str, str]:
    """Response headers that say when to retry if the server is busy."""
    return {"retry-after": f"{RETRY_SECONDS}"} if status == 503 else {}


def problem(line: str, field: str | None = None) -> dict[str, Any]:
    """Return the body of an error response."""
    return {"error": " ".join(line.split()), "field": field}
