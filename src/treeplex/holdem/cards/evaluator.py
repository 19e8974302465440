# mypy: disallow-untyped-decorators=False
"""Hand evaluator: one number per hand, which ranks all hands on a complete board.

A player's cards are four masks of 13 bits, one per suit. Boolean algebra on the masks gives the ranks held at least
once, twice, three and four times, and tables over the 8192 masks give straights and top ranks. The strength is

    class << 26 | primary << 13 | kickers

where ``primary`` and ``kickers`` are rank masks (for straights: the high card), so that comparing numbers compares hands.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.kernel import kernel
from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import cards_to_string
from treeplex.holdem.cards.format import Format

FIVE_CLASSES = (
    "high card",
    "pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)
"""Hand categories of the ranking "five", weakest first: ``FIVE_CLASSES[strength >> 26]``."""

THREE_CLASSES = ("high card", "pair", "flush", "straight", "three of a kind", "straight flush")
"""Hand categories of the ranking "three", weakest first (Shi and Littman 2001): ``THREE_CLASSES[strength >> 26]``."""

CLASS_SHIFT, PRIMARY_SHIFT = 26, 13
MASKS = 1 << 13
MOST_CARDS = 7


class RankTables(NamedTuple):
    """Lookup tables for the 8192 masks of ranks, uint16 [8192] each.

    Attributes:
        number: number of ranks in the mask.
        straight: one more than the high card's rank of the best five in a row, 0 if there is no straight; the ace also
            counts as low.
        top1, top2, top3, top5: mask of the highest 1, 2, 3 or 5 ranks (all if there are fewer).
    """

    number: NDArray[np.uint16]
    straight: NDArray[np.uint16]
    top1: NDArray[np.uint16]
    top2: NDArray[np.uint16]
    top3: NDArray[np.uint16]
    top5: NDArray[np.uint16]


def straights(length: int) -> NDArray[np.uint16]:
    """One plus the rank of the best straight of ``length`` ranks, by its high card; 0 if there is none; [8192]. Aces also
    count low.
    """
    masks = np.arange(MASKS)
    with_low_ace = masks << 1 | masks >> 12
    best = np.zeros(MASKS, dtype=np.uint16)
    for high in range(length - 1, 14):
        run = ((1 << length) - 1) << (high - length + 1)
        best[with_low_ace & run == run] = high
    return best


def _tables() -> RankTables:
    masks = np.arange(MASKS)
    held = masks[:, None] >> np.arange(13) & 1
    above = held[:, ::-1].cumsum(axis=1)[:, ::-1]
    tops = [((held * (above <= top)) << np.arange(13)).sum(axis=1).astype(np.uint16) for top in (1, 2, 3, 5)]
    return RankTables(held.sum(axis=1).astype(np.uint16), straights(5), *tops)


TABLES = _tables()
_NUMBER, _STRAIGHT, _TOP1, _TOP2, _TOP3, _TOP5 = TABLES
_THREE_IN_A_ROW = straights(3)


@kernel()
def five_card_key(flush: int, clubs: int, diamonds: int, hearts: int, spades: int) -> int:
    """The strength of at most seven cards, from four suit masks and the mask of the only suit that can have five cards (else
    0).
    """
    once = clubs | diamonds | hearts | spades
    suited = _NUMBER[flush]
    if suited >= 5 and _STRAIGHT[flush] > 0:
        return 8 << 26 | int(_STRAIGHT[flush]) << 13
    twice = (clubs & diamonds) | (hearts & spades) | ((clubs | diamonds) & (hearts | spades))
    if twice == 0:
        if suited >= 5:
            return 5 << 26 | int(_TOP5[flush]) << 13
        if _STRAIGHT[once] > 0:
            return 4 << 26 | int(_STRAIGHT[once]) << 13
        return int(_TOP5[once]) << 13
    thrice = (clubs & diamonds & (hearts | spades)) | (hearts & spades & (clubs | diamonds))
    pairs = _NUMBER[twice]
    if thrice != 0:
        fours = clubs & diamonds & hearts & spades
        if fours != 0:
            return 7 << 26 | fours << 13 | int(_TOP1[once & ~fours])
        if pairs > 1:
            triple = int(_TOP1[thrice])
            return 6 << 26 | triple << 13 | int(_TOP1[twice & ~triple])
    if suited >= 5:
        return 5 << 26 | int(_TOP5[flush]) << 13
    if _STRAIGHT[once] > 0:
        return 4 << 26 | int(_STRAIGHT[once]) << 13
    if thrice != 0:
        return 3 << 26 | thrice << 13 | int(_TOP2[once & ~thrice])
    if pairs > 1:
        two = int(_TOP2[twice])
        return 2 << 26 | two << 13 | int(_TOP1[once & ~two])
    return 1 << 26 | twice << 13 | int(_TOP3[once & ~twice])


@kernel()
def evaluate_board(board: NDArray[np.int64], hands: NDArray[np.uint8], keys: NDArray[np.int32]) -> None:
    """Write the strengths of ``hands`` on ``board`` into ``keys``; -1 for a hand that shares a card with the board.

    Args:
        board: int64 [k], the cards of a complete board.
        hands: uint8 [n, m], m cards per hand, where k + m is at most 7.
        keys: int32 [n], written.
    """
    hole = hands.shape[1]
    board_masks = np.zeros(4, dtype=np.int64)
    blocked = 0
    for card in board:
        board_masks[card & 3] |= 1 << (card >> 2)
        blocked |= 1 << card
    flush_suit = -1
    for suit in range(4):
        if _NUMBER[board_masks[suit]] + hole >= 5:
            flush_suit = suit
    masks = np.zeros(4, dtype=np.int64)
    for hand in range(hands.shape[0]):
        for suit in range(4):
            masks[suit] = board_masks[suit]
        mine = np.int64(0)
        for position in range(hole):
            held = np.int64(hands[hand, position])
            masks[held & 3] |= 1 << (held >> 2)
            mine |= 1 << held
        if mine & blocked:
            keys[hand] = -1
            continue
        flush = masks[flush_suit] if flush_suit >= 0 else 0
        keys[hand] = five_card_key(flush, masks[0], masks[1], masks[2], masks[3])


def strengths(board: Sequence[int], hands: NDArray[np.uint8]) -> NDArray[np.int32]:
    """The strength of each hand's best five cards on ``board``: higher wins, equal strengths tie.

    With fewer than five cards in total, straights and flushes do not exist, and hands compare by pairs, then high cards.

    Args:
        board: a complete board of distinct cards.
        hands: uint8 [n, m], the m cards of each hand; board and hand together have at most seven.

    Returns:
        int32 [n]; -1 for a hand that shares a card with the board. ``FIVE_CLASSES[strength >> 26]`` is the category.

    Raises:
        SpecError: invalid cards, or too many of them.
    """
    cards = _checked(board, hands, MOST_CARDS)
    keys = np.empty(len(hands), dtype=np.int32)
    hands = np.ascontiguousarray(hands, dtype=np.uint8).view()
    hands.flags.writeable = False  # compile one kernel for both writable and read-only hands
    evaluate_board(cards, hands, keys)
    return keys


RANK_NAMES = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king", "ace")


def hand_name(strength: int) -> str:
    """The name of a hand with this value of :func:`strengths`: ``pair of tens``, ``straight, queen high``."""
    kind = strength >> CLASS_SHIFT
    primary, kickers = strength >> PRIMARY_SHIFT & MASKS - 1, strength & MASKS - 1
    high, second = highest_rank(primary), highest_rank(primary & ~(1 << max(primary.bit_length() - 1, 0)))
    name = FIVE_CLASSES[kind]
    if kind == 0:
        return f"{high} high"
    if kind == 1:
        return f"pair of {plural(high)}"
    if kind == 2:
        return f"two pair, {plural(high)} and {plural(second)}"
    if kind in (3, 7):
        return f"{name.removesuffix(' of a kind')} {plural(high)}"
    if kind == 6:
        return f"full house, {plural(high)} full of {plural(highest_rank(kickers))}"
    if kind == 5:
        return f"flush, {high} high"
    return f"{name}, {RANK_NAMES[primary - 1]} high"


def highest_rank(mask: int) -> str:
    """The name of the highest rank in a mask; empty for an empty mask."""
    return RANK_NAMES[mask.bit_length() - 1] if mask else ""


def plural(rank: str) -> str:
    """The plural of a rank's name."""
    return f"{rank}es" if rank == "six" else f"{rank}s"


