"""What players tell apart, as rows of tables: their bucket of a street, all buckets so far, or every hand on every board."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from math import comb, prod
from operator import mul
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Ints
from treeplex.engine.betting.sampling import BoardHands
from treeplex.errors import SpecError
from treeplex.games.card_game import CardGame
from treeplex.holdem.buckets.buckets import Buckets, Places, boards_after, placed
from treeplex.holdem.cards.evaluator import format_strengths
from treeplex.holdem.cards.format import Format
from treeplex.holdem.cards.strength import River

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
class BucketRows:
    """Buckets, and whether earlier ones are remembered.

    Attributes:
        buckets: of every hand.
        recall: whether players remember the buckets of earlier streets; else only the present one is known.
    """

    buckets: Buckets
    recall: bool

    @property
    def counts(self) -> tuple[int, ...]:
        """How many rows there are on each street."""
        return bucket_counts(self.buckets.plan.counts, self.recall)

    @property
    def about(self) -> Mapping[str, Any]:
        """See :class:`CardRows`."""
        plan = self.buckets.plan
        return {"counts": plan.counts, "method": plan.method, "recall": self.recall}

    @property
    def identity(self) -> str:
        """See :class:`CardRows`."""
        return self.buckets.identity

    @cached_property
    def _river(self) -> River:
        return River(self.buckets.strengths.format)

    @cached_property
    def _sequences(self) -> NDArray[np.int32]:
        return np.empty(len(self.buckets.strengths.format.hands), np.int32)

    def boards(self, start: tuple[int, ...], count: int, random: np.random.Generator) -> Places:
        """See :class:`CardRows`; those that begin with cards all of them, each once, where there are no more than ``count``."""
        return boards_after(self.buckets.strengths, start, count, random)

    def on_board(self, boards: Places, number: int) -> BoardHands:
        """See :class:`CardRows`."""
        counts, sequences = self.buckets.plan.counts, self._sequences
        keys, wins = self._river(boards.boards[number])
        self.buckets.sequences(boards, number, (keys, wins), sequences)
        tails = np.array([prod(counts[street + 1 :]) for street in range(len(counts))], np.int32)
        rows = sequences // tails[:, None]
        if not self.recall:
            rows %= np.array(counts, np.int32)[:, None]
        return BoardHands(np.where(sequences < 0, np.int32(-1), rows), keys.copy(), self._river.hands)

    def at(self, board: tuple[int, ...]) -> Ints:
        """See :class:`CardRows`."""
        buckets, format = self.buckets, self.buckets.strengths.format
        street = format.street(board)
        left = format.cards_left(board)
        whole = np.array([*board, *left][: format.board_size], np.int64)  # cards to come do not matter before the river
        places = placed(buckets.strengths, whole[None])
        wins = River(format)(whole)[1] if street == 3 else np.zeros(len(format.hands), np.uint16)
        rows = np.zeros(len(format.hands), np.int64)
        for each in range(street + 1) if self.recall else (street,):
            groups = rows if buckets.plan.nested else 0
            rows = rows * buckets.plan.counts[each] + buckets.tables[each][groups, buckets.codes_on(each, places, 0, wins)]
        return rows


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
    def of_format(cls, form: Format) -> "HandRows":
        """The rows of poker's hands.

        Raises:
            SpecError: too many.
        """
        found = cls(form.deck, form.deal, form.hands, lambda board: format_strengths(form, board), form.name)
        found.check()
        return found

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


def bucket_counts(counts: Sequence[int], recall: bool) -> tuple[int, ...]:
    """Rows of each street: its buckets, or all sequences of buckets up to it."""
    return tuple(prod(counts[: street + 1]) if recall else count for street, count in enumerate(counts))


@lru_cache(maxsize=4096)
def hands_on_board(rows: HandRows, board: tuple[int, ...]) -> BoardHands:
    """The hands on a complete board."""
    blocked = np.isin(rows.hands, board).any(axis=1)
    keys = np.where(blocked, -1, rows.strengths(board)).astype(np.int32)
    numbers = np.stack([rows.at(board[:size]) for size in accumulate(rows.deal)])
    return BoardHands(np.where(blocked, -1, numbers).astype(np.int32), keys, rows.hands.astype(np.uint8))
