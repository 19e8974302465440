"""The HTML page and the picture: what is in them, and that nothing is fetched."""

import base64
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from tests.holdem.fake_holdem import BOARD, NODES, SPOT, FakeView
from treeplex.errors import FileError, SpecError
from treeplex.holdem.cards.format import HOLDEM, rhode_island
from treeplex.holdem.study.pages.grid_image import grid_figure
from treeplex.holdem.study.pages.holdem import filled, page, resource
from treeplex.holdem.study.report.page_data import hand_classes, report
from treeplex.run.plots import write_figure

VOID = {"meta", "link", "input", "br", "img"}


class Checker(HTMLParser):
    """Open elements match closed ones; attributes that fetch are kept."""

    def __init__(self):
        super().__init__()
        self.open, self.fetched, self.ids = [], [], []

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
        named = dict(attributes)
        self.fetched += [named[name] for name in ("src", "href", "action", "srcset") if name in named]
        self.ids += [named["id"]] if "id" in named else []

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def text():
    nodes = [report(FakeView(line), SPOT) for line in NODES]
    return page(nodes, "x,b100", HOLDEM, title="a </script><b> & c", facts="pot 200 </script> <!-- x", command="show s.spot")


def data_of(text):
    return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.DOTALL)[1])


def numbers(packed, kind):
    return np.frombuffer(base64.b64decode(packed), dtype=kind)


def test_nothing_is_fetched_and_tags_match(text):
    checker = Checker()
    checker.feed(text)
    assert checker.open == []
    assert checker.fetched == ["data:,"]
    assert "default-src 'none'" in text
    assert not re.search(r"https?://|url\(|@import|fetch\(|XMLHttp", text)
    assert len(set(checker.ids)) == len(checker.ids)
    for name in re.findall(r'\$\("(\w+)"\)', text):
        assert name in checker.ids


def test_texts_cannot_break_out(text):
    assert "<title>a &lt;/script&gt;&lt;b&gt; &amp; c</title>" in text
    assert data_of(text)["facts"] == "pot 200 </script> <!-- x"


def test_numbers_arrive(text):
    data = data_of(text)
    assert (data["start"], set(data["nodes"])) == ("x,b100", set(NODES))
    view, node = FakeView("x,b100"), data["nodes"]["x,b100"]
    side = node["sides"][0]
    hands = numbers(side["hands"], "<u2")
    np.testing.assert_array_equal(hands, view.hands_of(0))
    assert data["hands"][hands[3]] == HOLDEM.names([int(hands[3])])[0]
    np.testing.assert_allclose(numbers(side["ev"], "<f4"), view.ev_of(0), rtol=1e-6)
    taken = numbers(side["taken"], "<u2").reshape(len(view.actions), -1) / 65535
    np.testing.assert_allclose(taken, view.strategy, atol=1e-5)
    np.testing.assert_allclose(numbers(side["share"], "<f4").sum(), 1, rtol=1e-5)
    assert numbers(node["sides"][1]["taken"], "<u2").size == 0
    assert [action["name"] for action in node["actions"]] == ["fold", "call", "raise 300", "allin 900"]
    assert [action["size"] for action in node["actions"]] == ["", "", "50%", "200%"]
    assert node["committed"] == [100, 200]
    assert [child["ends"] for child in node["children"]] == [True, False, False, False]


def test_works_in_light_and_dark_and_on_phones(text):
    assert "prefers-color-scheme: dark" in text
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in text
    names = re.search(r":root \{(.*?)\}", text, re.DOTALL)[1]
    for name in set(re.findall(r"var\((--[\w-]+)", text)) - {"--paint"}:
        assert f"{name}:" in names


def test_one_card():
    with pytest.raises(SpecError, match="two hole cards"):
        page([], "", rhode_island(), title="", facts="", command="")


class Rare(FakeView):
    """An action so rare that 16 bits take it for never."""

    def __init__(self, line):
        super().__init__(line)
        if len(self.actions) > 1:
            self.strategy[-1] = 3e-6
            self.strategy[0] += 1 - self.strategy.sum(axis=0)


def test_actions_have_the_numbers_of_the_terminal():
    node = report(Rare(""), SPOT)
    text = page([node], "", HOLDEM, title="", facts="", command="")
    shown = data_of(text)["nodes"][""]["actions"]
    side = node.sides[0]
    assert [each["often"] for each in shown] == pytest.approx(side.totals, abs=1e-6)
    assert [each["ev"] for each in shown] == pytest.approx(side.action_values, abs=1e-6)
    assert 0 < shown[-1]["often"] < 1e-5
    script = resource("page.js")
    assert "action.ev ?? NaN" in script
    assert "read.values[a * read.n + i];\n        combos" not in script


def test_what_is_not_on_the_page_is_said_on_it(text):
    """Phones have no tooltips: a tap on a button of what is elsewhere says so and gives the command."""
    assert data_of(text)["command"] == "show s.spot"
    script = resource("page.js")
    assert "disabled: " not in script.replace('"aria-disabled": ', "")
    assert "say(elsewhere(child))" in script
    assert "${DATA.command} --line ${child.line} --html next.html" in script
    assert 'id="note"' in text


def test_filled_leaves_other_percents_alone():
    assert filled("a %X% 50%, %Y% 100%", {"X": "1%Y%", "Y": "2"}) == "a 1%Y% 50%, 2 100%"


@pytest.mark.slow
@pytest.mark.parametrize("line", ["", "x,b100", "x,x"])
@pytest.mark.parametrize("player", [0, 1])
def test_pictures(tmp_path, line, player):
    node = report(FakeView(line), SPOT)
    found = hand_classes(node.sides[player], BOARD)
    write_figure(grid_figure(node, player, found), tmp_path / "grid.png")
    assert (tmp_path / "grid.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(FileError, match="end the name in"):
        write_figure(grid_figure(node, player, found), tmp_path / "grid.xyz")
