"""Two thousand requests from twenty clients at once: all are answered, nothing acknowledged is lost, nothing is left behind."""

import json
import random
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.web.conftest import RIVER
from tests.web.jobs.test_routes import web
from tests.web.test_connections import HALF, HEAD
from tests.web.test_safety import BODIES, JSON
from treeplex.web.games import MOST_GAMES
from treeplex.web.hands import MOST_REVIEWS
from treeplex.web.playing.tables import MOST_OPEN

CLIENTS, EACH = 20, 100
TABLES = MOST_OPEN + 1
"""Tables, one for a client each: one more than there are processes for, so that they are closed and opened again."""
MOST_PROCESSES = 2 * (MOST_GAMES + MOST_OPEN + MOST_REVIEWS) + 3
"""As many being made as are held, and a spare one, a job and what ``multiprocessing`` adds."""
READ = [
    *("/", "/api/start", "/api/library", "/api/jobs", "/api/presets", "/api/runs", "/api/hands", "/api/tables"),
    *(
        "/api/solution?file=river.spot",
        "/api/solution/node?file=river.spot&line=x",
        "/api/solution/runouts?file=mine/turn.spot",
    ),
    *("/api/solution/export?file=river.spot&as=csv", "/api/download?file=river.spot", "/api/preflop/pushfold?stack=9.5"),
    *("/api/solution?file=none.spot", "/api/games/99/node", "/api/tables/choices", "/api/none"),
]
GAMES = ["kuhn_poker", "leduc_poker", "kuhn_poker(players=3)", "goofspiel(num_cards=3)", "liars_dice(faces=3)", "nothing"]


