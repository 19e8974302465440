"""Bet sizes as text, and plans of them."""

import json
import math

import pytest

from treeplex.errors import SpecError
from treeplex.games.betting.size_grammar import Size, parse_sizes, sizes_to_string
from treeplex.holdem.betting.bet_plan import BetPlan, FixedLimit, StreetSizes, plan_from_json

SIZES = {
    "0%": Size("pot", 0.0),
    "75%": Size("pot", 0.75),
    "112.5%": Size("pot", 1.125),
    "33.3%": Size("pot", 33.3 / 100),
    "1.001x": Size("last", 1.001),
    "3.5X": Size("last", 3.5),
    "0c": Size("chips", 0),
    "123C": Size("chips", 123),
    "0c1r": Size("chips", 0, 1),
    "100C100R": Size("chips", 100, 100),
    "e": Size("geometric", 0, math.inf),
    "2E": Size("geometric", 2, math.inf),
    "E37.5%": Size("geometric", 0, 0.375),
    "100e.5%": Size("geometric", 100, 0.005),
    "A": Size("allin"),
}


@pytest.mark.parametrize(("text", "size"), SIZES.items())
def test_every_size_reads_and_round_trips(text: str, size: Size) -> None:
    assert parse_sizes(text, raises=True) == (size,)
    assert parse_sizes(str(size), raises=True) == (size,)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "0",
            "1.23",
            "%",
            "+42%",
            "-30%",
            "x",
            "0x",
            "1x",
            "c",
            "10c10",
            "42cr",
            "c3r",
            "0c0r",
            "1c2r3",
            "12c3.4r",
            "0e",
            "2.7e",
        ),
        *("101e", "3e7", "e%", "1e2e3", "bet", "1a", "a1", ",", "50%,,a", "nan%", "inf%", "1e5%c", "half"),
    ],
)
def test_what_is_no_size_is_refused_by_name(text: str) -> None:
    with pytest.raises(SpecError, match="size"):
        parse_sizes(text, raises=True)


def test_bare_numbers_are_per_cent_and_none_is_no_size() -> None:
    assert parse_sizes("33, 75,a", raises=False) == parse_sizes("33%,75%,a", raises=False)
    assert parse_sizes("10", raises=True) == (Size("pot", 0.1),)
    for text in ("9.99", "2.5", "0.5"):
        with pytest.raises(SpecError, match="cannot read the bet size"):
            parse_sizes(text, raises=True)
    assert parse_sizes("none", raises=True) == ()
    assert BetPlan.same("100%", "none") == BetPlan.same("100%", "")


@pytest.mark.parametrize("text", ["2.5x", "20c3r"])
def test_sizes_for_raises_only(text: str) -> None:
    assert len(parse_sizes(text, raises=True)) == 1
    with pytest.raises(SpecError, match="only"):
        parse_sizes(text, raises=False)


@pytest.mark.parametrize("share", [1 / 3, 2 / 3, 0.1, 0.07, 1e-8, 12.345678901234])
def test_the_text_of_any_share_of_the_pot_reads_back_to_itself(share: float) -> None:
    for size in (Size("pot", share), Size("geometric", 0, share)):
        (again,) = parse_sizes(str(size), raises=False)
        assert (again.value, again.cap) == pytest.approx((size.value, size.cap), abs=1e-12)
        assert str(again) == str(size)


def test_lists_keep_their_order_and_allow_spaces_and_a_last_comma() -> None:
    sizes = parse_sizes(" 50c , e, a, ", raises=False)
    assert sizes_to_string(sizes) == "50c,e,a"
    assert parse_sizes("", raises=False) == ()


def test_a_message_names_the_part_and_the_whole_text() -> None:
    with pytest.raises(SpecError, match=r"'0\.5' in '33%,0\.5'.*50%"):
        parse_sizes("33%,0.5", raises=False)


