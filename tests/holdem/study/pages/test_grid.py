"""The grid: what a cell shows, with and without colours, and that its colours stay apart."""

import io
import itertools

import numpy as np
import pytest
from rich.console import Console

from tests.holdem.fake_holdem import BOARD, SPOT, FakeView
from treeplex.holdem.cards.cards import CLASSES
from treeplex.holdem.study.pages.grid import in_colour, legend, shared_out, strategy_grid, value_grid
from treeplex.holdem.study.report.colours import BETS, CALL, FOLD, INK, RAMP, aggressive_first, colours, letters, ramp_colour
from treeplex.holdem.study.report.page_data import Classes, hand_classes, report

KINDS = ("fold", "call", "raise", "allin")


def made(frequency, weight=1.0, largest=0.0):
    """Classes of which AA alone is there, and 22 where it has a weight."""
    size = len(CLASSES)
    there = np.zeros(size)
    there[0] = 1
    taken = np.full((len(frequency), size), np.nan)
    taken[:, 0] = frequency
    weights = weight * there
    weights[-1] = largest
    return Classes(np.full(size, 6), weights, there, taken, np.where(there, 1.5, np.nan), np.where(there, 0.25, np.nan))


def first_cell(text, count=5):
    """(character, background) of the first characters."""
    found = []
    for place in range(count):
        styles = [span.style for span in text.spans if span.start <= place < span.end]
        backgrounds = [style.bgcolor.name for style in styles if getattr(style, "bgcolor", None)]
        found.append((text.plain[place], backgrounds[-1].upper() if backgrounds else None))
    return found


def test_a_cell_is_split_in_proportion():
    cell = first_cell(strategy_grid(made([0.2, 0.0, 0.4, 0.4]), KINDS, coloured=True))
    fold, _, raising, allin = colours(KINDS)
    assert "".join(letter for letter, _ in cell) == "  AA "
    assert [paint for _, paint in cell] == [allin, allin, raising, raising, fold]


def test_what_is_not_in_the_range_stays_bare():
    cell = first_cell(strategy_grid(made([0.0, 1.0, 0.0, 0.0], weight=0.4, largest=1.0), KINDS, coloured=True))
    assert [paint for _, paint in cell] == [CALL, CALL, None, None, None]
    lines = strategy_grid(made([1.0, 0, 0, 0]), KINDS, coloured=True)
    assert {style for span in lines.spans if span.start > 6 and (style := getattr(span.style, "bgcolor", None))} == set()


def test_weights_count_beside_the_largest():
    rare = made([0.0, 1.0, 0.0, 0.0], weight=4e-7, largest=1e-6)
    assert rare.heights[0] == pytest.approx(0.4)
    assert [paint for _, paint in first_cell(strategy_grid(rare, KINDS, coloured=True))] == [CALL, CALL, None, None, None]
    assert made([1.0, 0.0, 0.0, 0.0], weight=0.001, largest=1.0).heights[0] == pytest.approx(0.06)
    assert made([1.0, 0.0, 0.0, 0.0], weight=0.0004, largest=1.0).heights[0] == 0
    assert not made([1.0, 0.0, 0.0, 0.0], weight=0.0).heights.any()


def test_without_colours_letters_and_per_cent():
    text = strategy_grid(made([0.1, 0.9, 0.0, 0.0]), KINDS, coloured=False).plain.split("\n")
    assert len(text) == 26
    assert text[0].split()[:2] == ["AA", "AKs"]
    assert text[1].split()[:3] == ["C", "90", "-"]
    assert strategy_grid(made([0, 0, 0, 1.0]), KINDS, coloured=False).plain.split("\n")[1].startswith("A 100")
    assert legend(["fold", "call", "raise 300", "allin 900"], KINDS, coloured=False).plain.startswith(
        "A allin 900   1 raise 300   C call"
    )


def test_values():
    text = value_grid(made([1.0]), 100 * made([1.0]).equity, low=0, high=100, coloured=True)
    assert text.plain.split("\n")[1].split()[:2] == ["25", "-"]
    assert first_cell(text)[0] == ("A", ramp_colour(0.25).upper())


@pytest.mark.parametrize("coloured", [True, False])
def test_every_line_fits_eighty_columns(coloured):
    node = report(FakeView("x,b100"), SPOT)
    found = hand_classes(node.sides[0], BOARD)
    for text in (
        strategy_grid(found, node.kinds, coloured=coloured),
        value_grid(found, found.ev, low=-100, high=100, coloured=coloured, digits=1),
    ):
        assert all(len(line) <= 77 for line in text.plain.split("\n"))


def test_colours_only_where_they_can_be_told_apart(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert in_colour(Console(force_terminal=True, color_system="truecolor"))
    assert in_colour(Console(force_terminal=True, color_system="256"))
    assert not in_colour(Console(force_terminal=True, color_system="standard"))
    assert not in_colour(Console(file=io.StringIO()))
    monkeypatch.setenv("NO_COLOR", "1")
    assert not in_colour(Console(force_terminal=True, color_system="truecolor"))


def test_shares_fill_the_cell():
    draw = np.random.default_rng(1)
    for _ in range(200):
        shares = draw.dirichlet(np.full(4, 0.4))
        found = shared_out(shares, 5)
        assert sum(found) == 5
        assert np.abs(np.array(found) - 5 * shares).max() < 1


def test_names_of_actions():
    kinds = ("check", "bet", "bet", "bet", "allin")
    assert letters(kinds) == ("X", "1", "2", "3", "A")
    assert aggressive_first(kinds) == (4, 3, 2, 1, 0)
    assert aggressive_first(("fold", "call", "raise")) == (2, 1, 0)
    assert len(set(colours(kinds))) == 5
    assert len(set(letters(("fold", "call", *["raise"] * 25, "allin")))) == 28


SIGHT = {
    "usual": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
"""Machado, Oliveira and Fernandes (2009): linear RGB as people without one kind of cones see it."""


def linear(colour):
    part = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    matrix = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = matrix @ np.clip(rgb, 0, 1) / np.array([0.9505, 1, 1.089])
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


@pytest.mark.parametrize("sight", SIGHT)
def test_colours_stay_apart_for_every_kind_of_sight(sight):
    paint = [FOLD, CALL, *BETS, colours(["allin"])[0]]
    for first, second in itertools.combinations(paint, 2):
        seen = [lab(np.array(SIGHT[sight]) @ linear(colour)) for colour in (first, second)]
        assert np.linalg.norm(seen[0] - seen[1]) > 17, (first, second)


def test_text_is_readable_on_every_colour():
    light = np.array([0.2126, 0.7152, 0.0722])
    for colour in (FOLD, CALL, *BETS, *RAMP, colours(["allin"])[0]):
        contrast = (light @ linear(colour) + 0.05) / (light @ linear(INK) + 0.05)
        assert contrast >= 4.5, colour
