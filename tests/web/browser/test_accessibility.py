"""axe finds nothing wrong with any view of spots."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.web.browser.conftest import ServerProcess
from tests.web.browser.test_spots import SMALL

pytestmark = pytest.mark.slow

VIEWS = {
    "": ".starts",
    "#/spot/new": ".solve-bar dl",
    "#/jobs": ".queue canvas",
    "#/solution/small.spot?node=x": ".tree",
    "#/solution/small.spot?node=b50&side=both&tab=groups": ".tree",
    "#/solution/small.spot?tab=lock": ".lock-grid",
    "#/solution/small.spot?tab=spread": ".curve",
    "#/solution/small.spot?tab=about": ".curve",
    "#/review": ".review-start",
    "#/preflop": ".grid13",
    "#/preflop?file=100bb&line=r2.5": ".grid13",
    "#/preflop?chart=1&stack=8": ".grid13",
    "#/drill": ".panel .button",
    "#/drill/100bb": ".drill-actions",
    "#/preflop?view=table&stacks=8,8": ".grid13",
    "#/compare?file=small.spot&with=small.spot&node=x": ".grid13",
}


def open_solved(page: Any, server: ServerProcess) -> None:
    """A server with something to show."""
    httpx.post(f"{server.address}api/jobs", json={"fields": SMALL, "name": "small"}).raise_for_status()
    page.goto(server.address + "#/jobs")
    page.get_by_role("link", name="Open", exact=True).wait_for()


def test_solution_passes(page: Any, server: ServerProcess, violations: Callable[[], list[str]]) -> None:
    open_solved(page, server)
    page.goto(server.address + "#/solution/small.spot?node=b50")
    page.locator(".tree").wait_for()
    assert violations() == []


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_every_view_passes(
    page: Any, server: ServerProcess, violations: Callable[[], list[str]], scheme: str, width: int
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    open_solved(page, server)
    for address, there in VIEWS.items():
        page.goto(server.address + address)
        page.locator(there).first.wait_for()
        assert violations() == [], address
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
