from itertools import combinations

import numpy as np
import pytest

from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import (
    CLASSES,
    HAND_CLASSES,
    HANDS,
    card_to_string,
    cards_to_string,
    hand_class,
    hand_index,
    hand_to_string,
    parse_card,
    parse_cards,
)


def test_cards_round_trip() -> None:
    assert [parse_card(card_to_string(card)) for card in range(52)] == list(range(52))
    assert (card_to_string(0), card_to_string(1), card_to_string(51)) == ("2c", "2d", "As")
    assert parse_card("tD") == parse_card("Td") == 4 * 8 + 1


@pytest.mark.parametrize("text", ["Td9d6h", "Td 9d 6h", " td,9D, 6h "])
def test_boards_may_have_separators(text: str) -> None:
    assert cards_to_string(parse_cards(text)) == "Td9d6h"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("T", "'T' is not a card"),
        ("10d", "'10' is not a card"),
        ("TdXx", "'Xx' is not a card"),
        ("Td9dTd", "Td appears twice"),
    ],
)
def test_bad_cards(text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        parse_cards(text)


def test_numbers_that_are_no_cards_or_hands() -> None:
    for card in (-1, 52):
        with pytest.raises(SpecError, match="is not a card"):
            card_to_string(card)
    for name in (hand_to_string, hand_class):
        for hand in (-1, 1326):
            with pytest.raises(SpecError, match="is not a hand"):
                name(hand)
    for first, second in ((3, 3), (-1, 4), (4, 52)):
        with pytest.raises(SpecError, match="are not a hand"):
            hand_index(first, second)


def test_hands_are_in_lexicographic_order() -> None:
    assert [tuple(hand) for hand in HANDS.tolist()] == list(combinations(range(52), 2))
    assert [hand_index(low, high) for low, high in HANDS.tolist()] == list(range(1326))
    assert hand_index(51, 50) == 1325
    with pytest.raises(ValueError, match="read-only"):
        HANDS[0, 0] = 1


def test_classes_are_the_grid() -> None:
    grid = np.array(CLASSES).reshape(13, 13)
    assert len(set(CLASSES)) == 169
    assert (grid[0, 0], grid[0, 1], grid[1, 0], grid[12, 11], grid[11, 12], grid[12, 12]) == (
        "AA",
        "AKs",
        "AKo",
        "32o",
        "32s",
        "22",
    )
    sizes = {len(name): size for name, size in zip(CLASSES, np.bincount(HAND_CLASSES).tolist(), strict=True) if "o" not in name}
    assert sizes == {2: 6, 3: 4}
    assert {size for name, size in zip(CLASSES, np.bincount(HAND_CLASSES).tolist(), strict=True) if "o" in name} == {12}


def test_texts_and_classes_of_hands_agree() -> None:
    for index in range(1326):
        text, name = hand_to_string(index), hand_class(index)
        assert hand_index(*parse_cards(text)) == index
        assert text[0] + text[2] == name[:2]
        assert name[2:] == ("" if text[0] == text[2] else "s" if text[1] == text[3] else "o")
    assert hand_to_string(hand_index(parse_card("Kd"), parse_card("As"))) == "AsKd"


def test_pictures_of_suits_are_read_as_letters() -> None:
    assert parse_cards("T♦ 9♢ 6♥️ Q♣ 2♠") == parse_cards("Td 9d 6h Qc 2s")
    assert parse_card("A♡") == parse_card("Ah")
