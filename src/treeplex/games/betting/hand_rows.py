"""Card abstractions as table rows; in small decks every hand on every board has its own row."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from math import comb
from operator import mul
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Ints
from treeplex.engine.betting.sampling import BoardHands
from treeplex.errors import SpecError
from treeplex.games.card_game import CardGame

MOST_ROWS = 50_000_000
"""Largest number of hand-board pairs per street without abstraction."""


class CardRows(Protocol):
    """A card abstraction: maps hands on boards to table rows.

    Attributes:
        counts: number of rows on each street.
        about: how the rows were made, as stored in policy files.
        identity: equal for equal abstractions; empty if ``about`` determines the rows.
    """

    @property
    def counts(self) -> tuple[int, ...]: ...
    @property
    def about(self) -> Mapping[str, Any]: ...
    @property
    def identity(self) -> str: ...

    def __hash__(self) -> int: ...

    def boards(self, start: tuple[int, ...], count: int, random: np.random.Generator) -> Any:
        """Sample random complete boards that begin with ``start``, in the form that :meth:`on_board` takes."""
        ...

    def on_board(self, boards: Any, number: int) -> BoardHands:
        """Return the hands on one of the boards from :meth:`boards`."""
        ...

    def at(self, board: tuple[int, ...]) -> Ints:
        """Return the row of every hand on a board of any street, int64 [H]; arbitrary for blocked hands."""
        ...


@dataclass(frozen=True, eq=False)
class HandRows:
    """One row per hand and board, for small decks; the order of cards within a street is ignored.

    Attributes:
        deck: the cards.
        deal: number of public cards dealt before each street.
        hands: [H, C], the cards of each hand.
        strengths: maps a complete board to the strength of each hand, [H].
        name: the game's name, for errors.
    """

    deck: tuple[int, ...]
    deal: tuple[int, ...]
    hands: NDArray[np.integer[Any]]
    strengths: Callable[[tuple[int, ...]], NDArray[np.integer[Any]]]
    name: str

    @classmethod
    def of_game(cls, game: CardGame, name: str) -> "HandRows":
        """Return the rows for a card game.

        Raises:
            SpecError: there are too many rows.
        """
        deck = tuple(np.unique(game.hands).tolist())
        rows = cls(deck, game.deal, game.hands, game.strengths_on, name)
        rows.check()
        return rows

    def check(self) -> None:
        """Raise :class:`SpecError` if there are too many rows."""
        if (least := self.least_rows) > MOST_ROWS:
            raise SpecError(
                f"{self.name}: {least:,} hand-board pairs are too many without abstraction; give buckets, such as "
                f"169,50,50,50, or choose a smaller deck"
            )

    @property
    def least_rows(self) -> int:
        """Lower bound on the rows of the last street, computed without listing them."""
        return self.counts[-1]

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Number of rows on each street."""
        boards = accumulate((comb(len(self.deck), shown) for shown in self.deal), mul)
        return tuple(count * len(self.hands) for count in boards)

    @property
    def about(self) -> Mapping[str, Any]:
        """How the rows were made; see :class:`CardRows`."""
        return {"counts": [], "method": "", "recall": True}

    @property
    def identity(self) -> str:
        """Empty, because :attr:`about` determines the rows; see :class:`CardRows`."""
        return ""

    def boards(self, start: tuple[int, ...], count: int, random: np.random.Generator) -> list[tuple[int, ...]]:
        """Sample random complete boards that begin with ``start``; see :class:`CardRows`."""
        left = np.array([card for card in self.deck if card not in start])
        drawn = left[np.argsort(random.random((count, len(left))), axis=1)[:, : sum(self.deal) - len(start)]]
        return [(*start, *cards) for cards in drawn.tolist()]

    def on_board(self, boards: Sequence[tuple[int, ...]], number: int) -> BoardHands:
        """Return the hands on one of the sampled boards; see :class:`CardRows`."""
        sizes = list(accumulate(self.deal))
        cards = boards[number]
        streets = [tuple(sorted(cards[start:end])) for start, end in pairwise([0, *sizes])]
        return hands_on_board(self, tuple(card for street in streets for card in street))

    def at(self, board: tuple[int, ...]) -> Ints:
        """Return the row of every hand on a board, int64 [H]; see :class:`CardRows`."""
        places, number = {card: index for index, card in enumerate(self.deck)}, 0
        for start, end in pairwise([0, *accumulate(self.deal)]):
            if end <= len(board):
                shown = sorted(places[card] for card in board[start:end])
                number = number * comb(len(places), len(shown)) + sum(comb(card, k + 1) for k, card in enumerate(shown))
        return number * len(self.hands) + np.arange(len(self.hands))


@lru_cache(maxsize=4096)
def hands_on_board(rows: HandRows, board: tuple[int, ...]) -> BoardHands:
    """Return the hands on a complete board."""
    blocked = np.isin(rows.hands, board).any(axis=1)
    strengths = rows.strengths(board)
    keys = np.where(blocked, -1, strengths - min(int(strengths.min()), 0)).astype(np.int32)
    numbers = np.stack([rows.at(board[:size]) for size in accumulate(rows.deal)])
    return BoardHands(np.where(blocked, -1, numbers).astype(np.int32), keys, rows.hands.astype(np.uint8))
