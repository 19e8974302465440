"""River values from strength bins: leaf values for turn searches, from a network over bins in place of single hands.

A network for single hands would have 1,326 inputs and outputs per player. On a complete board, however, a hand's value depends
almost only on its strength rank. So ranges are collected into bins by strength, and the network's output for a bin is
interpolated for its hands. The output is added to the value of a showdown without further bets, which is computed exactly,
with card removal.

A network for single hands, as in the paper, has a bin for each hand; its inputs also include the board, and beliefs account
for card removal.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Shorts, Singles
from treeplex.errors import AlgorithmError
from treeplex.holdem.cards.cards import cards_to_string
from treeplex.holdem.cards.evaluator import format_strengths
from treeplex.holdem.cards.format import Format
from treeplex.holdem.engine.showdowns.strength_bins import gather_bins, gather_hands, settle, sum_over_rivers
from treeplex.holdem.rules.features import features_of_board, stacks_in_pots
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.search.subgames.subgame import HoldemPlaces
from treeplex.search.leaf import SingleEntryCache
from treeplex.search.subgames.subgame import Places, Ranges

Function = Callable[[Singles], Singles]
"""Maps rows, float32 [n, inputs], to the values of both players' bins, in pots, float32 [n, 2B]."""
SINGLE = 0
"""Value of ``bins`` for one bin per hand."""


@dataclass(frozen=True, eq=False)
class RiverBins:
    """Complete boards of a format, R of them, each with its N hands, and B strength bins.

    Attributes:
        format: the format, with two hole cards.
        boards: the boards.
        single: whether each hand is a bin, in the order of the format's hands.
        bins: B; H for single hands.
        order: int16 [R, N], the hands that each board allows, weakest first.
        start: int16 [R, N], index in ``order`` of the first hand that ties with each.
        low: int16 [R, N], the bin below each hand.
        share: float64 [R, N], the hand's share in the bin above.
    """

    format: Format
    boards: tuple[tuple[int, ...], ...]
    single: bool
    bins: int
    order: Shorts
    start: Shorts
    low: Shorts
    share: Floats

    @classmethod
    def of(cls, format: Format, boards: tuple[tuple[int, ...], ...], bins: int) -> "RiverBins":
        """Sort the hands of each board.

        Args:
            format: the format.
            boards: the boards.
            bins: B, or :data:`SINGLE` for one bin per hand.

        Raises:
            AlgorithmError: hands without two cards, an incomplete board, or fewer than two bins.
        """
        single, bins = bins == SINGLE, bins or len(format.hands)
        if format.hole != 2 or bins < 2:
            raise AlgorithmError(f"strength bins need two hole cards and at least 2 bins, not {format.hole} and {bins}")
        sorted_rows: list[list[NDArray[np.int64]]] = [[], []]
        for board in boards:
            if len(board) != sum(format.deal):
                raise AlgorithmError(f"{cards_to_string(board)} is not a complete board of {format.name}")
            dead = np.zeros(52, bool)
            dead[list(board)] = True
            hands = np.flatnonzero(~dead[format.hands].any(axis=1))
            strength = np.asarray(format_strengths(format, board, format.hands[hands]), np.int64)
            by_strength = np.argsort(strength, kind="stable")
            sorted_rows[0].append(hands[by_strength])
            sorted_rows[1].append(strength[by_strength])
        order, strengths = np.stack(sorted_rows[0]), np.stack(sorted_rows[1])
        start = np.stack([np.searchsorted(row, row) for row in strengths])
        end = np.stack([np.searchsorted(row, row, side="right") for row in strengths])
        position = order.astype(np.float64)
        if not single:
            position = (start + end - 1) * (0.5 / max(order.shape[1] - 1, 1)) * (bins - 1)
        low = np.minimum(position.astype(np.int64), bins - 2)
        return cls(
            format, boards, single, bins, order.astype(np.int16), start.astype(np.int16), low.astype(np.int16), position - low
        )

    @property
    def inputs(self) -> int:
        """Width of a network input row: the stack, both players' bins, and for networks over single hands the board."""
        return 1 + 2 * self.bins + int(self._features.shape[1])

    @cached_property
    def _features(self) -> Singles:
        """Features of each board, float32 [R, F]; F is 0 with strength bins."""
        if not self.single:
            return np.zeros((len(self.boards), 0), np.float32)
        return np.stack([features_of_board(self.format, board) for board in self.boards]).astype(np.float32)

    @cached_property
    def cards(self) -> NDArray[np.uint8]:
        """The cards of each hand, uint8 [H, 2]."""
        return np.ascontiguousarray(self.format.hands, np.uint8)

    def rows(self, believed: Ranges, pots: Floats, stacks: Floats) -> Singles:
        """Network inputs for all rivers at K leaves, float32 [K * R, inputs], grouped by leaf.

        Args:
            believed: for each player float64 [K, H], reach of each hand, any scale.
            pots, stacks: [K], chips in the pot, and the smaller stack behind.
        """
        rows = np.empty((len(pots) * len(self.boards), self.inputs), np.float32)
        rows[:, 0] = np.repeat(stacks_in_pots(stacks, pots), len(self.boards))
        for player in (0, 1):
            reach, first = believed[player], 1 + player * self.bins
            if self.single:
                gather_hands(reach, believed[1 - player], self.order, self.start, self.cards, rows, first)
            else:
                gather_bins(reach, self.order, self.low, self.share, self.bins, rows, first)
        rows[:, 1 + 2 * self.bins :] = np.tile(self._features, (len(pots), 1))
        return rows

    def values(self, outputs: Singles, reached: Floats, pots: Floats, chance: float, shown: bool = True) -> Floats:
        """A player's values by hand: expected chips times the opponent's compatible reach, summed over rivers, float64 [K, H].

        Args:
            outputs: [K * R, B], values of the player's bins over the showdown, in pots.
            reached: [K, H], the opponent's reach.
            pots: [K], chips.
            chance: the probability of each river, given both hands.
            shown: whether the showdown is added; if not, ``outputs`` are the full values.
        """
        hand_values, order = np.empty_like(reached), self.order
        sum_over_rivers(
            reached, order, self.start, self.low, self.share, self.cards, outputs, pots, chance, float(shown), hand_values
        )
        return hand_values

    def showdown(self, river: int, reached: Floats) -> tuple[Floats, Floats]:
        """For each hand in ``order`` on a river: the compatible reach, and the part it beats minus the part that beats it.

        Args:
            river: index of the river.
            reached: [H], the opponent's reach.
        """
        mass, edge = np.empty(self.order.shape[1]), np.empty(self.order.shape[1])
        settle(reached, self.order[river], self.start[river], self.cards, mass, edge)
        return mass, edge


