import numpy as np
import pytest

from tests.limit_games import royal_strengths
from treeplex.errors import SpecError
from treeplex.holdem.cards.canonical import canonical_boards
from treeplex.holdem.cards.cards import HAND_CLASSES, parse_cards
from treeplex.holdem.cards.evaluator import format_strengths
from treeplex.holdem.cards.format import HOLDEM, Format, rhode_island, royal
from treeplex.holdem.cards.strength import FULL, MEAN, SQUARE, River, roll_out

BOARDS = ["TdTc9h2s2d", "AhKhQhJhTh", "2c3d4h5s7c", "9c9d9h9sAd"]


def slow_strength(format, board):
    """HS of every hand, by comparing it with every hand that shares no card; nan where the board blocks it."""
    hands, keys = format.hands, format_strengths(format, board)
    found = np.full(len(hands), np.nan)
    for hand in np.flatnonzero(keys >= 0):
        apart = (keys >= 0) & ~np.isin(hands, hands[hand]).any(axis=1)
        found[hand] = ((keys[apart] < keys[hand]) + 0.5 * (keys[apart] == keys[hand])).mean()
    return found


@pytest.mark.parametrize("text", BOARDS)
def test_river_strength_is_that_of_comparing_all_pairs(text):
    board = parse_cards(text)
    keys, codes = River(HOLDEM)(np.array(board))
    slow = slow_strength(HOLDEM, board)
    alive = keys >= 0
    assert np.array_equal(alive, ~np.isnan(slow))
    assert np.allclose(codes[alive] / (2 * 990), slow[alive], atol=1e-12)
    assert (codes[~alive] == 0).all()


def test_turn_strength_is_the_mean_over_rivers():
    format, turn = royal(), parse_cards("TcTdKhAs")
    means = roll_out(format, np.array([turn], dtype=np.uint8))
    rivers = np.stack([slow_strength(format, (*turn, card)) for card in format.deck if card not in turn])
    alive = ~np.isin(format.hands, turn).any(axis=1)
    assert np.allclose(means[MEAN, 0, alive], np.nanmean(rivers[:, alive], axis=0), atol=1e-12)
    assert np.allclose(means[SQUARE, 0, alive], np.nanmean(rivers[:, alive] ** 2, axis=0), atol=1e-12)


def test_flop_and_preflop_are_means_of_what_follows():
    strengths = royal_strengths()
    format, deck = strengths.format, np.array(strengths.format.deck)
    flop = parse_cards("TcJdJh")
    row, renaming = (found[0] for found in strengths.flops.find(np.array([flop])))
    hand = int(np.flatnonzero((format.hands == sorted(parse_cards("AsKs"))[:]).all(axis=1))[0])
    total = []
    for card in deck[~np.isin(deck, [*flop, *format.hands[hand]])]:
        there, named = (found[0] for found in strengths.turns.find(np.array([[*flop, card]])))
        total.append(strengths.turn[:, there, strengths.turns.hand_maps[named, hand]] / FULL)
    got = strengths.flop[:, row, strengths.flops.hand_maps[renaming, hand]] / FULL
    assert np.allclose(got, np.mean(total, axis=0), atol=2e-5)
    assert np.isclose(strengths.preflop[MEAN].mean() / FULL, 0.5, atol=1e-4)  # two random hands are alike


def test_hands_of_a_class_are_alike_before_the_flop():
    strengths = royal_strengths()
    deck = {card: place for place, card in enumerate(strengths.format.deck)}
    assert len(deck) == 20
    whole = [np.flatnonzero((HOLDEM.hands == hand).all(axis=1))[0] for hand in strengths.format.hands]
    classes = HAND_CLASSES[whole]
    for kind in np.unique(classes):
        assert len(np.unique(strengths.preflop[:, classes == kind], axis=1).T) == 1


def test_canonical_boards_of_holdem():
    flops, turns = canonical_boards(HOLDEM, 3), canonical_boards(HOLDEM, 4)
    assert (len(flops.boards), len(turns.boards)) == (1755, 16432)
    assert (flops.weights.sum(), turns.weights.sum()) == (22100, 270725)


def test_a_board_and_its_canonical_board_give_a_hand_the_same_strength():
    random = np.random.default_rng(0)
    flops = canonical_boards(HOLDEM, 3)
    for _ in range(5):
        cards = random.permutation(52)[:5]
        row, renaming = (found[0] for found in flops.find(cards[None, :3]))
        moved = flops.hand_maps[renaming]
        keys = format_strengths(Format("flop only", HOLDEM.deck, 2, (3,)), [int(card) for card in cards[:3]])
        there = format_strengths(Format("flop only", HOLDEM.deck, 2, (3,)), [int(card) for card in flops.boards[row]])
        assert np.array_equal(keys, there[moved])


def test_other_formats_are_refused():
    with pytest.raises(SpecError, match="two hole cards"):
        River(rhode_island())
    uneven = Format("uneven", (0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13))
    with pytest.raises(SpecError, match="different ranks"):
        canonical_boards(uneven, 3)
