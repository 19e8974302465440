"""A folder with a solved river and a solved turn, and clients of a server on it."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the web extra: pip install 'treeplex[web]'")

import httpx

from treeplex.holdem.solve.solution import HoldemSolution
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.files import request_from_options
from treeplex.web.safety import Access
from treeplex.web.served import ServerState
from treeplex.web.server import Server, listen

RIVER = {
    "board": "Td 9d 6h Qc 2s",
    "oop": "AA, QQ, TT, KJs, JTs, 87s, A5s",
    "ip": "KK, QJs, T9s, J8s, AQo, 76s",
    "pot": "100",
    "stack": "200",
    "bets": "50%, a",
    "raises": "a",
    "rake": {"rate": "5%", "cap": "3"},
}
TURN = {**RIVER, "board": "Td 9d 6h Qc", "bets": "50%", "raises": "none"}


@pytest.fixture(scope="session")
def solved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, HoldemSolution]:
    """The two spots solved, with their files."""
    folder = tmp_path_factory.mktemp("solved")
    return {
        name: solve_spot(request_from_options(fields).spot(), iterations=60, threads=1, out=folder / f"{name}.spot")
        for name, fields in (("river", RIVER), ("turn", TURN))
    }


def filled(place: Path, solved: dict[str, HoldemSolution]) -> Path:
    """A folder with both files."""
    (place / "mine").mkdir(parents=True)
    for name, solution in solved.items():
        assert solution.folder is not None
        (place / ("mine" if name == "turn" else ".") / f"{name}.spot").write_bytes(solution.folder.read_bytes())
    return place


@pytest.fixture
def folder(tmp_path: Path, solved: dict[str, HoldemSolution]) -> Path:
    """A folder with both files."""
    return filled(tmp_path / "served", solved)


@pytest.fixture
def served(folder: Path) -> ServerState:
    """What is served."""
    return ServerState(folder, threads=1)


@contextmanager
def running(served: ServerState, **access: Any) -> Iterator[httpx.Client]:
    """A real server in a thread, and a client that takes an error of the server itself for one of the test."""
    listening = listen("127.0.0.1", 0)
    server = Server(served, Access(**access))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening.socket]})
    thread.start()

    def check(answer: httpx.Response) -> None:
        assert answer.status_code < 500, answer.url

    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        limits = httpx.Limits(max_connections=300)
        with httpx.Client(base_url=listening.address, timeout=60, limits=limits, event_hooks={"response": [check]}) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join(60)
        listening.socket.close()


@pytest.fixture
def client(served: ServerState) -> Iterator[httpx.Client]:
    """A client of a server on the folder."""
    with running(served) as found:
        yield found


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, solved: dict[str, HoldemSolution]) -> Iterator[httpx.Client]:
    """A client of one server for many tests that change nothing in its folder."""
    with running(ServerState(filled(tmp_path_factory.mktemp("shared") / "served", solved), threads=1)) as found:
        yield found