def three_card_strengths(board: Sequence[int], hands: NDArray[np.uint8]) -> NDArray[np.int32]:
    """The strength of each hand on ``board`` in Rhode Island hold'em: at most three cards in total.

    Straight flush, three of a kind, straight, flush, pair, high card (Shi and Littman 2001, "Abstraction methods for game
    theoretic poker"). The ace is high and also low in straights, as in A23. With two cards there are only pairs and high
    cards.

    Arguments and errors are those of :func:`strengths`; ``THREE_CLASSES[strength >> 26]`` is the category.
    """
    cards = _checked(board, hands, 3)
    held = np.concatenate([np.broadcast_to(cards, (len(hands), len(cards))), hands.astype(np.int64)], axis=1)
    bits = 1 << (held >> 2)
    masks = np.stack([np.bitwise_or.reduce(np.where(held & 3 == suit, bits, 0), axis=1) for suit in range(4)])
    clubs, diamonds, hearts, spades = masks
    once = clubs | diamonds | hearts | spades
    twice = (clubs & diamonds) | (hearts & spades) | ((clubs | diamonds) & (hearts | spades))
    thrice = (clubs & diamonds & (hearts | spades)) | (hearts & spades & (clubs | diamonds))
    straight = _THREE_IN_A_ROW[once].astype(np.int64)
    flush = (TABLES.number[masks] == 3).any(axis=0)
    keys = np.select(
        [flush & (straight > 0), thrice > 0, straight > 0, flush, twice > 0],
        [
            5 << 26 | straight << 13,
            4 << 26 | thrice << 13,
            3 << 26 | straight << 13,
            2 << 26 | once << 13,
            1 << 26 | twice << 13 | once & ~twice,
        ],
        once << 13,
    )
    keys[(hands[:, :, None] == cards).any(axis=(1, 2))] = -1
    strength: NDArray[np.int32] = keys.astype(np.int32)
    return strength


