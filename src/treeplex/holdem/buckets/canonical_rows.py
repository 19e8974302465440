"""Table rows for decks without buckets: one row for all pairs of a hand and a board that differ only in their suits.

Hands and boards have a canonical form (Waugh 2013, "A Fast and Optimal Hand Isomorphism Algorithm"). For small decks the
canonical boards of each street are simply listed.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, combinations, pairwise, permutations
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Ints
from treeplex.games.betting.hand_rows import HandRows
from treeplex.holdem.cards.evaluator import format_strengths
from treeplex.holdem.cards.format import Format

CARDS = 52


@dataclass(frozen=True, eq=False)
class CanonicalRows(HandRows):
    """One row per hand and board, up to suits; the order of cards within a street is ignored."""

    @classmethod
    def of_format(cls, form: Format) -> "CanonicalRows":
        """Return the rows for a format.

        Raises:
            SpecError: there are too many rows.
        """
        rows = cls(form.deck, form.deal, form.hands, lambda board: format_strengths(form, board), form.name)
        rows.check()
        return rows

    @property
    def least_rows(self) -> int:
        """See :meth:`HandRows.least_rows`."""
        return prod(comb(len(self.deck), shown) for shown in self.deal) * len(self.hands) // len(self.renamings)

    @cached_property
    def renamings(self) -> Ints:
        """All renamings of suits that map the deck to itself, int64 [P, 52]: the image of each card."""
        ranks = [{card >> 2 for card in self.deck if card & 3 == suit} for suit in range(4)]
        valid = [image for image in permutations(range(4)) if all(ranks[new] == ranks[old] for old, new in enumerate(image))]
        cards = np.arange(CARDS)
        images = {tuple(((cards & ~3) | np.array(image)[cards & 3])[list(self.deck)].tolist()): image for image in valid}
        return np.stack([(cards & ~3) | np.array(image)[cards & 3] for image in images.values()])

    @cached_property
    def images(self) -> Ints:
        """The image of each hand under each renaming, int64 [P, H]."""
        hands, index = self.hands, np.zeros((CARDS, CARDS), np.int64)
        index[hands[:, 0], hands[:, -1]] = index[hands[:, -1], hands[:, 0]] = np.arange(len(hands))
        renamed = self.renamings[:, hands]
        return index[renamed[..., 0], renamed[..., -1]]

    @cached_property
    def canonical_boards(self) -> tuple[NDArray[np.int64], ...]:
        """Sorted keys of the canonical boards of each street, see :meth:`keys`."""
        boards, found = np.zeros((1, 0), np.int64), []
        for shown in self.deal:
            more = np.array(list(combinations(self.deck, shown)), np.int64)
            longer = np.concatenate([np.repeat(boards, len(more), axis=0), np.tile(more, (len(boards), 1))], axis=1)
            cards = np.sort(longer, axis=1)
            longer = longer[(cards[:, 1:] != cards[:, :-1]).all(axis=1)]
            keys, first = np.unique(self.keys(longer).min(axis=0), return_index=True)
            boards = longer[first]
            found.append(keys)
        return tuple(found)

    def keys(self, boards: Ints) -> Ints:
        """A number for each image of each board, int64 [P, B], equal for boards with the same cards on each street."""
        images, keys = self.renamings[:, boards], np.zeros((len(self.renamings), len(boards)), np.int64)
        for start, end in pairwise([0, *accumulate(self.deal)]):
            if end <= boards.shape[1]:
                for card in np.moveaxis(np.sort(images[..., start:end], axis=-1), -1, 0):
                    keys = keys * (CARDS + 1) + card + 1
        return keys

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Number of rows on each street: canonical boards times hands."""
        return tuple(len(keys) * len(self.hands) for keys in self.canonical_boards)

    @property
    def identity(self) -> str:
        """How the rows are numbered: isomorphic boards share theirs."""
        return "canonical suits"

    def at(self, board: tuple[int, ...]) -> Ints:
        """Return the row of every hand on a board, int64 [H]; see :class:`treeplex.games.betting.hand_rows.CardRows`."""
        keys = self.keys(np.array(board, np.int64)[None])[:, 0]
        street = list(accumulate(self.deal)).index(len(board))
        number = int(np.searchsorted(self.canonical_boards[street], keys.min()))
        return np.asarray(number * len(self.hands) + self.images[keys == keys.min()].min(axis=0))
