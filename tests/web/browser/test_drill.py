"""A drill in a real browser: answered by keyboard, scored, repeated, with a timer, on every width."""

import json
import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from tests.web.browser.conftest import ServerProcess
from tests.web.browser.test_spots import SMALL
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.files import request_from_options


@pytest.fixture(scope="module")
def file(server: ServerProcess) -> str:
    """A solved river."""
    solve_spot(request_from_options(SMALL).spot(), iterations=100, threads=1, out=server.folder / "drilled.spot")
    return "drilled.spot"


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_decisions_by_keyboard(
    page: Any, server: ServerProcess, file: str, violations: Callable[[], list[str]], scheme: str
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{server.address}#/solution/{file}")
    lost, losses = 0.0, list[float]()
    for number in range(1, 5):
        with page.expect_response("**/api/drill") as answered:
            if number == 1:
                page.locator("main").get_by_role("link", name="Drill", exact=True).click()
            else:
                page.keyboard.press("Enter")
        asked = answered.value.json()
        expect(page.get_by_role("group", name="Actions").get_by_role("button")).to_have_count(len(asked["actions"]))
        assert page.get_by_role("table").count() == 0  # nothing of the solution is shown before the answer
        page.keyboard.press("1")
        cells = page.get_by_role("row").filter(has_text="(you)").locator("td").all_inner_texts()
        assert [float(cell.split("%")[0].split()[0].replace(",", "")) for cell in cells] == pytest.approx(
            [100 * asked["mix"][0], asked["ev"][0], asked["loss"][0]], abs=0.06
        )
        lost += asked["loss"][0] / asked["pot"]
        losses.append(asked["loss"][0])
        score = page.get_by_role("region", name="Score")
        expect(score.locator("dd").first).to_have_text(str(number))
        expect(score.get_by_role("list", name="History").get_by_role("listitem")).to_have_count(number)
        shown = float(score.locator("dd").nth(1).inner_text().split("%")[0])
        assert shown == pytest.approx(100 * lost / number, abs=0.006)
        if number == 1:
            assert violations() == []
    kept = json.loads(page.evaluate("localStorage.getItem('drill-answers')"))
    assert [each["loss"] for each in kept] == pytest.approx(losses)
    page.reload()
    expect(page.get_by_role("region", name="Score").locator("dd").first).to_have_text("4")


@pytest.mark.slow
def test_filters_timer_and_repetition(page: Any, server: ServerProcess, file: str) -> None:
    page.goto(f"{server.address}#/drill/{file}?player=1&timer=10")
    expect(page.get_by_text("Your hand, IP")).to_be_visible()
    expect(page.get_by_role("timer")).to_have_text(re.compile(r"^\d+ s$"))
    expect(page.get_by_text(re.compile("^Time is up"))).to_be_visible()
    page.get_by_label("Position").select_option("OOP or BB")
    expect(page.get_by_text("Your hand, OOP")).to_be_visible()
    page.get_by_label("Street").select_option("turn")
    expect(page.get_by_text("'turn' is not played in this spot")).to_be_visible()
    asked = httpx.post(f"{server.address}api/drill", json={"file": file, "seed": 1}).json()
    wrong = {**asked, "action": "fold", "verdict": "mistake", "loss": 9, "share": 0}
    page.evaluate("text => localStorage.setItem('drill-mistakes', text)", json.dumps([{"answer": wrong, "due": 1}]))
    page.goto(f"{server.address}#/drill/{file}")
    page.reload()
    page.get_by_role("button", name="Repeat one now").click()
    best = asked["mix"].index(max(asked["mix"]))
    expect(page.get_by_role("group", name="Actions").get_by_role("button")).to_have_count(len(asked["actions"]))
    expect(page.locator(".drill-cards .cards").nth(1).locator(".card")).to_have_count(2)
    page.keyboard.press(str(best + 1))
    expect(page.get_by_text("mistake to repeat")).to_have_count(0)
    for width in (1366, 1024, 768, 390):
        page.set_viewport_size({"width": width, "height": 768})
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0, width


@pytest.mark.slow
def test_a_preflop_chart_by_name_and_a_range(page: Any, server: ServerProcess, violations: Callable[[], list[str]]) -> None:
    """From the choice of drills to a chart's decision with a hand of the range, answered by keyboard on a phone."""
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.address}#/")
    page.locator("main").get_by_role("link", name=re.compile("^Drill")).click()
    expect(page.get_by_role("link", name="100 bb", exact=True)).to_be_visible()
    assert violations() == []
    page.get_by_role("link", name="20 bb", exact=True).click()
    page.locator("summary").click()
    expect(page.get_by_label("Position")).to_be_visible()
    expect(page.get_by_label("Suits")).to_have_count(0)  # a chart has no boards
    page.get_by_label("Hands").fill("AA, KK")
    with page.expect_response(lambda response: "KK" in (response.request.post_data or "")) as answered:
        page.get_by_role("button", name="Apply").click()
    answered.value.finished()
    expect(page.get_by_role("group", name="Actions")).to_be_visible()
    asked = answered.value.json()
    assert asked["hand"][0] == asked["hand"][2]
    assert asked["hand"][0] in "AK"
    expect(page.get_by_text(f"Your hand, {asked['position']}")).to_be_visible()
    expect(page.get_by_role("group", name="Actions").get_by_role("button")).to_have_count(len(asked["actions"]))
    page.locator("body").press("1")
    expect(page.get_by_role("region", name="Score").locator("dd").first).to_have_text("1")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert violations() == []