def format_strengths(format: Format, board: Sequence[int], hands: NDArray[np.uint8] | None = None) -> NDArray[np.int32]:
    """The strength of each hand (default: ``format.hands``) on a complete board, by the format's ranking.

    Returns:
        int32 [n]: higher wins, equal strengths tie, -1 for a hand that shares a card with the board.

    Raises:
        SpecError: the board is not complete, repeats a card, or has a card outside the deck.
    """
    format.check_cards(board)
    if len(board) != format.board_size:
        raise SpecError(
            f"board {cards_to_string(board)!r} has {len(board)} cards, but a complete board in {format.name} has "
            f"{format.board_size}; complete the board"
        )
    rank = strengths if format.ranking == "five" else three_card_strengths
    return rank(board, format.hands if hands is None else hands)


def _checked(board: Sequence[int], hands: NDArray[np.uint8], most: int) -> NDArray[np.int64]:
    """Check a board and hands; return the board as int64 [k].

    Raises:
        SpecError: invalid cards, or more than ``most`` cards at showdown.
    """
    if hands.ndim != 2 or (len(hands) and (hands.min() < 0 or hands.max() > 51)):
        raise SpecError(f"hands must be an array [n, cards of a hand] of cards from 0 to 51; these have shape {hands.shape}")
    cards = np.array(board, dtype=np.int64).reshape(-1)
    text = cards_to_string(board)
    if len(set(board)) < len(cards):
        raise SpecError(f"board {text!r} repeats a card; name each card once")
    if len(cards) + hands.shape[1] > most:
        raise SpecError(f"board {text!r} and hands of {hands.shape[1]} cards exceed {most} cards together; use a smaller board")
    return cards
