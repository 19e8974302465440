"""Leaf values at the start of a hold'em street from a network over single hands: inputs of each hand, and the leaf function.

A network for all hands at once would have 1,326 inputs per player. This network evaluates one hand at a time from
suit-independent features: its equity against the opponent's range, its position in its own range, its blockers, and summaries
of both ranges. The output is added to the hand's value at a showdown without further bets.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, islice
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Shorts, Singles
from treeplex.errors import AlgorithmError
from treeplex.holdem.betting.tree import Showdown
from treeplex.holdem.cards.cards import cards_to_string
from treeplex.holdem.cards.evaluator import format_strengths
from treeplex.holdem.cards.format import Format
from treeplex.holdem.engine.showdowns.hand_features import INPUTS, STATIC, equities, static_features, write_rows
from treeplex.holdem.forms.boards import deals
from treeplex.holdem.forms.suit_symmetry import IDENTITY, Hands, symmetries_of
from treeplex.holdem.rules.features import stacks_in_pots
from treeplex.holdem.search.leaves.all_ins import AllIns, all_ins
from treeplex.holdem.search.subgames.subgame import HoldemPlaces
from treeplex.holdem.spots.spot import Spot
from treeplex.search.leaf import SingleEntryCache
from treeplex.search.subgames.subgame import Places, Ranges

Function = Callable[[Singles], Singles]
"""Maps rows of hands, float32 [n, INPUTS], to their values over the showdown, in pots, float32 [n, 1]."""
TOGETHER = 64
"""Number of boards per call of the function."""
Share = tuple["LaterBoard", int, Floats]
"""A board below a place, a player, and the values of its hands on that board, weighted by the board's probability."""


