"""In a browser: hands of Leduc and of hold'em, a game of one's own walked, runs compared; axe finds nothing wrong with it."""

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest

import treeplex as tp
from tests.web.browser.conftest import ServerProcess

pytestmark = pytest.mark.slow

expect = pytest.importorskip("playwright.sync_api").expect
expect.set_options(timeout=60_000)
HANDS = 10
IDLE = ".acts[aria-busy=false]"


def sit_down(page: Any, server: ServerProcess, game: str, against: str) -> str:
    """Open a table with a typed game; the table's id."""
    page.goto(f"{server.address}#/play")
    page.get_by_role("textbox", name="Game").fill(game)
    page.get_by_role("textbox", name="Opponent").fill(against)
    page.locator("form").get_by_role("button", name="Play").click()
    page.wait_for_selector(".scene")
    return str(page.url).rsplit("/", 1)[1]


def play_hand(page: Any, choose: Callable[[int], int]) -> None:
    """Play a hand to its end; ``choose`` picks one of so many actions."""
    page.wait_for_selector(IDLE)
    while not page.get_by_role("button", name="Next hand").count():
        actions = page.locator(".option")
        actions.nth(choose(actions.count())).click()
        page.wait_for_selector(IDLE)


@pytest.mark.parametrize(
    ("game", "against", "judged"),
    [("leduc_poker", "", True), ("holdem(stack=20,sizes=[100%;a])", "uniform", False)],
)
def test_ten_hands(page: Any, server: ServerProcess, game: str, against: str, judged: bool) -> None:
    """What the page says of ten hands is what the server keeps of them."""
    table = sit_down(page, server, game, against)
    for number in range(HANDS):
        play_hand(page, lambda count: min(1, count - 1))
        assert f"hand {number + 1}" in page.locator("h1 + p").inner_text()
        acted = page.locator(".said b", has_text="you").count() > 0  # not where the other one folds at once
        assert (page.locator(".verdict").count() > 0) == acted
        if number + 1 < HANDS:
            page.keyboard.press("Enter")
            page.wait_for_selector(IDLE)
            expect(page.locator("h1 + p")).to_contain_text(f"hand {number + 2}")
    kept = httpx.get(f"{server.address}api/tables/{table}").json()
    results = kept["results"]
    assert len(results["hands"]) == HANDS
    shown = page.locator(".interval b").first.inner_text()
    assert shown.startswith(f"{results['raw']['mean'] / results['big_blind']:+.2f}".replace("+0.00", "0.00"))
    assert (results["luckless"] is not None) == judged
    if kept["hand"]["thoughts"]:
        thought = kept["hand"]["thoughts"][-1]
        panel = page.locator("section", has=page.get_by_role("heading", name=re.compile("^Decisions of")))
        expect(panel).to_contain_text(f"chose {thought['options'][thought['chosen']].lower()}")
    page.reload()  # the table is the server's: it stands as it stood
    page.wait_for_selector(".outcome")
    assert kept["hand"]["outcome"] in page.locator(".outcome").inner_text()
    amount = re.search(r"\bpot\W+\d", page.locator(".outcome").inner_text())
    assert amount is None  # the only size of a pot is that of the one on the table


def test_a_game_of_ones_own_is_walked(page: Any, server: ServerProcess) -> None:
    """From chance's deal to the end, by mouse and by keyboard, with the library's own numbers."""
    page.goto(f"{server.address}#/games/examples%2Fmygame.py")
    page.locator(".tree li.here button").first.click()
    expect(page).to_have_url(re.compile("node=0$"))  # else the next click may still hit the root's second action
    page.locator(".tree li.here button").nth(1).click()
    page.wait_for_selector(".infosets tbody tr")
    judged = tp.judge("examples/mygame.py", tp.solve("examples/mygame.py", "cfr+", iterations=1000))
    assert f"{judged.value[0]:+.4f}" in page.locator(".gains").inner_text()
    assert "node=0%2C1" in page.url
    page.keyboard.press("1")
    columns = page.locator(".tree > li")
    expect(columns).to_have_count(4)
    page.reload()
    page.keyboard.press("Backspace")  # before there is anything to see: it is kept until then
    page.keyboard.press("Backspace")
    expect(columns).to_have_count(2)


@pytest.fixture
def runs(server: ServerProcess) -> None:
    """Two runs in the folder."""
    for algorithm in ("cfr+", "dcfr"):
        if not (server.folder / algorithm).exists():
            tp.solve("kuhn_poker", algorithm, iterations=50, out=str(server.folder / algorithm))


@pytest.mark.usefixtures("runs")
def test_runs_side_by_side(page: Any, server: ServerProcess) -> None:
    page.goto(f"{server.address}#/trainings")
    for name in ("cfr+", "dcfr"):
        page.get_by_label(f"Show {name}", exact=True).check()
    page.wait_for_selector(".curve canvas")
    settings = page.get_by_role("region", name="Settings of the runs")
    expect(settings).to_contain_text("algorithm")
    expect(settings).to_contain_text("dcfr")


@pytest.mark.slow
def test_a_large_game_is_worked_out_on_request(page: Any, server: ServerProcess) -> None:
    page.goto(f"{server.address}#/games/leduc_poker(ranks%3D13)?policy=uniform")
    page.get_by_role("link", name="Compute all values").click()
    expect(page.locator(".notice")).to_contain_text("so far")
    page.wait_for_selector(".infosets tbody tr", timeout=300_000)
    expect(page.locator(".facts").first).to_contain_text("1,179,777")


