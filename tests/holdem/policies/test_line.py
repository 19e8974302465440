"""Lines: what can be written, where it leads and what is said when it leads nowhere."""

import pytest

from tests.poker_games import TWO_CARDS, random_ranges
from treeplex.errors import SpecError
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.betting.tree import betting_tree
from treeplex.holdem.cards.cards import cards_to_string
from treeplex.holdem.policies.line import board_at, deal_texts, find_place, read_steps
from treeplex.holdem.spots.known import holdem
from treeplex.holdem.spots.spot import Spot

TURN = holdem("Td9d6hQc", "AA", "KK", pot=201, stack=900, bets=BetPlan.same("50%,100%,a", "2.5x,a"))
TREE = betting_tree(TURN)
DEAL = Spot((), 2, 20, random_ranges(TWO_CARDS, 3), BetPlan.same("a", "a", streets=3), format=TWO_CARDS)
DEAL_TREE = betting_tree(DEAL)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("", ""),
        ("root", ""),
        ("x", "x"),
        (" Check , CHECK ", "x,x"),
        ("k k", "x,x"),
        ("x,b50%", "x,b101"),
        ("x b 50%", "x,b101"),
        ("x, bet 101", "x,b101"),
        ("x bet 49.8%", "x,b101"),
        ("b100.7", "b101"),
        ("b201,r2.5x,c,7s", "b201,r503,c,7s"),
        ("b201;raise to 503;call;7S", "b201,r503,c,7s"),
        ("b201,b503", "b201,r503"),
        ("b201, raise 50%", "b201,r503"),
        ("allin", "a"),
        ("all-in call 7s", "a,c,7s"),
        ("a 900, c", "a,c"),
        ("b900", "a"),
        ("x,x,as,x,a,f", "x,x,As,x,a,f"),
        ("a,f", "a,f"),
    ],
)
def test_canonical_text(text, canonical):
    place = find_place(TURN, TREE, text)
    assert place.line == canonical
    assert find_place(TURN, TREE, place.line) == place


def test_places():
    place = find_place(TURN, TREE, "x,x,As,b50%")
    assert cards_to_string(board_at(TURN, place)) == "Td9d6hQcAs"
    assert TREE.nodes[place.node].street == 3
    assert [TREE.nodes[end].child for end in place.ends] == list(place.roots[1:])
    shown = find_place(TURN, TREE, "a,c,As")
    assert shown.roots == (0, shown.node) == (0, *shown.ends)


def test_a_size_left_out_is_the_only_one():
    assert find_place(TURN, TREE, "x,x,As,a,c").line == "x,x,As,a,c"
    assert find_place(DEAL, DEAL_TREE, "x,b").line == "x,a"
    with pytest.raises(SpecError, match="there is no such action"):
        find_place(TURN, TREE, "b")


@pytest.mark.parametrize("text", ["x,x,AcKd", "x,x,KdAc", "x x Kd Ac", "x,x,ac kd"])
def test_deals_of_several_cards(text):
    place = find_place(DEAL, DEAL_TREE, text)
    assert place.line == "x,x,AcKd"
    assert [cards_to_string(deal) for deal in place.deals] == ["AcKd"]


def test_texts_of_deals():
    texts = list(deal_texts(DEAL, find_place(DEAL, DEAL_TREE, "x,x")))
    assert len(texts) == len(set(texts)) == 36
    assert all(find_place(DEAL, DEAL_TREE, f"x,x,{text}").line == f"x,x,{text}" for text in texts)
    assert len(list(deal_texts(TURN, find_place(TURN, TREE, "x,x")))) == 48


def test_cards_left_out():
    place = find_place(TURN, TREE, "x,x,b50%", open_cards=True)
    assert (place.deals, place.line) == (((),), "x,x,b101")
    named = find_place(TURN, TREE, "x,x,7s,b50%", open_cards=True)
    assert (named.node, named.line) == (place.node, "x,x,7s,b101")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,b70%", r"line 'x,b70%', step 2, 'b70%': there is no such action; IP can x, b101 \(50%\), b201 \(100%\), a \(900\)"),
        ("b201,x", r"IP can f, c, r503 \(50%\), a \(900\)"),
        ("b201,r3x", "step 2, 'r3x': there is no such action"),
        ("b150", "there is no such action"),
        ("c", "OOP can x"),
        ("7s", "step 1, '7s': no card is dealt here; OOP can x"),
        ("x,x,x", "step 3, 'x': a card is dealt here; name it, such as As"),
        ("x,x,AsKs", "step 3, 'AsKs': a card is dealt here, not 2; name it, such as As"),
        ("x,x,Td", r"Td is on the board already \(Td9d6hQc\)"),
        ("a,f,x", "the hand is over after 'a,f'"),
        ("a,c,As,x", "the hand is over after 'a,c,As'"),
        ("x,zz", "cannot read step 2, 'zz'; write x check"),
        ("x,b50%%", "cannot read step 2, 'b50%%'"),
        ("x 5", "'x 5' has an amount, but only bets and raises take one"),
        ("x,AsAs", "twice"),
    ],
)
def test_errors_name_the_step(text, message):
    with pytest.raises(SpecError, match=message):
        find_place(TURN, TREE, text)


def test_errors_of_deals():
    with pytest.raises(SpecError, match="2 cards are dealt here, not 1; name them, such as AhAd"):
        find_place(DEAL, DEAL_TREE, "x,x,Ac")
    with pytest.raises(SpecError, match="2d is not in the deck"):
        find_place(DEAL, DEAL_TREE, "x,x,Ac2d")


def test_steps_of_every_kind():
    steps = read_steps("raise to 300 b.5% r2x 7s")
    assert [(step.letter, step.amount, step.unit) for step in steps[:3]] == [("r", 300, ""), ("b", 0.5, "%"), ("r", 2, "x")]
    assert steps[3].cards