@dataclass(frozen=True, eq=False)
class HandBoard:
    """A board of three to five cards, its n hands, and R of the complete boards that can follow.

    Attributes:
        format: the format, with two hole cards.
        cards: the board.
        held: int16 [n], the included hands that the board allows.
        order, start: int16 [R, N], these hands by strength on each complete board, and the first that ties with each.
        sizes: int16 [R], number of hands on each complete board.
        static: float64 [n, STATIC], see :data:`treeplex.holdem.engine.showdowns.hand_features.STATIC`.
        every: the R boards are every ``every``-th complete board.
    """

    format: Format
    cards: tuple[int, ...]
    held: Shorts
    order: Shorts
    start: Shorts
    sizes: Shorts
    static: Floats
    every: int = 1

    @classmethod
    def of(
        cls, format: Format, board: tuple[int, ...], wanted: NDArray[np.bool_] | None = None, *, every: int = 1
    ) -> "HandBoard":
        """Sort the hands on complete boards by strength.

        Args:
            format: the format.
            board: three to five cards.
            wanted: bool [H], the hands that ranges may have; None for all.
            every: keep only every ``every``-th complete board, since a flop has many.

        Raises:
            AlgorithmError: hands without two cards, or a preflop board.
        """
        if format.hole != 2 or len(board) < 3:
            raise AlgorithmError(
                f"values of two-card hands need at least a flop; the board is {cards_to_string(board) or 'empty'}"
            )
        held, ordered = hands_on(format, board), []
        for whole in islice(format.complete_boards(board), 0, None, every):
            hands = hands_on(format, whole)
            strength = np.asarray(format_strengths(format, whole, format.hands[hands]), np.int64)
            by_strength = np.argsort(strength, kind="stable")
            ordered.append((hands[by_strength], strength[by_strength]))
        order, start, _ = tables(ordered)
        static = np.empty((len(held), STATIC))
        static_features(order, start, held, cards_of(format), static)
        if wanted is not None:
            ordered = [(hands[wanted[hands]], strength[wanted[hands]]) for hands, strength in ordered]
            held, static = held[wanted[held]], static[wanted[held]]
        return cls(format, board, held, *tables(ordered), static, every)

    @cached_property
    def runouts(self) -> float:
        """Expected number of the R complete boards that remain possible given both hands."""
        more, left = sum(self.format.deal) - len(self.cards), len(self.format.deck) - len(self.cards)
        return comb(left - 2 * self.format.hole, more) * len(self.order) / comb(left, more)

    def look(self, pot: float, stack: float) -> Floats:
        """Network inputs about the situation, float64 [3]: logarithm of the stack-to-pot ratio, most board cards of one suit
        minus two, and 1 if the board is paired."""
        suits = max(sum(card & 3 == suit for card in self.cards) for suit in range(4))
        paired = len({card >> 2 for card in self.cards}) < len(self.cards)
        return np.array([stacks_in_pots(stack, pot), suits - 2.0, float(paired)])

    def equities(self, reach: Floats, *, step: int = 1) -> tuple[Floats, Floats]:
        """The opponent's compatible reach, and the equity against it, for both players' hands, float64 [2, n] each.

        Args:
            reach: float64 [2, H], both players' reach, any scale.
            step: use only every ``step``-th of all complete boards.
        """
        step = max(step // self.every, 1)
        mass, equity = np.empty((2, len(self.held))), np.empty((2, len(self.held)))
        for player in (0, 1):
            against = np.ascontiguousarray(reach[1 - player])
            where = mass[player], equity[player]
            equities(against, self.order, self.start, self.sizes, self.held, cards_of(self.format), step, self.runouts, *where)
        return mass, equity

    def rows(self, reach: Floats, mass: Floats, equity: Floats, look: Floats, player: int) -> Singles:
        """Network inputs for each hand of a player, float32 [n, INPUTS]; ``look`` is returned by :meth:`look`."""
        rows = np.empty((len(self.held), INPUTS), np.float32)
        write_rows(reach, self.held, cards_of(self.format), self.static, look, player, mass, equity, rows)
        return rows


def tables(ordered: Sequence[tuple[NDArray[Any], NDArray[Any]]]) -> tuple[Shorts, Shorts, Shorts]:
    """The hands in order of strength, the first hand that each ties with, both [R, N], and the number of hands, [R]."""
    sizes = np.array([len(hands) for hands, _ in ordered], np.int16)
    order, start = np.zeros((2, len(ordered), int(sizes.max())), np.int16)
    for row, (hands, strength) in enumerate(ordered):
        order[row, : len(hands)] = hands
        start[row, : len(hands)] = np.searchsorted(strength, strength)
    return order, start, sizes


def hands_on(format: Format, board: tuple[int, ...]) -> Shorts:
    """The hands that a board allows, int16 [n]."""
    dead = np.zeros(52, bool)
    dead[list(board)] = True
    return np.flatnonzero(~dead[format.hands].any(axis=1)).astype(np.int16)


@lru_cache(maxsize=4)
def cards_of(format: Format) -> NDArray[np.uint8]:
    """The cards of each hand, uint8 [H, 2]."""
    return np.ascontiguousarray(format.hands, np.uint8)


def zero_sum(worth: tuple[Floats, Floats], reach: tuple[Floats, Floats], mass: Floats) -> tuple[Floats, Floats]:
    """Make the players' hand values [n] zero-sum by subtracting half of the sum of their expected values (Moravčík et al.
    2017, DeepStack).
    """
    met = [weights * seen for weights, seen in zip(reach, mass, strict=True)]
    total = float(met[0].sum())
    surplus = sum(float(weights @ value) for weights, value in zip(met, worth, strict=True)) / total if total > 0 else 0.0
    return worth[0] - 0.5 * surplus, worth[1] - 0.5 * surplus


def part_of(card: int, parts: int) -> int:
    """The part of the deck that a card is in; every part has about the same number of cards of each rank and suit."""
    return ((card >> 2) + (card & 3)) % parts


class LaterBoard(NamedTuple):
    """A board dealt after a leaf.

    Attributes:
        place: index of the place.
        board: the board, representing its class of isomorphic boards.
        images: for each board of the class, itself first, int16 [n]: the image of each hand.
    """

    place: int
    board: HandBoard
    images: list[Shorts]


class LaterPlay(NamedTuple):
    """Boards and all-ins below some leaves.

    Attributes:
        boards: boards with further betting.
        shown: indices of the places with both players all-in, and their hand values.
    """

    boards: list[LaterBoard]
    shown: list[tuple[int, AllIns]]


def scale_parts(part: Sequence[LaterBoard], boards: Sequence[LaterBoard], values: Ranges) -> None:
    """Scale sums over some of the boards to estimates over all, by the number of boards that each hand allows.

    Args:
        part: the boards summed over.
        boards: all boards.
        values: for each player float64 [K, H], changed in place.
    """
    counts = np.zeros((2, *values[0].shape))
    for count, some in zip(counts, (part, boards), strict=True):
        for below in some:
            count[below.place, below.board.held] += 1
    scale = np.divide(counts[1], counts[0], out=np.ones_like(counts[0]), where=counts[0] > 0)
    for own in values:
        own *= scale


class HandValues:
    """Leaf values at the start of a hold'em street, from a function of single hands; all-in values are exact.

    Attributes:
        function: values of hands over the showdown, see :data:`Function`; None for the showdown without further betting.
        step: equities use every ``step``-th complete board; preflop, only those are stored.
        every: from 2 on, both players' values are computed together, made zero-sum, and kept for ``every`` iterations of an
            alternating search; they are still weighted by the current policies.
        symmetric: whether isomorphic boards are evaluated once if the spot's board and ranges are symmetric; valid only for
            searches that start from those ranges.
        parts: each evaluation uses one of this many parts of the next street's cards, in turn; a part has all ranks and suits.
        threads: number of threads. Results do not depend on it.
        kept: the cached values; None before the first evaluation.
    """

    def __init__(
        self,
        function: Function | None,
        *,
        step: int = 1,
        every: int = 1,
        symmetric: bool = False,
        parts: int = 1,
        threads: int = 1,
    ) -> None:
        if parts > 1 and symmetric:
            raise AlgorithmError(
                "'symmetric' needs all cards of the next street in each evaluation; use parts=1 or symmetric=False"
            )
        self.function, self.step, self.every, self.symmetric = function, step, every, symmetric
        self.parts, self.threads, self._fresh = parts, threads, 0
        self._prepared: SingleEntryCache[Places, LaterPlay] = SingleEntryCache(self._following)
        self._calls = 0
        self._places: HoldemPlaces | None = None
        self.kept: Ranges | None = None

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        """Leaf values as defined by :class:`treeplex.search.leaf.LeafValue`: means over the next street's cards.

        Raises:
            AlgorithmError: the game is not hold'em, is preflop, or has rake.
        """
        assert isinstance(places, HoldemPlaces)
        if self.every < 2 or player is None:
            return self.fresh(places, believed, (0, 1) if player is None else (player,))
        if self._places is not places:
            self._places, self._calls = places, 0
        if self._calls % (2 * self.every) == 0 or self.kept is None:
            self.kept = self.fresh(places, believed, (0, 1))
        self._calls += 1
        return self.kept

    def keep(self, places: HoldemPlaces, values: Ranges, iterations: int) -> None:
        """Restore the cached values of a search that is resumed after ``iterations`` iterations."""
        self._places, self.kept, self._calls = places, values, 2 * iterations

    def fresh(self, places: HoldemPlaces, believed: Ranges, wanted: tuple[int, ...]) -> Ranges:
        """Compute new values for the ``wanted`` players, float64 [K, H] for each player; zeros for other players."""
        following = self._prepared(places)
        values = tuple(np.zeros_like(reach) for reach in believed)
        for index, shown in following.shown:
            pot, _ = self._chips(places, index)
            for owner in wanted:
                against = believed[1 - owner][index, shown.held].astype(np.float32)
                values[owner][index, shown.held] = pot * (shown.edges @ against)
        boards = following.boards
        if self.parts > 1:
            part, self._fresh = self._fresh % self.parts, self._fresh + 1
            boards = [below for below in boards if part_of(below.board.cards[-1], self.parts) == part]
        self._add_boards(places, boards, believed, wanted, values)
        if self.parts > 1:
            scale_parts(boards, following.boards, values)
        for owner in wanted:
            mass = places.opposing(believed, owner)
            values[owner][...] = np.divide(values[owner], mass, out=np.zeros_like(mass), where=mass > 0)
        return values

    def _add_boards(
        self, places: HoldemPlaces, boards: list[LaterBoard], believed: Ranges, wanted: tuple[int, ...], values: Ranges
    ) -> None:
        """Add the values of boards, weighted by their probability, in chunks that limit memory use."""
        chunks = [boards[first : first + TOGETHER] for first in range(0, len(boards), TOGETHER)]

        def shares(chunk: list[LaterBoard]) -> list[Share]:
            return self._shares(places, chunk, believed, wanted)

        if self.threads > 1:
            with ThreadPoolExecutor(self.threads) as pool:
                found = list(pool.map(shares, chunks))
        else:
            found = list(map(shares, chunks))
        for below, owner, worth in chain.from_iterable(found):
            for image in below.images:
                values[owner][below.place, image] += worth

    def _shares(self, places: HoldemPlaces, boards: list[LaterBoard], believed: Ranges, wanted: tuple[int, ...]) -> list[Share]:
        """Return the values of boards, weighted by their probability, with one call of the function."""
        pending: list[tuple[LaterBoard, float, Floats, Floats, Floats]] = []
        rows: list[Singles] = []
        for below in boards:
            place_index, board, _ = below
            reach = np.stack([believed_reach[place_index] for believed_reach in believed])
            if not reach.any():
                continue
            for absent in np.flatnonzero(
                ~reach.any(axis=1)
            ):  # a player with zero reach here is evaluated with its starting range
                reach[absent] = places.game.spot.ranges[absent]
            pot, stack = self._chips(places, place_index)
            mass, equity = board.equities(reach, step=self.step)
            pending.append((below, pot * self._chance(places, board), reach[:, board.held], mass, equity - 0.5))
            if self.function is not None:
                rows += [board.rows(reach, mass, equity, board.look(pot, stack), owner) for owner in wanted]
        over = self.function(np.concatenate(rows))[:, 0] if rows and self.function is not None else np.zeros(0, np.float32)
        first, shares = 0, list[Share]()
        for below, chips, reach, mass, worth in pending:
            if len(over):
                for owner in wanted:
                    worth[owner] += over[first : first + worth.shape[1]]
                    first += worth.shape[1]
            if self.every > 1:
                worth[0], worth[1] = zero_sum((worth[0], worth[1]), (reach[0], reach[1]), mass)
            shares += [(below, owner, chips * mass[owner] * worth[owner]) for owner in wanted]
        return shares

    @staticmethod
    def _chance(places: HoldemPlaces, board: HandBoard) -> float:
        """The probability of the deal that leads to a board, given both hands."""
        form, before = places.game.spot.format, len(places.states[0].board)
        return 1.0 / comb(len(form.deck) - before - 2 * form.hole, len(board.cards) - before)

    @staticmethod
    def _chips(places: HoldemPlaces, index: int) -> tuple[float, float]:
        """The pot at a leaf, and the smaller of the stacks behind."""
        paid = np.array(places.game.event(places.states[index]).contributions, np.float64)
        return float(paid.sum()), float(places.game.spot.pot / 2 + places.game.spot.stack - paid.max())

    def _following(self, places: Places) -> LaterPlay:
        """The boards and all-ins below each leaf."""
        if not isinstance(places, HoldemPlaces):
            raise AlgorithmError(f"this leaf supports hold'em, not states of a {type(places.game).__name__}")
        spot, later = places.game.spot, LaterPlay([], [])
        wanted = (spot.ranges[0] > 0) | (spot.ranges[1] > 0)
        if spot.rake.rate:
            raise AlgorithmError("this leaf does not support rake; leave the rake out, or use ExactLeaf")
        known: dict[tuple[int, ...], list[tuple[HandBoard, list[Shorts]]]] = {}
        shown: dict[tuple[int, ...], AllIns] = {}
        for index, state in enumerate(places.states):
            if isinstance(places.game.event(state), Showdown):
                if state.board not in shown:
                    shown[state.board] = all_ins(spot.format, state.board, wanted)
                later.shown.append((index, shown[state.board]))
                continue
            if state.board not in known:
                known[state.board] = self._deals(spot, state.board, wanted)
            later.boards.extend(LaterBoard(index, board, images) for board, images in known[state.board])
        return later

    def _deals(self, spot: Spot, board: tuple[int, ...], wanted: NDArray[np.bool_]) -> list[tuple[HandBoard, list[Shorts]]]:
        """The boards that can follow a board, one per isomorphism class if that is valid, and their images."""
        hands, boards = Hands(spot), []
        symmetries = symmetries_of(spot, hands) if self.symmetric and board == spot.board else [IDENTITY]
        for dealt, copies, _ in deals(spot, board, symmetries, spot.format.deal[spot.format.street(board) + 1]):
            made = HandBoard.of(spot.format, (*board, *dealt), wanted, every=1 if board else self.step)
            boards.append((made, [np.asarray(hands.map(copy)[made.held], np.int16) for copy in copies]))
        return boards