class BinnedRivers:
    """Leaf values of a turn, averaged over its rivers, from a function of binned ranges.

    The function's only inputs are beliefs. Safe-search CFR-AVG needs values for a different reach but gets those for the
    beliefs, as from all networks in this package.

    Attributes:
        function: values of bins, see :data:`Function`.
        bins: number of the function's bins; :data:`SINGLE` for single hands.
        shown: whether the function's values are differences from the showdown value, which is then added; if not, they are
            full values.
    """

    def __init__(self, function: Function, bins: int, *, shown: bool = True) -> None:
        self.function, self.bins, self.shown = function, bins, shown
        self._prepared: SingleEntryCache[Places, list[Rivers]] = SingleEntryCache(self._rivers)

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        """Values as defined by :class:`treeplex.search.leaf.LeafValue`.

        Raises:
            AlgorithmError: not exactly one card is to come, there is rake, or hands do not have two cards.
        """
        values = tuple(np.zeros_like(reach) for reach in believed)
        for at in self._prepared(places):
            here = believed[0][at.rows], believed[1][at.rows]
            outputs = self.function(at.rivers.rows(here, at.pots, at.stacks))
            for owner in (0, 1) if player is None else (player,):
                about = np.ascontiguousarray(np.split(outputs, 2, axis=1)[owner])
                river_values = at.rivers.values(about, here[1 - owner], at.pots, at.chance, self.shown)
                mass = at.game.compatible(here[1 - owner])
                values[owner][at.rows] = np.divide(river_values, mass, out=np.zeros_like(river_values), where=mass > 0)
        return values

    def _rivers(self, places: Places) -> "list[Rivers]":
        """The rivers below hold'em leaves, board by board."""
        if not isinstance(places, HoldemPlaces):
            raise AlgorithmError(f"strength bins support hold'em turns, not states of a {type(places.game).__name__}")
        boards = [state.board for state in places.states]
        return [
            Rivers.of(places, slice(first, first + boards.count(board)), self.bins)
            for first, board in enumerate(boards)
            if first == 0 or board != boards[first - 1]
        ]


@dataclass(frozen=True, eq=False)
class Rivers:
    """The rivers below the leaves on one turn board; these leaves are contiguous among all leaves.

    Attributes:
        game: the game.
        rows: slice of the places.
        rivers: their boards.
        pots, stacks: float64 [K], chips in the pot at each place, and the smaller stack behind.
        chance: the probability of each river, given both hands.
    """

    game: HoldemGame
    rows: slice
    rivers: RiverBins
    pots: Floats
    stacks: Floats
    chance: float

    @classmethod
    def of(cls, places: HoldemPlaces, rows: slice, bins: int) -> "Rivers":
        """Sort the hands on all rivers."""
        game, states = places.game, places.states[rows]
        spot, form, board = game.spot, game.spot.format, states[0].board
        if len(board) + 1 != sum(form.deal) or spot.rake.rate:
            raise AlgorithmError("strength bins support turns with one card to come and no rake; use ExactLeaf")
        boards = tuple(form.complete_boards(board))
        paid = np.array([game.event(state).contributions for state in states], np.float64).reshape(-1, 2)
        stacks = spot.pot / 2 + spot.stack - paid.max(axis=1)
        chance = 1.0 / (len(form.deck) - len(board) - 2 * form.hole)
        return cls(game, rows, RiverBins.of(form, boards, bins), paid.sum(axis=1), stacks, chance)
