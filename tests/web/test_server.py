"""The command, its address, and how it ends."""

import re
import signal
import socket
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from tests.web.jobs.test_routes import web
from treeplex.errors import SpecError
from treeplex.run.cli.main import app
from treeplex.web.app import ASSETS
from treeplex.web.safety import LOOPBACK
from treeplex.web.server import PORT, listen


@pytest.mark.slow
def test_the_command_serves_and_ends(folder: Path) -> None:
    with web(folder) as (process, client):
        assert client.get("/api/start").json()["folder"] == str(folder)
        assert client.get("/").headers["content-type"].startswith("text/html")
        with client.stream("GET", "/api/events") as events:
            lines = events.iter_lines()
            assert next(lines) == "event: jobs"
            process.send_signal(signal.SIGINT)
            assert process.wait(30) in (0, 130)
        assert process.stderr.read() == ""


def test_the_page_is_small_and_travels_compressed(client: httpx.Client) -> None:
    scripts = 0
    for path in sorted(ASSETS.iterdir()):
        with client.stream("GET", f"/{path.name}") as answer:
            sent = len(b"".join(answer.iter_raw()))
            assert answer.headers["etag"]
        scripts += sent if path.suffix == ".js" else 0
        assert sent <= path.stat().st_size
    assert scripts < 300_000
    tag = client.get("/index.js").headers["etag"]
    assert client.get("/index.js", headers={"if-none-match": tag}).status_code == 304


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["nothing.spot"], "nothing.spot"),
        ([".", "--folder", "x"], "both folders"),
        (["--host", "203.0.113.9"], "--host"),
        (["--game", "nothing.py:Game"], "nothing.py"),
    ],
)
def test_what_cannot_be_served(arguments: list[str], word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["web", *arguments, "--no-browser"])
    assert result.exit_code == 2
    assert word in result.output
    assert result.output.count("\n") == 1


def test_only_this_machine_unless_asked() -> None:
    for host in ("127.0.0.1", "localhost", "127.0.0.2"):
        found = listen(host, 0)
        found.socket.close()
        assert found.token is None
        assert found.access.names == LOOPBACK | {host}
        assert not found.access.addresses
        assert re.fullmatch(rf"http://{host}:\d+/", found.address)
    first, second = listen("0.0.0.0", 0), listen("0.0.0.0", 0)
    for found in (first, second):
        found.socket.close()
        assert found.token is not None
        assert len(found.token) >= 32
        assert found.access.token == found.token
        assert found.address.endswith(f"/?token={found.token}")
    assert first.token != second.token


def test_ports() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(SpecError, match="in use"):
            listen("127.0.0.1", taken.getsockname()[1])
    first = listen("127.0.0.1", None)
    first.socket.listen()
    second = listen("127.0.0.1", None)
    assert PORT <= first.port < second.port
    first.socket.close()
    second.socket.close()
