"""Every view in windows of four sizes, and how quickly the first one is there."""

import gzip
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

import treeplex as tp
from tests.web.browser.conftest import ServerProcess, overload
from tests.web.browser.test_solution import TURN
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.files import request_from_options

pytestmark = pytest.mark.slow

ASSETS = Path(__file__).parents[3] / "src" / "treeplex" / "web" / "assets"
FILE = "laid-out.spot"
SIZES = ((1366, 768), (1024, 768), (768, 1024), (390, 844))
GRIDS = {
    "#/jobs/{job}": ".so-far .grid13 canvas",
    "#/compare?file={file}&with={file}&node=x": ".grid13 canvas",
    "#/preflop": ".grid13 canvas",
    "#/preflop?file=100bb&line=r2.5,r10": ".grid13 canvas",
    "#/preflop?file=20bb": ".grid13 canvas",
    "#/preflop?view=pushfold&stack=10": ".grid13 canvas",
    "#/preflop?view=pushfold&chart=1&stack=8": ".grid13 canvas",
    "#/preflop?view=table&stacks=8,8": ".grid13 canvas",
    "#/solution/{file}?node=x,x&tab=runouts": ".heat",
    "#/solution/{file}?node=b4.13&side=both&tab=groups": ".grid13 canvas",
}
"""Views with a grid of hands, and what they show once they are there."""
OTHERS = {
    "#/": ".starts",
    "#/spot/new": ".solve-bar dl",
    "#/play": ".offers li",
    "#/play/hands": "textarea",
    "#/drill": ".panel .button",
    "#/drill/100bb": ".drill-actions",
    "#/review": ".review-start",
    "#/games": ".offers li",
    "#/games/leduc_poker?node=1": ".infosets tbody tr",
    "#/trainings": "h1",
}
CUT_CHOICES = """() => [...document.querySelectorAll('main select')].filter((select) => {
  const pen = document.createElement('canvas').getContext('2d');
  pen.font = getComputedStyle(select).font;
  return select.clientWidth && pen.measureText(select.selectedOptions[0].text).width + 30 > select.clientWidth;
}).map((select) => select.selectedOptions[0].text)"""
"""Texts of choices that are wider than their boxes, of which 30 pixels are edges and the arrow."""


CUT_TABLES = """() => [...document.querySelectorAll('.table-frame')].filter((frame) => frame.scrollWidth > frame.clientWidth)
  .map((frame) => frame.getAttribute('aria-label'))"""
"""Names of tables that scroll sideways."""


@pytest.fixture(scope="module")
def names(server: ServerProcess) -> dict[str, str]:
    """A solved turn, and a job that ended."""
    solve_spot(request_from_options(TURN).spot(), iterations=10, threads=1, out=server.folder / FILE)
    body = {"fields": {**TURN, "board": "Kh 7d 2c Ts 3s", "iterations": "10"}, "name": "laid-out-job"}
    return {"file": FILE, "job": httpx.post(f"{server.address}api/jobs", json=body).raise_for_status().json()["id"]}


@pytest.mark.parametrize("view", [*GRIDS, *OTHERS])
def test_nothing_is_cut_off(page: Any, server: ServerProcess, names: dict[str, str], view: str) -> None:
    """No view scrolls sideways, the navigation is whole, and grids of hands fit into the windows of laptops and tablets."""
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{server.address}{view.format(**names)}")
        page.locator((GRIDS | OTHERS)[view]).first.wait_for(timeout=300_000)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width
        assert page.evaluate(CUT_CHOICES) == [], width
        links = page.locator("header.top nav").evaluate("nav => [nav.scrollWidth, nav.clientWidth]")
        assert links[0] <= links[1], width
        if width > 390:
            assert page.evaluate(CUT_TABLES) == [], width
        if width > 390 and view in GRIDS:
            grid = page.locator(".grid13").first.bounding_box()
            assert grid["y"] + grid["height"] <= height, width
        assert "allin" not in page.locator("main").inner_text().lower().split()
    if "tab=groups" in view:
        for width, height in SIZES[:2]:
            page.set_viewport_size({"width": width, "height": height})
            frame = page.get_by_role("group", name="Breakdown by Made hands")
            assert frame.evaluate("frame => frame.scrollWidth <= frame.clientWidth"), width


def test_runs_fit_a_phone(page: Any, server: ServerProcess) -> None:
    tp.solve("kuhn_poker", algorithm="cfr+", iterations=10, out=server.folder / "runs" / "kuhn")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.address}#/trainings?run=runs%2Fkuhn")
    page.get_by_role("group", name="Runs").get_by_text("runs/kuhn").wait_for()
    assert page.evaluate(CUT_TABLES) == []


@pytest.mark.parametrize(
    ("view", "button", "field"),
    [
        ("#/preflop", "Show", "Response to a raise to (bb)"),
        ("#/solution/{file}?tab=lock", "Solve again", "Name of the new solution (optional)"),
        ("#/solution/{file}?tab=about", "Resume", "Resume to"),
    ],
)
def test_buttons_stand_beside_their_fields(
    page: Any, server: ServerProcess, names: dict[str, str], view: str, button: str, field: str
) -> None:
    page.goto(f"{server.address}{view.format(**names)}")
    pair = page.get_by_role("button", name=button, exact=True), page.get_by_label(field)
    pair[0].wait_for(timeout=300_000)
    ends = [box["y"] + box["height"] for box in (each.bounding_box() for each in pair)]
    assert ends[0] == pytest.approx(ends[1], abs=1)


def test_titles_of_the_first_view_are_aligned_on_a_phone(page: Any, server: ServerProcess) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(server.address)
    page.locator(".way").first.wait_for()
    assert len({title.bounding_box()["x"] for title in page.locator(".way b").all()}) == 1


def test_labels_of_narrow_bars_are_whole_or_left_out(page: Any, server: ServerProcess) -> None:
    """Shares of 13% have a label on a wide bar, and none where it does not fit."""
    shown = []
    for width in (1366, 390):
        page.set_viewport_size({"width": width, "height": 844})
        page.goto(server.address + "#/games/leduc_poker?node=1")
        labels = page.locator(".infosets .bars > span > i")
        labels.first.wait_for(timeout=300_000)
        inside = """labels => labels.map((label) => {
          const [part, text] = [label.parentElement.getBoundingClientRect(), label.getBoundingClientRect()];
          return [text.bottom <= part.bottom + 1, text.left >= part.left - 1 && text.right <= part.right + 1];
        })"""
        places = labels.evaluate_all(inside)
        assert all(whole for seen, whole in places if seen), width
        shown.append(sum(seen for seen, _ in places))
    assert shown[0] > shown[1] > 0


def test_the_first_view_is_there_within_a_second(chromium: Any, server: ServerProcess) -> None:
    """Three times with nothing in the browser's cache; other processes may slow down one of them."""
    seconds = []
    for _ in range(3):
        context = chromium.new_context(viewport={"width": 1366, "height": 768})
        page = context.new_page()
        began = time.perf_counter()
        page.goto(server.address)
        page.get_by_role("heading", name="Solved spots").wait_for()
        seconds.append(time.perf_counter() - began)
        context.close()
    assert min(seconds) < 1.0 * overload()


def test_the_page_stays_small() -> None:
    """Everything that the page can load, compressed."""
    files = [file for file in ASSETS.iterdir() if file.suffix in (".js", ".css", ".html", ".svg")]
    assert {file.suffix for file in files} == {".js", ".css", ".html", ".svg"}
    assert sum(len(gzip.compress(file.read_bytes())) for file in files) < 200_000