@pytest.mark.parametrize("digits", ["9" * 10, "9" * 400, "9" * 5000])
@pytest.mark.parametrize("form", ["{}%", "{}c", "{}x", "1c{}r", "50%,{}c,a"])
def test_sizes_beyond_any_pot(form: str, digits: str) -> None:
    with pytest.raises(SpecError, match="too large; write a for all-in") as caught:
        parse_sizes(form.format(digits + "9" * 3), raises=True)
    assert len(str(caught.value)) < 220


def test_geometric_sizes_beyond_any_pot() -> None:
    assert parse_sizes(f"e{'9' * 400}%", raises=False) == (Size("geometric", 0, math.inf),)
    with pytest.raises(SpecError, match="the number of streets must be 1 to 100"):
        parse_sizes("9" * 5000 + "e", raises=False)


def test_same_gives_both_players_the_sizes_on_every_street() -> None:
    plan = BetPlan.same("50%,a", "2.5x", river_donk="25%")
    both = StreetSizes(parse_sizes("50%,a", False), parse_sizes("2.5x", True))
    assert plan.streets[:3] == ((both, both),) * 3
    assert plan.streets[3][1] == both
    assert plan.streets[3][0].donk == parse_sizes("25%", False)


def test_override_changes_one_street_and_player_only() -> None:
    plan = BetPlan.same("50%", "a")
    turn = plan.override("turn", 1, bets="100%", raises="50%")
    assert turn.streets[2][1] == StreetSizes(parse_sizes("100%", False), parse_sizes("50%", True))
    assert turn.streets[2][0] == plan.streets[2][0]
    assert turn.streets[0] == plan.streets[0]
    assert turn.override(2, 1, bets="50%", raises="a") == plan
    assert (
        plan.override("flop", bets="1c").streets[1][0].bets
        == plan.override(1, bets="1c").streets[1][1].bets
        == (Size("chips", 1),)
    )


def test_donk_default_takes_the_override_back() -> None:
    plan = BetPlan.same("50%", "a")
    assert plan.override("river", 0, donk="10%").override("river", 0, donk="default") == plan


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda plan: plan.override("showdown"), "street is 'showdown'"),
        (lambda plan: plan.override(4), "0 to 3"),
        (lambda plan: plan.override(1, 2), "player is 2"),
        (lambda plan: plan.override("river", 1, donk="50%"), "player 0"),
        (lambda _: BetPlan.same("50%", "a", merge=-0.1), "merge is -0.1"),
        (lambda _: BetPlan.same("50%", "a", add_allin=math.nan), "add_allin is nan"),
        (lambda _: BetPlan.same("50%", "a", min_bet=0), "min_bet is 0"),
        (lambda _: FixedLimit((2, 2), (4,)), "bets has 2 entries, but most has 1"),
        (lambda _: FixedLimit((2, 0), (4, 4)), "greater than 0"),
        (lambda _: FixedLimit((2,), (-1,)), "integers"),
    ],
)
def test_plans_out_of_range(change: object, words: str) -> None:
    assert callable(change)
    with pytest.raises(SpecError, match=words):
        change(BetPlan.same("50%", "a"))


@pytest.mark.parametrize(
    "plan",
    [
        BetPlan.same("33.3%,e200%,a", "2.5x,20c3r", turn_donk="10%", merge=0.1, add_allin=1.5, force_allin=0.15, min_bet=2),
        BetPlan.same("", "", river_donk="", streets=4).override("river", 1, bets="a"),
        BetPlan.same("50%", "a", streets=2),
        FixedLimit((2.0, 4.0), (2, 3)),
    ],
)
def test_plans_round_trip_through_json(plan: BetPlan | FixedLimit) -> None:
    assert plan_from_json(json.loads(json.dumps(plan.to_json()))) == plan


@pytest.mark.parametrize(
    "data", [{}, {"kind": "pot_limit"}, {"kind": "fixed_limit", "bets": [1]}, {"kind": "no_limit", "streets": 3}]
)
def test_json_that_is_no_plan(data: dict[str, object]) -> None:
    with pytest.raises(SpecError, match="bet plan"):
        plan_from_json(data)
