"""Take screenshots of the web page: ``python docs/draw_web.py`` writes ``docs/images/web-*.png``.

A server on an empty folder solves a turn, solves it again with a node lock, solves five flops, and deals some hands; a
headless Chromium takes the screenshots.
"""

import io
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from PIL import Image
from playwright.sync_api import Page, sync_playwright

import treeplex as tp

IMAGES = Path(__file__).parent / "images"
COLOURS = 256
"""Number of colours in a picture's palette, which keeps the files small."""
ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu"]
PORT = 8719
ADDRESS = f"http://127.0.0.1:{PORT}/"
TURN = {
    "board": "Td 9d 6h Qc",
    "oop": "66+, A8s+, A5s-A4s, AJo+, K9s+, KQo, QTs+, JTs, 96s+, 85s+, 75s+, 65s, 54s",
    "ip": "QQ-22, AQs-A2s, ATo+, K5s+, KJo+, Q8s+, J8s+, T7s+, 96s+, 86s+, 75s+, 64s+, 53s+",
    "pot": "100",
    "stack": "400",
    "bets": "33%, 75%, a",
    "raises": "2.5x, a",
    "target": "0.3%",
}
FLOPS = {**{name: text for name, text in TURN.items() if name != "board"}, "bets": "50%", "raises": "none", "target": "2%"}
HANDS = 12
LOCK = {"line": "x", "strategy": "x 100%"}


@dataclass(frozen=True)
class Shot:
    """A screenshot: name, view, required elements, size, and light or dark theme."""

    name: str
    view: str
    there: str
    size: tuple[int, int] = (1400, 900)
    dark: bool = False


SHOTS = (
    Shot("new-spot", "#/spot/new", ".solve-bar dl"),
    Shot("solving", "#/jobs/{job}", ".so-far .grid13"),
    Shot("solution", "#/solution/turn.spot?node=x", ".hand-bar"),
    Shot("both", "#/solution/turn.spot?node=b33&side=both&tab=groups", ".hand-bar", dark=True),
    Shot("runouts", "#/solution/turn.spot?node=x,x&show=equity&tab=runouts", ".heat"),
    Shot("compare", "#/compare?file=turn.spot&with=locked.spot&node=x", ".grid13", (1400, 1200)),
    Shot("phone", "#/solution/turn.spot?node=x", ".hand-bar", (390, 844)),
    Shot("flops", "#/batch/flops", "[aria-label=Flops] tbody tr", (1400, 560)),
    Shot("preflop", "#/preflop?view=pushfold&stack=10", ".grid13", (1400, 1000)),
    Shot("drill", "#/drill/100bb?player=1", ".drill-actions", (1400, 900)),
    Shot("play", "#/play/{table}", ".shares"),
    Shot("games", "#/games/leduc_poker?node=1", ".infosets tbody tr"),
    Shot("trainings", "#/trainings?run=cfr%2B&run=dcfr&run=pcfr%2B", ".curve canvas"),
)


def solve(body: dict[str, Any]) -> str:
    """Solve a spot; returns the name of the job."""
    job = httpx.post(f"{ADDRESS}api/jobs", json=body).raise_for_status().json()["id"]
    while httpx.get(f"{ADDRESS}api/jobs/{job}").json()["state"] in ("waiting", "running"):
        time.sleep(0.2)
    return str(job)


def play() -> str:
    """Play some hands of Leduc poker, mostly badly; returns the table."""
    draw = random.Random(3)
    table = httpx.post(
        f"{ADDRESS}api/tables", json={"game": "leduc_poker", "seed": 3, "title": "Leduc poker"}, timeout=60
    ).json()
    address = f"{ADDRESS}api/tables/{table['id']}"
    while True:
        while not table["over"]:
            table = httpx.post(f"{address}/play", json={"action": draw.choice(table["options"])["id"]}).json()
        if table["number"] == HANDS:
            return str(table["id"])
        table = httpx.post(f"{address}/next", json={}).json()


def take(page: Page, shot: Shot, job: str, table: str) -> None:
    """Take one screenshot."""
    page.emulate_media(color_scheme="dark" if shot.dark else "light", reduced_motion="reduce")
    page.set_viewport_size({"width": shot.size[0], "height": shot.size[1]})
    page.goto(ADDRESS + shot.view.format(job=job, table=table))
    page.locator(shot.there).first.wait_for()
    if shot.name == "drill":
        page.keyboard.press("1")
    page.wait_for_timeout(1000)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    path = IMAGES / f"web-{shot.name}.png"
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(path)


def main() -> None:
    """Take all screenshots, or the named ones."""
    wanted = sys.argv[1:] or [shot.name for shot in SHOTS]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "treeplex", "web", folder, "--port", str(PORT), "--no-browser"]
        server = subprocess.Popen(command, start_new_session=True)
        try:
            while True:
                try:
                    httpx.get(f"{ADDRESS}api/jobs")
                    break
                except httpx.TransportError:
                    time.sleep(0.2)
            job = solve({"fields": TURN, "name": "turn"})
            solve({"from": "turn.spot", "locks": [LOCK], "name": "locked"})
            if "flops" in wanted:
                solve({"fields": FLOPS, "boards": "subset:5", "name": "flops"})
            table = play()
            for algorithm in ("cfr+", "dcfr", "pcfr+"):
                tp.solve("leduc_poker", algorithm, iterations=500, out=f"{folder}/{algorithm}")
            with sync_playwright() as driver:
                path = "/usr/bin/chromium"
                browser = driver.chromium.launch(executable_path=path if os.path.exists(path) else None, args=ARGUMENTS)
                page = browser.new_page()
                for shot in SHOTS:
                    if shot.name in wanted:
                        take(page, shot, job, table)
                browser.close()
        finally:
            server.send_signal(signal.SIGINT)
            server.wait()


if __name__ == "__main__":
    main()
