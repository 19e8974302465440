"""Spots in a real browser: put together, solved, looked at, locked, and solved again."""

import re
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from playwright.sync_api import expect

from tests.web.browser.conftest import PATIENCE, ServerProcess
from treeplex.holdem.cards.cards import CLASSES
from treeplex.holdem.solve.solution import load_solution
from treeplex.holdem.spots.files import request_from_options
from treeplex.holdem.spots.saved_ranges import FILE, saved_ranges
from treeplex.holdem.study.flop_ranges import flop_ranges
from treeplex.holdem.study.preflop_charts import read_solved, solution_chart
from treeplex.holdem.study.push_fold import push_fold
from treeplex.holdem.study.report.export import node_report

SMALL = {
    "board": "Td 9d 6h Qc 2s",
    "oop": "AA, QQ, JTs, 87s",
    "ip": "KK, QJs, T9s, AQo",
    "pot": "100",
    "stack": "200",
    "bets": "50%, a",
    "raises": "a",
}
ENDLESS = {**SMALL, "target": "0.00000001%", "iterations": "100000000"}


def fill(page: Any) -> None:
    """Put a river together by hand."""
    page.get_by_role("button", name="Empty").click()
    for card in ("ten of diamonds", "9 of diamonds", "6 of hearts", "queen of clubs", "2 of spades"):
        page.get_by_role("group", name="Board").get_by_role("button", name=card).click()
    page.get_by_label("Pot", exact=True).fill("100")
    page.get_by_label("Stack behind").fill("200")
    page.get_by_role("radio", name="My own").click()
    page.get_by_label("Bets", exact=True).fill("50%, a")
    page.get_by_label("Raises", exact=True).fill("a")
    page.get_by_label("OOP, out of position as text").fill(SMALL["oop"])
    page.get_by_role("radio", name=re.compile("^IP")).click()
    page.get_by_label("IP, in position as text").fill(SMALL["ip"])


def number(text: str) -> float:
    """A number as the page writes it."""
    return float(text.replace("%", "").replace("–", "nan"))


@pytest.mark.slow
def test_a_river_from_nothing_locked_and_solved_again(page: Any, server: ServerProcess) -> None:
    page.goto(server.address + "#/spot/new")
    fill(page)
    page.get_by_label("Name of the solution (optional)").fill("first")
    page.locator(".solve-bar dt", has_text="Betting").wait_for()
    page.get_by_role("button", name="Solve", exact=True).click()
    page.get_by_role("link", name="Open", exact=True).click()

    solution = load_solution(server.folder / "first.spot")
    root = node_report(solution, "").from_the_pot()
    rows = page.get_by_role("group", name="Both ranges").locator("tbody tr")
    rows.nth(1).wait_for()
    for player in (0, 1):
        shown = [number(text) for text in rows.nth(player).locator("td").all_inner_texts()]
        side = root.sides[player]
        assert shown[:3] == pytest.approx([side.combos, 100 * side.mean(side.equity), side.mean(side.ev)], abs=0.06)
    shares = page.get_by_role("list", name="Line").locator("button span:last-child").all_inner_texts()
    assert [number(text) for text in shares] == pytest.approx(100 * root.sides[0].totals, abs=0.06)

    page.get_by_role("button", name=re.compile("^Check")).click()
    page.get_by_role("tab", name="Lock").click()
    page.get_by_role("button", name="Paint the whole range").click()
    page.get_by_label("Name of the new solution (optional)").fill("second")
    page.get_by_role("button", name="Solve again").click()
    page.get_by_role("link", name="Compare with original").click()
    page.get_by_role("heading", name="EV after minus EV before").wait_for()

    locked = load_solution(server.folder / "second.spot")
    after = node_report(locked, "x").from_the_pot()
    assert after.sides[1].totals == pytest.approx([1, 0, 0])
    before = node_report(solution, "x").from_the_pot()
    changes = page.locator(".facts div", has_text="total").locator("dd").all_inner_texts()
    expected = [a.mean(a.ev) - b.mean(b.ev) for a, b in zip(after.sides, before.sides, strict=True)]
    assert [number(text) for text in changes] == pytest.approx(expected, abs=0.006)


