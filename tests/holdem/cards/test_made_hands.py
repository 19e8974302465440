"""Names of hands and draws, against cases settled by hand and against counting outs."""

import numpy as np
import pytest

from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import HANDS, cards_to_string, hand_numbers, parse_cards
from treeplex.holdem.cards.evaluator import CLASS_SHIFT, FIVE_CLASSES, strengths
from treeplex.holdem.cards.made_hands import DRAWS, MADE_HANDS, SUIT_PAIRS, draws, made_hands, suit_pairs


def hand(text):
    return np.array([sorted(parse_cards(text))], np.uint8)


@pytest.mark.parametrize(
    ("board", "cards", "made"),
    [
        ("Td9d6h", "TsTc", "set"),
        ("Td9d6h", "AsAc", "overpair"),
        ("Td9d6h", "AsTc", "top pair"),
        ("Td9d6h", "As9c", "second pair"),
        ("Td9d6h", "As6c", "low pair"),
        ("Td9d6h", "8s8c", "underpair"),
        ("Td9d6h", "5s5c", "underpair"),
        ("Td9d6h", "Ts9c", "two pair"),
        ("Td9d6h", "8s7c", "straight"),
        ("Td9d6h", "AsKc", "ace high"),
        ("Td9d6h", "KsQc", "king high"),
        ("Td9d6h", "QsJc", "nothing"),
        ("KdKh7s", "As7c", "second pair"),
        ("KdKh7s", "AsAc", "overpair"),
        ("KdKh7s", "AsKc", "trips"),
        ("KdKh7s", "KsKc", "four of a kind"),
        ("KdKh7s", "Ks7c", "full house"),
        ("KdKh7s", "AsQc", "ace high"),
        ("KdKh7s7c2d", "QsQc", "underpair"),
        ("KdKh7s7c2d", "AsQc", "ace high"),
        ("KdKhKs7c2d", "AsQc", "ace high"),
        ("Td9d6d", "Ad2d", "flush"),
        ("Td9d8d", "QdJd", "straight flush"),
        ("AsKsQsJsTs", "2c2d", "straight flush"),
    ],
)
def test_made(board, cards, made):
    assert MADE_HANDS[made_hands(parse_cards(board), hand(cards))[0]] == made


@pytest.mark.parametrize(
    ("board", "cards", "draw"),
    [
        ("Td9d6h", "AdKd", "flush draw"),
        ("Td9d6h", "QsJc", "open-ended"),
        ("Td9d6h", "8s2c", "gutshot"),
        ("Td9d6h", "QsKc", "gutshot"),
        ("Td9d6h", "AsKc", "no draw"),
        ("Td9d6h", "Ad3s", "backdoor flush draw"),
        ("Td9d6h", "QdJd", "combo draw"),
        ("Td9d6h", "8s7c", "no draw"),
        ("Td9d6hQc", "KdQs", "gutshot"),
        ("Td9d6hQc", "Ad2s", "no draw"),
        ("Td9d6hQc2s", "KdJd", "no draw"),
        ("AsKdQh", "2c3c", "no draw"),
        ("5s6d9h", "3c8c", "gutshot"),
        ("Td8d6h4c", "7s2s", "open-ended"),
        ("9s8s7s6d", "2c3c", "no draw"),
    ],
)
def test_draws(board, cards, draw):
    assert DRAWS[draws(parse_cards(board), hand(cards))[0]] == draw


@pytest.mark.parametrize("board", ["Td9d6h", "AhKh2h", "8s8d5c3h", "Jc9c8h2c"])
def test_draws_against_the_cards_that_complete_them(board):
    cards = parse_cards(board)
    free = HANDS[~np.isin(HANDS, cards).any(axis=1)]
    now = strengths(cards, free) >> CLASS_SHIFT
    flush, straight = FIVE_CLASSES.index("flush"), FIVE_CLASSES.index("straight")
    flush_outs, straight_ranks = np.zeros(len(free), int), [set() for _ in free]
    for card in set(range(52)) - set(cards):
        after = strengths([*cards, card], free) >> CLASS_SHIFT
        table = cards_to_string([*cards, card])
        flush_outs += np.isin(after, [flush, len(FIVE_CLASSES) - 1]) & (now < flush)
        for row in np.flatnonzero((after == straight) & (now < straight)):
            straight_ranks[row].add(table[-2])
    found = draws(cards, free)
    named = np.array(DRAWS)[found]
    least = 9 - 2 * (len(cards) - 3)  # some outs pair the board and make a full house of a set
    for row, name in enumerate(named):
        if name in ("flush draw", "combo draw"):
            assert flush_outs[row] >= least, free[row]
        if name in ("gutshot", "open-ended", "combo draw"):
            assert straight_ranks[row] or flush_outs[row] >= least, free[row]
        if name in ("no draw", "backdoor flush draw"):
            assert flush_outs[row] == 0, cards_to_string(free[row])
            assert not straight_ranks[row], cards_to_string(free[row])


def test_every_hand_has_one_name_in_order_of_strength():
    board = parse_cards("Td9d6hQc2s")
    free = HANDS[~np.isin(HANDS, board).any(axis=1)]
    found, keys = made_hands(board, free), strengths(board, free)
    assert found.min() >= 0
    for better, worse in (("straight", "set"), ("set", "two pair"), ("two pair", "overpair"), ("top pair", "second pair")):
        a, b = (keys[found == MADE_HANDS.index(name)] for name in (better, worse))
        assert not (len(a) and len(b)) or a.min() > b.max()


def test_suits_and_numbers():
    assert len(SUIT_PAIRS) == len(set(SUIT_PAIRS)) == 10
    counts = np.bincount(suit_pairs((), HANDS), minlength=10)
    assert counts.tolist() == [78 if name[0] == name[1] else 169 for name in SUIT_PAIRS]
    assert SUIT_PAIRS[suit_pairs((), hand("AhKs"))[0]] == SUIT_PAIRS[suit_pairs((), hand("AsKh"))[0]] == "sh"
    np.testing.assert_array_equal(hand_numbers(HANDS), np.arange(1326))


def test_before_the_flop():
    for find in (made_hands, draws):
        with pytest.raises(SpecError, match="need a flop"):
            find((), HANDS)
