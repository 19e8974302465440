from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import HANDS, cards_to_string, hand_index, parse_cards
from treeplex.holdem.cards.evaluator import (
    FIVE_CLASSES,
    THREE_CLASSES,
    evaluate_board,
    format_strengths,
    hand_name,
    strengths,
    three_card_strengths,
)
from treeplex.holdem.cards.format import HOLDEM, rhode_island, royal, small


def straight_high(ranks: list[int], length: int) -> int:
    """The high card of cards that are all in a row, else -1; the ace is rank 12 and also below the deuce."""
    for values in (sorted(ranks), sorted(-1 if rank == 12 else rank for rank in ranks)):
        if len(values) == length and values == list(range(values[0], values[0] + length)):
            return values[-1]
    return -1


def plain_rank(cards: tuple[int, ...], length: int = 5) -> tuple[int, ...]:
    """The rank of at most ``length`` cards, the slow way."""
    ranks = [card // 4 for card in cards]
    groups = sorted(((count, rank) for rank, count in Counter(ranks).items()), reverse=True)
    flush = len(cards) == length and len({card % 4 for card in cards}) == 1
    high = straight_high(ranks, length)
    counts = [count for count, _ in groups]
    order = [rank for _, rank in groups]
    three, full = counts[0] == 3, counts[:2] == [3, 2]
    if length == 5:
        classes = [
            flush and high >= 0,
            counts[0] == 4,
            full,
            flush,
            high >= 0,
            three,
            counts[:2] == [2, 2],
            counts[0] == 2,
            True,
        ]
    else:
        classes = [flush and high >= 0, three, high >= 0, flush, counts[0] == 2, True]
    return (-classes.index(True), *([high] if high >= 0 else order))


def slow_rank(board: tuple[int, ...], hand: tuple[int, ...]) -> tuple[int, ...]:
    """The best five of all cards."""
    cards = board + hand
    return max(plain_rank(five) for five in combinations(cards, min(5, len(cards))))


def assert_same_order(keys: NDArray[np.int32], others: Sequence[Any]) -> None:
    """The two orders agree, ties included: ``others`` is larger for better hands."""
    ranks = {other: place for place, other in enumerate(sorted(set(others)))}
    theirs = np.array([ranks[other] for other in others])
    order = np.argsort(keys, kind="stable")
    steps, other_steps = np.diff(keys[order].astype(np.int64)), np.diff(theirs[order])
    assert (other_steps >= 0).all()
    np.testing.assert_array_equal(steps > 0, other_steps > 0)


def deals(count: int, seed: int, board_size: int = 5) -> tuple[NDArray[np.int32], list[list[int]]]:
    """Keys and cards of ``count`` random hands, ten on a board."""
    rng = np.random.default_rng(seed)
    keys, cards = [], []
    for _ in range(count // 10):
        deck = rng.permutation(52).tolist()
        board, rest = deck[:board_size], deck[board_size : board_size + 20]
        hands = np.array(rest, dtype=np.uint8).reshape(10, 2)
        keys.append(strengths(board, hands))
        cards += [board + hand for hand in hands.tolist()]
    return np.concatenate(keys), cards


def test_order_is_that_of_phevaluator() -> None:
    phevaluator = pytest.importorskip("phevaluator")
    keys, cards = deals(100_000, seed=1)
    assert_same_order(keys, [-phevaluator.evaluate_cards(*seven) for seven in cards])


def test_order_is_that_of_pokerkit() -> None:
    pokerkit = pytest.importorskip("pokerkit")
    keys, cards = deals(1_000, seed=2)
    theirs = [pokerkit.StandardHighHand.from_game(cards_to_string(seven[5:]), cards_to_string(seven[:5])) for seven in cards]
    assert_same_order(keys, [hand.entry.index for hand in theirs])


@pytest.mark.parametrize("board_size", [3, 4, 5])
def test_order_is_that_of_the_slow_rules(board_size: int) -> None:
    keys, cards = deals(1_000, seed=board_size, board_size=board_size)
    assert_same_order(keys, [slow_rank(tuple(all_cards), ()) for all_cards in cards])


@pytest.mark.parametrize(
    "format", [small(), small(6, 4, 1, (0, 3, 1)), small(4, 3, 2, (0, 1)), small(5, 2, 2, (0, 3)), royal()]
)
def test_small_formats_follow_the_slow_rules(format) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(3)
    keys: list[int] = []
    ranks: list[Any] = []
    for _ in range(4):
        board = tuple(rng.choice(format.deck, format.board_size, replace=False).tolist())
        found = format_strengths(format, board)
        for hand, key in zip(format.hands.tolist(), found.tolist(), strict=True):
            assert (key == -1) == bool(set(hand) & set(board))
            if key >= 0:
                keys.append(key)
                ranks.append(slow_rank(board, tuple(hand)))
    assert_same_order(np.array(keys, dtype=np.int32), ranks)


def test_frequencies_of_five_cards() -> None:
    """All 2,598,960 hands, each seen ten times as flop and hole cards; the counts are those of every handbook."""
    counts = np.zeros(len(FIVE_CLASSES), dtype=np.int64)
    keys = np.empty(1326, dtype=np.int32)
    for board in combinations(range(52), 3):
        evaluate_board(np.array(board), HANDS, keys)
        counts += np.bincount((keys >> 26) + 1, minlength=len(FIVE_CLASSES) + 1)[1:]
    assert (counts / 10).tolist() == [1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 40]


def test_frequencies_of_three_cards() -> None:
    """All 22,100 hands of Rhode Island hold'em, each seen three times; the counts are by hand."""
    game = rhode_island()
    counts = np.zeros(len(THREE_CLASSES), dtype=np.int64)
    for board in combinations(range(52), 2):
        keys = format_strengths(game, board)
        counts += np.bincount((keys >> 26) + 1, minlength=len(THREE_CLASSES) + 1)[1:]
    straight_flushes, straights = 12 * 4, 12 * 4**3
    flushes = 4 * 286
    assert (counts / 3).tolist() == [
        16440,
        13 * 6 * 48,
        flushes - straight_flushes,
        straights - straight_flushes,
        13 * 4,
        straight_flushes,
    ]


def test_three_cards_follow_the_slow_rules() -> None:
    rng = np.random.default_rng(4)
    keys: list[int] = []
    ranks: list[Any] = []
    for _ in range(60):
        board = tuple(rng.choice(52, 2, replace=False).tolist())
        for hand, key in enumerate(three_card_strengths(board, rhode_island().hands).tolist()):
            assert (key == -1) == (hand in board)
            if key >= 0:
                keys.append(key)
                ranks.append(plain_rank((*board, hand), 3))
    assert_same_order(np.array(keys, dtype=np.int32), ranks)


def test_rhode_island_ranks_trips_over_straights_over_flushes() -> None:
    hands = ["AcKcQc", "2c2d2h", "AcKcQd", "3c2cAd", "AcKcJc", "AcAdKh", "AcKcJd"]
    keys = []
    for text in hands:
        *board, hand = parse_cards(text)
        keys.append(int(three_card_strengths(board, np.array([[hand]], dtype=np.uint8))[0]))
    assert keys == sorted(keys, reverse=True)
    assert len(set(keys)) == len(keys)


def test_three_card_order_is_that_of_pokerkit() -> None:
    pokerkit = pytest.importorskip("pokerkit")
    rng = np.random.default_rng(5)
    cards = [rng.choice(52, 3, replace=False).tolist() for _ in range(2_000)]
    keys = [three_card_strengths(three[:2], np.array([three[2:]], dtype=np.uint8))[0] for three in cards]
    theirs = [pokerkit.RhodeIslandHoldemHand(cards_to_string(three)).entry.index for three in cards]
    assert_same_order(np.array(keys), theirs)


def test_two_cards_have_pairs_and_high_cards_only() -> None:
    keys = format_strengths(small(3, 2, ranking="three"), parse_cards("Kc"))
    np.testing.assert_array_equal(keys, format_strengths(small(3, 2), parse_cards("Kc")))
    queen, _, blocked, king, ace, other_ace = keys.tolist()
    assert blocked == -1
    assert queen < ace == other_ace < king


def test_strengths_of_known_hands() -> None:
    keys = strengths(parse_cards("Td9d6hQcQs"), HANDS)
    king_jack, aces, quads = (keys[hand_index(*parse_cards(hand))] for hand in ("KhJh", "AsAh", "QdQh"))
    assert [FIVE_CLASSES[key >> 26] for key in (king_jack, aces, quads)] == ["straight", "two pair", "four of a kind"]
    assert keys[hand_index(*parse_cards("AdQc"))] == -1
    assert (keys >= 0).sum() == 1081


def test_a_board_that_plays_ties_all_hands() -> None:
    keys = strengths(parse_cards("AsKsQsJsTs"), HANDS)
    assert set(keys.tolist()) == {-1, int(keys.max())}


def test_writable_and_strided_hands_give_the_same() -> None:
    board = parse_cards("Td9d6hQcQs")
    expected = strengths(board, HANDS)
    np.testing.assert_array_equal(strengths(board, HANDS.copy()), expected)
    np.testing.assert_array_equal(strengths(board, HANDS[::3]), expected[::3])
    np.testing.assert_array_equal(strengths(board, np.asfortranarray(HANDS)), expected)
    assert strengths(board, HANDS[:0]).shape == (0,)


@pytest.mark.parametrize(
    ("board", "hands", "message"),
    [
        ((0, 0, 1), HANDS, "repeats a card"),
        ((0, 1, 52), HANDS, "52 is not a card"),
        ((0, 1, 2, 3, 4, 5), HANDS, "exceed 7 cards"),
        ((0, 1, 2), HANDS[0], "shape"),
        ((0, 1, 2), HANDS + 1, "from 0 to 51"),
    ],
)
def test_bad_arguments(board: tuple[int, ...], hands: NDArray[np.uint8], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        strengths(board, hands)


def test_boards_of_formats_must_be_complete_and_in_the_deck() -> None:
    with pytest.raises(SpecError, match="has 3 cards, but a complete board in holdem has 5"):
        format_strengths(HOLDEM, (0, 1, 2))
    with pytest.raises(SpecError, match="2c is not in the deck"):
        format_strengths(royal(), (0, 40, 41, 42, 43))
    with pytest.raises(SpecError, match="exceed 3 cards"):
        three_card_strengths((0, 1), HANDS)


@pytest.mark.parametrize(
    ("cards", "name"),
    [
        ("3s7hTdKs AcQd", "ace high"),
        ("3s7hTdKs TcQd", "pair of tens"),
        ("3s6hTdKs 6cKd", "two pair, kings and sixes"),
        ("3s7hTdKs 3c3d", "three threes"),
        ("3s7hTdKs AcQdJ", "straight, ace high"),
        ("2s3h4dKs Ac5d", "straight, five high"),
        ("3s7sTdKs AsQs", "flush, ace high"),
        ("3s3hTdTs 3cKd", "full house, threes full of tens"),
        ("3s3hTdTs 3c3d", "four threes"),
        ("3s7s6sKs 4s5s", "straight flush, seven high"),
    ],
)
def test_hands_have_names(cards: str, name: str) -> None:
    board, hand = cards.split(" ")
    if hand.endswith("J"):  # a river as well
        board, hand = board + "Jc", hand[:-1]
    assert hand_name(int(strengths(parse_cards(board), np.array([parse_cards(hand)], np.uint8))[0])) == name