VIEWS = {
    "#/play": ".offers li",
    "#/play/hands": "textarea",
    "#/games": ".offers li",
    "#/games/leduc_poker?node=1": ".infosets tbody tr",
    "#/trainings?run=cfr%2B&run=dcfr": ".curve canvas",
}


@pytest.mark.slow
@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(page: Any, server: ServerProcess, violations: Callable[[], list[str]], scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    for address, shown in VIEWS.items():
        page.goto(server.address + address)
        page.wait_for_selector(shown)
        assert violations() == [], address
    for game, against in (("leduc_poker", ""), ("liars_dice(dice_sides=3)", ""), ("phantom_ttt", "uniform")):
        sit_down(page, server, game, against)
        assert violations() == [], game
    sit_down(page, server, "leduc_poker", "")
    play_hand(page, lambda count: 0)
    assert violations() == []


@pytest.mark.slow
def test_leaving_a_table_keeps_its_hands(page: Any, server: ServerProcess) -> None:
    """The list shows what was played; a table is renamed, deleted and restored there."""
    table = sit_down(page, server, "leduc_poker", "uniform")
    play_hand(page, lambda count: 0)
    page.get_by_role("link", name="Leave the table").click()
    rows = page.get_by_role("group", name="Your tables").locator("tbody tr")
    row = rows.filter(has=page.locator(f"a[href='#/play/{table}']"))
    expect(row.locator("td").nth(2)).to_have_text("1")
    row.get_by_role("button", name="Rename").click()
    page.get_by_label("New name of").fill("my evening")
    page.get_by_role("button", name="Rename", exact=True).last.click()
    page.get_by_role("button", name="Delete my evening").click()
    expect(page.get_by_role("link", name="my evening")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("link", name="my evening").click()
    expect(page.get_by_role("heading", name="my evening")).to_be_visible()
    expect(page.locator("h1 + p")).to_contain_text("hand 1")


@pytest.mark.slow
def test_a_table_shows_at_once_that_it_thinks_and_for_how_long(page: Any, server: ServerProcess) -> None:
    """The server's answers are held back for a while: the own action is shown, then the seconds, then the answer."""
    sit_down(page, server, "leduc_poker", "uniform")
    page.wait_for_selector(IDLE)
    while page.get_by_role("button", name="Next hand").count():
        page.get_by_role("button", name="Next hand").click()
        page.wait_for_selector(IDLE)
    held: list[Any] = []
    page.route("**/play?wait=*", lambda route: held.append(route))
    before = page.locator(".said li").count()
    page.locator(".option").first.click()
    expect(page.locator(".said li")).to_have_count(before + 1)
    thinking = page.locator(".acts .elapsed")
    expect(thinking).to_contain_text("random play is thinking")
    expect(thinking).to_contain_text("2 s")
    held.pop().continue_()
    page.wait_for_selector(IDLE)
    expect(thinking).to_have_count(0)


@pytest.mark.slow
def test_the_lobby_separates_poker_and_offers_the_strongest_agent_by_name(page: Any, server: ServerProcess) -> None:
    page.goto(f"{server.address}#/play")
    poker = page.get_by_role("region", name="Poker")
    expect(poker.locator(".offers li").first.get_by_role("button").first).to_have_text("against resolver")
    assert "Tic-tac-toe" not in poker.inner_text()
    six = poker.locator(".offers li").nth(1)
    expect(six.get_by_role("button").first).to_have_text("against tight and aggressive rules")
    expect(six).to_contain_text("No strong agent plays six-handed yet")
    expect(page.get_by_role("region", name="Other games")).to_contain_text("Battleship")
    positions = page.get_by_role("radiogroup", name="Your position").get_by_role("radio")
    expect(positions).to_have_text(["alternate", "OOP or BB", "IP or BTN"])


@pytest.mark.slow
def test_a_weak_hand_that_raises_is_no_best_decision(page: Any, server: ServerProcess) -> None:
    """Whole hands are judged by the charts and solves of resolver; the chart folds 32o, or limps with it."""
    offer = httpx.get(f"{server.address}api/tables/choices").json()["offered"][0]
    body = {"game": offer["game"], "against": offer["against"][0], "seat": 1, "seed": 6}
    table = httpx.post(f"{server.address}api/tables", json=body, timeout=300).raise_for_status().json()
    assert table["scene"]["seats"][1]["cards"] == ["3c", "2s"]
    page.goto(f"{server.address}#/play/{table['id']}")
    page.wait_for_selector(IDLE)
    page.locator(".option", has_text="raise to 3 bb").click()
    verdict = page.locator(".verdict").first
    expect(verdict).to_contain_text("Rare")
    assert "nothing" not in verdict.inner_text()


@pytest.mark.slow
def test_a_typed_game_has_its_stacks_in_big_blinds(page: Any, server: ServerProcess) -> None:
    """A small blind is one chip, so 100 chips are 50 big blinds."""
    sit_down(page, server, "holdem(stack=100,sizes=[100%;a])", "uniform")
    page.wait_for_selector(".seat.person")
    expect(page.locator(".seat.person")).to_contain_text(re.compile(r"(49|49\.5) bb behind"))
