"""Many requests at once: nothing that was acknowledged is lost, and no more is begun than the machine can take."""

import asyncio
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.web.conftest import running
from treeplex.errors import SpecError
from treeplex.web import hosted, turns
from treeplex.web.games import Workshop
from treeplex.web.hands import new_folder
from treeplex.web.hosted import HostedObject, Hosts
from treeplex.web.safety import Access, Guard
from treeplex.web.served import Refusal, ServerState, claim

FILE = {"content-type": "application/octet-stream"}


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[httpx.Client]:
    """A client of a server on an empty folder."""
    with running(ServerState(tmp_path / "served", threads=1)) as client:
        yield client


def test_files_uploaded_at_once_under_one_name(bare: httpx.Client, tmp_path: Path) -> None:
    begun = threading.Barrier(8)

    def send(number: int) -> str:
        def parts() -> Iterator[bytes]:
            yield b"file "
            begun.wait(10)  # all eight are on their way
            yield f"{number}".encode()

        answer = bare.post("/api/upload", params={"name": "same.txt"}, content=parts(), headers=FILE)
        assert answer.status_code == 200
        return str(answer.json()["file"])

    with ThreadPoolExecutor(8) as pool:
        names = list(pool.map(send, range(8)))
    assert [(tmp_path / "served" / name).read_text() for name in names] == [f"file {number}" for number in range(8)]


def test_ranges_saved_at_once(bare: httpx.Client) -> None:
    bare.post("/api/presets", json={"name": "old", "text": "KK"})

    def save(number: int) -> int:
        return bare.post("/api/presets", json={"name": f"mine {number}", "text": "AA"}).status_code

    with ThreadPoolExecutor(16) as pool:
        removed = pool.submit(bare.delete, "/api/presets", params={"name": "old"}, headers={"content-type": "application/json"})
        assert set(pool.map(save, range(30))) == {200}
    assert removed.result().status_code == 200
    own = {each["name"] for each in bare.get("/api/presets").json()["presets"] if each["own"]}
    assert own == {f"mine {number}" for number in range(30)}


def test_damaged_ranges_are_not_written_over(bare: httpx.Client, tmp_path: Path) -> None:
    path = tmp_path / "served" / ".web" / "presets.json"
    path.write_text('{"mine": "AA"')
    assert bare.get("/api/presets").status_code == 200
    answer = bare.post("/api/presets", json={"name": "new", "text": "KK"})
    assert (answer.status_code, "presets.json is corrupted" in answer.json()["error"]) == (400, True)
    assert path.read_text() == '{"mine": "AA"'


def test_a_job_that_cannot_be_kept_is_refused(bare: httpx.Client, tmp_path: Path) -> None:
    jobs = tmp_path / "served" / ".web" / "jobs"
    jobs.rmdir()
    answer = bare.post("/api/jobs", json={"fields": {"board": "Td 9d 6h Qc 2s", "oop": "AA", "ip": "KK", "pot": 1, "stack": 1}})
    assert (answer.status_code, "cannot write" in answer.json()["error"]) == (400, True)
    assert bare.get("/api/jobs").json() == {"jobs": []}


def test_names_claimed_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        files = set(pool.map(lambda _: claim(tmp_path / f"hand-{number}.phh" for number in range(1, 99)), range(40)))
        folders = set(pool.map(lambda _: new_folder(tmp_path / "hands"), range(40)))
    assert files == {tmp_path / f"hand-{number}.phh" for number in range(1, 41)}
    assert folders == {tmp_path / "hands" / f"review-{number}" for number in range(1, 41)}


class Light:
    """Stands for a process: how many there are at a time is counted."""

    there: set["Light"] = set()  # noqa: RUF012
    most = 0
    busy, alive, progress = False, True, ""

    def __init__(self) -> None:
        Light.there.add(self)
        Light.most = max(Light.most, len(Light.there))

    def make(self, make: Any, *arguments: Any, within: float = 0.0, whole: bool = False) -> None:
        time.sleep(0.02)
        if arguments[0] == "wrong":
            raise SpecError("no such game")

    def close(self) -> None:
        self.alive = False
        Light.there.discard(self)


@pytest.fixture
def light(monkeypatch: pytest.MonkeyPatch) -> type[Light]:
    """Processes that are none."""
    Light.there, Light.most = set(), 0
    monkeypatch.setattr(hosted, "HostedObject", Light)
    return Light


