"""``--ray`` at an address where there is no cluster: one line within seconds; and where it would be ignored it is refused."""

import socket
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

import treeplex as tp
from treeplex.base.workers import on_ray
from treeplex.base.workers.executor import make_executor
from treeplex.errors import SpecError
from treeplex.run.cli.main import app
from treeplex.run.job.workers import Work

ANSWER = bytes([0, 0, 0, on_ray.SETTINGS, 0, 0, 0, 0, 0])


@pytest.fixture(autouse=True)
def ray(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ray, which is never started: the addresses that it was to connect to."""
    asked: list[str] = []

    def init(address: str, **options: Any) -> None:
        asked.append(address)
        raise RuntimeError("started")

    monkeypatch.setattr(on_ray, "import_ray", lambda: SimpleNamespace(is_initialized=lambda: False, init=init))
    return asked


@pytest.fixture
def closed() -> str:
    """An address at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of somebody who gives one answer, or none."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.sendall(request.param)
                connection.recv(1000)
                time.sleep(0.0 if request.param else 0.5)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        thread.join()


COMMANDS = [
    "match leduc_poker search search -n 20 --sampled",
    "train deep-cfr kuhn_poker --out {0}",
    "train ddcfr kuhn_poker --out {0}",
    "train rebel liars_dice(dice=1,faces=2) --out {0}",
    "train rebel turn_endgame --out {0}",
    "evaluate liars_dice(dice=1,faces=4) rebel",
    "solve examples/spots/turn.yaml --storage disk:{0}",
    "holdem flops examples/spots/flop.yaml --boards Td9d6h --out {0}",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_so_in_one_line(command: str, closed: str, ray: list[str], tmp_path: Any) -> None:
    began = time.process_time()
    result = CliRunner().invoke(app, [*command.format(tmp_path / "out").split(), "--ray", closed])
    assert time.process_time() - began < 10.0
    assert result.exit_code != 0
    lines = result.output.strip().splitlines()
    assert len(lines) == 1
    assert f"no Ray cluster at '{closed}' (" in lines[0]
    assert ray == []


@pytest.mark.parametrize("server", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"], indirect=True)
def test_somebody_else_who_listens_is_no_cluster(server: str, ray: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert on_ray.CONNECT_SECONDS <= 5.0
    monkeypatch.setattr(on_ray, "CONNECT_SECONDS", 0.2)
    with pytest.raises(SpecError, match=rf"no Ray cluster at '{server}' \((timed out|the server at this address is not Ray)\)"):
        make_executor(server)
    assert ray == []


@pytest.mark.parametrize("server", [ANSWER], indirect=True)
def test_who_answers_as_ray_does_is_connected_to(server: str, ray: list[str]) -> None:
    with pytest.raises(SpecError, match="started"):
        make_executor(server)
    assert ray == [server]


def test_a_place_that_is_none_is_refused() -> None:
    with pytest.raises(SpecError, match="unknown executor 'cluster'"):
        Work(ray="cluster").check()
    with pytest.raises(SpecError, match=r"no Ray cluster at '127\.0\.0\.1:port'"):
        Work(ray="127.0.0.1:port").check()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: tp.match("kuhn_poker", ["uniform", "uniform"], ray="auto"),
            "values are exact and no hand is played; leave --ray",
        ),
        (
            lambda: tp.match("kuhn_poker", ["uniform", "uniform"], hands=20, sampled=True, ray="auto"),
            "hands are played in this process; leave --ray out",
        ),
        (lambda: tp.learn.judge_rebel("tic_tac_toe", "rebel", ray="auto"), "is evaluated without workers; leave --ray out"),
    ],
)
def test_it_is_refused_where_it_would_be_ignored(call: Any, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Work, "check", lambda work: None)
    with pytest.raises(SpecError, match=words):
        call()
