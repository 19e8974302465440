"""A solved spot in a browser: what fits into the window, one unit, and nothing of another file."""

import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.web.browser.conftest import ServerProcess
from treeplex.holdem.solve.solution import HoldemSolution
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.files import request_from_options

pytestmark = pytest.mark.slow

expect = pytest.importorskip("playwright.sync_api").expect
TURN = {
    "board": "Kh 7d 2c Ts",
    "oop": "QQ, TT, 77, KQs, QJs, 98s",
    "ip": "AA, KTs, QTs, J9s, A5s",
    "pot": "5.5bb",
    "stack": "97.5bb",
    "bets": "33%, 75%, a",
    "raises": "3x",
}
WINDOWS = {"desktop": (1366, 768), "tablet": (1024, 768), "phone": (390, 844)}
DEEP = "x,b4.13,c,7s"


@pytest.fixture(scope="module")
def solved(server: ServerProcess) -> dict[str, HoldemSolution]:
    """A turn in big blinds, without and with a lock."""
    return {
        name: solve_spot(
            request_from_options({**TURN, **more}).spot(), iterations=10, threads=1, out=server.folder / f"{name}.spot"
        )
        for name, more in {"turn": {}, "locked": {"locks": ["x: x 100%"]}}.items()
    }


def cards(page: Any) -> str:
    """The board in the page's head."""
    return str(page.locator("h1 .card").all_inner_texts())


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.usefixtures("solved")
def test_grid_and_decision_fit(page: Any, server: ServerProcess, window: str) -> None:
    width, height = WINDOWS[window]
    page.set_viewport_size({"width": width, "height": height})
    for line in ("", DEEP):
        page.goto(f"{server.address}#/solution/turn.spot?node={line}")
        page.wait_for_selector(".grid13 canvas")
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        decision = page.locator(".tree li.here").bounding_box()
        assert decision["x"] >= 0
        assert decision["x"] + decision["width"] <= width
        grid = page.locator(".grid13").first.bounding_box()
        assert grid["y"] + grid["height"] <= height
        for links in ("header nav a", "[role=tab]"):
            boxes = [link.bounding_box() for link in page.locator(links).all()]
            assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)
        if window != "phone":
            frame = page.locator(".hands-frame .table-frame")
            assert frame.evaluate("frame => frame.scrollWidth <= frame.clientWidth")


def test_amounts_have_the_unit_that_was_typed(page: Any, server: ServerProcess, solved: dict[str, HoldemSolution]) -> None:
    page.goto(f"{server.address}#/solution/turn.spot?node={DEEP}")
    expect(page.locator(".solution-head .facts")).to_contain_text("Pot5.5 bbStack97.5 bb")
    expect(page.locator(".tree li.here")).to_contain_text("pot 13.76 bb")
    expect(page.locator(".tree li.here button").nth(1)).to_contain_text("Bet 4.54 bb")
    expect(page.locator(".measures")).to_contain_text("Pot 13.76 bb")
    assert cards(page) == "['K♥', '7♦', '2♣', 'T♠', '7♠']"
    page.get_by_role("tab", name="About").click()
    about = page.get_by_role("tabpanel")
    expect(about).to_contain_text(f"{solved['turn'].exploitability:.3f} bb")
    expect(about).to_contain_text("QQ,TT,77,KQs,QJs,98s")  # classes, although the board holds some of their cards
    about.get_by_role("button", name="A new spot from this one").click()
    expect(page.get_by_label("Pot", exact=True)).to_have_value("5.5bb")


def test_a_report_on_flops_is_in_the_unit_that_was_typed(page: Any, server: ServerProcess) -> None:
    fields = {**TURN, "bets": "33%, a", "raises": "none", "iterations": "10"}
    del fields["board"]
    body = {"fields": fields, "boards": "Kh7d2cTs3s, Kh7d2cTs4s", "name": "units"}
    httpx.post(f"{server.address}api/jobs", json=body).raise_for_status()
    page.goto(f"{server.address}#/jobs")
    expect(page.get_by_role("group", name="Flops").locator("tbody tr")).to_have_count(2)
    expect(page.locator("h2", has_text="2 of 2 flops")).to_contain_text("EV from a pot of 5.5 bb")
    expect(page.locator(".legend")).to_have_text(re.compile("all-in 97.5 bb.*bet 1.82 bb.*check"))
    expect(page.get_by_label("Node")).to_contain_text("IP after bet 1.82 bb")


@pytest.mark.usefixtures("solved")
def test_nothing_of_another_file_remains(page: Any, server: ServerProcess) -> None:
    page.goto(f"{server.address}#/solution/turn.spot")
    page.wait_for_selector(".grid13 canvas")
    page.goto(f"{server.address}#/solution/missing.spot")
    expect(page.get_by_role("alert")).to_contain_text("missing.spot")
    assert page.locator(".solution-head, .tree, .grid13").count() == 0


