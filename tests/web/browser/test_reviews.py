"""Many hands reviewed in a real browser: pasted, followed, filtered, opened one by one, and exported."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

pytest.importorskip("pokerkit", reason="hand histories: pip install pokerkit")

from tests.holdem.study.review.hands import STARS
from tests.holdem.study.review.many import MULTIWAY, PREFLOP, numbered
from tests.web.browser.conftest import ServerProcess

LONG = 600_000
"""Milliseconds for a review, whose first hand waits for kernels to compile."""


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_from_pasted_hands_to_a_leak(
    page: Any, server: ServerProcess, violations: Callable[[], list[str]], scheme: str
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(server.address + "#/review")
    expect(page.get_by_role("button", name="Review", exact=True)).to_be_disabled()
    call = STARS.replace("Hero: folds\n", "Hero: calls $70.75\n")
    hands = [numbered(each, number) for number, each in enumerate((STARS, call, PREFLOP, MULTIWAY, STARS))]
    page.get_by_label("Paste hand histories").fill("\n\n".join([*hands, hands[0]]))
    page.get_by_label("Range out of position").fill("AAA")
    page.get_by_role("button", name="Review", exact=True).click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Range out of position").fill("QQ, TT, KJs, 87s")
    page.get_by_label("Range in position").fill("KK, AQo, QJs")
    page.get_by_label("Start from").select_option("river")
    page.get_by_label("Name of the review").fill(f"pasted {scheme}")
    assert violations() == []
    page.get_by_role("button", name="Review", exact=True).click()
    expect(page.get_by_role("button", name="Look for new hands")).to_be_visible(timeout=LONG)
    facts = page.locator("main .facts").first
    expect(facts).to_contain_text(re.compile(r"hands\s*6\s*reviewed\s*3\s*decisions\s*3"))
    leaks = page.get_by_role("group", name="Leaks").get_by_role("table")
    expect(leaks.get_by_role("row").nth(1)).to_contain_text("BTN")
    page.get_by_role("radio", name="Action").click()
    fold = leaks.get_by_role("row").filter(has_text="fold")
    expect(fold).to_contain_text("under 30 hands")
    expect(fold.get_by_role("cell").nth(3)).to_have_text("2")
    assert violations() == []
    fold.click()
    expect(page.get_by_label("Action", exact=True)).to_have_value("fold")
    expect(page.get_by_role("group", name="Hands").get_by_role("row")).to_have_count(3)
    with page.expect_download() as saved:
        page.get_by_role("link", name="CSV").click()
    assert len(saved.value.path().read_text().splitlines()) == 3
    page.get_by_role("button", name="three or more players on every street").click()
    expect(page.get_by_text("no street begins with exactly two players who have chips")).to_be_visible()
    expect(page.get_by_text("repeated hand, which counts once")).to_be_visible()
    for width in (1366, 1024, 768, 390):
        page.set_viewport_size({"width": width, "height": 768})
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0, width
    page.get_by_role("group", name="Hands").get_by_role("row").nth(1).click()
    expect(page.get_by_text("bb lost in all")).to_be_visible()
    expect(page.get_by_text("Dealt to Hero [As Qd]")).to_be_visible()
    assert violations() == []
    page.get_by_role("link", name="Back to the leaks").click()
    expect(page.get_by_label("Action", exact=True)).to_have_value("fold")


@pytest.mark.slow
def test_files_are_chosen_and_a_killed_server_resumes(page: Any, server: ServerProcess, tmp_path: Any) -> None:
    for number in (1, 2):
        (tmp_path / f"table {number}.txt").write_text("\n\n".join(numbered(STARS, 1000 * number + hand) for hand in range(450)))
    page.goto(server.address + "#/review")
    page.locator("input[type=file]").set_input_files([tmp_path / "table 1.txt", tmp_path / "table 2.txt"])
    expect(page.get_by_text("2 files")).to_be_visible()
    page.get_by_label("Name of the review").fill("files")
    page.get_by_label("Start from").select_option("river")
    page.get_by_label("Range out of position").fill("QQ, TT, KJs, 87s")
    page.get_by_label("Range in position").fill("KK, AQo, QJs")
    page.get_by_role("button", name="Review", exact=True).click()
    expect(page.get_by_role("progressbar", name="Reviewed hands")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped. Reviewed hands are saved")).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("progressbar", name="Reviewed hands")).to_be_visible()
    server.kill()
    server.start()
    page.reload()
    expect(page.get_by_text("Stopped. Reviewed hands are saved")).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Look for new hands")).to_be_visible(timeout=LONG)
    expect(page.locator("main .facts").first).to_contain_text(re.compile(r"hands\s*900\s*reviewed\s*900"))
