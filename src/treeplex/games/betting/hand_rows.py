"""What players tell apart in card games, as rows of tables; where decks are small, every hand on every board is one."""

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
"""The most hands on boards of a street that are told apart one by one."""


class CardRows(Protocol):
    """Rows of tables.

    Attributes:
        counts: how many there are on each street.
        about: how they were made, as a policy's file has it.
        identity: equal for equal rows; empty where ``about`` says all.
    """

    @property
    def counts(self) -> tuple[int, ...]: ...
    @property
    def about(self) -> Mapping[str, Any]: ...
    @property
    def identity(self) -> str: ...

    def __hash__(self) -> int: ...

    def boards(self, start: tuple[int, ...], count: int, random: np.random.Generator) -> Any:
        """Random complete boards that begin with these cards, as :meth:`on_board` takes them; they have a length."""
        ...

    def on_board(self, boards: Any, number: int) -> BoardHands:
        """The hands on one of :meth:`boards`."""
        ...

    def at(self, board: tuple[int, ...]) -> Ints:
        """The row of every hand on a board of any street, int64 [H]; any for hands that the board blocks."""
        ...


@dataclass(frozen=True, eq=False)
class HandRows:
    """Every hand on every board by itself: for small decks. Of a street's cards the order does not matter.

    Attributes:
        deck: the cards.
        deal: how many are shown before each street.
        hands: [H, C], the cards of each hand.
        strengths: from a complete board to the strength of each hand, [H].
        name: what they are rows of.
    """

    deck: tuple[int, ...]
    deal: tuple[int, ...]
    hands: NDArray[np.integer[Any]]
    strengths: Callable[[tuple[int, ...]], NDArray[np.integer[Any]]]
    name: str

    @classmethod
    def of_game(cls, game: CardGame, name: str) -> "HandRows":
        """The rows of the hands of a card game.

        Raises:
            SpecError: too many.
        """
        deck = tuple(np.unique(game.hands).tolist())
        found = cls(deck, game.deal, game.hands, game.strengths_on, name)
        found.check()
        return found

    def check(self) -> None:
        """Raise :class:`SpecError` if there are too many."""
        if (most := self.counts[-1]) > MOST_ROWS:
            raise SpecError(
                f"{self.name}: {most:,} hands on boards are too many to tell apart; give buckets, such as 169,50,50,50, or "
                "take a smaller deck"
            )

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """How many rows there are on each street."""
        boards = accumulate((comb(len(self.deck), shown) for shown in self.deal), mul)
        return tuple(each * len(self.hands) for each in boards)

    @property
    def about(self) -> Mapping[str, Any]:
        """See :class:`CardRows`."""
        return {"counts": [], "method": "", "recall": True}

    @property
    def identity(self) -> str:
        """See :class:`CardRows`."""
        return ""

    def boards(self, start: tuple[int, ...], count: int, random: np.random.Generator) -> list[tuple[int, ...]]:
        """See :class:`CardRows`."""
        left = np.array([card for card in self.deck if card not in start])
        drawn = left[np.argsort(random.random((count, len(left))), axis=1)[:, : sum(self.deal) - len(start)]]
        return [(*start, *each) for each in drawn.tolist()]

    def on_board(self, boards: Sequence[tuple[int, ...]], number: int) -> BoardHands:
        """See :class:`CardRows`."""
        sizes = list(accumulate(self.deal))
        cards = boards[number]
        streets = [tuple(sorted(cards[start:end])) for start, end in pairwise([0, *sizes])]
        return hands_on_board(self, tuple(card for street in streets for card in street))

    def at(self, board: tuple[int, ...]) -> Ints:
        """See :class:`CardRows`."""
        places, number = {card: place for place, card in enumerate(self.deck)}, 0
        for start, end in pairwise([0, *accumulate(self.deal)]):
            if end <= len(board):
                shown = sorted(places[card] for card in board[start:end])
                number = number * comb(len(places), len(shown)) + sum(comb(card, k + 1) for k, card in enumerate(shown))
        return number * len(self.hands) + np.arange(len(self.hands))


@lru_cache(maxsize=4096)
def hands_on_board(rows: HandRows, board: tuple[int, ...]) -> BoardHands:
    """The hands on a complete board."""
    blocked = np.isin(rows.hands, board).any(axis=1)
    strengths = rows.strengths(board)
    keys = np.where(blocked, -1, strengths - min(int(strengths.min()), 0)).astype(np.int32)
    numbers = np.stack([rows.at(board[:size]) for size in accumulate(rows.deal)])
    return BoardHands(np.where(blocked, -1, numbers).astype(np.int32), keys, rows.hands.astype(np.uint8))
