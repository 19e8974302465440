"""Leaf values at the start of a hold'em street from a network over single hands: inputs of each hand, and the leaf function.

A network for all hands at once would have 1,326 inputs per player. This network evaluates one hand at a time from
suit-independent features: its equity against the opponent's range, its position in its own range, its blockers, and summaries
of both ranges. The output is added to the hand's value at a showdown without further bets.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints, Shorts, Singles
from treeplex.errors import AlgorithmError
from treeplex.holdem.betting.tree import Showdown
from treeplex.holdem.cards.cards import cards_to_string
from treeplex.holdem.cards.format import Format
from treeplex.holdem.cards.hand_order import hand_order
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
        held, boards = hands_on(format, board), [*islice(format.complete_boards(board), 0, None, every)]
        ordered = hand_order(format, boards, held, format.hands[held])
        static = np.empty((len(held), STATIC))
        static_features(ordered.order, ordered.start, held, cards_of(format), static)
        if wanted is not None and not wanted[held].all():
            held, static = held[wanted[held]], static[wanted[held]]
            ordered = hand_order(format, boards, held, format.hands[held])
        return cls(format, board, held, *ordered, static, every)

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


@dataclass(frozen=True, eq=False)
class LaterBoard:
    """A board dealt after some leaves.

    Attributes:
        places: int64 [L], indices of the places.
        chips: the pot and the stack behind at each place.
        chance: probability of the deal given both hands.
        board: the board, representing its class of isomorphic boards.
        images: for each board of the class, itself first, int16 [n]: the image of each hand.
    """

    places: Ints
    chips: list[tuple[float, float]]
    chance: float
    board: HandBoard
    images: list[Shorts]

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
        shown: indices of the places with both players all-in.
    """

    boards: list[LaterBoard]
    shown: list[int]


