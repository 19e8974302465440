"""Cards, two-card hands and the 169 hand classes.

A card is a number from 0 to 51: ``4 * rank + suit``, ranks from 2 (0) to ace (12), suits in the order clubs, diamonds,
hearts, spades. A *hand* is two cards; its index is its position in the lexicographic order of (low card, high card), from 0
(2c2d) to 1325 (AhAs). As text, a card is its rank and its suit, ``Td`` or ``T♦``; case is ignored.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from treeplex.base.spec import shown
from treeplex.errors import SpecError

RANKS = "23456789TJQKA"
SUITS = "cdhs"
N_HANDS = 1326
PICTURES = {ord(mark): suit for mark, suit in zip("♣♧♦♢♥♡♠♤\ufe0f", (*"ccddhhss", ""), strict=True)}
"""Suit symbols as letters, for ``str.translate``; variation selectors are dropped."""


def parse_card(text: str) -> int:
    """The card named by ``text``, such as ``"Td"``.

    Raises:
        SpecError: ``text`` is not a rank and a suit.
    """
    word = text.translate(PICTURES).strip()
    if len(word) == 2:
        rank, suit = RANKS.find(word[0].upper()), SUITS.find(word[1].lower())
        if rank >= 0 and suit >= 0:
            return 4 * rank + suit
    raise SpecError(f"{text!r} is not a card: a card is a rank ({RANKS}) and a suit ({SUITS}), such as Td")


def parse_cards(text: str) -> tuple[int, ...]:
    """The cards of a text like ``"Td9d6h"`` or ``"Td 9d 6h"`` (spaces or commas allowed), in the given order.

    Raises:
        SpecError: a part of ``text`` is no card, or a card is repeated.
    """
    word = "".join(text.translate(PICTURES).replace(",", " ").split())
    try:
        cards = tuple(parse_card(word[i : i + 2]) for i in range(0, len(word), 2))
    except SpecError as error:
        raise SpecError(f"cards {shown(text)}: {error}") from None
    for index, card in enumerate(cards):
        if card in cards[:index]:
            raise SpecError(f"cards {shown(text)}: {card_to_string(card)} appears twice; name each card once")
    return cards


def card_to_string(card: int) -> str:
    """The text of a card, such as ``"Td"``.

    Raises:
        SpecError: ``card`` is not a number from 0 to 51.
    """
    if not 0 <= card < 52:
        raise SpecError(f"{card} is not a card: cards are numbers from 0 (2c) to 51 (As)")
    return RANKS[card >> 2] + SUITS[card & 3]


def cards_to_string(cards: Iterable[int]) -> str:
    """The text of several cards, in the given order, such as ``"Td9d6h"``."""
    return "".join(card_to_string(int(card)) for card in cards)


def hand_index(first: int, second: int) -> int:
    """The index in ``HANDS`` of the hand of two cards, in either order.

    Raises:
        SpecError: the cards are equal or not from 0 to 51.
    """
    low, high = (first, second) if first < second else (second, first)
    if low == high or low < 0 or high > 51:
        raise SpecError(f"cards {first} and {second} are not a hand: a hand is two different cards from 0 to 51")
    return low * (101 - low) // 2 + high - 1


def hand_numbers(cards: NDArray[np.integer]) -> NDArray[np.int64]:
    """The index in ``HANDS`` of hands given as cards [n, 2], the lower card first, int64 [n]."""
    low, high = cards[:, 0].astype(np.int64), cards[:, 1].astype(np.int64)
    numbers: NDArray[np.int64] = low * (101 - low) // 2 + high - 1
    return numbers


def hand_to_string(index: int) -> str:
    """The text of a hand, the higher card first, such as ``"AsKd"``.

    Raises:
        SpecError: ``index`` is not from 0 to 1325.
    """
    low, high = HANDS[_checked(index)]
    return cards_to_string((int(high), int(low)))


def hand_class(index: int) -> str:
    """The class of a hand, such as ``"AKs"``, ``"QQ"`` or ``"72o"``.

    Raises:
        SpecError: ``index`` is not from 0 to 1325.
    """
    return CLASSES[int(HAND_CLASSES[_checked(index)])]


def _checked(index: int) -> int:
    if not 0 <= index < N_HANDS:
        raise SpecError(f"{index} is not a hand: hands are numbers from 0 (2c2d) to {N_HANDS - 1} (AhAs)")
    return index


def _all_hands() -> NDArray[np.uint8]:
    low, high = np.triu_indices(52, 1)
    return np.stack([low, high], axis=1).astype(np.uint8)


def _class_names() -> tuple[str, ...]:
    """The grid of hand classes row by row: ace first, suited above the diagonal."""
    names = []
    for i, row in enumerate(reversed(RANKS)):
        for j, column in enumerate(reversed(RANKS)):
            names.append(row + column + "s" if i < j else column + row + "o" if i > j else row + row)
    return tuple(names)


def _classes_of_hands() -> NDArray[np.uint8]:
    rank, suit = HANDS.astype(np.int64) >> 2, HANDS.astype(np.int64) & 3
    high, low = 12 - rank[:, 1], 12 - rank[:, 0]
    suited = suit[:, 0] == suit[:, 1]
    return np.where(suited, 13 * high + low, 13 * low + high).astype(np.uint8)


HANDS: NDArray[np.uint8] = _all_hands()
"""The two cards of each hand, the lower first, uint8 [1326, 2]; read-only."""

CLASSES: tuple[str, ...] = _class_names()
"""The 169 hand classes row by row of the 13 x 13 grid: AA top left, suited above the diagonal, offsuit below."""

HAND_CLASSES: NDArray[np.uint8] = _classes_of_hands()
"""The index in ``CLASSES`` of each hand, uint8 [1326]; read-only."""

HANDS.flags.writeable = False
HAND_CLASSES.flags.writeable = False
