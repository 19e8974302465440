"""Leaf values at the end of a hold'em street, before the next card, from a network over single hands.

One evaluation covers every card to come, whereas :class:`treeplex.holdem.search.leaves.hand_values.HandValues` evaluates each
next board by itself. Equities are exact: a matrix over pairs of hands is computed once per board. A few times in a search, the
values for each next board correct those of the network.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
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
"""Avoids a division by zero for a player who never gets to a place."""
CORRECTION_COST, SPARE = 40.0, 8
"""Assumed time of a search's first correction, and the least time left after a correction, in iterations of this search."""


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


@dataclass
class AlternatingSearch:
    """State of a search with alternating updates.

    Attributes:
        places: the leaves.
        means: for each player float64 [L, H], the unnormalised average of its reach.
        began: when it began, without the time that corrections took.
        cost: time of a correction, in iterations.
        calls: number of updates so far.
        over: for each board float64 [L, 2, n], the function's values in this iteration.
        corrections: for each board float64 [L, 2, n], what is added to them; empty before the first correction.
    """

    places: Places
    means: list[Floats]
    began: float
    cost: float = CORRECTION_COST
    calls: int = 0
    over: list[Floats] = field(default_factory=list)
    corrections: list[Floats] = field(default_factory=list)


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
        self._prepared: SingleEntryCache[Places, list[EndBoard]] = SingleEntryCache(self._boards)
        self._known: dict[tuple[tuple[int, ...], bytes], tuple[HandBoard, AllIns]] = {}
        self._search: AlternatingSearch | None = None
        self._deadline = inf

    def __call__(self, places: Places, believed: Ranges, reached: Ranges, player: int | None = None) -> Ranges:
        """Leaf values as defined by :class:`treeplex.search.leaf.LeafValue`.

        A search is over when values for other places are asked for, or :meth:`limit` is called.

        Raises:
            AlgorithmError: the game is not hold'em, is preflop, or has rake.
        """
        if player is None:
            return self.fresh(places, believed)
        search = self._search
        if search is None or search.places is not places:
            self._prepared(places)
            search = self._search = AlternatingSearch(places, [np.zeros_like(reach) for reach in believed], perf_counter())
        done, second = divmod(search.calls, 2)
        if self.exact is not None and not second and done >= FIRST_CORRECTION and log2(done / FIRST_CORRECTION).is_integer():
            self._correct(search, self.exact, done)
        search.calls += 1
        search.means[player] *= (done / (done + 1)) ** 2  # as in the average policies of DCFR
        search.means[player] += believed[player]
        values, search.over = self._values(
            places, believed, (player,), over=search.over if second else None, corrections=search.corrections
        )
        return values

    def limit(self, seconds: float) -> None:
        """Limit the time of the next search, see :class:`treeplex.search.leaf.TimedLeaf`: a correction that would end later is
        left out."""
        self._deadline, self._search = perf_counter() + seconds, None

    def _correct(self, search: AlternatingSearch, exact: HandValues, done: int) -> None:
        """Compare the function with more accurate values for the average ranges, after ``done`` iterations."""
        began, places = perf_counter(), search.places
        iteration = (began - search.began) / done
        if began + (search.cost + SPARE) * iteration > self._deadline:
            return
        means = tuple(mean / max(mean.max(), SMALLEST) for mean in search.means)
        found, wanted = self.fresh(places, means), exact.fresh(places, means, all_ins=False)
        search.corrections = []
        for end in self._prepared(places):
            where = np.ix_(end.places, end.board.held)
            difference = np.stack([wanted[owner][where] - found[owner][where] for owner in (0, 1)], axis=1)
            search.corrections.append(difference * (end.bets / end.pots)[:, None, None])
        seconds = perf_counter() - began
        search.cost, search.began = seconds / iteration, search.began + seconds

    def fresh(self, places: Places, believed: Ranges) -> Ranges:
        """Compute new values without corrections, float64 [K, H] for each player."""
        return self._values(places, believed, (0, 1))[0]

    def _values(
        self,
        places: Places,
        believed: Ranges,
        players: Sequence[int],
        *,
        over: list[Floats] | None = None,
        corrections: Sequence[Floats] = (),
    ) -> tuple[Ranges, list[Floats]]:
        """Leaf values with new equities, and the function's values on each board.

        Players whose values are not needed get 0.

        Args:
            places: the leaves.
            believed: reach of both players.
            players: the players whose values are needed.
            over: the function's values on each board; None to evaluate it.
            corrections: on each board, what is added to the function's values; empty for nothing.
        """
        boards, evaluated = self._prepared(places), list[Floats]()
        assert isinstance(places, HoldemPlaces)
        values = tuple(np.zeros_like(reach) for reach in believed)
        masses = [places.opposing(believed, owner) for owner in (0, 1)]
        for number, end in enumerate(boards):
            held, where = end.board.held, np.ix_(end.places, end.board.held)
            reach = np.stack([weights[end.places] for weights in believed], axis=1)
            mass = np.stack([met[where] for met in masses], axis=1)
            for place, absent in np.argwhere(~reach.any(axis=2)):  # a player with zero reach has its starting range
                reach[place, absent] = places.game.spot.ranges[absent]
                mass[place, 1 - absent] = places.game.compatible(reach[place, absent])[held]
            worth = np.zeros_like(mass)
            for owner in (0, 1) if over is None else players:
                won = reach[:, 1 - owner, held].astype(np.float32) @ end.all_ins.edges.T
                np.divide(won, mass[:, owner], out=worth[:, owner], where=mass[:, owner] > 0)
            evaluated.append(self._over_showdown(end, reach, mass, worth) if over is None else over[number])
            corrected = evaluated[number] + corrections[number] if corrections else evaluated[number]
            worth += zero_sum(corrected, reach[:, :, held], mass)  # equities alone are zero-sum
            for owner in players:
                values[owner][where] = end.pots[:, None] * worth[:, owner]
        return values, evaluated

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
