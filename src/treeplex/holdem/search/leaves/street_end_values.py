"""Leaf values at the end of a hold'em street, before the next card, from a network over single hands.

One evaluation covers every card to come, whereas :class:`treeplex.holdem.search.leaves.hand_values.HandValues` evaluates each
next board by itself. Equities are exact: a matrix over pairs of hands is computed once per board. A few times in a search, the
values for each next board correct those of the network.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from math import inf, log2
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints, Singles
from treeplex.errors import AlgorithmError
from treeplex.holdem.betting.tree import Showdown
from treeplex.holdem.cards.format import Format
from treeplex.holdem.engine.showdowns.hand_features import INPUTS
from treeplex.holdem.search.leaves.all_ins import AllIns, all_ins
from treeplex.holdem.search.leaves.hand_values import Function, HandBoard, HandValues, wanted_hands, zero_sum
from treeplex.holdem.search.subgames.subgame import HoldemPlaces
from treeplex.search.leaf import SingleEntryCache
from treeplex.search.subgames.subgame import Places, Ranges

EVERY = 12
"""The network's ``STATIC`` inputs are computed on every twelfth complete board."""
FIRST_CORRECTION = 24
"""The iteration of the first correction; each later one comes after twice as many iterations."""
SMALLEST = 1e-300
CORRECTION_COST = 40.0
"""Assumed time of a search's first correction, in mean times of the iterations before it."""


class EndBoard(NamedTuple):
    """A board on which streets end, with the n hands of both ranges.

    Attributes:
        places: int64 [L], indices of the places.
        board: the board.
        all_ins: equities of all pairs of hands.
        bets: bool [L], places after which betting continues.
        pots: float64 [L], their pots.
        looks: float64 [L, 3], see :meth:`HandBoard.look`.
    """

    places: Ints
    board: HandBoard
    all_ins: AllIns
    bets: NDArray[np.bool_]
    pots: Floats
    looks: Floats


