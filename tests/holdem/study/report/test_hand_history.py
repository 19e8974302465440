"""Spots from PokerKit's hand histories."""

import pytest

pytest.importorskip("pokerkit")

import numpy as np

from treeplex.errors import FileError, SpecError
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.cards import HANDS, parse_cards
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.study.report.hand_history import read_hand, with_bets_of

HAND = """\
variant = 'NT'
antes = [0, 0, 0]
blinds_or_straddles = [1, 2, 0]
min_bet = 2
starting_stacks = [200, 200, 220.5]
players = ['Ann', 'Bob', 'Cy']
actions = [
  'd dh p1 ????', 'd dh p2 ????', 'd dh p3 ????',
  'p3 cbr 6', 'p1 f', 'p2 cc',
  'd db Td9d6h', 'p2 cc', 'p3 cbr 5.5', 'p2 cbr 20', 'p3 cc',
  'd db Qc', 'p2 cc', 'p3 cc',
  'd db 2s', 'p2 cbr 40', 'p3 f',
]
"""


@pytest.fixture
def write(tmp_path):
    def written(text, name="hand.phh"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return written


def test_the_first_heads_up_street(write):
    hand = read_hand(write(HAND))
    assert (hand.board, hand.pot, hand.stack, hand.street, hand.players) == ("Td9d6h", 13, 194, 1, ("Bob", "Cy"))
    assert hand.line == "x,b5.5,r20,c,Qc,x,x,2s,b40,f"
    assert hand.bets == ((1, 1, 5.5), (3, 0, 40))
    assert hand.raises == ((1, 0, 14.5),)
    assert hand.chip == 0.1


def test_a_later_street(write):
    hand = read_hand(write(HAND), street="river")
    assert (hand.board, hand.pot, hand.stack, hand.line) == ("Td9d6hQc2s", 53, 174, "b40,f")
    assert hand.chip == 1


def test_all_in_by_the_larger_stack(write):
    text = HAND.replace("p2 cbr 40', 'p3 f'", "p2 cc', 'p3 cbr 194.5', 'p2 cc'")
    hand = read_hand(write(text))
    assert hand.line.endswith("2s,x,a,c")
    assert hand.bets == ((1, 1, 5.5),)


def test_heads_up_the_big_blind_is_out_of_position(write):
    text = """\
variant = 'NT'
antes = [0, 0]
blinds_or_straddles = [1, 2]
min_bet = 2
starting_stacks = [100, 100]
players = ['Big', 'Button']
actions = ['d dh p1 ????', 'd dh p2 ????', 'p2 cbr 5', 'p1 cc', 'd db AsKd2c', 'p1 cc', 'p2 cbr 5', 'p1 f']
"""
    hand = read_hand(write(text))
    assert (hand.players, hand.pot, hand.stack, hand.line) == (("Big", "Button"), 10, 95, "x,b5,f")


def test_bets_of_the_hand_join_the_plan(write):
    hand = read_hand(write(HAND))
    full = np.ones(len(HANDS))
    spot = Spot(parse_cards(hand.board), hand.pot, hand.stack, (full, full), BetPlan.same("50%", ""), chip=hand.chip)
    plan = with_bets_of(spot, hand).bets
    assert plan.streets[1][1].to_json()["bets"] == "50%,5.5c"
    assert plan.streets[1][0].to_json()["raises"] == "14.5c"
    assert plan.streets[3][0].to_json()["bets"] == "50%,40c"
    assert plan.streets[2] == spot.bets.streets[2]


@pytest.mark.parametrize(
    ("old", "new", "error", "says"),
    [
        ("'NT'", "'PO'", SpecError, "only hold'em"),
        ("'p3 cbr 6'", "'p3 cbr 6000'", FileError, "PokerKit cannot replay the hand"),
        ("antes", "ants", FileError, "not a hand history"),
        ("[200", "[[200", FileError, "not a hand history"),
    ],
)
def test_mistakes(write, old, new, error, says):
    with pytest.raises(error, match=says):
        read_hand(write(HAND.replace(old, new)))


def test_three_players_are_too_many(write):
    text = HAND.replace("'p1 f', 'p2 cc'", "'p1 cc', 'p2 cc'").split("'d db Td9d6h'")[0]
    with pytest.raises(SpecError, match="no street begins with exactly two players"):
        read_hand(write(text + "'d db Td9d6h', 'p1 cc', 'p2 cbr 10', 'p3 f', 'p1 f']\n"))


def test_other_mistakes(write, tmp_path):
    path = write(HAND)
    with pytest.raises(SpecError, match=r"^[^:]*: there is no hand 2; hands are numbered from 1 to 1"):
        read_hand(path, hand=2)
    with pytest.raises(SpecError, match="write flop, turn or river"):
        read_hand(path, street="preflop")
    short = HAND.split("  'd db Qc'")[0] + "]\n"
    with pytest.raises(SpecError, match="no heads-up spot on the turn; the hand has flop"):
        read_hand(write(short, "short.phh"), street="turn")
    with pytest.raises(FileError, match="check the path"):
        read_hand(tmp_path / "none.phh")
