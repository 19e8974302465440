"""Rows up to suits: two pairs of hand and board share a row if and only if a renaming of suits maps one to the other."""

from collections import defaultdict
from itertools import combinations, pairwise, permutations

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import SpecError
from treeplex.holdem.buckets.canonical_rows import CanonicalRows
from treeplex.holdem.cards.format import HOLDEM, Format
from treeplex.holdem.whole.public import PublicHoldem


def format_of(text: str) -> Format:
    """The format of a game."""
    public = tp.load(f"holdem({text},stack=20,sizes=[a])").public
    assert isinstance(public, PublicHoldem)
    return public.rules.format


def class_of(hand: tuple[int, ...], streets: tuple[tuple[int, ...], ...], suits: int) -> tuple[tuple[int, ...], ...]:
    """The smallest image of a hand and a board, by trying all renamings."""
    images = []
    for image in permutations(range(suits)):
        renamed = [tuple(sorted((card & ~3) | image[card & 3] for card in cards)) for cards in (*streets, hand)]
        images.append(tuple(renamed))
    return min(images)


@pytest.mark.parametrize(
    ("text", "suits"), [("ranks=3,suits=3,hole=2,deal=[0;2]", 3), ("ranks=3,suits=4,hole=1,deal=[0;1;1]", 4)]
)
def test_rows_are_classes(text: str, suits: int) -> None:
    form = format_of(text)
    rows, rows_of, classes_of = CanonicalRows.of_format(form), defaultdict(set), defaultdict(set)
    for street, size in enumerate(form.board_sizes):
        for cards in combinations(form.deck, size):
            board = cards if size < 2 or form.deal[street] > 1 else tuple(reversed(cards))
            ends = (0, *form.board_sizes[: street + 1])
            streets = tuple(tuple(board[start:end]) for start, end in pairwise(ends))
            numbers = rows.at(board)
            for hand, number in zip(form.hands.tolist(), numbers.tolist(), strict=True):
                if not set(hand) & set(board):
                    name = class_of(tuple(hand), streets, suits)
                    rows_of[street, name].add(number)
                    classes_of[street, number].add(name)
                    assert 0 <= number < rows.counts[street]
    assert all(len(found) == 1 for found in rows_of.values())
    assert all(len(found) == 1 for found in classes_of.values())
    assert rows.counts[0] == len(form.hands)


def test_a_deck_without_symmetry_keeps_every_suit() -> None:
    form = Format("uneven", (0, 1, 4, 5, 9), hole=1, deal=(0, 1))
    rows = CanonicalRows.of_format(form)
    assert len(rows.renamings) == 1
    assert rows.counts == (5, 25)
    assert len(np.unique(rows.at(()))) == 5


def test_too_many_rows_are_refused_at_once() -> None:
    with pytest.raises(SpecError, match="give buckets"):
        CanonicalRows.of_format(HOLDEM)