@pytest.mark.slow
def test_painting_writes_the_range_and_text_paints(page: Any, server: ServerProcess) -> None:
    page.goto(server.address + "#/spot/new")
    page.get_by_role("button", name="Empty").click()
    text = page.get_by_label("OOP, out of position as text")
    box = page.locator(".grid13").bounding_box()
    step = box["width"] / 13
    page.mouse.move(box["x"] + step / 2, box["y"] + step / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 2.5 * step, box["y"] + 2.5 * step, steps=2)
    page.mouse.up()
    expect(text).to_have_value("QQ+")
    text.fill("QQ+, AKs:0.5")
    page.get_by_role("gridcell", name="AKs, 50%").wait_for()
    page.get_by_role("button", name="erase").click()
    page.get_by_role("gridcell", name="KK").press("Enter")
    expect(text).to_have_value("AA,QQ,AKs:0.5")
    page.get_by_label("Pot", exact=True).fill("-3")
    page.locator(".field .error").first.wait_for()
    assert page.get_by_role("button", name="Solve", exact=True).is_disabled()


@pytest.mark.slow
def test_a_painted_range_is_never_lost(page: Any, server: ServerProcess) -> None:
    """Painted while another range is read, right after all was taken away, and after the best hands were taken."""
    page.goto(server.address + "#/spot/new")
    text = page.get_by_label("OOP, out of position as text")
    aces = page.get_by_role("gridcell", name=re.compile("^AA"))
    expect(text).not_to_have_value("")
    page.get_by_role("button", name="Empty").click()
    page.get_by_role("gridcell", name="AA, not in the range").wait_for()
    text.fill("KK")
    aces.press("Enter")
    expect(text).to_have_value("KK+")
    page.get_by_role("button", name="Empty").click()
    aces.press("Enter")
    expect(text).to_have_value("AA")
    page.get_by_label("The best hands, in percent of all").fill("1")
    expect(text).to_have_value("top 1%")
    expect(page.get_by_text("top 1%", exact=True)).to_be_visible()
    page.get_by_role("gridcell", name=re.compile("^22")).press("Enter")
    expect(text).not_to_have_value("top 1%")
    assert "22" in text.input_value()


def test_what_is_typed_while_a_painted_range_is_written_stays(page: Any, server: ServerProcess) -> None:
    """Also where it is the text that was painted over."""
    held: list[Any] = []
    page.goto(server.address + "#/spot/new")
    text = page.get_by_label("OOP, out of position as text")
    expect(text).not_to_have_value("")
    text.fill("AA")
    page.get_by_role("gridcell", name="22, not in the range").wait_for()
    page.route(
        "**/spots/range", lambda route: held.append(route) if "weights" in route.request.post_data else route.continue_()
    )
    with page.expect_request(lambda request: "weights" in (request.post_data or "")):
        page.get_by_role("gridcell", name=re.compile("^22")).press("Enter")
    for typed in ("KK", "AA"):
        text.fill(typed)
        page.get_by_role("gridcell", name=re.compile(f"^{typed}, 100%")).wait_for()
    with page.expect_response(lambda response: "weights" in (response.request.post_data or "")):
        held.pop().continue_()
    page.get_by_role("gridcell", name="22, not in the range").wait_for()
    expect(text).to_have_value("AA")


def test_an_example_that_arrives_late_keeps_what_was_typed(page: Any, server: ServerProcess) -> None:
    """The example fills the other fields; it is dropped if the form was emptied meanwhile."""
    held: list[Any] = []
    page.route("**/spots/default", lambda route: held.append(route))
    with page.expect_request("**/spots/default"):
        page.goto(server.address + "#/spot/new")
    pot, stack = page.get_by_label("Pot", exact=True), page.get_by_label("Stack behind")
    pot.fill("123")
    held.pop().continue_()
    expect(stack).not_to_have_value("")
    expect(pot).to_have_value("123")
    with page.expect_request("**/spots/default"):
        page.get_by_role("button", name="Example").click()
    page.get_by_role("button", name="Empty").click()
    pot.fill("7")
    with page.expect_response("**/spots/default"):
        held.pop().continue_()
    page.get_by_role("button", name="Save as").wait_for()
    expect(pot).to_have_value("7")
    expect(stack).to_have_value("")


