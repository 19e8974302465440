"""A budget in a real browser: what was chosen is shown, and a strategy appears before the spot is built."""

import re
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from tests.web.browser.conftest import ServerProcess, overload


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_from_a_budget_to_a_strategy(
    page: Any, server: ServerProcess, violations: Callable[[], list[str]], scheme: str
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(server.address + "#/spot/new")
    expect(page.get_by_role("radio", name="Fit a budget")).to_be_checked()
    expect(page.get_by_label("Memory", exact=True)).to_have_value("4 GB")
    page.locator(".plan").wait_for()
    page.get_by_label("Board as text").fill("Ks 7h 2d")
    page.get_by_label("Stack behind").fill("800")
    plan = page.locator(".plan")
    expect(plan.get_by_text(re.compile("^flop bets .*150%"))).to_be_visible()
    expect(plan.get_by_text(re.compile("^a larger tree takes about"))).to_be_visible()
    assert violations() == []
    page.get_by_label("Time", exact=True).fill("a minute")
    expect(page.get_by_text("cannot read 'a minute'").first).to_be_visible()
    expect(page.get_by_role("button", name="Solve", exact=True)).to_be_disabled()
    page.get_by_label("Time", exact=True).fill("60 s")
    page.get_by_role("button", name="Solve", exact=True).click()
    note = page.get_by_text(re.compile("^Preview with . turns and . rivers"))
    note.wait_for()
    expect(page.get_by_role("grid", name="Strategy of OOP so far")).to_be_visible()
    facts = page.locator("main .facts").first
    expect(facts.get_by_text("4 GB, 60 s")).to_be_visible()
    assert violations() == []
    note.wait_for(state="detached")
    facts.get_by_text(re.compile(r"^[\d.,]+ per second$")).wait_for()
    expect(facts.get_by_text(re.compile(r"^about .* to the target$"))).to_be_visible()
    expect(facts.get_by_text(re.compile(r"^\d+ MB$"))).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    page.locator("main .state", has_text="stopped").first.wait_for()


@pytest.mark.slow
@pytest.mark.parametrize("board", ["Ks 7h 2d", "Ks 7h 2d Tc", "Td 9d 6h Qc 2s"])
def test_a_first_strategy_appears_within_three_seconds(page: Any, server: ServerProcess, board: str) -> None:
    """On a warm server, for the default budget; three attempts, as other processes may slow down one of them."""
    seconds = []
    for attempt in range(3):
        page.goto(server.address + "#/spot/new")
        page.get_by_text("At the measured speed of this machine").wait_for()  # kernels are loaded
        page.get_by_label("Board as text").fill(board)
        page.get_by_label("Stack behind").fill(str(800 + attempt))
        page.locator(".solve-bar .stale").wait_for(state="detached")
        page.wait_for_timeout(500)
        expect(page.get_by_role("button", name="Solve", exact=True)).to_be_enabled()
        began = time.perf_counter()
        page.get_by_role("button", name="Solve", exact=True).click()
        page.get_by_role("grid", name="Strategy of OOP so far").wait_for()
        seconds.append(time.perf_counter() - began)
        job = page.url.rsplit("/", 1)[1]
        httpx.post(f"{server.address}api/jobs/{job}/stop", json={})
        page.locator("main .facts .state.running").wait_for(state="detached")
        if min(seconds) < 3.0 * overload():
            return
    raise AssertionError(seconds)


@pytest.mark.slow
def test_the_chosen_sizes_can_be_edited(page: Any, server: ServerProcess) -> None:
    page.goto(server.address + "#/spot/new")
    page.get_by_role("button", name="Edit these sizes").click()
    expect(page.get_by_role("radio", name="My own")).to_be_checked()
    expect(page.get_by_label("river, OOP, bets")).to_have_value("33%,75%,150%,a")
    for width in (1366, 1024, 768, 390):
        page.set_viewport_size({"width": width, "height": 768})
        for choice in ("Fit a budget", "My own"):
            page.get_by_role("radio", name=choice).click()
            wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wide == 0, (width, choice)