class HandValues:
    """Leaf values at the start of a hold'em street, from a function of single hands; zero-sum on each board.

    All-in values are exact.

    Attributes:
        function: values of hands over the showdown, see :data:`Function`; None for the showdown without further betting.
        step: equities use every ``step``-th complete board; preflop, only those are stored.
        every: number of iterations of an alternating search for which values are kept, though still weighted by the current
            policies; 0 for new values at each player's update.
        symmetric: whether isomorphic boards are evaluated once if the spot's board and ranges are symmetric; valid only for
            searches that start from those ranges.
        threads: number of threads. Results do not depend on it.
        kept: the cached values; None before the first evaluation.
    """

    def __init__(
        self, function: Function | None, *, step: int = 1, every: int = 0, symmetric: bool = False, threads: int = 1
    ) -> None:
        self.function, self.step, self.every, self.symmetric, self.threads = function, step, every, symmetric, threads
        self._prepared: SingleEntryCache[Places, LaterPlay] = SingleEntryCache(self._following)
        self._all_ins: SingleEntryCache[Places, dict[tuple[int, ...], AllIns]] = SingleEntryCache(all_ins_at)
        self._boards: dict[tuple[tuple[int, ...], bytes], list[tuple[HandBoard, list[Shorts]]]] = {}
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
            self._places, self._calls = places, 0
        if player is None or not self.every:
            return self.fresh(places, believed)
        if self._calls % (2 * self.every) == 0 or self.kept is None:
            self.kept = self.fresh(places, believed)
        self._calls += 1
        return self.kept

    def keep(self, places: HoldemPlaces, values: Ranges, iterations: int) -> None:
        """Restore the cached values of a search that is resumed after ``iterations`` iterations."""
        self._places, self.kept, self._calls = places, values, 2 * iterations

    def fresh(self, places: Places, believed: Ranges, *, all_ins: bool = True) -> Ranges:
        """Compute new values, float64 [K, H] for each player; without ``all_ins``, 0 where both players are all-in."""
        following = self._prepared(places)
        values = tuple(np.zeros_like(reach) for reach in believed)
        if following.shown and all_ins:
            assert isinstance(places, HoldemPlaces)
            by_board = self._all_ins(places)
            for index in following.shown:
                pot, _ = self._chips(places, index)
                shown = by_board[places.states[index].board]
                for owner in (0, 1):
                    against = believed[1 - owner][index, shown.held].astype(np.float32)
                    values[owner][index, shown.held] = pot * (shown.edges @ against)
        for below, (reached, worth) in zip(following.boards, self._all_shares(places, following, believed), strict=True):
            for image in below.images:
                for owner in (0, 1):
                    values[owner][np.ix_(reached, image)] += worth[:, owner]
        for owner in (0, 1):
            mass = places.opposing(believed, owner)
            values[owner][...] = np.divide(values[owner], mass, out=np.zeros_like(mass), where=mass > 0)
        return values

    def _all_shares(self, places: Places, following: LaterPlay, believed: Ranges) -> Iterator[tuple[Ints, Floats]]:
        """:meth:`_shares` of every board."""
        assert isinstance(places, HoldemPlaces)
        if self.threads == 1:
            yield from (self._shares(places, below, believed) for below in following.boards)
            return
        with ThreadPoolExecutor(self.threads) as pool:
            yield from pool.map(lambda below: self._shares(places, below, believed), following.boards)

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
        if self.function is not None and len(reach):
            rows = board.rows_of_ranges(reach, mass, equity, below.looks[open_to])
            worth += self.function(rows.reshape(-1, INPUTS)).reshape(rows.shape[:-1])
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
        spot, later, wanted = places.game.spot, LaterPlay([], []), wanted_hands(places)
        if spot.rake.rate:
            raise AlgorithmError("this leaf does not support rake; leave the rake out, or use ExactLeaf")
        betting: dict[tuple[int, ...], list[int]] = {}
        for index, state in enumerate(places.states):
            if isinstance(places.game.event(state), Showdown):
                later.shown.append(index)
            else:
                betting.setdefault(state.board, []).append(index)
        for before, indices in betting.items():
            chips = [self._chips(places, index) for index in indices]
            for board, images in self._boards_after(spot, before, wanted):
                later.boards.append(LaterBoard(np.array(indices), chips, self._chance(places, board.cards), board, images))
        return later

    def _boards_after(
        self, spot: Spot, before: tuple[int, ...], wanted: NDArray[np.bool_]
    ) -> list[tuple[HandBoard, list[Shorts]]]:
        """The boards of :meth:`_deals`. Those after the last board are cached, since streets are solved again during play."""
        if self.symmetric:  # they depend on the ranges
            return self._sorted(spot, before, wanted)
        key = before, wanted.tobytes()
        if key not in self._boards:
            self._boards = {key: self._sorted(spot, before, wanted)}
        return self._boards[key]

    def _sorted(self, spot: Spot, before: tuple[int, ...], wanted: NDArray[np.bool_]) -> list[tuple[HandBoard, list[Shorts]]]:
        every = 1 if before else self.step
        return [
            (HandBoard.of(spot.format, cards, wanted, every=every), images)
            for cards, images in self._deals(spot, before, wanted)
        ]

    def _deals(
        self, spot: Spot, board: tuple[int, ...], wanted: NDArray[np.bool_]
    ) -> list[tuple[tuple[int, ...], list[Shorts]]]:
        """The boards that can follow a board, one per isomorphism class if that is valid, and the images of their hands."""
        hands, boards = Hands(spot), []
        symmetries = symmetries_of(spot, hands) if self.symmetric and board == spot.board else [IDENTITY]
        for dealt, copies, _ in deals(spot, board, symmetries, spot.format.deal[spot.format.street(board) + 1]):
            held = hands_on(spot.format, (*board, *dealt))
            held = held[wanted[held]]
            boards.append(((*board, *dealt), [np.asarray(hands.map(copy)[held], np.int16) for copy in copies]))
        return boards


def wanted_hands(places: HoldemPlaces) -> NDArray[np.bool_]:
    """Which hands are in at least one player's range, bool [H]."""
    first, second = places.game.spot.ranges
    return np.asarray((first > 0) | (second > 0))


def all_ins_at(places: Places) -> dict[tuple[int, ...], AllIns]:
    """All-in values on every board where both players are all-in at one of the places."""
    assert isinstance(places, HoldemPlaces)
    shown = {state.board for state in places.states if isinstance(places.game.event(state), Showdown)}
    return {board: all_ins(places.game.spot.format, board, wanted_hands(places)) for board in sorted(shown)}