def test_a_spot_file_is_read_once(page: Any, server: ServerProcess) -> None:
    """Going back to the form keeps its edits."""
    (server.folder / "typed.yaml").write_text("board: Td 9d 6h\npot: 100\nstack: 200\n")
    page.goto(server.address + "#/spot/new?file=typed.yaml")
    pot = page.get_by_label("Pot", exact=True)
    expect(pot).to_have_value("100")
    pot.fill("123")
    page.goto(server.address + "#/jobs")
    page.get_by_role("heading", name="Solving").wait_for()
    page.go_back()
    expect(pot).to_have_value("123")
    expect(page).to_have_url(re.compile("#/spot/new$"))


@pytest.mark.slow
def test_many_flops_are_solved_and_the_report_sorts(page: Any, server: ServerProcess) -> None:
    page.goto(server.address + "#/spot/new")
    fill(page)
    counted = page.get_by_role("radio", name=re.compile(r"OOP \(\d+\)"))
    left = counted.inner_text()
    page.get_by_role("radio", name="Many flops").click()
    assert page.get_by_role("radio", name=re.compile("^OOP")).inner_text() != left  # those that the one board leaves
    page.get_by_role("radio", name="Others").click()
    page.get_by_label("Flops as text").fill("Td9d6hQc2s, Td9d6hQcKs")
    page.get_by_label("save the solved spots").check()
    page.get_by_label("Name of the solution (optional)").fill("many")
    page.get_by_text("All flops").wait_for()
    page.get_by_role("button", name="Solve", exact=True).click()
    rows = page.get_by_role("group", name="Flops").locator("tbody tr")
    expect(rows).to_have_count(2, timeout=1000 * PATIENCE)
    page.get_by_role("button", name="Equity OOP").click()
    shown = [number(row) for row in rows.locator("td:nth-child(2)").all_inner_texts()]
    assert shown == sorted(shown, reverse=True)
    rows.first.click()
    page.get_by_role("list", name="Line: the start").wait_for()
    assert "many%2Fboards" in page.url


@pytest.mark.slow
def test_charts_are_the_librarys(page: Any, server: ServerProcess) -> None:
    page.goto(server.address + "#/preflop?stack=10")
    push = page.get_by_role("grid", name="Small blind: frequency by hand class")
    wanted = push_fold(10)
    ace = CLASSES.index("AA")
    push.get_by_role("gridcell", name=f"AA, all-in 100%, +{wanted.push_ev[ace]:.3f} bb").wait_for()
    page.keyboard.press("ArrowRight")
    page.get_by_text(f"{100 * push_fold(10.5).pushed:.1f}%").first.wait_for()
    page.keyboard.press("c")
    chart = page.get_by_role("grid", name="Big blind, after an all-in: largest stack")
    chart.get_by_role("gridcell", name="AA, calls with up to 10.5 big blinds").wait_for()


def start_endless(server: ServerProcess, page: Any) -> str:
    """A job that ends only when it is told to; the page shows it under way."""
    job = httpx.post(f"{server.address}api/jobs", json={"fields": ENDLESS, "name": "endless"}).raise_for_status().json()
    page.goto(f"{server.address}#/jobs/{job['id']}")
    iterations(page, beyond=0)
    return str(job["id"])


def iterations(page: Any, beyond: int) -> int:
    """Wait until the page shows more iterations; how many it shows then."""
    fact = page.locator(".facts div", has_text="Iterations").locator("dd").first
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        done = int(fact.inner_text().split(" ")[0].replace(",", ""))
        if done > beyond:
            return done
        page.wait_for_timeout(50)
    raise AssertionError(f"no more than {beyond} iterations")


