"""The HTML page and the picture: what is in them, and that nothing is fetched."""

import base64
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from tests.play.fake_holdem import BOARD, NODES, SPOT, FakeView
from treeplex.errors import FileError, SpecError
from treeplex.games.poker.cards.format import HOLDEM, rhode_island
from treeplex.play.pages import holdem as holdem_page
from treeplex.play.pages.grid_image import grid_figure
from treeplex.play.pages.holdem import filled, page
from treeplex.runs.holdem.report.page_data import classes, report
from treeplex.runs.plots import write_figure

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
    return page(nodes, "x,b100", HOLDEM, title="a </script><b> & c", facts="pot 200 </script> <!-- x")


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


def test_too_many_nodes_and_one_card(monkeypatch):
    nodes = [report(FakeView(line), SPOT) for line in NODES]
    monkeypatch.setattr(holdem_page, "MOST_NODES", 3)
    with pytest.raises(SpecError, match="smaller --depth"):
        page(nodes, "", HOLDEM, title="", facts="")
    with pytest.raises(SpecError, match="two hole cards"):
        page([], "", rhode_island(), title="", facts="")


def test_filled_leaves_other_percents_alone():
    assert filled("a %X% 50%, %Y% 100%", {"X": "1%Y%", "Y": "2"}) == "a 1%Y% 50%, 2 100%"


@pytest.mark.parametrize("line", ["", "x,b100", "x,x"])
@pytest.mark.parametrize("player", [0, 1])
def test_pictures(tmp_path, line, player):
    node = report(FakeView(line), SPOT)
    found = classes(node.sides[player], BOARD)
    write_figure(grid_figure(node, player, found), tmp_path / "grid.png")
    assert (tmp_path / "grid.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(FileError, match="end the name in"):
        write_figure(grid_figure(node, player, found), tmp_path / "grid.xyz")
