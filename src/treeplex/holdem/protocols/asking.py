"""HTTP requests with JSON responses; a request is repeated only if that is safe."""

import http.client
import json
import socket
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from time import monotonic, sleep
from typing import Any

from treeplex.base.storage.reading import parse_json, reason
from treeplex.errors import GameError, SpecError

SECONDS = 180.0
"""Seconds after which a request times out."""
PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds before each repetition of a request."""
BUSY = (409, 429, 502, 503, 504)
"""HTTP status codes that mean that the server is busy."""
MOST_BYTES, SHOWN = 1 << 20, 200
"""Maximum bytes in a response, and maximum characters of it quoted in a message."""
REMEDIES = {
    401: "check the key",
    403: "check the key and its permissions",
    404: "check the address",
    409: "wait until unfinished hands have ended",
    429: "wait a while before the next hand",
}
"""Remedies by HTTP status; 300 to 399 and 500 to 599 have their own."""


class NoAnswerError(GameError):
    """Raised if a request gets no usable answer.

    Attributes:
        status: the HTTP status; 0 if no answer came.
        sent: whether the server may have received the request.
    """

    def __init__(self, message: str, *, status: int = 0, sent: bool = True) -> None:
        super().__init__(message)
        self.status, self.sent = status, sent

    @property
    def passing(self) -> bool:
        """Whether the failure may be temporary: the server did not answer, or is busy."""
        return self.status in (0, *BUSY)

    @property
    def harmless(self) -> bool:
        """Whether a request for a new hand can be safely repeated, because the server was not reached or is busy."""
        return not self.sent or self.status in BUSY


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuses redirects, so that the key is sent only to the named host."""

    def redirect_request(self, *arguments: Any, **options: Any) -> None:
        return None


OPENER = urllib.request.build_opener(NoRedirect)


def ask(url: str, body: Mapping[str, Any] | None, headers: Mapping[str, str] | None = None, *, seconds: float = SECONDS) -> Any:
    """Send a request; return the server's JSON answer.

    Args:
        url: the address.
        body: data to post as JSON; None for a GET request.
        headers: further headers.
        seconds: timeout.

    Raises:
        NoAnswerError: no answer, invalid JSON, or an error reported by the server.
        SpecError: the address is invalid.
    """
    check_address(url)
    data = None if body is None else json.dumps(body).encode()
    until = monotonic() + seconds
    try:
        request = urllib.request.Request(url, data, {"Content-Type": "application/json", **(headers or {})})
        with OPENER.open(request, timeout=seconds) as answer:
            said = read_answer(answer, until)
    except urllib.error.HTTPError as error:
        raise refusal(url, error) from error
    except (TimeoutError, urllib.error.URLError) as error:
        if isinstance(error, TimeoutError) or isinstance(error.reason, TimeoutError):
            raise NoAnswerError(
                f"{url} does not answer within {seconds:g} s; allow more time with --timeout, or try again later"
            ) from error
        sent = not isinstance(error.reason, ConnectionRefusedError | socket.gaierror)
        what = said_by(error.reason)
        raise NoAnswerError(f"no answer from {url}: {what}; check the address and the network", sent=sent) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NoAnswerError(f"no answer from {url}: {said_by(error)}; check that it is the server's address") from error
    try:
        return parse_json(said)
    except ValueError as error:
        raise NoAnswerError(
            f"{url} answers {answer_text(said)}, which is not JSON; check that it is the server's address"
        ) from error


def check_address(url: str) -> None:
    """Raise :class:`SpecError` unless a text is a valid server address."""
    if not url.startswith(("http://", "https://")) or not url.isascii() or not url.isprintable() or " " in url:
        raise SpecError(f"{url!r} is not a server's address; write https://...")


def read_answer(answer: Any, until: float) -> bytes:
    """Read a server's complete answer.

    Raises:
        TimeoutError: the answer is not complete at the time ``until``.
        ValueError: the answer is too long.
    """
    said = b""
    while piece := answer.read1(1 << 16):
        said += piece
        if monotonic() > until:
            raise TimeoutError
        if len(said) > MOST_BYTES:
            raise ValueError(f"more than {MOST_BYTES:,} bytes")
    if answer.length:
        raise http.client.IncompleteRead(said, answer.length)
    return said


def refusal(url: str, error: urllib.error.HTTPError) -> NoAnswerError:
    """The error for a response whose status reports a failure."""
    try:
        said = answer_text(error.read(10_000))
    except (OSError, http.client.HTTPException, ValueError):
        said = "nothing else"
    if 300 <= error.code < 400:
        remedy = f"it redirects to {error.headers.get('Location', 'another address')!r}; give that as --url if you trust it"
    else:
        remedy = REMEDIES.get(error.code, "try again later" if error.code >= 500 else "its interface may have changed")
    return NoAnswerError(f"{url} answers {error.code}, {said}; {remedy}", status=error.code)


def said_by(error: object) -> str:
    """The message of an error."""
    return reason(error) if isinstance(error, OSError) else str(error) or type(error).__name__


def answer_text(said: object) -> str:
    """The beginning of a server's answer, on one line, for error messages."""
    text = " ".join((said.decode("utf-8", "replace") if isinstance(said, bytes) else json.dumps(said)).split())
    return (text if len(text) <= SHOWN else f"{text[:SHOWN]} ...") or "nothing"


def patiently(question: Callable[[], Any], again: Callable[[NoAnswerError], bool]) -> Any:
    """Send a request, and again after each of :data:`PAUSES` while it fails and ``again(error)`` is true; return the response.

    Raises:
        NoAnswerError: the last request failed.
    """
    for pause in PAUSES:
        try:
            return question()
        except NoAnswerError as error:
            if not again(error):
                raise
        sleep(pause)
    return question()