@pytest.mark.slow
def test_reload_pause_and_stop_while_solving(page: Any, server: ServerProcess) -> None:
    start_endless(server, page)
    page.get_by_role("heading", name="Strategy so far").wait_for()
    done = iterations(page, beyond=10)
    page.reload()
    done = iterations(page, beyond=done)
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Resume").click()
    iterations(page, beyond=done)
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("link", name="Open", exact=True).click()
    page.get_by_role("list", name="Line").wait_for()


@pytest.mark.slow
def test_two_spots_are_solved_side_by_side_and_pause_at_once(page: Any, server: ServerProcess) -> None:
    ids = [start_endless(server, page) for _ in range(2)]
    running = page.locator(".queue-list .state.running")
    expect(running).to_have_count(2)
    page.get_by_role("button", name="Pause").click()
    page.locator("main .facts .state.paused").wait_for(timeout=10_000)
    expect(running).to_have_count(1)
    for job in ids:
        httpx.post(f"{server.address}api/jobs/{job}/stop", json={}).raise_for_status()
    expect(running).to_have_count(0)


@pytest.mark.slow
def test_leads_none_leaves_only_the_check(page: Any, server: ServerProcess) -> None:
    page.goto(server.address + "#/spot/new")
    fill(page)
    page.get_by_label("Leads (donk bets)").fill("none")
    page.locator(".solve-bar dt", has_text="Memory").wait_for()
    page.get_by_role("button", name="Solve", exact=True).click()
    page.get_by_role("link", name="Open", exact=True).click()
    actions = page.locator(".tree li.here button")
    expect(actions).to_have_count(1)
    expect(actions).to_contain_text("Check")
    actions.click()
    expect(page.locator(".tree li.here button")).to_have_count(3)  # in position: check, 50%, all-in


@pytest.mark.slow
def test_sizes_by_street_follow_the_chosen_tree(page: Any, server: ServerProcess) -> None:
    page.goto(server.address + "#/spot/new")
    fill(page)
    by_street, bets = page.get_by_role("checkbox", name="by street and player"), page.get_by_label("river, OOP, bets")
    by_street.check()
    expect(bets).to_have_value("50%, a")
    by_street.uncheck()
    tree = page.get_by_label("Tree", exact=True)
    tree.select_option(index=tree.locator("option").count() - 1)
    wanted = page.get_by_label("Bets", exact=True).input_value()
    assert wanted != "50%, a"
    by_street.check()
    expect(bets).to_have_value(wanted)


@pytest.mark.slow
def test_an_estimate_mentions_kernels_that_are_not_compiled(page: Any, server: ServerProcess) -> None:
    def cold(route: Any) -> None:
        answer = route.fetch()
        data = answer.json()
        if data.get("estimate"):
            data["estimate"]["compiles"] = True
        route.fulfill(response=answer, json=data)

    page.route("**/spots/check", cold)
    page.goto(server.address + "#/spot/new")
    expect(page.locator(".solve-bar")).to_contain_text("The first solve also compiles kernels, about a minute")
    expect(page.locator(".solve-bar")).to_contain_text("treeplex kernels warm")


@pytest.mark.slow
def test_a_killed_server_goes_on(page: Any, tmp_path: Path) -> None:
    server = ServerProcess(tmp_path / "served")
    try:
        job = start_endless(server, page)
        done = iterations(page, beyond=100)
        server.kill()
        silent = page.get_by_text("The page continues once it is.")
        silent.wait_for()
        server.start()
        silent.wait_for(state="detached")
        iterations(page, beyond=done)
        httpx.post(f"{server.address}api/jobs/{job}/stop", json={}).raise_for_status()
        page.get_by_role("link", name="Open", exact=True).wait_for()
    finally:
        server.stop()