class Visitor:
    """One client: it sends what it draws, and notes what was acknowledged.

    Attributes:
        files: the content of each file, by the name it got.
        ranges: those that are saved, by name.
        removed: names of ranges that were removed again.
        jobs: ids of jobs.
        tables: what the last answer about each table said, by id.
        moves: how many were made at each table.
        games: ids of games that were opened.
        statuses: of all answers.
        failed: requests without an answer.
    """

    def __init__(self, address: str, number: int, stack: ExitStack) -> None:
        """Let ``stack`` close whatever is opened."""
        self.client = stack.enter_context(httpx.Client(base_url=address, timeout=120))
        self.stack, self.number, self.draw = stack, number, random.Random(1000 + number)
        self.files: dict[str, str] = {}
        self.ranges: dict[str, str] = {}
        self.removed = set[str]()
        self.jobs: list[str] = []
        self.tables: dict[str, dict[str, Any]] = {}
        self.moves = Counter[str]()
        self.games: list[str] = []
        self.statuses = Counter[int]()
        self.failed: list[str] = []
        self.sent = 0

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response | None:
        """Send a request; the answer, if it is one of success."""
        try:
            answer = self.client.request(method, path, **more)
        except httpx.TransportError as error:
            self.failed.append(f"{method} {path}: {error!r}")
            return None
        self.statuses[answer.status_code] += 1
        if answer.status_code == 503:
            assert answer.headers["retry-after"]
        if answer.status_code >= 400 and path.startswith("/api/"):
            assert answer.json()["error"]
        return answer if answer.status_code < 400 else None

    def run(self) -> None:
        """Send all requests."""
        shares: dict[Callable[[], None], int] = {
            self.read: 38,
            self.upload: 12,
            self.save: 8,
            self.remove: 3,
            self.check: 3,
            self.malformed: 6,
            self.open_game: 1,
            self.look: 6,
            self.play: 14,
            self.review: 0.5,
            self.solve: 1,
            self.change: 2,
            self.half: 4,
            self.leave: 4,
        }
        if self.number < TABLES:
            self.sit()
        for self.sent in range(EACH):
            self.draw.choices(list(shares), list(shares.values()))[0]()

    def read(self) -> None:
        self.ask("GET", self.draw.choice(READ))

    def upload(self) -> None:
        content = f"{self.number} {self.sent} {self.draw.random()}"
        kind = {"content-type": "application/octet-stream"}
        if answer := self.ask("POST", "/api/upload", params={"name": "same.txt"}, content=content.encode(), headers=kind):
            assert answer.json()["file"] not in self.files
            self.files[answer.json()["file"]] = content

    def save(self) -> None:
        name = f"range {self.number} {self.sent}"
        if self.ask("POST", "/api/presets", json={"name": name, "text": "AA"}):
            self.ranges[name] = "AA"

    def remove(self) -> None:
        if self.ranges:
            name, _ = self.ranges.popitem()
            if self.ask("DELETE", "/api/presets", params={"name": name}, headers=JSON):
                self.removed.add(name)

    def check(self) -> None:
        self.ask("POST", "/api/spots/check", json={"fields": {**RIVER, "pot": f"{self.draw.randrange(-5, 100)}"}})

    def malformed(self) -> None:
        path = self.draw.choice(["/api/jobs", "/api/presets", "/api/tables", "/api/games", "/api/spots/check"])
        self.ask("POST", path, content=self.draw.choice(BODIES), headers=JSON)

    def open_game(self) -> None:
        if answer := self.ask("POST", "/api/games", json={"game": self.draw.choice(GAMES), "policy": "uniform"}):
            self.games.append(answer.json()["id"])

    def look(self) -> None:
        if self.games:
            self.ask("GET", f"/api/games/{self.draw.choice(self.games)}/node", params={"path": "0"})

    def sit(self) -> None:
        if answer := self.ask("POST", "/api/tables", json={"game": "kuhn_poker", "against": "uniform", "seed": self.sent}):
            self.tables[answer.json()["id"]] = answer.json()

    def play(self) -> None:
        if not self.tables:
            self.read()
            return
        name = self.draw.choice(list(self.tables))
        table = self.tables[name]
        step, body = ("next", {}) if table["over"] else ("play", {"action": table["options"][0]["id"]})
        if answer := self.ask("POST", f"/api/tables/{name}/{step}", json=body):
            self.tables[name] = answer.json()
            self.moves[name] += step == "play"
        elif answer := self.ask("GET", f"/api/tables/{name}"):
            self.tables[name] = answer.json()

    def review(self) -> None:
        self.ask("POST", "/api/hands/review", json={"text": "no hand"})

    def solve(self) -> None:
        fields = {**RIVER, "iterations": 10, "target": "0"}
        if answer := self.ask("POST", "/api/jobs", json={"fields": fields, "name": "same"}):
            self.jobs.append(answer.json()["id"])

    def change(self) -> None:
        if self.jobs:
            step = self.draw.choice(["pause", "go-on", "first", "stop"])
            self.ask("POST", f"/api/jobs/{self.draw.choice(self.jobs)}/{step}", headers=JSON)

    def half(self) -> None:
        """Begin a request, and leave it at that."""
        self.stack.enter_context(self._connected(self.draw.choice([b"", HALF, HEAD])))

    def leave(self) -> None:
        """Ask for something, and leave before it comes."""
        self._connected(f"GET {self.draw.choice(READ)} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()).close()

    def _connected(self, data: bytes) -> socket.socket:
        url = self.client.base_url
        assert url.port is not None
        plain = socket.create_connection((url.host, url.port), timeout=20)
        plain.sendall(data)
        return plain


def children(parent: int) -> list[str]:
    """The states of a process's children: ``S`` sleeps, ``R`` runs, ``Z`` is a zombie."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, above = path.read_text().rpartition(")")[2].split()[:2]
            found += [state] * (int(above) == parent)
    return found


@contextmanager
def counted(parent: int) -> Iterator[list[int]]:
    """How many children a process has, again and again."""
    counts, ends = list[int](), threading.Event()

    def count() -> None:
        while not ends.wait(0.2):
            counts.append(len(children(parent)))

    thread = threading.Thread(target=count)
    thread.start()
    try:
        yield counts
    finally:
        ends.set()
        thread.join()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="counts processes in /proc")
def test_two_thousand_requests_from_twenty_clients(folder: Path) -> None:
    with web(folder) as (process, client):
        with counted(process.pid) as counts, ExitStack() as stack, ThreadPoolExecutor(CLIENTS) as pool:
            visitors = [Visitor(str(client.base_url), number, stack) for number in range(CLIENTS)]
            for done in [pool.submit(visitor.run) for visitor in visitors]:
                done.result()
        statuses: Counter[int] = sum((visitor.statuses for visitor in visitors), Counter())
        failed = [line for visitor in visitors for line in visitor.failed]
        assert not [status for status in statuses if status >= 500 and status != 503], statuses
        assert statuses[503] < statuses[200] / 10, statuses
        assert len(failed) < 10, failed
        assert max(counts) <= MOST_PROCESSES
        began = time.monotonic()
        assert client.get("/api/start").status_code == 200
        assert time.monotonic() - began < 10
        assert "Z" not in children(process.pid)
        process.send_signal(signal.SIGTERM)
        process.wait(90)
        printed = process.stderr.read()
        assert "Traceback" not in printed, printed

    files = {name: content for visitor in visitors for name, content in visitor.files.items()}
    assert len(files) == sum(len(visitor.files) for visitor in visitors) > 150
    assert {name: (folder / name).read_text() for name in files} == files
    tables = folder / ".web" / "tables"
    for visitor in visitors:
        for name, moves in visitor.moves.items():
            kinds = Counter(next(iter(json.loads(line))) for line in (tables / f"{name}.jsonl").read_text().splitlines())
            assert kinds["move"] >= moves > 0
    assert not list(folder.rglob(".*.tmp"))
    with web(folder) as (process, client):
        saved = {each["name"]: each["text"] for each in client.get("/api/presets").json()["presets"] if each["own"]}
        assert all(visitor.ranges.items() <= saved.items() and not visitor.removed & saved.keys() for visitor in visitors)
        assert len(saved) > 50
        jobs = {each["id"] for each in client.get("/api/jobs").json()["jobs"]}
        listed = {each["id"] for each in client.get("/api/tables").json()["tables"]}
        assert all(jobs.issuperset(visitor.jobs) and listed.issuperset(visitor.tables) for visitor in visitors)
        assert len(jobs) > 5
        assert len(listed) > TABLES / 2
        process.send_signal(signal.SIGTERM)
        process.wait(90)