def test_processes_are_few_whatever_is_asked_for(light: type[Light]) -> None:
    hosts = Hosts(object, 4)
    with ThreadPoolExecutor(30) as pool:
        names = set(pool.map(lambda number: hosts.find(f"game {number}"), range(45)))
    assert len(names) == 45
    assert light.most <= 8
    assert len(light.there) == 4
    hosts.close()
    assert not light.there
    with pytest.raises(Refusal, match="shutting down"):
        hosts.find("another")


def test_one_game_asked_for_at_once_is_opened_once(light: type[Light]) -> None:
    hosts = Hosts(object, 4)
    with ThreadPoolExecutor(20) as pool:
        assert len(set(pool.map(lambda _: hosts.find("game", ""), range(20)))) == 1
        wrong = [pool.submit(hosts.find, "wrong") for _ in range(20)]
        assert {type(each.exception()) for each in wrong} == {SpecError}
    assert len(light.there) == 1
    first = hosts.find("game", "")
    hosts.drop(first)
    assert hosts.find("game", "") != first


def test_a_file_that_changed_is_opened_again(light: type[Light], tmp_path: Path) -> None:
    hosts, path = Hosts(object, 4), tmp_path / "policy.json"
    workshop = Workshop(hosts)

    def computed() -> str:
        while not isinstance(found := workshop.ask("game", str(path)), str):
            time.sleep(0.01)
        return found

    names = set[str]()
    for text in ("{}", "{ }"):
        path.write_text(text)
        names |= {hosts.find("game", str(path)), hosts.find("game", str(path)), computed(), computed()}
    assert len(names) == 4
    workshop.close()


def test_a_computation_is_answered_though_its_file_changed(light: type[Light], tmp_path: Path) -> None:
    workshop, path = Workshop(Hosts(object, 4)), tmp_path / "policy.json"
    for size in range(1, 400):
        path.write_bytes(bytes(size))
        if isinstance(workshop.ask("game", str(path)), str):
            break
        time.sleep(0.001)
    else:
        raise AssertionError("the computation starts again with each change")
    assert len(light.there) == 1
    workshop.close()


def test_where_all_are_at_work_one_more_is_refused(light: type[Light], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosted, "ROOM", 0.1)
    hosts = Hosts(object, 2)
    for number in range(2):
        hosts[hosts.open(f"game {number}")].busy = True  # type: ignore[misc]
    with pytest.raises(Refusal, match="all 2 sessions are in use") as refused:
        hosts.open("another")
    assert refused.value.status == 503
    workshop = Workshop(Hosts(object, 4))
    monkeypatch.setattr(Light, "make", lambda *arguments, **named: time.sleep(0.2))
    assert [set(workshop.ask(f"large {number}", "")) for number in range(2)] == [{"told", "seconds"}] * 2
    with pytest.raises(Refusal, match="being computed"):
        workshop.ask("large 2", "")
    workshop.close()


def test_a_process_that_was_ended_is_gone() -> None:
    """It is not left for the system to remember, as a zombie."""
    process = HostedObject()
    number = process._process.pid
    assert number is not None
    os.kill(number, 0)
    process.close()
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_a_few_at_a_time_and_some_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "AT_ONCE", {"games": 2, turns.OPENING: 1})
    monkeypatch.setattr(turns, "WAITING_SECONDS", 1.0)
    at_once = most = 0
    leave = asyncio.Event()

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await leave.wait()
        at_once -= 1
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def main() -> list[dict[str, Any]]:
        guard = Guard(slow, Access())

        async def ask(path: str) -> dict[str, Any]:
            sent: list[Any] = []

            async def send(message: Any) -> None:
                sent.append(message)

            async def receive() -> Any:
                return {"type": "http.request", "body": b"", "more_body": False}

            headers = [(b"host", b"localhost")]
            scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": headers}
            await guard(scope, receive, send)
            return dict(sent[0])

        asked = [asyncio.create_task(ask("/api/games/1/node")) for _ in range(13)]
        await asyncio.sleep(0.1)
        assert [task.done() for task in asked] == [False] * 10 + [True] * 3
        leave.set()
        return [await task for task in asked] + [await ask("/api/library")]

    answers = asyncio.run(main())
    assert [answer["status"] for answer in answers] == [200] * 10 + [503] * 3 + [200]
    assert (b"retry-after", b"5") in answers[-2]["headers"]
    assert most == 2
    assert [turns.request_type(*each) for each in (("POST", "/api/games"), ("GET", "/api/games/1/node"), ("GET", "/"))] == [
        turns.OPENING,
        "games",
        "",
    ]
    assert turns.request_type("GET", "/api/jobs/0123/node") == turns.LOOKING