@pytest.mark.slow
def test_links_reopen_the_view_and_keys_walk(page: Any, server: ServerProcess) -> None:
    httpx.post(f"{server.address}api/jobs", json={"fields": SMALL, "name": "small"}).raise_for_status()
    page.goto(server.address + "#/jobs")
    page.get_by_role("link", name="Open", exact=True).wait_for()
    page.goto(server.address + "#/solution/small.spot?node=b50&show=ev&side=both&tab=groups")
    page.get_by_role("radio", name="EV", exact=True, checked=True).wait_for()
    assert page.get_by_role("grid").count() == 2
    page.get_by_role("tab", name="Breakdown", selected=True).wait_for()
    page.get_by_role("group", name="Breakdown by Made hands").locator("tbody tr").first.click()
    assert page.locator(".filters b").inner_text().strip() == "(on)"
    page.keyboard.press("ArrowLeft")
    page.get_by_role("list", name="Line: the start").get_by_role("button").first.wait_for()
    page.keyboard.press("1")
    page.get_by_role("list", name="Line: check").wait_for()
    page.keyboard.press("s")
    page.get_by_role("radio", name="Strategy", checked=True).wait_for()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()


@pytest.mark.slow
def test_a_solved_chart_its_responses_and_its_ranges(page: Any, server: ServerProcess) -> None:
    solution = read_solved("50bb")
    assert solution is not None
    page.goto(server.address + "#/preflop")
    page.get_by_label("Chart", exact=True).select_option("50 bb")
    page.get_by_label("Response to a raise to (bb)").fill("3")
    page.get_by_role("button", name="Show", exact=True).click()
    page.get_by_text("a raise to 3 is read as the nearest size, 2.5").wait_for()
    wanted, aces = solution_chart(solution, "r2.5"), CLASSES.index("AA")
    assert wanted.ev is not None
    page.get_by_role("radio", name="EV", exact=True).click()
    best = float((wanted.shares * np.nan_to_num(wanted.ev))[:, aces].sum())
    page.get_by_role("gridcell", name=f"AA, EV +{best:.3f} bb").wait_for()
    shares = page.get_by_role("list", name="Path").locator("li.here button span:last-child").all_inner_texts()
    assert [number(text) for text in shares] == pytest.approx([100 * share for share in wanted.often.values()], abs=0.06)
    page.get_by_text("exploitability 7.5 mbb/hand in this game").wait_for()

    line = next(each for each in flop_ranges(solution) if each.line == "r2.5,c")
    page.get_by_role("listitem").filter(has_text=line.title).get_by_role("button", name="Solve a flop").click()
    expect(page.get_by_label("Pot", exact=True)).to_have_value("5bb")
    expect(page.get_by_label("Stack behind")).to_have_value("47.5bb")
    expect(page.get_by_label("OOP, out of position as text")).to_have_value(line.fields()["oop"])


@pytest.mark.slow
def test_a_chart_of_ones_own(page: Any, server: ServerProcess) -> None:
    """With ante and rake, solved on few boards for this test; it joins the shipped charts, in big blinds."""
    asked: list[dict[str, Any]] = []

    def few_boards(route: Any) -> None:
        body = route.request.post_data_json
        asked.append(body["fields"])
        small = {"runouts": {"flop": 4, "turn": 1, "river": 1}, "iterations": "5"}
        route.continue_(post_data={**body, "fields": {**body["fields"], **small}})

    page.route("**/api/jobs", few_boards)
    page.goto(server.address + "#/preflop")
    for label, text in (("Stack, bb", "8"), ("Ante per player, bb", "0.1"), ("Rake cap, bb", "1")):
        page.get_by_label(label).fill(text)
    page.get_by_label("Rake", exact=True).fill("5%")
    page.get_by_role("button", name="Solve", exact=True).click()
    page.get_by_role("link", name="Open", exact=True).wait_for(timeout=300_000)
    expect(page.locator("main .facts").first).to_contain_text(re.compile(r"[\d.]+ bb, [\d.]+% of the pot"))
    spot = request_from_options(asked[0]).spot()
    assert (spot.opening_pot, spot.stack, spot.unit, len(spot.runouts)) == (pytest.approx(1.7), 7.9, "bb", 4)
    assert spot.rake is not None
    assert (spot.rake.rate, spot.rake.cap, spot.rake.no_flop_no_drop) == (0.05, 1.0, True)
    page.goto(server.address + "#/preflop")
    page.get_by_label("Chart", exact=True).select_option("chart-8bb")
    solution = load_solution(server.folder / "chart-8bb.spot")
    wanted = solution_chart(solution, "")
    shares = page.locator(".tree li.here button span:last-child")
    expect(shares).to_have_count(len(wanted.often))
    expect(page.locator(".tree li.here")).to_contain_text("7.9 bb")
    assert [number(text) for text in shares.all_inner_texts()] == pytest.approx(
        [100 * share for share in wanted.often.values()], abs=0.06
    )
    page.get_by_text(re.compile("hs-dcfr, 5 iterations")).wait_for()


