"""Hands in order of strength beside the strengths of each board."""

from itertools import islice

import numpy as np
import pytest

from treeplex.holdem.cards.evaluator import format_strengths
from treeplex.holdem.cards.format import HOLDEM, Format, small
from treeplex.holdem.cards.hand_order import hand_order


@pytest.mark.parametrize("format", [HOLDEM, small(ranks=5, suits=3, hole=1, deal=(0, 1, 1), ranking="three")])
def test_hands_are_ordered_by_strength_on_each_board(format: Format) -> None:
    boards = [*islice(format.complete_boards(()), 0, None, 400_000 if format == HOLDEM else 7)]
    held = np.arange(1, len(format.hands), 2, dtype=np.int16)
    found = hand_order(format, boards, held, format.hands[held])
    for board, order, start, size in zip(boards, *found, strict=True):
        strength = format_strengths(format, board)
        hands = order[:size].astype(int)
        assert sorted(hands) == [hand for hand in held if strength[hand] >= 0]
        assert (np.diff(strength[hands]) >= 0).all()
        np.testing.assert_array_equal(start[:size], np.searchsorted(strength[hands], strength[hands]))
        ties = np.diff(strength[hands]) == 0
        assert (np.diff(hands)[ties] > 0).all()
