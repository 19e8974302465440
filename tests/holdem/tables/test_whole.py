"""The table of whole hands: what is said of positions, chips, actions and hands, and which bets are understood."""

from typing import Any

import numpy as np
import pytest

from treeplex.errors import GameError
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.cards.evaluator import hand_name, strengths
from treeplex.holdem.tables.whole import WholeTable, kicker_of
from treeplex.holdem.whole.named import holdem
from treeplex.search.agents.by_rules import RuleAgent
from treeplex.search.tables.table import TypedBet, typed_bet


def table(person: int = 1, style: str = "caller", **rules: Any) -> WholeTable:
    """A hand dealt from a small deck, or the deck that is asked for; player 1 has the button."""
    game = holdem(**({"ranks": 5, "suits": 2, "stack": 8} | rules)).public
    found = WholeTable(RuleAgent(game, style), style, np.random.default_rng(3))
    found.begin(person)
    return found


def answered(seat: WholeTable) -> None:
    """Let the others act until it is the person's turn."""
    while seat.actor is not None and seat.seat(seat.actor) != "you":
        seat.play(seat.reply())


@pytest.mark.parametrize(
    ("text", "bet"),
    [
        ("1500", TypedBet(1500, "", True)),
        ("raise to 4,000", TypedBet(4000, "")),
        ("bet 2.5bb", TypedBet(2.5, "bb")),
        ("b12 bb", TypedBet(12, "bb")),
        ("raise 24 chips", TypedBet(24, "chips")),
        ("75%", TypedBet(75, "%")),
        ("bet half pot", TypedBet(50, "%")),
        ("pot", TypedBet(100, "%")),
        ("bet a lot", None),
        ("12 bbb", None),
    ],
)
def test_bets_as_people_type_them(text: str, bet: TypedBet | None) -> None:
    assert typed_bet(text) == bet


def test_positions_and_chips() -> None:
    seat = table()
    assert (seat.seat(0), seat.seat(1)) == ("caller", "you")
    assert (seat.position(0), seat.position(1)) == ("the big blind", "the button (small blind)")
    assert seat.seats() == {"bb": 0, "btn": 1, "button": 1, "sb": 1}
    assert seat.picture() == "pot 1.5 bb   you 3.5 bb (0.5 in)   caller 3 bb (1 in)"
    assert list(seat.options().values())[:4] == ["fold", "call 0.5 bb", "raise to 2 bb", "raise to 2.5 bb"]
    assert list(seat.options().values())[-1] == "all-in 4 bb"
    six = WholeTable(RuleAgent(holdem().public, "caller"), "caller", np.random.default_rng(0))
    assert six.picture().startswith("pot 1.5 bb")