@pytest.mark.slow
def test_ranges_of_charts_and_of_other_solvers(page: Any, server: ServerProcess) -> None:
    page.goto(server.address + "#/spot/new")
    page.get_by_role("button", name="Empty").click()
    page.get_by_role("button", name="From a chart").click()
    page.get_by_role("dialog").get_by_label("Stack", exact=True).select_option("20 bb")
    row = page.get_by_role("listitem").filter(has_text="SB limps, BB checks")
    row.get_by_role("button", name="SB's range as OOP").click()
    solution = read_solved("20bb")
    assert solution is not None
    limped = next(each for each in flop_ranges(solution) if each.line == "c,x")
    text = page.get_by_label("OOP, out of position as text")
    expect(text).to_have_value(limped.fields()["ip"])
    expect(page.get_by_label("Pot", exact=True)).to_have_value("")
    text.fill("[50]AKs, AQs[/50], KK")
    page.get_by_role("gridcell", name="AQs, 50%").wait_for()
    hand = "1 " + "0 " * 1325
    text.fill(hand.replace("1 0", "0 1", 1))  # the second hand only: 2h2c in both orders
    page.get_by_role("gridcell", name="22, 17%").wait_for()
    text.fill("0 " * 5 + "1 " + "0 " * 1320)
    page.get_by_text("write pio: before the first number").wait_for()
    text.fill("QQ+")
    page.get_by_role("button", name="Save as").click()
    page.get_by_label("Name of the preset").fill("big pairs")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="Delete").wait_for()
    assert saved_ranges(server.folder / FILE)["big pairs"] == "QQ+"


@pytest.mark.slow
def test_push_or_fold_at_a_table(page: Any, server: ServerProcess) -> None:
    page.goto(server.address + "#/preflop?view=table")
    page.get_by_label("Stacks, bb").fill("8, 8")
    page.get_by_label("Payouts").fill("70, 30")
    page.get_by_role("button", name="Solve", exact=True).click()
    rows = page.get_by_role("group", name="Decisions").locator("tbody tr")
    expect(rows).to_have_count(2, timeout=300_000)  # compiles kernels
    wanted = push_fold(8)
    assert number(rows.nth(0).locator("td").nth(1).inner_text()) == pytest.approx(100 * wanted.pushed, abs=5)
    rows.nth(1).click()
    page.get_by_role("grid", name="BB, after an all-in of SB: frequency by hand class").wait_for()
    page.get_by_role("gridcell", name=re.compile("^AA, call 100%")).wait_for()
    page.get_by_text("NashConv is between").wait_for()
    page.get_by_label("Payouts").fill("30, 70")
    page.get_by_role("button", name="Solve", exact=True).click()
    page.get_by_text("none larger than the one before").wait_for()
    page.goto(server.address + "#/preflop?view=table&stacks=7,9")
    expect(page.get_by_label("Stacks, bb")).to_have_value("7,9")
    expect(page.get_by_label("Payouts")).to_have_value("")
