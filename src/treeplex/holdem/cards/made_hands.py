"""Hand categories in poker terms: made hands, draws and suits.

The category describes what the hole cards contribute: a pair on the board alone does not count. Two pair needs both hole
cards, so on K K 7 the hand A7 has second pair and AA an overpair. Straights, flushes, full houses and better always
count.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import SUITS, cards_to_string
from treeplex.holdem.cards.evaluator import CLASS_SHIFT, FIVE_CLASSES, straights, strengths

Codes = NDArray[np.int64]
Hands = NDArray[np.uint8]

MADE_HANDS = (
    "straight flush",
    "four of a kind",
    "full house",
    "flush",
    "straight",
    "set",
    "trips",
    "two pair",
    "overpair",
    "top pair",
    "second pair",
    "low pair",
    "underpair",
    "ace high",
    "king high",
    "nothing",
)
"""Made hands, strongest first. A set is a pocket pair with a matching board card, an underpair a pocket pair below the highest
board card, and a low pair one with a board card below the second highest."""

DRAWS = ("combo draw", "flush draw", "open-ended", "gutshot", "backdoor flush draw", "no draw")
"""Draws, best first. A flush draw has four cards of a suit, at least one of them a hole card. Open-ended is any straight draw
that two ranks complete; a gutshot needs one rank. A combo draw is a flush draw with a straight draw. A backdoor flush draw has
three cards of a suit on the flop."""

SUIT_PAIRS = tuple(SUITS[high] + SUITS[low] for high in (3, 2, 1, 0) for low in range(high, -1, -1))
"""The suits of a hand, such as ``"sh"``, regardless of which card has which."""

_STRAIGHT = straights(5)
_OPEN_ENDED = 2
_FOUR, _THREE = 4, 3


def made_hands(board: Sequence[int], hands: Hands) -> Codes:
    """The made hand of each hand on a board: indices of :data:`MADE_HANDS`, int64 [n].

    Args:
        board: three to five cards.
        hands: uint8 [n, 2], the lower card first, not blocked by the board.

    Raises:
        SpecError: fewer than three cards on the board.
    """
    _check(board)
    names = {name: index for index, name in enumerate(MADE_HANDS)}
    whole = np.array([names.get(name, -1) for name in FIVE_CLASSES])[strengths(board, hands) >> CLASS_SHIFT]
    ranks = np.asarray(hands, np.int64) >> 2
    low, high = ranks.min(axis=1), ranks.max(axis=1)
    counts = np.bincount(np.array(board, np.int64) >> 2, minlength=13)
    lie = np.flatnonzero(counts)[::-1]
    pocket = low == high
    on_board = counts[high], counts[low]
    paired = np.maximum(np.where(on_board[0] > 0, high, -1), np.where(on_board[1] > 0, low, -1))
    conditions = {
        "set": pocket & (on_board[0] == 1),
        "trips": ~pocket & ((on_board[0] == 2) | (on_board[1] == 2)),
        "two pair": ~pocket & (on_board[0] == 1) & (on_board[1] == 1),
        "overpair": pocket & (high > lie[0]),
        "top pair": ~pocket & (paired == lie[0]),
        "second pair": ~pocket & (paired == (lie[1] if len(lie) > 1 else -2)),
        "low pair": ~pocket & (paired >= 0),
        "underpair": pocket,
        "ace high": high == 12,
        "king high": high == 11,
    }
    pair_categories = np.select(list(conditions.values()), [names[name] for name in conditions], names["nothing"])
    better = np.isin(whole, [names[name] for name in ("straight flush", "four of a kind", "full house", "flush", "straight")])
    categories: Codes = np.where(better, whole, pair_categories)
    return categories


def draws(board: Sequence[int], hands: Hands) -> Codes:
    """The draw of each hand on a board: indices of :data:`DRAWS`, int64 [n]; no draws on a river.

    A hand with a straight or better has no straight draw, and a hand with a flush or better has no draw.

    Args:
        board, hands: as for :func:`made_hands`.

    Raises:
        SpecError: fewer than three cards on the board.
    """
    _check(board)
    cards, table = np.asarray(hands, np.int64), np.array(board, np.int64)
    none = np.full(len(cards), DRAWS.index("no draw"))
    if len(table) == 5:
        return none
    made = strengths(board, hands) >> CLASS_SHIFT
    held = np.stack([(cards % 4 == suit).sum(axis=1) for suit in range(4)])
    suited = held + np.bincount(table % 4, minlength=4)[:, None]
    flush = (((suited == _FOUR) & (held > 0)).any(axis=0)) & (made < FIVE_CLASSES.index("flush"))
    backdoor = (((suited == _THREE) & (held > 0)).any(axis=0)) & (made < FIVE_CLASSES.index("flush")) & (len(table) == 3)
    lies = int(np.bitwise_or.reduce(1 << (table >> 2)))
    masks = lies | 1 << (cards[:, 0] >> 2) | 1 << (cards[:, 1] >> 2)
    completing = np.zeros(len(cards), np.int64)
    for rank in range(13):
        with_rank = _STRAIGHT[masks | 1 << rank]
        completing += with_rank > _STRAIGHT[lies | 1 << rank]
    straight = np.where(made >= FIVE_CLASSES.index("straight"), 0, completing)
    conditions = [flush & (straight > 0), flush, straight >= _OPEN_ENDED, straight == 1, backdoor]
    return np.select(conditions, list(range(len(conditions))), none)


def suit_pairs(board: Sequence[int], hands: Hands) -> Codes:
    """The suits of each hand: indices of :data:`SUIT_PAIRS`, int64 [n]. Ignores the board."""
    suits = np.asarray(hands, np.int64) % 4
    low, high = suits.min(axis=1), suits.max(axis=1)
    places = np.array([[SUIT_PAIRS.index(SUITS[max(a, b)] + SUITS[min(a, b)]) for b in range(4)] for a in range(4)])
    pairs: Codes = places[high, low]
    return pairs


KINDS: dict[str, tuple[tuple[str, ...], Callable[[Sequence[int], Hands], Codes]]] = {
    "made": (MADE_HANDS, made_hands),
    "draw": (DRAWS, draws),
    "suits": (SUIT_PAIRS, suit_pairs),
}
"""Groupings of hands: the names of the groups, and a function that finds each hand's group."""


def _check(board: Sequence[int]) -> None:
    if len(board) < 3:
        raise SpecError(
            f"made hands and draws need a flop, but the board is {cards_to_string(board) or 'empty'}; group by suits or class"
        )