class StreetEndValues:
    """Leaf values at the end of a hold'em street; zero-sum at each end, and exact where both players are all-in.

    Equities are those of the current ranges at each player's update. The function, which takes most of the time, is evaluated
    once in an iteration. Its error is corrected after 24, 48, 96, ... iterations of alternating updates: the difference
    between ``exact`` and the function for the average ranges is added from then on.

    Attributes:
        function: values of hands over the showdown, see :data:`treeplex.holdem.search.leaves.hand_values.Function`.
        exact: more accurate values, which take much longer; None for no correction.
        threads: number of threads. Results do not depend on it.
    """

    def __init__(self, function: Function, *, exact: HandValues | None = None, threads: int = 1) -> None:
        self.function, self.exact, self.threads = function, exact, threads
        self._deadline, self._began, self._cost = inf, 0.0, CORRECTION_COST
        self._means: list[Floats] = []
        self._corrections: list[Floats] = []
        self._prepared: SingleEntryCache[Places, list[EndBoard]] = SingleEntryCache(self._boards)
        self._known: dict[tuple[tuple[int, ...], bytes], tuple[HandBoard, AllIns]] = {}
        self._places: Places | None = None
        self._calls = 0
        self._over_showdowns: list[Floats] = []

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        """Leaf values as defined by :class:`treeplex.search.leaf.LeafValue`.

        Raises:
            AlgorithmError: the game is not hold'em, is preflop, or has rake.
        """
        if player is None:
            return self.fresh(places, believed)
        if self._places is not places:
            self._places, self._calls, self._corrections = places, 0, []
            self._means, self._began = [np.zeros_like(reach) for reach in believed], perf_counter()
        self._calls += 1
        iteration = (self._calls + 1) // 2
        self._means[player] *= (1.0 - 1.0 / iteration) ** 2  # as in the average policies of DCFR
        self._means[player] += believed[player]
        values = self._values(places, believed, (player,), again=self._calls % 2 == 1)
        doublings = log2(iteration / FIRST_CORRECTION)
        if self.exact is not None and self._calls % 2 == 0 and doublings >= 0 and doublings.is_integer():
            self._correct(places, self.exact, iteration)
        return values

    def limit(self, seconds: float) -> None:
        """Limit the time of the next search, see :class:`treeplex.search.leaf.TimedLeaf`: no correction begins that would end
        later."""
        self._deadline = perf_counter() + seconds

    def _correct(self, places: Places, exact: HandValues, iteration: int) -> None:
        """Compare the function with more accurate values for the average ranges."""
        began = perf_counter()
        each = (began - self._began) / iteration
        if began + self._cost * each > self._deadline:
            return
        means = tuple(mean / max(mean.max(), SMALLEST) for mean in self._means)
        kept, self._corrections = self._over_showdowns, []
        rough, fine = self.fresh(places, means), exact.fresh(places, means, betting=True)
        self._over_showdowns = kept
        for end in self._prepared(places):
            where = np.ix_(end.places, end.board.held)
            away = np.stack([fine[owner][where] - rough[owner][where] for owner in (0, 1)], axis=1)
            self._corrections.append(away * (end.bets / end.pots)[:, None, None])
        seconds = perf_counter() - began
        self._cost, self._began = seconds / each, self._began + seconds

    def fresh(self, places: Places, believed: Ranges) -> Ranges:
        """Compute new values, float64 [K, H] for each player."""
        return self._values(places, believed, (0, 1), again=True)

    def _values(self, places: Places, believed: Ranges, players: Sequence[int], *, again: bool) -> Ranges:
        """Values of some players, 0 for the others, with new equities and, if ``again``, new values over the showdown."""
        boards = self._prepared(places)
        assert isinstance(places, HoldemPlaces)
        values = tuple(np.zeros_like(reach) for reach in believed)
        masses = [places.opposing(believed, owner) for owner in (0, 1)]
        if again:
            self._over_showdowns = []
        for number, end in enumerate(boards):
            held, where = end.board.held, np.ix_(end.places, end.board.held)
            reach = np.stack([weights[end.places] for weights in believed], axis=1)
            mass = np.stack([met[where] for met in masses], axis=1)
            for place, absent in np.argwhere(~reach.any(axis=2)):  # a player with zero reach has its starting range
                reach[place, absent] = places.game.spot.ranges[absent]
                mass[place, 1 - absent] = places.game.compatible(reach[place, absent])[held]
            worth = np.zeros_like(mass)
            for owner in (0, 1) if again else players:
                won = reach[:, 1 - owner, held].astype(np.float32) @ end.all_ins.edges.T
                np.divide(won, mass[:, owner], out=worth[:, owner], where=mass[:, owner] > 0)
            if again:
                self._over_showdowns.append(self._over_showdown(end, reach, mass, worth))
            over = self._over_showdowns[number]
            if self._corrections:
                over = over + self._corrections[number]
            worth += zero_sum(over, reach[:, :, held], mass)  # equities alone are zero-sum
            for owner in players:
                values[owner][where] = end.pots[:, None] * worth[:, owner]
        return values

    def _over_showdown(self, end: EndBoard, reach: Floats, mass: Floats, worth: Floats) -> Floats:
        """The function's values at a board's places, float64 [L, 2, n]; 0 where both players are all-in."""
        found = np.zeros_like(worth)

        def evaluated(part: Ints) -> Singles:
            rows = end.board.rows_of_ranges(reach[part], mass[part], worth[part] + 0.5, end.looks[part])
            return self.function(rows.reshape(-1, INPUTS)).reshape(rows.shape[:-1])

        parts = [part for part in np.array_split(np.flatnonzero(end.bets), self.threads) if len(part)]
        if len(parts) < 2:
            for part in parts:
                found[part] = evaluated(part)
            return found
        with ThreadPoolExecutor(self.threads) as pool:
            for part, more in zip(parts, pool.map(evaluated, parts), strict=True):
                found[part] = more
        return found

    def _boards(self, places: Places) -> list[EndBoard]:
        """The boards of the places."""
        if not isinstance(places, HoldemPlaces):
            raise AlgorithmError(f"this leaf supports hold'em, not states of a {type(places.game).__name__}")
        spot = places.game.spot
        if spot.rake.rate:
            raise AlgorithmError("this leaf does not support rake; leave the rake out, or use ExactLeaf")
        wanted = wanted_hands(places)
        by_board: dict[tuple[int, ...], list[int]] = {}
        for index, state in enumerate(places.states):
            by_board.setdefault(state.board, []).append(index)
        found = list[EndBoard]()
        for cards, indices in by_board.items():
            events = [places.game.event(places.states[index]) for index in indices]
            paid = np.array([event.contributions for event in events], np.float64)
            pots, behind = paid.sum(axis=1), spot.pot / 2 + spot.stack - paid.max(axis=1)
            board, pairs = self._of_board(spot.format, cards, wanted)
            bets = np.array([not isinstance(event, Showdown) for event in events])
            looks = np.array([board.look(float(pot), float(stack)) for pot, stack in zip(pots, behind, strict=True)])
            found.append(EndBoard(np.array(indices), board, pairs, bets, pots, looks))
        return found

    def _of_board(self, format: Format, cards: tuple[int, ...], wanted: NDArray[np.bool_]) -> tuple[HandBoard, AllIns]:
        """A board's hands and all-in equities. The last board is cached: adding a bet size solves the same flop again."""
        key = cards, wanted.tobytes()
        if key not in self._known:
            self._known = {key: (HandBoard.of(format, cards, wanted, every=EVERY), all_ins(format, cards, wanted))}
        return self._known[key]