@pytest.mark.usefixtures("solved")
def test_a_locked_solution_is_compared_with_its_original(page: Any, server: ServerProcess) -> None:
    solve_spot(
        request_from_options({**TURN, "board": "Kh 7d 2c Td"}).spot(), iterations=2, threads=1, out=server.folder / "other.spot"
    )
    page.goto(f"{server.address}#/solution/locked.spot")
    page.get_by_role("link", name="Compare…").click()
    expect(page.get_by_role("combobox", name="After")).to_have_value("locked.spot")
    expect(page.get_by_role("combobox", name="Before")).to_have_value("turn.spot")
    page.get_by_role("heading", name="EV after minus EV before, bb").wait_for()
    options = page.get_by_role("combobox", name="Before").locator("option").all_inner_texts()
    assert options
    assert all("other.spot" not in option for option in options)


@pytest.mark.usefixtures("solved")
def test_the_list_renames_deletes_and_restores(page: Any, server: ServerProcess) -> None:
    (server.folder / "spare.spot").write_bytes((server.folder / "turn.spot").read_bytes())
    page.goto(server.address)
    page.get_by_role("button", name="Rename spare.spot").click()
    page.get_by_label("New name of spare.spot").fill("better")
    page.get_by_role("button", name="Rename", exact=True).click()
    page.get_by_role("button", name="Delete better.spot").click()
    expect(page.get_by_role("link", name="better.spot")).to_have_count(0)
    assert not (server.folder / "better.spot").exists()
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("link", name="better.spot").wait_for()
    assert httpx.get(f"{server.address}api/solution", params={"file": "better.spot"}).status_code == 200
    (server.folder / "better.spot").unlink()


def test_the_example_is_solved_from_the_start_page(page: Any, tmp_path: Path) -> None:
    server = ServerProcess(tmp_path / "empty")
    try:
        page.goto(server.address)
        page.get_by_role("button", name="Solve the example").click()
        page.get_by_role("link", name="Open", exact=True).wait_for()
        assert (server.folder / "example.spot").exists()
    finally:
        server.stop()


def test_many_flops_count_whole_ranges(page: Any, server: ServerProcess) -> None:
    page.goto(f"{server.address}#/spot/new")
    page.get_by_role("button", name="Example").click()
    page.get_by_label("OOP, out of position as text").fill("QQ+, AKs")
    page.get_by_role("radio", name="OOP (19)").wait_for()  # the board holds a queen
    page.get_by_role("radio", name="Many flops").click()
    page.get_by_role("radio", name="OOP (22)").wait_for()
    expect(page.locator(".range-editor b").first).to_have_text("22")


@pytest.mark.usefixtures("solved")
def test_play_starts_at_the_node_shown(page: Any, server: ServerProcess) -> None:
    page.goto(f"{server.address}#/solution/turn.spot?node=x,b4.13,c")
    page.get_by_role("link", name="Play against it").click()
    expect(page.locator("section", has=page.get_by_role("heading", name="Play turn.spot"))).to_contain_text(
        "Each hand starts after check, bet 4.13 bb, call"
    )
    page.get_by_role("radio", name="OOP or BB").click()
    page.get_by_role("button", name="Play", exact=True).first.click()
    page.wait_for_selector(".scene")
    expect(page.locator(".pot")).to_have_text("pot 13.76 bb")
    assert page.locator(".board .card").count() == 5
    expect(page.locator(".seat.person")).to_contain_text("You (OOP)")
    expect(page.locator("h1 + p")).to_contain_text("each hand starts after check, bet 4.13 bb, call")


def test_an_estimate_says_that_it_is_being_counted_again(page: Any, server: ServerProcess) -> None:
    page.goto(f"{server.address}#/spot/new")
    page.get_by_role("button", name="Example").click()
    bar = page.locator(".solve-bar")
    expect(bar).to_contain_text("Memory")
    held: list[Any] = []
    page.route("**/spots/check", lambda route: held.append(route))
    page.get_by_label("Pot", exact=True).fill("120")
    expect(bar).to_contain_text("Counting again…")
    page.wait_for_timeout(600)
    held.pop().continue_()
    expect(bar).not_to_contain_text("Counting again…")


def test_a_review_shows_at_once_that_it_reads_the_hand(page: Any, server: ServerProcess) -> None:
    page.goto(f"{server.address}#/play/hands")
    page.get_by_label("A hand in PokerStars, GGPoker or PHH format").fill(
        "PokerStars Hand #1: none\n\nPokerStars Hand #2: none"
    )
    expect(page.get_by_label("2 hands in this text; review")).to_have_value("1")
    held: list[Any] = []
    page.route("**/hands/review", lambda route: held.append(route))
    page.get_by_role("button", name="Review it").click()
    expect(page.get_by_text("Reading the hand")).to_be_visible()
    assert page.get_by_role("button", name="Review it").is_disabled()
    held.pop().continue_()
    expect(page.get_by_text("Reading the hand")).to_have_count(0)
    expect(page.locator(".field .error")).to_contain_text("no-limit hold'em")
