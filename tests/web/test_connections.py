"""Slow and half-sent requests time out, idle connections make room, and a server that ends leaves no traceback."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest

from tests.web.conftest import running
from treeplex.web import connections, server
from treeplex.web.served import ServerState

HEAD = b"POST /api/presets HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n"
HALF = b"GET /api/start HTTP/1.1\r\nHost: local"


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[httpx.Client]:
    """A client of a server on an empty folder."""
    with running(ServerState(tmp_path / "served", threads=1)) as client:
        yield client


def connected(client: httpx.Client, data: bytes) -> socket.socket:
    """A connection on which something was sent."""
    assert client.base_url.port is not None
    plain = socket.create_connection((client.base_url.host, client.base_url.port), timeout=20)
    plain.sendall(data)
    return plain


def is_ended(plain: socket.socket) -> bool:
    """Wait until the other side ends a connection without an answer; whether it does."""
    try:
        return plain.recv(1000) == b""
    except ConnectionError:
        return True


def test_requests_that_do_not_go_on_are_ended(bare: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(connections, "SILENCE", 0.3)
    with ExitStack() as stack:
        events = stack.enter_context(bare.stream("GET", "/api/events"))
        lines = events.iter_lines()
        assert next(lines) == "event: jobs"
        began = time.monotonic()
        for plain in [stack.enter_context(connected(bare, data)) for data in (b"", HALF, HEAD, HEAD + b'{"name": ')]:
            assert is_ended(plain)
        assert time.monotonic() - began < 9  # ten are the default
        kind = {"content-type": "application/octet-stream"}
        assert bare.post("/api/upload", params={"name": "a.txt"}, content=b"a", headers=kind).status_code == 200
        assert "event: files" in (next(lines) for _ in range(4))  # a request that is there as a whole may wait


def test_a_body_that_drips_is_ended(bare: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "BODY_SECONDS", 0.5)

    def drip(plain: socket.socket) -> None:
        for _ in range(100):
            plain.sendall(b" ")
            time.sleep(0.05)

    with connected(bare, HEAD) as plain, pytest.raises(ConnectionError):
        drip(plain)


def test_an_answer_that_nobody_reads_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "UNREAD", 0.3)
    with running(ServerState(tmp_path, threads=1)) as bare:
        (tmp_path / "large.txt").write_bytes(bytes(50_000_000))
        for patience in (1.6, 5, 20):  # a busy server looks at its connections late
            with connected(bare, b"GET /api/download?file=large.txt HTTP/1.1\r\nHost: localhost\r\n\r\n") as plain:
                time.sleep(patience)
                received = 0
                with suppress(ConnectionError):
                    while part := plain.recv(2**16):
                        received += len(part)
            if received < 50_000_000:
                return
        pytest.fail("a whole answer was sent that nobody read")


def test_idle_connections_make_room(bare: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 20)
    with ExitStack() as stack:
        plain = [stack.enter_context(connected(bare, HALF if number % 2 else HEAD)) for number in range(60)]
        for _ in range(5):
            assert httpx.get(bare.base_url.join("/api/start"), timeout=60).status_code == 200
        for each in plain:
            each.settimeout(0.01)
        ended = 0
        for each in plain:
            try:
                ended += is_ended(each)
            except TimeoutError:
                continue
        assert ended >= 40


def test_a_server_that_ends_answers_what_is_pending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(server, "PATIENCE", 0.2)
    entered, leave = threading.Event(), threading.Event()

    def wait() -> dict[str, str]:
        entered.set()
        leave.wait(20)
        return {}

    served = ServerState(tmp_path, threads=1)
    served.closing.append(leave.set)
    with ExitStack() as stack:
        with running(served) as client:
            half = stack.enter_context(connected(client, HALF))
            body = stack.enter_context(connected(client, HEAD))
            monkeypatch.setattr("treeplex.web.start.available_memory", wait)
            whole = stack.enter_context(connected(client, b"GET /api/start HTTP/1.1\r\nHost: localhost\r\n\r\n"))
            assert entered.wait(10)
        assert is_ended(half)
        for plain in (body, whole):
            answer = b"".join(iter(lambda plain=plain: plain.recv(10_000), b""))
            assert answer.startswith(b"HTTP/1.1 503")
            assert b"the server is shutting down" in answer
    assert capfd.readouterr().err == ""
