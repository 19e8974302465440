"""The counts that ship: against boards gone through again, and against each other."""

import numpy as np
import pytest

from treeplex.holdem.cards.canonical import canonical_boards
from treeplex.holdem.cards.cards import CLASSES, HAND_CLASSES, HANDS, parse_cards
from treeplex.holdem.cards.class_equities import FILE, class_equities, counted, pairs_of_classes
from treeplex.holdem.cards.evaluator import strengths
from treeplex.holdem.cards.format import HOLDEM


@pytest.mark.slow
def test_one_board_against_every_pair_of_hands():
    board = parse_cards("Td9d6hQc2s")
    margins = counted(np.array([board], np.uint8), np.array([1]))
    keys = strengths(board, HANDS)
    free = np.flatnonzero(keys >= 0)
    apart = ~(HANDS[free][:, None, :, None] == HANDS[free][None, :, None, :]).any(axis=(2, 3))
    signs = np.sign(keys[free][:, None] - keys[free][None, :]) * apart
    wanted = np.zeros((169, 169), np.int64)
    np.add.at(wanted, (HAND_CLASSES[free][:, None], HAND_CLASSES[free][None, :]), signs)
    np.testing.assert_array_equal(margins, wanted)


def test_pairs_of_hands():
    apart = ~(HANDS[:, None, :, None] == HANDS[None, :, None, :]).any(axis=(2, 3))
    wanted = np.zeros((169, 169))
    np.add.at(wanted, (HAND_CLASSES[:, None], HAND_CLASSES[None, :]), apart)
    np.testing.assert_array_equal(pairs_of_classes(), wanted)


def test_tables():
    tables = class_equities()
    assert tables.pairs.sum() == 1326 * 1225
    np.testing.assert_allclose(tables.equity + tables.equity.T, 1)
    aces, kings, deuces, king = (CLASSES.index(name) for name in ("AA", "KK", "22", "AKo"))
    assert 100 * tables.equity[aces, kings] == pytest.approx(81.95, abs=0.005)
    assert 100 * tables.equity[king, deuces] == pytest.approx(47.35, abs=0.005)
    against_any = (tables.equity * tables.pairs).sum(axis=1) / tables.pairs.sum(axis=1)
    assert 100 * against_any[aces] == pytest.approx(85.20, abs=0.005)
    with pytest.raises(ValueError, match="read-only"):
        tables.equity[0, 0] = 1


@pytest.mark.slow
def test_the_file_is_what_every_board_gives():
    boards = canonical_boards(HOLDEM, 5)
    margins = counted(boards.boards, boards.weights)
    with np.load(FILE) as file:
        np.testing.assert_array_equal(file["margins"], margins[np.triu_indices(169, 1)])
