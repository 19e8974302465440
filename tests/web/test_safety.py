"""What must not come in does not; what is malformed gets one line and no traceback."""

import asyncio
import json
import random
import re
import socket
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute

from tests.web.conftest import RIVER, running
from treeplex.web.app import PARTS
from treeplex.web.safety import COOKIE, MOST_BODY, Access, Guard
from treeplex.web.served import Refusal, ServerState

JSON = {"content-type": "application/json"}
WORDS = [
    "",
    "..",
    "../x",
    "a" * 9000,
    "%00",
    "\x00",
    "{}",
    "[" * 5000,
    "x,b50",
    "∞",
    "-1",
    "1e999",
    "river.spot",
    "/etc/passwd",
    "NaN",
]
PATHS = [
    *(
        "/api/start",
        "/api/jobs",
        "/api/jobs/{}",
        "/api/jobs/{}/pause",
        "/api/jobs/{}/node",
        "/api/spots/range",
        "/api/spots/check",
    ),
    *("/api/spots/read", "/api/spots/file", "/api/presets", "/api/solution", "/api/solution/node", "/api/solution/runouts"),
    *(
        "/api/solution/compare",
        "/api/solution/export",
        "/api/solution/range",
        "/api/solution/page",
        "/api/batch",
        "/api/download",
    ),
    *("/api/upload", "/{}", "/api/{}", "//{}", "/assets/{}"),
]
FIELDS = ["file", "line", "then", "player", "depth", "as", "with", "ev", "name", "token"]
BODIES = [
    *(b"", b"{", b"null", b"[]", b"1", b'{"fields": 1}', b'{"fields": {"board": {"a": [[[]]]}}}', b"\xff\xfe", b'{"text": 1}'),
    *(b'{"weights": [1e999]}', b'{"weights": [null]}', b'{"resume": "../x"}', b'{"from": "/etc/passwd", "locks": [{}]}'),
    *(
        b"[" * 100_000,
        b'{"a":' * 5000,
        b'{"text": "' + b"1" * 5000 + b'x"}',
        b'{"fields": {"oop": "1x", "ip": null, "bets": {"x": 1}}}',
    ),
]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8700", "127.0.0.1.evil.example", "", "[::1", "localhost.evil:1"]
)
def test_a_foreign_name_is_refused(shared: httpx.Client, host: str) -> None:
    answer = shared.get("/api/start", headers={"host": host})
    assert answer.status_code in (400, 403)
    assert answer.json()["error"] if answer.status_code == 403 else True


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:1", "LOCALHOST:8700", "localhost."])
def test_own_names_are_known(shared: httpx.Client, host: str) -> None:
    assert shared.get("/api/start", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("path", ["/api/jobs", "/api/presets", "/api/spots/range"])
def test_writing_from_another_site_is_refused(shared: httpx.Client, path: str) -> None:
    own = f"http://{shared.base_url.netloc.decode()}"
    for headers in (
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": own.replace("127.0.0.1", "localhost")},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ):
        assert shared.post(path, content="{}", headers={**JSON, **headers}).status_code == 403
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        assert shared.post(path, content="{}", headers={"content-type": kind, "origin": own}).status_code == 415
    answer = shared.post("/api/spots/range", json={"text": "AA"}, headers={"origin": own, "sec-fetch-site": "same-origin"})
    assert answer.json()["combos"] == 6


def test_events_are_not_for_other_sites(shared: httpx.Client) -> None:
    assert shared.get("/api/events", headers={"origin": "http://evil.example"}).status_code == 403
    assert shared.get("/api/events", headers={"sec-fetch-site": "cross-site"}).status_code == 403


def test_every_answer_tells_the_browser_to_be_strict(shared: httpx.Client) -> None:
    for path in ("/", "/api/start", "/api/none", "/none"):
        headers = shared.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers


OUTSIDE = [
    *(
        "../secret.spot",
        "mine/../../secret.spot",
        "/etc/passwd",
        ".web/jobs",
        ".hidden/x.spot",
        "mine\\..\\..\\x",
        "outside.spot",
    ),
    *("link/secret.spot", "", ".", "..", "a\x00b", "a" * 5000, ":secret.spot"),
]


def test_nothing_outside_of_the_folder_is_read(client: httpx.Client, folder: Path) -> None:
    secret = folder.parent / "secret.spot"
    secret.write_bytes((folder / "river.spot").read_bytes())
    (folder / "link").symlink_to(folder.parent, target_is_directory=True)
    (folder / "outside.spot").symlink_to(secret)
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "x.spot").write_bytes(secret.read_bytes())
    for path in (
        "/api/solution",
        "/api/solution/node",
        "/api/download",
        "/api/spots/file",
        "/api/batch",
        "/api/solution/export",
    ):
        for file in OUTSIDE:
            answer = client.get(path, params={"file": file})
            assert answer.status_code in (400, 403, 404), (path, file)
            assert answer.json()["error"]
    assert all("secret" not in each["file"] for each in client.get("/api/start").json()["solutions"])


@pytest.mark.parametrize(
    "path", ["/../pyproject.toml", "/%2e%2e/app.py", "/..%2fapp.py", "/assets/../../app.py", "/.%00", "/app.py"]
)
def test_nothing_but_the_page_is_handed_out(shared: httpx.Client, path: str) -> None:
    name, port = shared.base_url.host, shared.base_url.port
    assert port is not None
    with socket.create_connection((name, port), timeout=10) as plain:  # a shared would tidy the path
        plain.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while part := plain.recv(65536):
            answer += part
    assert answer.startswith(b"HTTP/1.1 404")
    assert b"def " not in answer


def test_an_opened_file_outside_of_the_folder_has_a_name(folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "elsewhere" / "far.spot"
    place.parent.mkdir()
    place.write_bytes((folder / "river.spot").read_bytes())
    with running(ServerState(folder, place)) as client:
        opened = client.get("/api/start").json()["opened"]
        assert opened == ":far.spot"
        assert client.get("/api/solution", params={"file": opened}).json()["name"] == "far"
        assert client.get("/api/solution", params={"file": ":other.spot"}).status_code == 403


CODE = [
    *("evil.py:Agent", "lbr(against=evil.py:Agent)", 'lbr(against="evil\\x2epy:Agent")', 'search(leaf="evil\\u002epy:Leaf")'),
    *('lbr(against="lbr(against=\\"evil\\x2epy:Agent\\")")', 'translated(agent="evil\\x2epy:A",game=leduc_poker)'),
    *('translated(agent=uniform,game="evil\\x2epy:Game")', 'openspiel(bot="evil\\x2epy:A")'),
    *("program(path=/bin/touch,args=ran)", 'lbr(against="program(path=/bin/touch,args=ran)")'),
]


@pytest.mark.slow_cases('lbr(against="evil\\\\x2epy:Agent")', 'translated(agent=uniform,game="evil\\\\x2epy:Game")')
@pytest.mark.parametrize("text", CODE)
def test_no_text_of_a_page_runs_code(
    client: httpx.Client, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    for place in (tmp_path, folder):
        (place / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    answer = client.post("/api/tables", json={"game": "leduc_poker", "against": text})
    assert answer.status_code in (400, 403, 404)
    for game in ("evil.py:Game", 'turn_based(game="evil\\x2epy:G")', text):
        assert client.post("/api/games", json={"game": game, "policy": ""}).status_code in (400, 403, 404)
        assert client.post("/api/tables", json={"game": game}).status_code in (400, 403, 404)
    assert client.post("/api/games", json={"game": "kuhn_poker", "policy": text}).status_code in (400, 403, 404)
    assert client.post("/api/jobs", json={"fields": {**RIVER, "algorithm": text}}).status_code == 400
    assert not (tmp_path / "ran").exists()


def test_a_token_is_asked_for(served: ServerState) -> None:
    with running(served, names=frozenset({"table.example"}), addresses=True, token="s3cret") as client:
        assert client.get("/api/start").status_code == 401
        assert client.get("/").status_code == 401
        assert client.get("/?token=wrong").status_code == 401
        assert client.get("/api/start", headers={"authorization": "Bearer s3cret"}).status_code == 200
        answer = client.get("/?token=s3cret")
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith(f"{COOKIE}=s3cret")
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        client.cookies.clear()
        assert client.get("/api/start", headers={"cookie": f"{COOKIE}=s3cret"}).status_code == 200
        assert client.get("/api/start", headers={"cookie": f"{COOKIE}=S3cret"}).status_code == 401
        bearer = {"authorization": "Bearer s3cret"}
        assert client.get("/api/start", headers={**bearer, "host": "evil.example"}).status_code == 403
        assert client.get("/api/start", headers={**bearer, "host": "table.example:1"}).status_code == 200


def test_long_bodies_are_refused_early_and_late(shared: httpx.Client) -> None:
    too_much = b'{"text": "' + b"A" * MOST_BODY + b'"}'
    assert shared.post("/api/spots/range", content=too_much, headers=JSON).status_code == 413

    def parts() -> Any:
        for _ in range(MOST_BODY // 2**16 + 2):
            yield b"A" * 2**16

    assert shared.post("/api/spots/range", content=parts(), headers=JSON).status_code == 413
    assert shared.get("/api/solution?file=" + "a" * 9000).status_code in (400, 414)


def test_uploads_are_files_of_known_kinds(client: httpx.Client, folder: Path) -> None:
    data, kind = (folder / "river.spot").read_bytes(), {"content-type": "application/octet-stream"}
    for name in ("evil.py", "x", "x.html", ".spot", "../.spot"):
        assert client.post("/api/upload", params={"name": name}, content=data, headers=kind).status_code == 400
    first = client.post("/api/upload", params={"name": "../../mine.spot"}, content=data, headers=kind).json()["file"]
    second = client.post("/api/upload", params={"name": "mine.spot"}, content=data, headers=kind).json()["file"]
    assert (first, second) == ("mine.spot", "mine-2.spot")
    assert client.get("/api/solution", params={"file": second}).status_code == 200
    assert client.get("/api/download", params={"file": second}).content == data
    assert not list(folder.glob(".*.tmp"))


def test_methods_that_are_not_there(shared: httpx.Client) -> None:
    for method in ("PUT", "PATCH", "OPTIONS", "TRACE", "BREW"):
        answer = shared.request(method, "/api/start")
        assert answer.status_code == 405
        assert answer.json()["error"]


def malformed(client: httpx.Client, count: int, seed: int) -> None:
    """Send so many requests drawn from paths, words and bodies; each gets an answer below 500 (the client checks)."""
    draw = random.Random(seed)
    for _ in range(count):
        path = draw.choice(PATHS).format(draw.choice(WORDS).encode("ascii", "ignore").decode().replace("\x00", "%00")[:4000])
        query = {draw.choice(FIELDS): draw.choice(WORDS) for _ in range(draw.randrange(4))}
        method = draw.choice(["GET", "GET", "POST", "DELETE", "HEAD"])
        try:
            answer = client.request(
                method, path, params=query, content=draw.choice(BODIES) if method == "POST" else None, headers=JSON
            )
        except (httpx.InvalidURL, ValueError):
            continue
        if answer.status_code >= 400 and method != "HEAD":
            line = answer.json()["error"]
            assert line
            assert len(line) < 3000
            assert "Traceback" not in line


def raw_requests(client: httpx.Client, count: int, seed: int) -> None:
    """Send bytes that are no HTTP, or hardly."""
    draw, name, port = random.Random(seed), client.base_url.host, client.base_url.port
    starts = [
        b"GET / HTTP/1.1\r\n",
        b"POST /api/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n",
        b"\x16\x03\x01",
        b"G",
    ]
    for _ in range(count):
        assert port is not None
        with socket.create_connection((name, port), timeout=10) as plain:
            plain.sendall(draw.choice(starts) + draw.randbytes(draw.randrange(200)))


@pytest.mark.slow
def test_malformed_requests_get_an_answer(client: httpx.Client, capfd: pytest.CaptureFixture[str]) -> None:
    malformed(client, 150, seed=1)
    raw_requests(client, 40, seed=1)
    assert client.get("/api/start").status_code == 200
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.slow
def test_ten_thousand_malformed_requests_leave_nothing_behind(client: httpx.Client, capfd: pytest.CaptureFixture[str]) -> None:
    malformed(client, 2000, seed=2)
    before, threads = memory(), threading.active_count()
    malformed(client, 8000, seed=3)
    raw_requests(client, 2000, seed=2)
    assert memory() - before < 30_000_000
    assert threading.active_count() <= threads + 40
    assert "Traceback" not in capfd.readouterr().err


def memory() -> int:
    """Bytes of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    pytest.skip("needs /proc")


def in_a_thread(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine returns; run in a thread of its own, since a browser may have a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


@pytest.mark.slow
def test_a_hundred_clients_at_once(client: httpx.Client) -> None:
    client.get("/api/solution/node", params={"file": "river.spot"})

    async def everybody() -> list[int]:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(base_url=client.base_url, timeout=60, limits=limits) as many:

            async def one(number: int) -> int:
                async with many.stream("GET", "/api/events") as events:
                    async for line in events.aiter_lines():
                        if line.startswith("data:"):
                            break
                    params = {"file": "river.spot", "line": ["", "x", "b50"][number % 3]}
                    node = await many.get("/api/solution/node", params=params)
                    while node.status_code == 503:  # more wait than the server lets wait, so ask again as it says
                        await asyncio.sleep(float(node.headers["retry-after"]) / 10)
                        node = await many.get("/api/solution/node", params=params)
                    return max(node.status_code, (await many.get("/api/jobs")).status_code)

            return await asyncio.gather(*(one(number) for number in range(100)))

    assert set(in_a_thread(everybody())) == {200}


def test_a_fault_is_one_line_for_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        raise RuntimeError("what nobody thought of")

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": [(b"host", b"localhost")]}
    in_a_thread(Guard(broken, Access())(scope, receive, send))
    assert sent[0]["status"] == 500
    assert "what nobody thought of" in json.loads(sent[1]["body"])["error"]
    assert "Traceback" not in capsys.readouterr().err


def numbers_asked_for(served: ServerState) -> list[tuple[str, str, dict[str, str], str]]:
    """Each number that an address takes: the method, the address, the other required parameters, and the number's name."""
    found = []
    for route in (route for part in PARTS for route in part.routes(served).routes if isinstance(route, APIRoute)):
        asked = route.dependant.query_params
        needed = {each.alias: "10" for each in asked if each.field_info.is_required()}
        path, (method, *_) = re.sub(r"\{[^}]*\}", "1", route.path), sorted(route.methods)
        found += [(method, path, needed, each.alias) for each in asked if each.field_info.annotation is float]
    return found


def test_what_is_no_number_is_refused(shared: httpx.Client, tmp_path: Path) -> None:
    asked = numbers_asked_for(ServerState(tmp_path / "served"))
    assert {name for *_, name in asked} == {"stack", "ante", "to", "wait"}
    for method, path, needed, name in asked:
        for word in ("nan", "NaN", "inf", "-Infinity", "1e999", "x"):
            body = {} if method == "GET" else {"json": {}}
            answer = shared.request(method, path, params={**needed, name: word}, **body)
            assert (answer.status_code, answer.json()["field"]) == (400, name), (path, name, word)
    assert shared.get("/api/preflop/chart", params={"to": 20, "ante": 100}).status_code == 400
    for body in (b'{"weights": [NaN]}', b'{"weights": [1e999]}'):
        assert shared.post("/api/spots/range", content=body, headers=JSON).status_code == 400


@pytest.mark.parametrize("depth", [100, 400, 900])
def test_fields_in_one_another_are_refused(shared: httpx.Client, depth: int) -> None:
    for start, end in (('{"a":', "}"), ("[", "]")):
        body = f'{{"fields": {{"board": {start * depth}1{end * depth}}}}}'
        for path in ("/api/spots/check", "/api/jobs"):
            answer = shared.post(path, content=body, headers=JSON)
            assert (answer.status_code, answer.json()["field"]) == (400, "fields")
            assert "nested" in answer.json()["error"]


def test_names_of_files(served: ServerState) -> None:
    assert served.name(served.path("mine/turn.spot")) == "mine/turn.spot"
    assert served.free_file("river", ".spot").name == "river-2.spot"
    assert served.free_file("Td 9d/6h", ".spot").name == "Td-9d-6h.spot"
    with pytest.raises(Refusal, match="not a file name"):
        served.free_file("///", ".spot")
