"""Leaf values at the start of a hold'em street from a network over single hands: inputs of each hand, and the leaf function.

A network for all hands at once would have 1,326 inputs per player. This network evaluates one hand at a time from
suit-independent features: its equity against the opponent's range, its position in its own range, its blockers, and summaries
of both ranges. The output is added to the hand's value at a showdown without further bets.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import islice
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints, Shorts, Singles
from treeplex.errors import AlgorithmError
from treeplex.holdem.betting.tree import Showdown
from treeplex.holdem.cards.cards import cards_to_string
from treeplex.holdem.cards.evaluator import format_strengths
from treeplex.holdem.cards.format import Format
from treeplex.holdem.engine.showdowns.hand_features import (
    INPUTS,
    STATIC,
    equities,
    static_features,
    write_rows,
    write_rows_of_ranges,
)
from treeplex.holdem.forms.boards import deals
from treeplex.holdem.forms.suit_symmetry import IDENTITY, Hands, symmetries_of
from treeplex.holdem.rules.features import stacks_in_pots
from treeplex.holdem.search.leaves.all_ins import AllIns, all_ins
from treeplex.holdem.search.subgames.subgame import HoldemPlaces
from treeplex.holdem.spots.spot import Spot
from treeplex.search.leaf import SingleEntryCache
from treeplex.search.subgames.subgame import Places, Ranges

MOST_PARTS = 13
"""Maximum number of parts of the next street's cards; more would leave some without cards."""
Function = Callable[[Singles], Singles]
"""Maps rows of hands, float32 [n, INPUTS], to their values over the showdown, in pots, float32 [n, 1]."""


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
        """The opponent's compatible reach, and the equity against it, for both players' hands, float64 [..., 2, n] each.

        Args:
            reach: float64 [..., 2, H], both players' reach, any scale.
            step: use only every ``step``-th of all complete boards.
        """
        step, shape = max(step // self.every, 1), (*reach.shape[:-1], len(self.held))
        against = np.ascontiguousarray(reach[..., ::-1, :]).reshape(-1, reach.shape[-1])
        mass, equity = np.empty((2, len(against), len(self.held)))
        cards = cards_of(self.format)
        equities(against, self.order, self.start, self.sizes, self.held, cards, step, self.runouts, mass, equity)
        return mass.reshape(shape), equity.reshape(shape)

    def rows(self, reach: Floats, mass: Floats, equity: Floats, look: Floats, player: int) -> Singles:
        """Network inputs for each hand of a player, float32 [n, INPUTS]; ``look`` is returned by :meth:`look`."""
        rows = np.empty((len(self.held), INPUTS), np.float32)
        write_rows(reach, self.held, cards_of(self.format), self.static, look, player, mass, equity, rows)
        return rows

    def rows_of_ranges(self, reach: Floats, mass: Floats, equity: Floats, looks: Floats) -> Singles:
        """Network inputs for each hand of both players in K situations, float32 [K, 2, n, INPUTS]."""
        rows, owners = np.empty((len(reach), 2, len(self.held), INPUTS), np.float32), np.arange(2)
        write_rows_of_ranges(reach, self.held, cards_of(self.format), self.static, looks, owners, mass, equity, rows)
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


def zero_sum(worth: Floats, reach: Floats, mass: Floats) -> Floats:
    """Make the players' hand values zero-sum by subtracting half of the sum of their expected values (Moravčík et al. 2017,
    DeepStack).

    Args:
        worth: float64 [..., 2, n], hand values.
        reach, mass: float64 [..., 2, n], each hand's own reach and the opponent's compatible reach.
    """
    met = reach * mass
    total, surplus = met[..., 0, :].sum(axis=-1), (met * worth).sum(axis=(-2, -1))
    return np.asarray(worth - 0.5 * np.divide(surplus, total, out=np.zeros_like(total), where=total > 0)[..., None, None])


def part_of(card: int, parts: int) -> int:
    """The part of the deck that a card is in; every part has about the same number of cards of each rank and suit."""
    return ((card >> 2) + (card & 3)) % parts


@dataclass(frozen=True, eq=False)
class LaterBoard:
    """A board dealt after some leaves.

    Attributes:
        places: int64 [L], indices of the places.
        shown: bool [L], places where both players are all-in.
        chips: the pot and the stack behind at each place.
        chance: probability of the deal given both hands.
        cards: the board, representing its class of isomorphic boards.
        held: int16 [n], the included hands that it allows.
        images: for each board of the class, itself first, int16 [n]: the image of each hand.
        make: creates the board, when it is first needed.
    """

    places: Ints
    shown: NDArray[np.bool_]
    chips: list[tuple[float, float]]
    chance: float
    cards: tuple[int, ...]
    held: Shorts
    images: list[Shorts]
    make: Callable[[], HandBoard]

    @cached_property
    def board(self) -> HandBoard:
        """The board, with its hands by strength."""
        return self.make()

    @cached_property
    def looks(self) -> Floats:
        """See :meth:`HandBoard.look`, float64 [L, 3]."""
        return np.array([self.board.look(pot, stack) for pot, stack in self.chips])

    @cached_property
    def pots(self) -> Floats:
        """Each place's pot times the probability of the deal, float64 [L]."""
        return self.chance * np.array([pot for pot, _ in self.chips])


class LaterPlay(NamedTuple):
    """Boards and all-ins below some leaves.

    Attributes:
        boards: boards with further betting.
        shown: indices of the places with both players all-in, and their hand values, if these are exact.
        scales: for each part of the boards float64 [K, H], see :func:`part_scale`.
    """

    boards: list[LaterBoard]
    shown: list[tuple[int, AllIns]]
    scales: list[Floats]


def part_scale(part: int, parts: int, boards: Sequence[LaterBoard], shape: tuple[int, ...]) -> Floats:
    """Factor from the sum over a part of the boards to an estimate over all, by the number of boards that each hand allows.

    Args:
        part, parts: the part, and the number of parts.
        boards: all boards.
        shape: the shape [K, H] of the result.
    """
    counts = np.zeros((2, *shape))
    for below in boards:
        counts[int(part_of(below.cards[-1], parts) != part)][np.ix_(below.places, below.held)] += 1
    return np.asarray(np.divide(counts.sum(axis=0), counts[0], out=np.ones(shape), where=counts[0] > 0))


class HandValues:
    """Leaf values at the start of a hold'em street, from a function of single hands; zero-sum on each board.

    All-in values are exact. With ``parts`` above 1 they are averages over the same boards as other values, since a matrix of
    all pairs of hands takes longer than many evaluations.

    Attributes:
        function: values of hands over the showdown, see :data:`Function`; None for the showdown without further betting.
        step: equities use every ``step``-th complete board; preflop, only those are stored.
        every: number of iterations of an alternating search for which values are kept, though still weighted by the current
            policies; 0 for new values at each player's update.
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
        every: int = 0,
        symmetric: bool = False,
        parts: int = 1,
        threads: int = 1,
    ) -> None:
        if parts > 1 and symmetric:
            raise AlgorithmError(
                "'symmetric' needs all cards of the next street in each evaluation; use parts=1 or symmetric=False"
            )
        if parts > MOST_PARTS:
            raise AlgorithmError(f"parts is {parts}, which leaves parts without cards; use at most {MOST_PARTS}")
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
        if self._places is not places:
            self._places, self._calls, self._fresh = places, 0, 0
        if player is None or not self.every:
            return self.fresh(places, believed)
        if self._calls % (2 * self.every) == 0 or self.kept is None:
            self.kept = self.fresh(places, believed)
        self._calls += 1
        return self.kept

    def keep(self, places: HoldemPlaces, values: Ranges, iterations: int) -> None:
        """Restore the cached values of a search that is resumed after ``iterations`` iterations."""
        self._places, self.kept, self._calls = places, values, 2 * iterations

    def whole(self) -> "HandValues":
        """A copy that averages over all cards of the next street; boards prepared so far are shared."""
        found = copy(self)
        found.parts = 1
        return found

    def fresh(self, places: HoldemPlaces, believed: Ranges) -> Ranges:
        """Compute new values, float64 [K, H] for each player."""
        following = self._prepared(places)
        values = tuple(np.zeros_like(reach) for reach in believed)
        for index, shown in following.shown:
            pot, _ = self._chips(places, index)
            for owner in (0, 1):
                against = believed[1 - owner][index, shown.held].astype(np.float32)
                values[owner][index, shown.held] = pot * (shown.edges @ against)
        boards = following.boards
        if self.parts > 1:
            part, self._fresh = self._fresh % self.parts, self._fresh + 1
            boards = [below for below in boards if part_of(below.cards[-1], self.parts) == part]
        self._add_boards(places, boards, believed, values)
        if self.parts > 1:
            for owner in (0, 1):
                values[owner][...] *= following.scales[part]
        for owner in (0, 1):
            mass = places.opposing(believed, owner)
            values[owner][...] = np.divide(values[owner], mass, out=np.zeros_like(mass), where=mass > 0)
        return values

    def _add_boards(self, places: HoldemPlaces, boards: list[LaterBoard], believed: Ranges, values: Ranges) -> None:
        """Add the values of boards, weighted by their probability."""

        def shares(below: LaterBoard) -> tuple[Ints, Floats]:
            return self._shares(places, below, believed)

        if self.threads > 1:
            with ThreadPoolExecutor(self.threads) as pool:
                found = list(pool.map(shares, boards))
        else:
            found = list(map(shares, boards))
        for below, (reached, worth) in zip(boards, found, strict=True):
            for image in below.images:
                for owner in (0, 1):
                    values[owner][np.ix_(reached, image)] += worth[:, owner]

    def _shares(self, places: HoldemPlaces, below: LaterBoard, believed: Ranges) -> tuple[Ints, Floats]:
        """Values on a board, weighted by its probability, with one call of the function.

        Returns:
            The L places that are reached, and their values, float64 [L, 2, n].
        """
        board = below.board
        reach = np.stack([player_reach[below.places] for player_reach in believed], axis=1)
        open_to = reach.any(axis=(1, 2))
        reach = reach[open_to]
        for place, absent in np.argwhere(~reach.any(axis=2)):  # a player with zero reach has its starting range
            reach[place, absent] = places.game.spot.ranges[absent]
        mass, equity = board.equities(reach, step=self.step)
        worth = equity - 0.5
        bets = ~below.shown[open_to]
        if self.function is not None and bets.any():
            rows = board.rows_of_ranges(reach[bets], mass[bets], equity[bets], below.looks[open_to][bets])
            worth[bets] += self.function(rows.reshape(-1, INPUTS)).reshape(rows.shape[:-1])
        worth = zero_sum(worth, reach[:, :, board.held], mass)
        return below.places[open_to], below.pots[open_to, None, None] * mass * worth

    @staticmethod
    def _chance(places: HoldemPlaces, board: tuple[int, ...]) -> float:
        """The probability of the deal that leads to a board, given both hands."""
        form, before = places.game.spot.format, len(places.states[0].board)
        return 1.0 / comb(len(form.deck) - before - 2 * form.hole, len(board) - before)

    @staticmethod
    def _chips(places: HoldemPlaces, index: int) -> tuple[float, float]:
        """The pot at a leaf, and the smaller of the stacks behind."""
        paid = np.array(places.game.event(places.states[index]).contributions, np.float64)
        return float(paid.sum()), float(places.game.spot.pot / 2 + places.game.spot.stack - paid.max())

    def _following(self, places: Places) -> LaterPlay:
        """The boards and all-ins below each leaf."""
        if not isinstance(places, HoldemPlaces):
            raise AlgorithmError(f"this leaf supports hold'em, not states of a {type(places.game).__name__}")
        spot, later = places.game.spot, LaterPlay([], [], [])
        wanted = (spot.ranges[0] > 0) | (spot.ranges[1] > 0)
        if spot.rake.rate:
            raise AlgorithmError("this leaf does not support rake; leave the rake out, or use ExactLeaf")
        betting: dict[tuple[int, ...], list[int]] = {}
        shown: dict[tuple[int, ...], AllIns] = {}
        for index, state in enumerate(places.states):
            if isinstance(places.game.event(state), Showdown) and self.parts == 1:
                if state.board not in shown:
                    shown[state.board] = all_ins(spot.format, state.board, wanted)
                later.shown.append((index, shown[state.board]))
                continue
            betting.setdefault(state.board, []).append(index)
        for before, indices in betting.items():
            chips = [self._chips(places, index) for index in indices]
            ends = np.array([isinstance(places.game.event(places.states[index]), Showdown) for index in indices])
            for cards, held, images in self._deals(spot, before, wanted):
                every = 1 if before else self.step
                make = partial(HandBoard.of, spot.format, cards, wanted, every=every)
                chance = self._chance(places, cards)
                later.boards.append(LaterBoard(np.array(indices), ends, chips, chance, cards, held, images, make))
        if self.parts > 1:
            shape = len(places.states), places.widths[0]
            later.scales.extend(part_scale(part, self.parts, later.boards, shape) for part in range(self.parts))
        return later

    def _deals(
        self, spot: Spot, board: tuple[int, ...], wanted: NDArray[np.bool_]
    ) -> list[tuple[tuple[int, ...], Shorts, list[Shorts]]]:
        """The boards that can follow a board, one per isomorphism class if that is valid, their hands and images."""
        hands, boards = Hands(spot), []
        symmetries = symmetries_of(spot, hands) if self.symmetric and board == spot.board else [IDENTITY]
        for dealt, copies, _ in deals(spot, board, symmetries, spot.format.deal[spot.format.street(board) + 1]):
            held = hands_on(spot.format, (*board, *dealt))
            held = held[wanted[held]]
            boards.append(((*board, *dealt), held, [np.asarray(hands.map(copy)[held], np.int16) for copy in copies]))
        return boards