def test_bets_of_a_street_are_parts_of_the_pot_and_few_are_listed() -> None:
    seat = table(stack=200)
    seat.play(seat.named("raise to 3bb"))  # type: ignore[arg-type]
    answered(seat)
    assert seat.street == "flop"
    assert "pot 6 bb" in seat.picture()
    menu = list(seat.menu().values())
    assert len(menu) <= 10 < len(seat.options())
    assert "bet 3 bb (50%)" in menu
    assert menu[-1] == "all-in 97 bb"
    for text in ("bet 3bb", "bet 50%", "half pot", "bet 6 chips"):  # what was put in before the flop does not count
        assert seat.options()[seat.named(text)] == "bet 3 bb (50%)"  # type: ignore[index]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("raise to 2.5bb", "raise to 2.5 bb"),
        ("raise to 5 chips", "raise to 2.5 bb"),
        ("bet 100%", "raise to 3 bb"),
        ("bet 62.5%", "raise to 2.5 bb"),  # 2.5 chips are 3, as in a plan
        ("all in", "all-in 4 bb"),
        ("shove", "all-in 4 bb"),
        ("raise to 4bb", "all-in 4 bb"),
    ],
)
def test_bets_that_are_understood(text: str, name: str) -> None:
    seat = table()
    action = seat.named(text)
    assert action is not None
    assert seat.options()[action] == name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("raise to 1.5bb", r"a bet to 1.5 bb on this street is not allowed; from 2 bb to 4 bb in steps of 0.5 bb"),
        ("bet 900%", "a bet to 19 bb on this street is not allowed"),
        ("raise to 2.3bb", "2.3 bb is not a whole number of chips; write a multiple of 0.5 bb"),
    ],
)
def test_bets_that_the_rules_do_not_have(text: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        table().named(text)


def test_what_is_no_bet() -> None:
    for text in ("7", "12", "call it", "raise to the moon"):  # a bare number is one of the list, and else too easily mistyped
        assert table().named(text) is None


def test_all_in_calls() -> None:
    seat = table(person=0, style="shover")
    answered(seat)
    assert list(seat.options().values()) == ["fold", "call 3 bb (all-in)"]
    assert seat.options()[seat.named("all in")] == "call 3 bb (all-in)"  # type: ignore[index]
    with pytest.raises(GameError, match="there is no raise here"):
        seat.named("raise to 3bb")
    seat.play(1)
    assert seat.actor is None
    assert seat.showdown
    assert "all-in" in seat.picture()
    assert seat.outcome(0) in (
        "you win 4 bb",
        "the pot goes to shover: you lose 4 bb",
        "the pot of 8 bb is split: you are even",
    )
    assert sum(seat.returns()) == 0


def test_a_split_pot_excludes_chips_that_were_not_called() -> None:
    seat, said = table(person=0, style="shover", ranks=4, suits=4, hole=1, stack=[8, 40]), set[str]()
    for _ in range(20):
        seat.begin(0)
        answered(seat)
        seat.play(1)
        said.add(seat.outcome(0))
    assert said == {"you win 4 bb", "the pot goes to shover: you lose 4 bb", "the pot of 8 bb is split: you are even"}


def test_fixed_limit_has_one_raise() -> None:
    seat = table(stack=60, bets=[2, 2, 4, 4])
    assert list(seat.options().values()) == ["fold", "call 0.5 bb", "raise to 2 bb"]
    assert seat.named("bet") == seat.named("raise") == 4
    with pytest.raises(GameError, match="the only one is 2 bb"):
        seat.named("raise to 3bb")


def test_a_plan_of_raises_says_what_it_has() -> None:
    with pytest.raises(GameError, match=r"a bet to 2\.5 bb on this street is not allowed; choose from 3 bb, 4 bb"):
        table(sizes=["100%", "a"]).named("raise to 2.5bb")


def test_decisions_are_judged_by_what_the_opponent_does() -> None:
    """Who folds the best hand on the river loses the pot to somebody who bets any hand."""
    seat = table(person=0, style="shover")
    answered(seat)
    seat.play(0)
    (made,) = seat.decided
    assert made.options == ("fold", "call 3 bb (all-in)")
    assert (made.where, made.values[0]) == ("preflop", 0.0)
    strong = made.values[1] > 0
    assert (made.lost > 0) == strong
    assert seat.returns() == [-2.0, 2.0]
    assert seat.outcome(0) == "you lose 1 bb"


def test_luck_of_the_opponents_cards_is_taken_out() -> None:
    seat = table(person=0, style="folder")
    answered(seat)  # the small blind folds whatever it holds
    assert seat.luckless() == pytest.approx(seat.returns())


def test_kickers_are_named_where_they_decide() -> None:
    def strength(hand: str, board: str) -> int:
        return int(strengths(parse_cards(board), np.array([sorted(parse_cards(hand))], np.uint8))[0])

    board = "5s7dQh7c9c"
    ace, king = strength("AdJs", board), strength("KdJc", board)
    assert hand_name(ace) == hand_name(king) == "pair of sevens"
    assert (kicker_of(ace, [king]), kicker_of(king, [ace])) == ("ace", "king")
    board = "2s4d9hJcQc"
    eight, six = strength("Ad8s", board), strength("Ac6c", board)
    assert hand_name(eight) == hand_name(six) == "ace high"
    assert (kicker_of(eight, [six]), kicker_of(six, [eight])) == ("eight", "six")
    assert kicker_of(ace, [ace]) == ""
    assert kicker_of(ace, [strength("QdJs", board)]) == ""


def test_bets_are_priced_against_who_answers_at_once() -> None:
    """Somebody who always folds loses the blinds to any bet; who has to think is not asked how it would answer."""
    for think, values in ((None, [0.0, 3.0]), (1.0, None)):
        seat = table(style="folder", stack=200)
        seat.agent.think = think  # type: ignore[attr-defined]
        seat.play(seat.named("raise to 7bb"))  # type: ignore[arg-type]
        (made,) = seat.decided
        assert made.verdict == ("unknown" if values is None else "mistake" if values[0] > values[1] else "best")
        if values is not None:
            assert [made.values[0], made.values[made.chosen]] == values
