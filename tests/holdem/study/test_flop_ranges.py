"""Ranges of preflop charts on the flop: they are products of the chart's own frequencies."""

import numpy as np
import pytest

from tests.poker_games import SPOTS
from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import CLASSES, HAND_CLASSES
from treeplex.holdem.cards.ranges import parse_range
from treeplex.holdem.solve.solution import HoldemSolution
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.files import request_from_options
from treeplex.holdem.study.flop_ranges import POT_TYPES, flop_ranges
from treeplex.holdem.study.preflop_charts import read_solved, solution_chart, translated_line


@pytest.fixture(scope="module")
def chart() -> HoldemSolution:
    found = read_solved("100bb")
    assert found is not None
    return found


def test_ranges_follow_the_chart(chart: HoldemSolution) -> None:
    lines = {each.line: each for each in flop_ranges(chart)}
    three_bet = lines["r2.5,r10,c"]
    assert three_bet.title == "SB raises to 2.5, BB raises to 10, SB calls"
    assert (three_bet.pot_type, three_bet.pot, three_bet.stack) == ("3-bet", 20.0, 90.0)
    opened, raised, called = (solution_chart(chart, line) for line in ("", "r2.5", "r2.5,r10"))
    big_blind = raised.shares[raised.actions.index("raise 10")]
    small_blind = opened.shares[opened.actions.index("raise 2.5")] * called.shares[called.actions.index("call")]
    for weights, product in zip(three_bet.ranges, (big_blind, small_blind), strict=True):
        np.testing.assert_allclose(weights, product[HAND_CLASSES], atol=6e-4)
    assert lines["c,x"].title == "SB limps, BB checks"
    assert lines["c,x"].pot_type == "limped"
    assert {each.pot_type for each in lines.values()} >= set(POT_TYPES[:4])


def test_frequencies_add_up(chart: HoldemSolution) -> None:
    """All hands end preflop or see a flop by one of the lines: after a limp and a check by all hands that limp and check."""
    lines = flop_ranges(chart)
    assert 0.5 < sum(each.share for each in lines) < 1
    opened, limped = solution_chart(chart), solution_chart(chart, "c")
    product = opened.often["call"] * limped.often["check"]
    share = next(each.share for each in lines if each.line == "c,x")
    assert share == pytest.approx(product, rel=0.02)  # card removal
    assert all(each.reliable == (each.share >= 0.002) for each in lines)


def test_fields_make_a_spot(chart: HoldemSolution) -> None:
    best = next(each for each in flop_ranges(chart) if each.pot_type == "single-raised")
    fields = best.fields()
    spot = request_from_options({**fields, "board": "Td9d6h", "bets": "50%"}, "").spot()
    assert (spot.pot, spot.stack) == (5.0, 97.5)
    np.testing.assert_allclose(parse_range(fields["ip"]), best.ranges[1])
    assert parse_range(fields["oop"])[CLASSES.index("AA") == HAND_CLASSES].max() < 0.5  # aces 3-bet


def test_spots_after_the_flop_have_none() -> None:
    with pytest.raises(SpecError, match="charts need a spot with blinds"):
        flop_ranges(solve_spot(SPOTS["three streets"], iterations=1, threads=1))


@pytest.mark.parametrize(
    ("line", "meant", "note"),
    [
        ("r2.5", "r2.5", ""),
        ("r2.5,r10,r25,r65", "r2.5,r10,r25,a", "a raise to 65 is read as the nearest size, 100"),
        ("r2.2", "r2.5", "the nearest size, 2.5"),
        ("r3,r9,c", "r2.5,r10,c", "a raise to 9 is read as the nearest size, 10"),
    ],
)
def test_raises_of_any_size(chart: HoldemSolution, line: str, meant: str, note: str) -> None:
    found, notes = translated_line(chart, line)
    assert found == meant
    assert note in "; ".join(notes)
    assert bool(notes) == bool(note)


def test_raises_that_are_none(chart: HoldemSolution) -> None:
    with pytest.raises(SpecError, match=r"must exceed the bet of 2\.5"):
        translated_line(chart, "r2.5,r2.5")
    with pytest.raises(SpecError, match="a raise to 100 is too far from this chart's sizes"):
        translated_line(chart, "r100")
    with pytest.raises(SpecError, match=r"no raise is possible after 'r2\.5,r10,r25,a'"):
        translated_line(chart, "r2.5,r10,r25,r100,r300")


def test_a_raise_between_two_sizes() -> None:
    """Ganzfried and Sandholm (2013), (B - x) (1 + A) / ((B - A) (1 + x)), of a raise by 1.1 pots between 0.5 and 9.5."""
    short = read_solved("20bb")
    assert short is not None
    found, notes = translated_line(short, "r3.2")
    assert found == "r2"
    share = (9.5 - 1.1) * 1.5 / (9 * 2.1)
    assert notes == (f"a raise to 3.2 is read as 2 with weight {100 * share:.0f}%, between 2 and 20 (pseudo-harmonic mapping)",)
