"""A server in a process of its own, and a browser that nobody sees."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("fastapi", reason="the web extra: pip install 'treeplex[web]'")
playwright = pytest.importorskip("playwright.sync_api", reason="the dev extra: pip install playwright")

ARGUMENTS = [
    f"--{name}"
    for name in (
        *("headless=new", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run"),
        *("disable-background-networking", "disable-component-update", "disable-sync"),
    )
]
AXE = Path(__file__).parents[3] / "web" / "node_modules" / "axe-core" / "axe.min.js"
PATIENCE = 60.0
"""Seconds after which something that should have happened counts as a failure."""
playwright.expect.set_options(timeout=1000 * PATIENCE)


def overload() -> float:
    """How many processes share a core; at least 1. Limits of time are for a machine that does nothing else."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


class ServerProcess:
    """A server of a folder, which can be killed and started again at the same address."""

    def __init__(self, folder: Path, *options: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        folder.mkdir(exist_ok=True)
        self.folder, self.options = folder, options
        self.address = f"http://127.0.0.1:{self.port}/"
        self.start()

    def start(self) -> None:
        """Start the process, and wait until it answers."""
        options = ["--port", str(self.port), "--threads", "1", "--no-browser", *self.options]
        command = [sys.executable, "-m", "treeplex.run.cli.main", "web", str(self.folder), *options]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            assert self.process.poll() is None, "the server ended"
            try:
                httpx.get(f"{self.address}api/jobs").raise_for_status()
                return
            except httpx.TransportError:
                time.sleep(0.05)
        raise AssertionError("the server does not answer")

    def kill(self) -> None:
        """End the process without a last word."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """End the process as Ctrl-C does."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that all tests share."""
    running = ServerProcess(tmp_path_factory.mktemp("served"), "--game", "examples/mygame.py")
    yield running
    running.stop()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A headless Chromium."""
    path = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
    with playwright.sync_playwright() as driver:
        try:
            browser = driver.chromium.launch(executable_path=path, args=ARGUMENTS)
        except playwright.Error:
            pytest.skip("no Chromium: apt-get install chromium, or playwright install chromium")
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A page in which no script may fail, and nothing may break the policy of the server (only axe may be put into it)."""
    context = chromium.new_context(
        viewport={"width": 1400, "height": 1000},
        color_scheme="light",
        reduced_motion="reduce",
        bypass_csp="violations" in request.fixturenames,
    )
    shown = context.new_page()
    shown.set_default_timeout(1000 * PATIENCE)
    failures: list[str] = []
    shown.on("pageerror", lambda error: failures.append(str(error)))
    shown.on("console", lambda said: failures.append(said.text) if "Content Security Policy" in said.text else None)
    yield shown
    context.close()
    assert not failures


@pytest.fixture
def violations(page: Any) -> Callable[[], list[str]]:
    """What axe finds wrong with what is shown."""
    if not AXE.exists():
        pytest.skip("no axe-core: make web installs it")

    def find() -> list[str]:
        page.add_script_tag(path=AXE)
        found = page.evaluate("axe.run()")["violations"]
        return [f"{each['id']}: {[node['html'][:120] for node in each['nodes'][:3]]}" for each in found]

    return find
